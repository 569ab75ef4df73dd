import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import {
  conversation,
  entry,
  fingerprint,
  header,
  type Json,
  lines,
  makeWorkspace,
  message,
  reply,
  user
} from "./cutpoint.js"

const workspace = makeWorkspace()

const compaction = (id: string, parentId: string | null, firstKeptEntryId: string) =>
  entry("compaction", id, parentId, { summary: "s", firstKeptEntryId, tokensBefore: 1 })

/** Everything that can be wrong with a file, and where. */
const sick = `\uFEFF${lines([
  header({ id: "" }),
  "garbage\r",
  "",
  `${JSON.stringify(user("a", null))}${JSON.stringify(reply("b", "a"))}`,
  "[1]",
  header(),
  { ...user("x", "b"), id: undefined },
  { ...user("c", "b"), type: undefined },
  user("twice", "b", "first"),
  user("twice", "b", "second"),
  user("lost", "nowhere"),
  user("round", "square"),
  user("square", "round"),
  compaction("k", "b", "elsewhere"),
  user("beside", "b"),
  '{"type":"future","id":"f","parentId":"beside","n":12345678901234567890}'
])}${JSON.stringify(user("last", "f")).slice(0, -8)}`

const kinds = (document: Json): ReadonlyArray<unknown> =>
  document.diagnostics.map(({ _tag, line }: Json) => [_tag, line])

describe("doctor", () => {
  it("names every fault with its line, and touches nothing", async () => {
    const file = workspace.write("sick.jsonl", sick)
    const before = fingerprint(file)
    const document = await workspace.json(["doctor", file], 1)
    expect(Object.keys(document)).toEqual(["session", "diagnostics"])
    expect(document.session).toBe(file)
    expect(kinds(document)).toEqual([
      ["ByteOrderMark", 1],
      ["HeaderField", 1],
      ["NotJson", 2],
      ["CarriageReturns", 2],
      ["BlankLine", 3],
      ["JoinedLines", 4],
      ["NotAnEntry", 5],
      ["RepeatedHeader", 6],
      ["MissingId", 7],
      ["MissingType", 8],
      ["DuplicateId", 10],
      ["UnknownParent", 11],
      ["ParentCycle", 12],
      ["DanglingBoundary", 14],
      ["ForkedWrite", 15],
      ["UnknownType", 16],
      ["TornLine", 17]
    ])
    for (const each of document.diagnostics) {
      expect(Object.keys(each)).toEqual(["_tag", "line", "entryId", "message"])
      expect(each.message).not.toBe("")
    }
    const { code, stderr, stdout } = await workspace.run(["doctor", file])
    expect(code).toBe(1)
    expect(stdout).toContain("Faults    16\n  ByteOrderMark     line 1: ")
    expect(stdout).toContain("Notes     1\n  UnknownType       line 16: ")
    expect(stderr).toBe("The session has 16 faults; --repair OUT writes a copy that has none.\n")
    expect(fingerprint(file)).toBe(before)
  })

  it("has nothing to say of a sound session, calls that wait included", async () => {
    const call = { type: "toolCall", id: "c1", name: "read", arguments: {} }
    const waiting = message("w", "a1", { role: "assistant", content: [call], stopReason: "toolUse" })
    const file = workspace.write("sound.jsonl", [header(), ...conversation(2, 10)])
    expect(await workspace.json(["doctor", file])).toEqual({ session: file, diagnostics: [] })
    expect(await workspace.run(["doctor", file])).toEqual({
      code: 0,
      stderr: "",
      stdout: `Session   ${file}\nFaults    none\n`
    })
    const left = workspace.write("left.jsonl", [header(), ...conversation(2, 10), waiting])
    expect(kinds(await workspace.json(["doctor", left]))).toEqual([["UnansweredCall", null]])
  })

  it("names faults of every branch, also those that reading alone does not show", async () => {
    const file = workspace.write("branches.jsonl", [
      header(),
      user("a", null),
      compaction("k", "a", "b"),
      user("b", "a"),
      { ...user("c", "b"), timestamp: "2026-01-01T01:00:00.000Z" }
    ])
    // The entry b stands beside a compaction.
    expect(kinds(await workspace.json(["doctor", file], 1))).toEqual([
      ["DanglingBoundary", 3],
      ["ForkedWrite", 4]
    ])
  })

  it("counts what is too much to name", async () => {
    const file = workspace.write("many.jsonl", [header(), ...Array.from({ length: 5000 }, () => "garbage")])
    const { diagnostics } = await workspace.json(["doctor", file], 1)
    expect(diagnostics.length).toBe(101)
    expect(diagnostics.at(-1)).toMatchObject({ _tag: "NotJson", more: 4900 })
    expect((await workspace.run(["doctor", file])).stderr).toContain("5,000 faults")
    expect((await workspace.run(["context", file])).stderr).toContain("and 4,990 more faults")
  })

  it("fails like any other command on what is no session", async () => {
    const file = workspace.write("diary.txt.jsonl", "Dear diary\n")
    expect((await workspace.json(["doctor", file], 1)).error._tag).toBe("NotASession")
    expect((await workspace.json(["doctor", `${file}.gone.jsonl`], 1)).error._tag).toBe("SessionNotFound")
  })
})

describe("doctor --repair", () => {
  it("writes a copy that has no fault and all that could be read, for its owner alone", async () => {
    const file = workspace.write("again/sick.jsonl", sick)
    const before = fingerprint(file)
    const copy = join(workspace.root, "again", "sound.jsonl")
    const document = await workspace.json(["doctor", file, "--repair", copy], 1)
    expect(document).toMatchObject({ session: file, copy })
    expect(document.repaired.length).toBe(13)
    expect(kinds(await workspace.json(["doctor", copy]))).toEqual([
      ["UnknownType", 5],
      ["UnknownType", 14]
    ])
    expect(statSync(copy).mode & 0o777).toBe(0o600)
    expect(fingerprint(file)).toBe(before)
    const [one, other] = [await workspace.json(["context", file]), await workspace.json(["context", copy])]
    expect([other.leafId, other.messages, other.contextTokens]).toEqual([one.leafId, one.messages, one.contextTokens])
    const text = readFileSync(copy, "utf8")
    for (const said of ['"first"', '"second"', '"x"', "12345678901234567890"]) expect(text).toContain(said)
    // What was repaired can be worked on.
    expect((await workspace.json(["pin", "a", "--session", copy])).pins.length).toBe(1)
  })

  it("leaves what is there as it is, a link to nowhere too", async () => {
    const file = workspace.write("there/sick.jsonl", sick)
    const taken = workspace.write("there/taken.jsonl", "mine")
    const link = join(workspace.root, "there", "link.jsonl")
    symlinkSync(join(workspace.root, "there", "nowhere"), link)
    for (const out of [taken, link, file]) {
      const { error } = await workspace.json(["doctor", file, "--repair", out], 1)
      expect(error).toMatchObject({ _tag: "CopyExists", path: out })
    }
    expect(readFileSync(taken, "utf8")).toBe("mine")
    expect(existsSync(link)).toBe(false)
  })

  it("says why a copy cannot be written", async () => {
    const file = workspace.write("why/sick.jsonl", sick)
    mkdirSync(join(workspace.root, "why", "folder"))
    for (const out of ["none/copy.jsonl", "sick.jsonl/copy.jsonl"]) {
      const { error } = await workspace.json(["doctor", file, "--repair", join(workspace.root, "why", out)], 1)
      expect(error._tag).toBe("AppendFailed")
    }
  })

  it("upgrades an older version, and does not write a newer one", async () => {
    const old = workspace.write("old.jsonl", [header({ version: 2 }), ...conversation(2, 10), "garbage"])
    const copy = join(workspace.root, "old-copy.jsonl")
    await workspace.json(["doctor", old, "--repair", copy], 1)
    expect(JSON.parse(readFileSync(copy, "utf8").split("\n")[0] ?? "").version).toBe(3)
    const newer = workspace.write("newer.jsonl", [header({ version: 4 }), "garbage"])
    const { error } = await workspace.json(["doctor", newer, "--repair", join(workspace.root, "no.jsonl")], 1)
    expect(error).toMatchObject({ _tag: "SessionReadOnly", version: 4 })
    expect(existsSync(join(workspace.root, "no.jsonl"))).toBe(false)
  })
})
