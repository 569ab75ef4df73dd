import { appendFileSync, existsSync, readFileSync, statSync, symlinkSync, truncateSync } from "node:fs"
import { describe, expect, it } from "vitest"
import {
  conversation,
  entry,
  fingerprint,
  header,
  type Json,
  lines,
  makeWorkspace,
  readLines,
  reply,
  user
} from "./cutpoint.js"

const workspace = makeWorkspace()
const tags = (document: Json): ReadonlyArray<string> => document.diagnostics.map((each: Json) => each._tag)
const ids = (document: Json): ReadonlyArray<string> => document.messages.map((each: Json) => each.entryId)

describe("a session of a newer version", () => {
  it("is read, and never written", async () => {
    const file = workspace.write("newer.jsonl", [header({ version: 4 }), ...conversation(4, 2000)])
    const before = fingerprint(file)
    expect(ids(await workspace.json(["context", file]))).toHaveLength(8)
    for (const args of [
      ["compact", file, "--offline", "--keep-recent-tokens", "10"],
      ["tree", file, "--to", "u1"],
      ["pin", "u1", "--session", file],
      ["pin", "--text", "a fact", "--session", file]
    ]) {
      const { error } = await workspace.json(args, 1)
      expect(error).toMatchObject({ _tag: "SessionReadOnly", key: file, version: 4 })
      expect((await workspace.run(args)).stderr).toContain("version 4")
    }
    expect(fingerprint(file)).toBe(before)
    expect(existsSync(`${file}.v4.bak`)).toBe(false)
  })
})

describe("what is no session", () => {
  it.each([
    ["other JSON lines", '{"type":"message","id":"u1"}\n{"type":"session","id":"s"}\n'],
    ["text", "Dear diary\n"],
    ["nothing", ""],
    ["bytes", "\u0000\u0001\u0002".repeat(1000)]
  ])("such as %s is a failure, and is not touched", async (_, content) => {
    const file = workspace.write("foreign.jsonl", content)
    const before = fingerprint(file)
    for (const args of [["context"], ["tree"], ["compact", "--offline"], ["tree", "--to", "u1"]]) {
      const { error } = await workspace.json([...args, file], 1)
      expect(error).toMatchObject({ _tag: "NotASession", key: file })
    }
    expect(fingerprint(file)).toBe(before)
  })
})

describe("faults", () => {
  const first = JSON.stringify(user("u1", null, "one"))
  const second = JSON.stringify(reply("a1", "u1", "two"))

  it("are survived, and told with their lines", async () => {
    const torn = '{"type":"message","id":"torn","par'
    const joined = `${first}${second}`
    const file = workspace.write(
      "faults.jsonl",
      `${lines([header(), "garbage", joined, "", user("u2", "a1", "three")])}${torn}`
    )
    const before = fingerprint(file)
    const shown = await workspace.json(["context", file])
    expect(ids(shown)).toEqual(["u1", "a1", "u2"])
    expect(shown.diagnostics.map((each: Json) => [each._tag, each.line])).toEqual([
      ["NotJson", 2],
      ["JoinedLines", 3],
      ["BlankLine", 4],
      ["TornLine", 6]
    ])
    for (const each of shown.diagnostics) expect(each.message).not.toBe("")

    const ran = await workspace.run(["tree", file])
    expect(ran.code).toBe(0)
    const warnings = ran.stderr.trimEnd().split("\n")
    expect(warnings.map((each) => each.slice(0, 15))).toEqual(["warning: line 2", "warning: line 3", "warning: line 6"])
    expect(tags(await workspace.json(["tree", file]))).toEqual(tags(shown))
    expect(tags(await workspace.json(["compact", file, "--dry-run"]))).toEqual(tags(shown))
    expect(fingerprint(file)).toBe(before)
  })

  it("are told ten at most, then counted", async () => {
    const file = workspace.write("many.jsonl", [
      header(),
      ...Array.from({ length: 14 }, () => "garbage"),
      user("u1", null)
    ])
    const { stderr } = await workspace.run(["context", file, "--context-window", "1000"])
    expect(stderr.trimEnd().split("\n")).toHaveLength(11)
    expect(stderr).toContain("and 4 more faults")
  })

  it("in the last line do not spoil what is appended", async () => {
    const file = workspace.write("torn.jsonl", `${lines([header(), ...conversation(4, 1500)])}{"type":"mess`)
    const { result } = await workspace.json(["compact", file, "--offline", "--keep-recent-tokens", "100"])
    const written = readFileSync(file, "utf8").split("\n")
    expect(written.at(-3)).toBe('{"type":"mess')
    expect(JSON.parse(written.at(-2) ?? "").id).toBe(result.entryId)
    expect((await workspace.json(["context", file])).leafId).toBe(result.entryId)
  })

  it("such as an id used twice, an unknown parent and a cycle are drawn without an end", async () => {
    const file = workspace.write("tangled.jsonl", [
      header(),
      user("root", null, "root"),
      user("twice", "root", "old"),
      user("twice", "root", "new"),
      user("lost", "nowhere", "lost"),
      user("a", "c", "A"),
      user("b", "a", "B"),
      user("c", "b", "C")
    ])
    const { stderr, stdout } = await workspace.run(["tree", file, "--tokenizer", "heuristic"])
    expect(stdout.split("\n")).toEqual([
      "├─ ○ root  user  root  1 token",
      "│  ○ twice  user  new  1 token",
      "└─ ○ lost  user  lost  1 token",
      "○ a  user  A  1 token",
      "○ b  user  B  1 token",
      "● c  user  C  1 token  <- leaf",
      ""
    ])
    expect(stderr.match(/^warning: line \d+/gm)).toEqual(["warning: line 4", "warning: line 5", "warning: line 6"])
    const { entries } = await workspace.json(["tree", file])
    expect(entries.map((each: Json) => each.id)).toEqual(["root", "twice", "twice", "lost", "a", "b", "c"])
    expect(entries.filter((each: Json) => each.onPath).map((each: Json) => each.id)).toEqual(["a", "b", "c"])
  })

  it("of pairs of tools are told by what shows the context", async () => {
    const call = { type: "toolCall", id: "c1", name: "read", arguments: { path: "a.ts" } }
    const file = workspace.write("pairs.jsonl", [
      header(),
      user("u1", null),
      entry("message", "a1", "u1", { message: { role: "assistant", content: [call], stopReason: "toolUse" } }),
      user("u2", "a1")
    ])
    expect(tags(await workspace.json(["context", file]))).toEqual(["UnansweredCall"])
    expect((await workspace.run(["context", file])).stderr).toMatch(/^warning: /m)
  })
})

describe("a session that another program has just written", () => {
  const compact = ["compact", "--offline", "--keep-recent-tokens", "100", "--context-window", "100000"]

  it("is compacted with a warning, before which nothing is written", async () => {
    const file = workspace.write("recent.jsonl", [header(), ...conversation(4, 1500)])
    expect((await workspace.run([...compact, file])).stderr).not.toContain("warning")
    // That compaction was written just now.
    const { code, stderr } = await workspace.run([...compact, file, "--json"])
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(/^warning: another program wrote to the session \d+ seconds? ago/m)
    ])
  })

  it("and would not see the compaction, is told of as soon as it goes on", async () => {
    const file = workspace.write("stale.jsonl", [header(), ...conversation(4, 1500)])
    const { result } = await workspace.json([...compact, file])
    appendFileSync(file, lines([user("late", "a3", "I have the session in memory")]))
    const { diagnostics, leafId } = await workspace.json(["context", file])
    expect(leafId).toBe("late")
    expect(diagnostics).toMatchObject([{ _tag: "ForkedWrite", line: 11, entryId: "late" }])
    expect(diagnostics[0].message).toContain(result.entryId)
    for (const args of [
      ["pin", "u1", "--session", file],
      ["tree", file, "--to", "u1"]
    ]) {
      const { stderr } = await workspace.run(args)
      expect(stderr).toContain(`line 11: The entry late stands beside ${result.entryId}`)
    }
  })
})

describe("files that are larger than what can be held at once", () => {
  /** Adds a line of so many NULs, which take no room on the disk. */
  const addHole = (file: string, bytes: number): void => {
    truncateSync(file, statSync(file).size + bytes)
    appendFileSync(file, "\n")
  }

  it("such as a session longer than any string are read line by line", async () => {
    const file = workspace.write("huge.jsonl", [header()])
    for (const each of [user("u1", null), reply("a1", "u1"), user("u2", "a1")]) {
      addHole(file, 200_000_000)
      appendFileSync(file, lines([each]))
    }
    expect(statSync(file).size).toBeGreaterThan(2 ** 29)
    const shown = await workspace.json(["context", file])
    expect(ids(shown)).toEqual(["u1", "a1", "u2"])
    expect(shown.diagnostics.map((each: Json) => [each._tag, each.line])).toEqual(
      [2, 4, 6].map((line) => ["NotJson", line])
    )
  })

  it("are listed without being kept", async () => {
    const own = makeWorkspace()
    const files = Array.from({ length: 20 }, (_, n) =>
      own.write(`home/.pi/agent/sessions/--w--/${n}_s.jsonl`, [header({ id: `s${n}` })])
    )
    for (const [n, file] of files.entries()) {
      addHole(file, 40_000_000)
      appendFileSync(file, lines([entry("session_info", "i", null, { name: `named ${n}` })]))
    }
    // All of them at once would not fit.
    const env = { NODE_OPTIONS: "--max-old-space-size=200" }
    const { sessions } = await own.json(["sessions", "--all"], 0, { env })
    expect(new Set(sessions.map((each: Json) => each.name))).toEqual(new Set(files.map((_, n) => `named ${n}`)))
  })
})

describe("older versions", () => {
  // The first version has no ids but the session's.
  const old = lines([{ type: "session", id: "old", cwd: "/w" }, ...conversation(4, 1500)]).replaceAll(
    /"id":"[ua]\d","parentId":(?:null|"[ua]\d"),/g,
    ""
  )

  it("are upgraded with the first append, through a symlink too, and the original stays", async () => {
    const file = workspace.write("old.jsonl", old)
    const original = readFileSync(file)
    const link = `${workspace.root}/link.jsonl`
    symlinkSync(file, link)
    const read = await workspace.json(["context", link])
    expect(readFileSync(file).equals(original)).toBe(true)
    const ran = await workspace.run(["compact", link, "--offline", "--keep-recent-tokens", "100"])
    expect(ran.code).toBe(0)
    const backup = /kept as (.*)\n/.exec(ran.stderr)?.[1] ?? ""
    expect(readFileSync(backup).equals(original)).toBe(true)
    const [head, ...written] = readLines(file)
    expect(head.version).toBe(3)
    expect(written.slice(0, -1).map((each) => each.id)).toEqual(ids(read))
    expect(written.at(-1).type).toBe("compaction")
  })
})
