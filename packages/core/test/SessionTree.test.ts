import { describe, expect, it } from "vitest"
import type * as Entry from "../src/Entry.js"
import * as SessionTree from "../src/SessionTree.js"
import { changed, chain, compaction, edit, header, label, note, reply, user } from "./SessionBuilder.js"

const under = (parentId: string | null, entry: Entry.Entry): Entry.Entry => ({ ...entry, parentId })

const tree = (entries: ReadonlyArray<Entry.Entry>) => SessionTree.make(header, entries)

const pathOf = (entries: ReadonlyArray<Entry.Entry>, id: string | null) =>
  SessionTree.path(tree(entries), id).map((entry) => entry.id)

const faults = (entries: ReadonlyArray<Entry.Entry>) =>
  tree(entries).diagnostics.map(({ _tag, entryId }) => `${_tag} ${entryId}`)

describe("parents that lead nowhere", () => {
  it("two entries that are each other's parent: finite, and reported once", () => {
    const cycle = [under("b", user("a")), under("a", user("b"))]
    expect(pathOf(cycle, "a")).toEqual(["b", "a"])
    expect(faults(cycle)).toHaveLength(1)
    expect(faults(cycle)[0]).toMatch(/^ParentCycle/)
  })

  it("an entry that is its own parent, and one that hangs on a cycle", () => {
    const cycle = [under("a", user("a")), under("a", user("b")), under("b", user("c"))]
    expect(pathOf(cycle, "c")).toEqual(["a", "b", "c"])
    expect(faults(cycle)).toEqual(["ParentCycle a"])
  })

  it("two cycles are two faults", () => {
    const cycles = [under("a", user("a")), under("c", user("b")), under("b", user("c"))]
    expect(faults(cycles).filter((fault) => fault.startsWith("ParentCycle"))).toHaveLength(2)
  })

  it("an unknown parent ends the path, and is reported", () => {
    const entries = [under("gone", user("a")), under("a", user("b"))]
    expect(pathOf(entries, "b")).toEqual(["a", "b"])
    expect(faults(entries)).toEqual(["UnknownParent a"])
  })

  it("a very long path is no trouble", () => {
    const entries = chain(Array.from({ length: 50_000 }, (_, index) => user(`e${index}`)))
    expect(pathOf(entries, "e49999")).toHaveLength(50_000)
    expect(faults(entries)).toEqual([])
  })
})

describe("an id that is used again", () => {
  it("the later entry counts, and it is reported", () => {
    const entries = [under(null, user("a", "old")), under(null, user("a", "new"))]
    expect(SessionTree.get(tree(entries), "a")).toEqual(entries[1])
    expect(faults(entries)).toEqual(["DuplicateId a"])
  })

  it("also where it makes a cycle: finite", () => {
    const entries = [under(null, user("a")), under("a", user("b")), under("b", user("a"))]
    expect(pathOf(entries, "b")).toEqual(["a", "b"])
    expect(faults(entries)).toContain("DuplicateId a")
    expect(faults(entries).some((fault) => fault.startsWith("ParentCycle"))).toBe(true)
  })
})

describe("where one stands", () => {
  const entries = [...chain([user("u1"), reply("a1"), user("u2")])]

  it("at the last entry, or at what the mark of a move marks", () => {
    expect(tree(entries).leafId).toBe("u2")
    expect(tree([]).leafId).toBeNull()
    expect(tree([...entries, under("a1", note("m", "cutpoint.leaf"))]).leafId).toBe("a1")
    expect(tree([...entries, under(null, note("m", "cutpoint.leaf"))]).leafId).toBeNull()
    expect(tree([...entries, under("a1", note("m", "cutpoint.leaf")), under("a1", user("u3"))]).leafId).toBe("u3")
  })

  it("another extension's entry marks nothing", () => {
    expect(tree([...entries, under("u2", note("n", "other"))]).leafId).toBe("n")
  })
})

describe("SessionTree.commonAncestor", () => {
  const entries = [
    ...chain([user("r1"), reply("a1"), user("u2"), reply("a2")]),
    ...chain([user("u3"), reply("a3")], "a1"),
    ...chain([user("r2"), reply("b1")])
  ]

  it.each([
    ["a2", "a3", "a1"],
    ["a2", "u2", "u2"],
    ["u2", "a2", "u2"],
    ["a2", "a2", "a2"],
    ["a2", "b1", null],
    [null, "a2", null],
    ["a2", "unknown", null]
  ] as const)("of %s and %s is %s", (one, other, ancestor) => {
    expect(SessionTree.commonAncestor(tree(entries), one, other)).toBe(ancestor)
  })
})

describe("SessionTree.reportedTokens", () => {
  const used = (id: string, totalTokens: number, stopReason = "stop") =>
    reply(id, "x", { usage: { totalTokens }, stopReason })

  it("is the last sound reply's, unless a compaction or an edit came after it", () => {
    expect(SessionTree.reportedTokens([used("a", 10), used("b", 20), user("u")])).toBe(20)
    expect(SessionTree.reportedTokens([used("a", 10), used("b", 0, "error"), used("c", 5, "aborted")])).toBe(10)
    expect(SessionTree.reportedTokens([used("a", 10), compaction("c", "a"), user("u")])).toBeUndefined()
    expect(SessionTree.reportedTokens([used("a", 10), edit("e", "a", null)])).toBeUndefined()
    expect(SessionTree.reportedTokens([])).toBeUndefined()
  })
})

describe("labels", () => {
  it("the latest of an entry holds, and an empty one takes it away", () => {
    const labels = (...all: ReadonlyArray<Entry.Entry>) => [...SessionTree.labels(tree(all))]
    expect(labels(label("l1", "a", "one"), label("l2", "a", "two"), label("l3", "b", "b"))).toEqual([
      ["a", "two"],
      ["b", "b"]
    ])
    expect(labels(label("l1", "a", "one"), label("l2", "a", ""))).toEqual([])
    expect(labels(label("l1", "a", "one"), changed(label("l2", "a"), { label: null }))).toEqual([])
  })
})
