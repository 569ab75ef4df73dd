import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as LineReader from "../src/LineReader.js"
import { faults, header, ids, lines, makeWorkspace, onFiles, textOf, user } from "./workspace.js"

describe("SessionFiles.open", () => {
  it.scoped("reads faulty files and reports what it found", () =>
    Effect.gen(function* () {
      const { store, write } = yield* makeWorkspace
      const a = user("a", null)
      const b = user("b", "a", "x\u2028y")
      const cases: ReadonlyArray<[string, ReadonlyArray<string>, ReadonlyArray<string>]> = [
        [lines(header(), a, b), ["a", "b"], []],
        [lines(header(), a, JSON.stringify(b) + JSON.stringify(user("c", "b"))), ["a", "b", "c"], ["JoinedLines"]],
        [lines(header(), a, b).replaceAll("\n", "\r\n"), ["a", "b"], ["CarriageReturns"]],
        ["\uFEFF" + lines(header(), a, b), ["a", "b"], ["ByteOrderMark"]],
        [lines(header(), "", a, " ", b), ["a", "b"], ["BlankLine", "BlankLine"]],
        [lines(header(), "nonsense", a, "[1]", b), ["a", "b"], ["NotJson", "NotAnEntry"]],
        [lines(header(), a, b, user("a", null)), ["a", "b", "a"], ["DuplicateId"]],
        [lines(header(), user("a", "b"), b), ["a", "b"], ["ParentCycle"]],
        [lines(header(), a, user("b", "zz")), ["a", "b"], ["UnknownParent"]],
        [lines(header(), a, { type: "future", id: "f", parentId: "a", timestamp: "" }), ["a", "f"], ["UnknownType"]],
        [lines(header(), a) + JSON.stringify(b), ["a", "b"], ["NoFinalLineBreak"]],
        [lines(header(), a) + JSON.stringify(b).slice(0, -9), ["a"], ["TornLine"]],
        [lines(header()).trimEnd(), [], ["NoFinalLineBreak"]]
      ]
      for (const [text, entries, found] of cases) {
        const session = yield* store.open(yield* write("x.jsonl", text))
        expect([ids(session), faults(session)]).toEqual([entries, found])
        expect(session.tree.leafId).toBe(entries.at(-1) ?? null)
      }
      const session = yield* store.open(yield* write("x.jsonl", lines(header(), a, b)))
      expect(textOf(session, "b")).toBe("x\u2028y")
      expect(session).toMatchObject({ version: 3, tree: { header: { id: "s1", cwd: "/w" } } })
    }).pipe(onFiles)
  )

  it.scoped("keeps characters whole across chunks", () =>
    Effect.gen(function* () {
      const { store, write } = yield* makeWorkspace
      const long = "a" + "😀é漢".repeat(100_000)
      const session = yield* store.open(yield* write("x.jsonl", lines(header(), user("a", null, long))))
      expect(textOf(session, "a") === long).toBe(true)
    }).pipe(onFiles)
  )

  it.scoped("leaves out a line that is too long", () =>
    Effect.gen(function* () {
      const { fs, store, write } = yield* makeWorkspace
      const file = yield* write("x.jsonl", lines(header(), user("a", null)))
      yield* fs.truncate(file, LineReader.maxLineBytes + 1000)
      yield* fs.writeFileString(file, "\n" + lines(user("b", "a")), { flag: "a" })
      const session = yield* store.open(file)
      expect(ids(session)).toEqual(["a", "b"])
      expect(session.diagnostics).toMatchObject([{ _tag: "LineTooLong", line: 3 }])
    }).pipe(onFiles)
  )

  it.scoped("knows what is no session", () =>
    Effect.gen(function* () {
      const { root, store, write } = yield* makeWorkspace
      const cases: ReadonlyArray<[string, number | undefined]> = [
        ["", undefined],
        ["\n\n", undefined],
        ["nonsense\n", undefined],
        [lines(user("a", null), header()), 1],
        [lines("", "nonsense", { a: 1 }), 3],
        ["[]", 1]
      ]
      for (const [text, line] of cases) {
        const file = yield* write("x.jsonl", text)
        const error = yield* Effect.flip(store.open(file))
        expect(error).toMatchObject({ _tag: "NotASession", key: file, line })
      }
      expect((yield* Effect.flip(store.open(root))).message).toContain("it is a folder")
      expect((yield* Effect.flip(store.open(root)))._tag).toBe("SessionUnreadable")
      expect((yield* Effect.flip(store.open(`${root}/none.jsonl`)))._tag).toBe("SessionNotFound")
    }).pipe(onFiles)
  )

  it.scoped("derives the same ids for version 1 at each read", () =>
    Effect.gen(function* () {
      const { store, write } = yield* makeWorkspace
      const said = (content: string) => ({
        type: "message",
        timestamp: "2026-01-01",
        message: { role: "user", content }
      })
      const file = yield* write("x.jsonl", lines(header({ version: undefined }), said("1"), "?", said("2")))
      const [one, two] = [yield* store.open(file), yield* store.open(file)]
      expect(one.version).toBe(1)
      expect(ids(one)).toEqual(ids(two))
      expect(new Set(ids(one)).size).toBe(2)
      expect(one.tree.entries[1]?.parentId).toBe(ids(one)[0])
    }).pipe(onFiles)
  )

  it.scoped("changes neither bytes nor times", () =>
    Effect.gen(function* () {
      const { fs, store, text, write } = yield* makeWorkspace
      const content = lines(header({ version: 2 }), user("a", null)) + "{torn"
      const file = yield* write("sessions/--w--/x.jsonl", content)
      yield* fs.utimes(file, 1000, 1000)
      const before = yield* fs.stat(file)
      yield* store.open(file)
      yield* store.find("s1")
      const after = yield* fs.stat(file)
      expect(yield* text(file)).toBe(content)
      expect([after.mtime, after.ino, after.mode]).toEqual([before.mtime, before.ino, before.mode])
      expect(yield* fs.readDirectory(file.slice(0, file.lastIndexOf("/")))).toEqual(["x.jsonl"])
    }).pipe(onFiles)
  )

  it.scoped("gives another revision for another state, the same for the same", () =>
    Effect.gen(function* () {
      const { fs, store, write } = yield* makeWorkspace
      const file = yield* write("x.jsonl", lines(header(), user("a", null)))
      const one = yield* store.open(file)
      expect((yield* store.open(file)).revision).toBe(one.revision)
      yield* fs.writeFileString(file, lines(header(), user("b", null)))
      const two = yield* store.open(file)
      expect(two.revision).not.toBe(one.revision)
      yield* fs.writeFileString(file, "\n", { flag: "a" })
      expect((yield* store.open(file)).revision).not.toBe(two.revision)
    }).pipe(onFiles)
  )
})
