import type * as Entry from "@cutpoint/core/Entry"
import * as SessionTree from "@cutpoint/core/SessionTree"
import * as FastCheck from "effect/FastCheck"
import { describe, expect, it } from "vitest"
import * as TreeDrawing from "../src/TreeDrawing.js"

const timestamp = "2026-01-01T00:00:00.000Z"

const user = (id: string, parentId: string | null, content = id): Entry.Entry => ({
  type: "message",
  id,
  parentId,
  timestamp,
  message: { role: "user", content }
})

const reply = (id: string, parentId: string | null): Entry.Entry => ({
  type: "message",
  id,
  parentId,
  timestamp,
  message: { role: "assistant", content: [{ type: "text", text: id }] }
})

const draw = (entries: ReadonlyArray<Entry.Entry>, options: Partial<TreeDrawing.Options> = {}): ReadonlyArray<string> =>
  TreeDrawing.draw(SessionTree.make({ type: "session", id: "s" }, entries), {
    all: false,
    tokens: () => 10,
    columns: 80,
    ...options
  })

describe("draw", () => {
  it("counts what does not matter between what does", () => {
    const entries = [user("u1", null), reply("a1", "u1"), reply("a2", "a1"), user("u2", "a2"), reply("a3", "u2")]
    expect(draw(entries)).toEqual([
      "○ u1  user  u1  10 tokens",
      "  ⋮ 2 entries, 20 tokens",
      "○ u2  user  u2  10 tokens",
      "● a3  assistant  a3  10 tokens  <- leaf"
    ])
    expect(draw(entries, { all: true })).toHaveLength(5)
  })

  it("puts each branch behind a line of its own, also where its first entry is only counted", () => {
    const entries = [
      user("u1", null),
      reply("a1", "u1"),
      user("u2", "a1"),
      reply("b1", "u1"),
      reply("b2", "b1"),
      user("u3", "b2"),
      user("u4", "b2")
    ]
    expect(draw(entries)).toEqual([
      "○ u1  user  u1  10 tokens",
      "├─ ⋮ 1 entry, 10 tokens",
      "│  ○ u2  user  u2  10 tokens",
      "└─ ⋮ 1 entry, 10 tokens",
      "   ○ b2  assistant  b2  10 tokens",
      "   ├─ ○ u3  user  u3  10 tokens",
      "   └─ ● u4  user  u4  10 tokens  <- leaf"
    ])
  })

  it("leaves out marks and labels that nothing follows, and names what has a label", () => {
    const entries: ReadonlyArray<Entry.Entry> = [
      user("u1", null),
      reply("a1", "u1"),
      reply("a2", "a1"),
      { type: "label", id: "l1", parentId: "a1", timestamp, targetId: "a1", label: "here" },
      { type: "custom", id: "m1", parentId: "a1", timestamp, customType: "cutpoint.leaf" }
    ]
    expect(draw(entries)).toEqual([
      "○ u1  user  u1  10 tokens",
      "● a1  assistant [here]  a1  10 tokens  <- leaf",
      "○ a2  assistant  a2  10 tokens"
    ])
    expect(draw(entries, { all: true })).toHaveLength(5)
  })

  it("fits the columns, with wide characters too", () => {
    const lines = draw([user("u1", null, "word ".repeat(100)), user("u2", "u1", "漢字".repeat(100))], { columns: 60 })
    expect(lines[0]).toBe(`○ u1  user  ${"word ".repeat(6)}word…  10 tokens`)
    expect(lines[0]?.length).toBeLessThanOrEqual(60)
    expect(lines[1]).toBe(`● u2  user  ${"漢字".repeat(6)}…  10 tokens  <- leaf`)
  })

  it("gives a number in place of an indent that would fill the line", () => {
    const entries = Array.from({ length: 5000 }, (_, index) => {
      const parentId = index === 0 ? null : `u${index - 1}`
      return [user(`u${index}`, parentId), reply(`a${index}`, parentId)]
    }).flat()
    const lines = draw(entries)
    expect(lines).toHaveLength(10_000)
    expect(lines[3]).toBe("│  │  │  ├─ ○ u3  user  u3  10 tokens")
    expect(lines[100]).toBe("⋯101 ├─ ○ u100  user  u100  10 tokens")
    expect(lines.at(-2)).toBe("│  └─ ○ a1  assistant  a1  10 tokens")
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80)
  })

  it("has a line for every entry exactly once, whatever the parents are", () => {
    const links = FastCheck.array(FastCheck.option(FastCheck.nat(15)), { minLength: 1, maxLength: 15 })
    FastCheck.assert(
      FastCheck.property(links, (parents) => {
        const entries = parents.map((parent, index) => user(`e${index}`, parent === null ? null : `e${parent}`))
        const drawn = draw(entries, { all: true }).map((line) => /[○●] (\S+)/u.exec(line)?.[1])
        return drawn.length === entries.length && entries.every(({ id }) => drawn.includes(id))
      }),
      { numRuns: 3000 }
    )
  })

  it("counts every entry of a sound tree once: drawn, or among those between", () => {
    const links = FastCheck.array(
      FastCheck.tuple(FastCheck.double({ min: 0, max: 0.999, noNaN: true }), FastCheck.boolean()),
      {
        minLength: 1,
        maxLength: 25
      }
    )
    FastCheck.assert(
      FastCheck.property(links, (steps) => {
        const entries = steps.map(([back, isUser], index) => {
          const parentId = index === 0 ? null : `e${Math.floor(back * index)}`
          return isUser ? user(`e${index}`, parentId) : reply(`e${index}`, parentId)
        })
        const counts = draw(entries).map((line) => Number(/⋮ (\d+) entr/u.exec(line)?.[1] ?? 1))
        return counts.reduce((sum, each) => sum + each, 0) === entries.length
      }),
      { numRuns: 3000 }
    )
  })
})
