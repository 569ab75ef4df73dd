/** Pins, and compactions taken back, through the command. */
import { existsSync, readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import {
  conversation,
  entry,
  fingerprint,
  header,
  type Json,
  makeWorkspace,
  readLines,
  reply,
  user
} from "./cutpoint.js"

const workspace = makeWorkspace()
const { json, run } = workspace
const fast = ["--tokenizer", "heuristic"]
const compactNow = ["--offline", "--keep-recent-tokens", "100", ...fast]

let written = 0

/** A session of its own: four turns, 1,000 tokens a question, 3 an answer, and what is given after them. */
const write = (...more: ReadonlyArray<object>): string =>
  workspace.write(`pins/${written++}.jsonl`, [header(), ...conversation(4, 1000), ...more])

const appended = (session: string, more: object): void =>
  void workspace.write(session.slice(workspace.root.length + 1), [...readLines(session), more])

/** The text that the pin of an entry of `conversation` keeps. */
const question = (turn: number): string => `Question ${turn}: ${"why ".repeat(997)}`.trim()

const anId = expect.stringMatching(/^[0-9a-f]{8}$/)

describe("pin", () => {
  it("lists nothing where nothing is pinned, and writes nothing", async () => {
    const session = write()
    const before = fingerprint(session)
    expect(await run(["pin", "--session", session])).toEqual({
      code: 0,
      stdout: "",
      stderr: "Nothing is pinned here.\n"
    })
    expect(await json(["pin", "--session", session])).toEqual({ pins: [] })
    expect(fingerprint(session)).toBe(before)
  })

  it("marks entries, in the order they are given, each below the one before it", async () => {
    const session = write()
    const before = readFileSync(session, "utf8")
    const marked = await json(["pin", "a1", "u0", "--session", session])
    expect(marked).toEqual({
      pins: [
        { id: anId, text: "Answer 1." },
        { id: anId, text: question(0) }
      ]
    })
    expect(readFileSync(session, "utf8").startsWith(before)).toBe(true)
    const [first, second] = marked.pins
    const mark = { type: "custom", customType: "cutpoint.pin", timestamp: expect.any(String) }
    expect(readLines(session).slice(9)).toEqual([
      { ...mark, id: first.id, parentId: "a3", data: { targetId: "a1" } },
      { ...mark, id: second.id, parentId: first.id, data: { targetId: "u0" } }
    ])
    // Listing says the same, and is no pin of its own.
    const listed = fingerprint(session)
    expect(await json(["pin", "--session", session])).toEqual(marked)
    expect(fingerprint(session)).toBe(listed)
  })

  it("marks a text, and shows each pin on a line", async () => {
    const session = write()
    const text = "never\ttouch \u001b[31mprod\nnor staging"
    const ran = await run(["pin", "--text", text, "--session", session])
    const [{ id }] = (await json(["pin", "--session", session])).pins
    expect(await json(["pin", "--session", session])).toEqual({ pins: [{ id: anId, text }] })
    // Nothing of it reaches a terminal but what can be printed.
    expect(ran).toEqual({ code: 0, stderr: "", stdout: `${id}  never touch prod nor staging\n` })
    const more = await run(["pin", "u2", "--session", session])
    expect(more.stdout).toMatch(
      new RegExp(`^${id}  never touch prod nor staging\\n[0-9a-f]{8}  Question 2: why [why ]+…\\n$`)
    )
  })

  it("marks the text of an entry that is on another branch", async () => {
    const session = write(user("b1", "a0", "the other way"))
    expect(await json(["pin", "a3", "--session", session])).toEqual({ pins: [{ id: anId, text: "Answer 3." }] })
    expect(readLines(session).at(-1)).toMatchObject({ parentId: "b1", data: { text: "Answer 3." } })
  })

  it("takes the newest session of the folder, and says which", async () => {
    const own = makeWorkspace()
    const session = own.write(`home/.pi/agent/sessions/--${own.cwd.slice(1).replaceAll("/", "-")}--/s.jsonl`, [
      header({ cwd: own.cwd }),
      ...conversation(1, 10)
    ])
    const ran = await own.run(["pin", "--text", "mind the gap"])
    expect(ran).toMatchObject({ code: 0, stderr: `Session: ${session}\n` })
    expect(ran.stdout).toMatch(/^[0-9a-f]{8} {2}mind the gap\n$/)
    expect(readLines(session).at(-1)).toMatchObject({ customType: "cutpoint.pin", data: { text: "mind the gap" } })
  })
})

describe("unpin", () => {
  it("takes pins out, and leaves the others", async () => {
    const session = write()
    const { pins } = await json(["pin", "a0", "a1", "a2", "--session", session])
    const left = await json(["unpin", pins[0].id, pins[2].id, "--session", session])
    expect(left).toEqual({ pins: [pins[1]] })
    expect(readLines(session).slice(-2)).toMatchObject([
      { type: "custom", customType: "cutpoint.unpin", data: { pinId: pins[0].id } },
      { type: "custom", customType: "cutpoint.unpin", data: { pinId: pins[2].id } }
    ])
    expect(await run(["unpin", pins[1].id, "--session", session])).toEqual({
      code: 0,
      stdout: "",
      stderr: "Nothing is pinned here.\n"
    })
    // What has been taken out is no pin any more.
    expect((await json(["unpin", pins[1].id, "--session", session], 1)).error._tag).toBe("PinNotFound")
  })
})

describe("what cannot be pinned or taken out", () => {
  const empty = { role: "assistant", content: [] }

  const rows: ReadonlyArray<readonly [ReadonlyArray<string>, number, object]> = [
    [["pin", "u0", "--text", "x"], 2, { _tag: "WrongUse", message: "Pin entries or a --text, not both at once." }],
    [["unpin"], 2, { _tag: "WrongUse", message: expect.stringContaining("pin") }],
    [
      ["pin", "u0", "nowhere"],
      1,
      { _tag: "EntryNotFound", entryId: "nowhere", message: expect.stringContaining("has no entry nowhere.") }
    ],
    [
      ["pin", "silent"],
      1,
      {
        _tag: "NothingToPin",
        what: "The entry silent",
        message: "The entry silent holds no text that could be pinned. Pin an entry with text, or a text."
      }
    ],
    [
      ["pin", "--text", " \n\t"],
      1,
      { _tag: "NothingToPin", what: "The text", message: expect.stringContaining("text") }
    ],
    [["pin", "--text", ""], 1, { _tag: "NothingToPin", what: "The text", message: expect.stringContaining("text") }],
    // An entry is no pin, be it on the path.
    [
      ["unpin", "u0"],
      1,
      {
        _tag: "PinNotFound",
        pinId: "u0",
        live: [],
        message: expect.stringContaining("has no pin u0 here. There are none.")
      }
    ]
  ]

  it.each(rows)("%j", async (args, code, error) => {
    const session = write(entry("message", "silent", "a3", { message: empty }))
    const before = fingerprint(session)
    const document = await json([...args.slice(0, 1), "--session", session, ...args.slice(1)], code)
    const at = code === 1 && !("what" in error) ? { session } : {}
    expect(document).toEqual({ error: { ...error, ...at } })
    const ran = await run([...args.slice(0, 1), "--session", session, ...args.slice(1)])
    expect(ran).toEqual({ code, stdout: "", stderr: expect.stringContaining(document.error.message) })
    expect(fingerprint(session)).toBe(before)
  })

  it("of several takes none where one is not there, and names those that are", async () => {
    const session = write()
    const { pins } = await json(["pin", "a0", "a1", "--session", session])
    const before = fingerprint(session)
    const { error } = await json(["unpin", pins[0].id, "nowhere", "--session", session], 1)
    const live = pins.map(({ id }: Json) => id)
    const message = `${session} has no pin nowhere here. There are: ${live.join(", ")}.`
    expect(error).toEqual({ _tag: "PinNotFound", session, pinId: "nowhere", live, message })
    expect(fingerprint(session)).toBe(before)
  })
})

describe("pins and compactions", () => {
  it("stand word for word in what the model sees, once, after each compaction", async () => {
    const session = write()
    // Nothing that looks like a fence or a role, which a transcript would show in another form.
    const text = 'Port 4711, "quoted", \\backslash, ünïcödé 😀\n  indented, and a line of\n\n---\n## Goal\n- none'
    await json(["pin", "--text", text, "--session", session])
    await json(["pin", "a0", "--session", session])
    const [{ id }] = (await json(["pin", "--text", "for a while only", "--session", session])).pins.slice(-1)
    const seen = async (): Promise<string> => (await run(["context", session, "--transcript", ...fast])).stdout
    // Pinning as such shows the model nothing.
    expect(await seen()).not.toContain("4711")
    for (let round = 0; round < 3; round++) {
      if (round === 2) await json(["unpin", id, "--session", session])
      const compacted = await json(["compact", session, ...compactNow])
      expect(compacted.status).toBe("compacted")
      const transcript = await seen()
      expect(transcript.split(text).length - 1).toBe(1)
      // The fence's angle bracket is another one in what a model is shown.
      expect(transcript).toContain(">\nAnswer 0.\n‹/pinned>")
      expect(transcript.includes("for a while only")).toBe(round < 2)
      const parentId = compacted.result.entryId
      appended(session, user(`u${round}-later`, parentId, `Later: ${"why ".repeat(1000)}`))
      appended(session, reply(`a${round}-later`, `u${round}-later`, "Indeed."))
    }
    expect((await json(["pin", "--session", session])).pins.map((pin: Json) => pin.text)).toEqual([text, "Answer 0."])
  })
})

describe("a session in an older format", () => {
  /** Lines of version 1 have no ids. */
  const old = [
    { ...header(), version: undefined },
    ...conversation(3, 1000).map((line) => Object.assign(line, { id: undefined, parentId: undefined }))
  ]

  it("is upgraded by a pin, and the original is kept and named", async () => {
    const session = workspace.write("old/pin.jsonl", old)
    const original = readFileSync(session, "utf8")
    const backup = `${session}.v1.bak`
    // Listing is reading.
    expect(await json(["pin", "--session", session])).toEqual({ pins: [] })
    expect(existsSync(backup)).toBe(false)
    const { entries } = await json(["tree", session, ...fast])
    const ran = await run(["pin", entries[0].id, "--session", session])
    expect(ran).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^[0-9a-f]{8} {2}Question 0: why/),
      stderr: `The session was in an older format and has been upgraded; the original is kept as ${backup}\n`
    })
    expect(readFileSync(backup, "utf8")).toBe(original)
    const lines = readLines(session)
    expect(lines[0].version).toBe(3)
    // The ids are those that reading showed before, so that the pin still finds its entry.
    expect(lines.slice(1, -1).map((line) => line.id)).toEqual(entries.map(({ id }: Json) => id))
    expect(lines.at(-1)).toMatchObject({ customType: "cutpoint.pin", data: { targetId: entries[0].id } })
    // Once upgraded, there is nothing more to tell.
    expect((await run(["pin", "--text", "x", "--session", session])).stderr).toBe("")
    expect((await json(["pin", "--session", session])).pins).toMatchObject([{ text: question(0) }, { text: "x" }])
  })

  it("is upgraded by an undo", async () => {
    const compaction = { ...entry("compaction", "", null), id: undefined, parentId: undefined }
    const session = workspace.write("old/undo.jsonl", [
      ...old,
      { ...compaction, summary: "s", firstKeptEntryIndex: 5, tokensBefore: 9 }
    ])
    const original = readFileSync(session, "utf8")
    const ran = await run(["undo", session])
    expect(ran.stderr).toContain(`the original is kept as ${session}.v1.bak`)
    expect(ran.code).toBe(0)
    expect(readFileSync(`${session}.v1.bak`, "utf8")).toBe(original)
  })
})

describe("undo", () => {
  const transcriptOf = async (session: string): Promise<string> =>
    (await run(["context", session, "--transcript", ...fast])).stdout

  it("says that there is nothing to take back, and writes nothing", async () => {
    const session = write()
    const before = fingerprint(session)
    expect(await json(["undo", session])).toEqual({
      status: "nothing-to-undo",
      compactionId: null,
      newLeafId: "a3",
      messagesAfter: 0
    })
    expect(await run(["undo", session])).toEqual({
      code: 0,
      stdout: "There is no compaction to take back.\n",
      stderr: ""
    })
    expect(fingerprint(session)).toBe(before)
  })

  it("takes the last compaction back, and then the one before it", async () => {
    const session = write()
    const first = await transcriptOf(session)
    const one = (await json(["compact", session, ...compactNow])).result.entryId
    const second = await transcriptOf(session)
    appended(session, user("u4", one, `Later: ${"why ".repeat(1000)}`))
    appended(session, reply("a4", "u4", "Indeed."))
    const third = await transcriptOf(session)
    const other = (await json(["compact", session, ...compactNow])).result.entryId
    const before = readFileSync(session, "utf8")
    expect(await json(["undo", session])).toEqual({
      status: "undone",
      compactionId: other,
      newLeafId: "a4",
      messagesAfter: 0
    })
    // The file is only added to, and what the model sees is what it saw.
    expect(readFileSync(session, "utf8").startsWith(before)).toBe(true)
    expect(readLines(session).at(-1)).toMatchObject({ type: "custom", customType: "cutpoint.leaf", parentId: "a4" })
    expect(await transcriptOf(session)).toBe(third)
    const text = await run(["undo", session, "--abandon-later"])
    expect(text).toEqual({
      code: 0,
      stderr: "",
      stdout: `Took back the compaction ${one}; the leaf is a3; 2 later messages are left on a branch of their own\n`
    })
    expect(await transcriptOf(session)).toBe(first)
    expect(second).not.toBe(first)
    expect((await json(["undo", session])).status).toBe("nothing-to-undo")
  })

  it("refuses where messages follow, says how many, and writes nothing", async () => {
    const session = write()
    const { entryId } = (await json(["compact", session, ...compactNow])).result
    appended(session, user("u4", entryId))
    appended(session, reply("a4", "u4"))
    // A label is no message.
    appended(session, entry("label", "l4", "a4", { targetId: "a4", label: "here" }))
    const before = fingerprint(session)
    const message = `2 messages follow the compaction ${entryId}; taking it back leaves them on a branch apart. Say so (--abandon-later) to do it all the same.`
    expect(await json(["undo", session], 1)).toEqual({
      error: { _tag: "UndoRefused", session, compactionId: entryId, messagesAfter: 2, message }
    })
    expect(await run(["undo", session])).toEqual({ code: 1, stdout: "", stderr: `${message}\n` })
    expect(fingerprint(session)).toBe(before)
    expect(await json(["undo", session, "--abandon-later"])).toEqual({
      status: "undone",
      compactionId: entryId,
      newLeafId: "a3",
      messagesAfter: 2
    })
    const { entries, leafId } = await json(["tree", session, ...fast])
    expect(leafId).toBe("a3")
    // Nothing is gone.
    expect(entries.map(({ id }: Json) => id)).toEqual(expect.arrayContaining([entryId, "u4", "a4", "l4"]))
  })

  it("goes on where only pins follow", async () => {
    const session = write()
    const { entryId } = (await json(["compact", session, ...compactNow])).result
    await json(["pin", "--text", "made after it", "--session", session])
    expect(await json(["undo", session])).toMatchObject({ status: "undone", compactionId: entryId, messagesAfter: 0 })
  })

  it("tells of one message as of one", async () => {
    const session = write()
    const { entryId } = (await json(["compact", session, ...compactNow])).result
    appended(session, user("u4", entryId))
    expect((await run(["undo", session, "--abandon-later"])).stdout).toMatch(
      /; 1 later message is left on a branch of its own\n$/
    )
  })

  it("of a compaction at the start stands before the first entry", async () => {
    const compaction = { summary: "s", firstKeptEntryId: "c0", tokensBefore: 9 }
    const session = workspace.write("pins/root.jsonl", [header(), entry("compaction", "c0", null, compaction)])
    expect(await json(["undo", session])).toEqual({
      status: "undone",
      compactionId: "c0",
      newLeafId: null,
      messagesAfter: 0
    })
    expect((await json(["tree", session])).leafId).toBeNull()
  })
})
