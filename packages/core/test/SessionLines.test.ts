import { describe, expect, it } from "vitest"
import * as Diagnostic from "../src/Diagnostic.js"
import * as SessionLines from "../src/SessionLines.js"

const header = { type: "session", version: 3, id: "s", timestamp: "2026-01-01T00:00:00.000Z", cwd: "/w" }

const message = (id: string, parentId: string | null, content = id) => ({
  type: "message",
  id,
  parentId,
  timestamp: "2026-01-01T00:00:01.000Z",
  message: { role: "user", content }
})

const file = (...lines: ReadonlyArray<string | object>): string =>
  lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join("")

const parse = (text: string): SessionLines.SessionLines => {
  const session = SessionLines.parse(text, { keepTexts: true })
  if (session === undefined) throw new Error("not a session")
  return session
}

const ids = (session: SessionLines.SessionLines) => session.entries.map((entry) => entry.id)
const faults = (session: SessionLines.SessionLines) => session.diagnostics.map((one) => one._tag)

const a = message("a", null)
const b = message("b", "a")
const c = message("c", "b")
const d = message("d", "c")

describe("lines that are damaged", () => {
  it("a sound file has no faults, and its entries come back as they are", () => {
    const session = parse(file(header, a, b))
    expect(faults(session)).toEqual([])
    expect(session.entries).toEqual([a, b])
    expect(session.lines).toEqual([2, 3])
  })

  it.each([
    ["two", JSON.stringify(b) + JSON.stringify(c)],
    ["two with space between", `${JSON.stringify(b)} \t ${JSON.stringify(c)}  `],
    ["two with braces and quotes in their texts", JSON.stringify(message("b", "a", '}{ "\\" {')) + JSON.stringify(c)]
  ])("%s objects on a line are both read and reported", (_, line) => {
    const session = parse(file(header, a, line, d))
    expect(ids(session)).toEqual(["a", "b", "c", "d"])
    expect(faults(session)).toEqual(["JoinedLines"])
    expect(session.lines).toEqual([2, 3, 3, 4])
  })

  it("three objects, and a whole one after the torn start of another", () => {
    expect(ids(parse(file(header, [a, b, c].map((one) => JSON.stringify(one)).join(""))))).toEqual(["a", "b", "c"])
    const torn = JSON.stringify(b).slice(0, 40)
    for (const line of [torn + JSON.stringify(c), JSON.stringify(a) + torn + JSON.stringify(c)]) {
      expect(ids(parse(file(header, line))).at(-1)).toBe("c")
    }
  })

  it("a torn last line is left out and reported, an unreadable one in the middle too", () => {
    expect(faults(parse(file(header, a) + JSON.stringify(b).slice(0, -5)))).toEqual(["TornLine"])
    const session = parse(file(header, a, "garbage", b))
    expect(ids(session)).toEqual(["a", "b"])
    expect(session.diagnostics).toMatchObject([{ _tag: "NotJson", line: 3 }])
  })

  it.each([
    ["null", "null"],
    ["a number", "42"],
    ["a text", '"text"'],
    ["a list", "[1,2]"],
    ["true", "true"]
  ])("a line that is %s is left out and reported", (_, line) => {
    const session = parse(file(header, a, line, b))
    expect(ids(session)).toEqual(["a", "b"])
    expect(faults(session)).toEqual(["NotAnEntry"])
  })

  it("blank lines and a second header are left out and reported", () => {
    expect(faults(parse(file(header, "", a, "   ", header)))).toEqual(["BlankLine", "BlankLine", "RepeatedHeader"])
  })

  it.each(["\u2028", "\u2029", "\u0085", "\v", "\f"])("%j in a text does not end the line", (separator) => {
    const text = `one${separator}two`
    const session = parse(
      file(
        header,
        JSON.stringify(message("a", null, text)).replace(JSON.stringify(text), `"${text.replace(/[\v\f]/, " ")}"`)
      )
    )
    expect(ids(session)).toEqual(["a"])
    expect(faults(session)).toEqual([])
  })

  it("a byte order mark, carriage returns and both at once are read and reported", () => {
    expect(faults(parse(`\uFEFF${file(header, a)}`))).toEqual(["ByteOrderMark"])
    const windows = parse(`\uFEFF${file(header, a, b).replaceAll("\n", "\r\n")}`)
    expect(ids(windows)).toEqual(["a", "b"])
    expect(faults(windows)).toEqual(["ByteOrderMark", "CarriageReturns"])
  })

  it.each([
    ["an entry first", file(a, header)],
    ["other JSON first", file({ name: "package" }, header)],
    ["nothing", ""],
    ["nothing that can be read", "garbage\n\nmore garbage\n"]
  ])("%s is no session", (_, text) => expect(SessionLines.parse(text)).toBeUndefined())

  it("an unreadable line before the header does not hide it", () => {
    expect(ids(parse(file("garbage", header, a)))).toEqual(["a"])
  })

  it("never throws, whatever a line is cut to", () => {
    const line = JSON.stringify(message("b", "a", 'quo"te \\ { } [ ] \u{1F600}'))
    for (let end = 0; end < line.length; end++) {
      const session = parse(file(header, a) + line.slice(0, end))
      expect(ids(session)).toEqual(["a"])
      expect(ids(parse(file(header, a, line.slice(0, end), c)))).toEqual(["a", "c"])
    }
  })

  it("a long line of braces ends in good time", () => {
    const session = parse(file(header, a, '{"type"'.repeat(20_000), "{".repeat(200_000), b))
    expect(ids(session)).toEqual(["a", "b"])
  })
})

describe("a great many faults", () => {
  it("are kept up to a number of each kind, and counted", () => {
    const session = parse(file(header, a, ...Array.from({ length: 100_000 }, (_, n) => (n % 2 === 0 ? "garbage" : ""))))
    expect(session.diagnostics.length).toBe(2 * Diagnostic.maxOfKind + 2)
    expect(Diagnostic.count(session.diagnostics)).toBe(100_000)
    expect(session.diagnostics.slice(-2)).toMatchObject([
      { _tag: "NotJson", more: 49_900 },
      { _tag: "BlankLine", more: 49_900 }
    ])
  })

  it("one more than are kept is one more", () => {
    const many = Array.from({ length: Diagnostic.maxOfKind + 1 }, () => "[]")
    expect(parse(file(header, ...many)).diagnostics.at(-1)?.message).toBe(
      "There is 1 more fault of the kind NotAnEntry."
    )
  })
})

describe("entries without what they need", () => {
  it("no id: left out and reported, and the entry before stays the last", () => {
    for (const id of [undefined, null, "", 7, {}]) {
      const session = parse(file(header, a, { type: "future", id }))
      expect(ids(session)).toEqual(["a"])
      expect(faults(session)).toEqual(["MissingId"])
    }
  })

  it("no type, or one that is not known here: kept, so that what follows finds its way", () => {
    for (const type of [undefined, 7, "future"]) {
      const session = parse(file(header, a, { type, id: "b", parentId: "a", more: [1] }, c))
      expect(ids(session)).toEqual(["a", "b", "c"])
      expect(session.entries[1]).toMatchObject({ type: "unknown", original: { more: [1] } })
    }
  })
})

describe("versions", () => {
  it("a newer version is read and reported; one that is no number too", () => {
    const newer = parse(file({ ...header, version: 9 }, a))
    expect([newer.version, ids(newer), faults(newer)]).toEqual([9, ["a"], ["NewerVersion"]])
    for (const version of ["3", 2.5, 0, -1, {}]) {
      const odd = parse(file({ ...header, version }, a))
      expect([odd.version, faults(odd)]).toEqual([NaN, ["HeaderField"]])
    }
  })

  it("version 2: an extension's message has its new role, and the rest is as it was", () => {
    const hook = { ...a, message: { role: "hookMessage", customType: "x", content: "hello", extra: 1 } }
    const session = parse(file({ ...header, version: 2 }, hook, b))
    expect(session.entries[0]).toMatchObject({ message: { role: "custom", content: "hello", extra: 1 } })
    const [, upgraded = ""] = [...SessionLines.upgraded(session)]
    expect(JSON.parse(upgraded)).toMatchObject({ message: { role: "custom", extra: 1 } })
  })
})

describe("version 1", () => {
  const header1 = { type: "session", id: "old", timestamp: "2025-01-01T00:00:00.000Z", cwd: "/w" }
  const line = (content: string) => ({
    type: "message",
    timestamp: "2025-01-01T00:00:01.000Z",
    message: { role: "user", content }
  })
  const boundary = (firstKeptEntryIndex: unknown) => ({
    type: "compaction",
    timestamp: "t",
    summary: "s",
    firstKeptEntryIndex,
    tokensBefore: 9
  })
  const firstKept = (session: SessionLines.SessionLines) =>
    session.entries.flatMap((entry) => (entry.type === "compaction" ? [entry.firstKeptEntryId] : []))

  it("ids are the same at every read, unique, of 8 hex characters, and differ between sessions", () => {
    const text = file(header1, ...Array.from({ length: 5000 }, (_, index) => line(`m${index}`)))
    const first = ids(parse(text))
    expect(ids(parse(text))).toEqual(first)
    expect(new Set(first).size).toBe(5000)
    for (const id of first) expect(id).toMatch(/^[0-9a-f]{8}$/)
    expect(ids(parse(text.replace('"old"', '"other"')))[0]).not.toBe(first[0])
  })

  it("appending to the file does not change earlier ids", () => {
    const before = file(header1, line("a"), line("b"))
    expect(ids(parse(before + file(line("c")))).slice(0, 2)).toEqual(ids(parse(before)))
  })

  it("a line's parent is the line before it that can be read", () => {
    const session = parse(file(header1, line("a"), "garbage", line("b"), { type: "future" }, line("c")))
    expect(session.entries.map((entry) => entry.parentId)).toEqual([null, ...ids(session).slice(0, -1)])
  })

  it("a line that has an id already still follows the line before it", () => {
    const session = parse(file(header1, line("a"), { ...line("b"), id: "own" }, line("c")))
    expect(session.entries.map((entry) => entry.parentId)).toEqual([null, ids(session)[0], "own"])
  })

  it("the index of the first kept entry counts the header and lines that cannot be read", () => {
    const session = parse(file(header1, line("a"), "garbage", line("b"), line("c"), boundary(3), line("d")))
    expect(firstKept(session)).toEqual([ids(session)[1]])
    const joined = parse(file(header1, JSON.stringify(line("a")) + JSON.stringify(line("b")), line("c"), boundary(3)))
    expect(firstKept(joined)).toEqual([ids(joined)[2]])
  })

  it("it may be that of the compaction itself or of a later line", () => {
    const session = parse(file(header1, line("a"), boundary(2), line("b"), boundary(3)))
    expect(firstKept(session)).toEqual([ids(session)[1], ids(session)[2]])
  })

  it.each([
    ["the header's", 0],
    ["an unreadable line's", 2],
    ["beyond the end", 99],
    ["negative", -1],
    ["a fraction", 1.5],
    ["missing", undefined],
    ["a text", "1"]
  ])("an index that is %s keeps nothing, and is reported", (_, index) => {
    const session = parse(file(header1, line("a"), "garbage", line("b"), boundary(index)))
    expect(firstKept(session)).toEqual([""])
    expect(faults(session)).toContain("DanglingBoundary")
  })

  it("an upgrade spells what it need not change as it was, numbers too large to count with included", () => {
    const number = "12345678901234567890.10"
    const two = `{ "n":${number}, "type":"message","id":"a","parentId":null,"timestamp":"","message":{"role":"user"}}`
    const named = [...SessionLines.upgraded(parse(file({ ...header1, version: 2 }, two)))]
    expect(named[1]).toBe(two)
    const one = `{"type":"message","timestamp":"","message":{"role":"user","content":"é\\u00e9"},"n":${number}}`
    const session = parse(file(header1, one, `{"type":"future"}`, `{"n":${number}}`))
    const [first, second, third] = ids(session)
    expect([...SessionLines.upgraded(session)].slice(1)).toEqual([
      one.replace('"message",', `"message","id":"${first}","parentId":null,`),
      `{"type":"future","id":"${second}","parentId":"${first}"}`,
      `{"id":"${third}","parentId":"${second}","n":${number}}`
    ])
  })

  it("read again after the upgrade: the same entries, and nothing lost", () => {
    const session = parse(
      file(header1, { ...line("a"), extra: { x: 1 } }, { type: "future", data: 5 }, line("b"), boundary(1), line("c"))
    )
    const again = parse(file(...SessionLines.upgraded(session)))
    expect(again.version).toBe(3)
    expect(faults(again)).toEqual(["UnknownType"])
    expect(ids(again)).toEqual(ids(session))
    expect(again.entries.map((entry) => entry.parentId)).toEqual(session.entries.map((entry) => entry.parentId))
    expect(firstKept(again)).toEqual(firstKept(session))
    expect(again.entries[0]).toMatchObject({ extra: { x: 1 } })
    expect(again.entries[1]).toMatchObject({ original: { type: "future", data: 5 } })
  })
})
