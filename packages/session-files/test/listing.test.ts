import { describe, expect, it } from "@effect/vitest"
import { Chunk, Effect, Stream } from "effect"
import { header, lines, makeWorkspace, onFiles, reply, user } from "./workspace.js"

const compaction = {
  type: "compaction",
  id: "c",
  parentId: "b",
  timestamp: "",
  summary: "s",
  firstKeptEntryId: "b",
  tokensBefore: 9
}
const edit = { type: "context_edit", id: "e", parentId: "b", timestamp: "", targetId: "a", replacement: null }
const named = (name: string | null) => ({ type: "session_info", id: `n${name}`, parentId: "b", timestamp: "", name })

const workspace = Effect.map(makeWorkspace, (workspace) => ({
  ...workspace,
  all: (cwd?: string) =>
    Effect.map(Stream.runCollect(workspace.store.list(cwd === undefined ? {} : { cwd })), Chunk.toReadonlyArray)
}))

describe("SessionFiles.list", () => {
  it.scoped("is empty without a folder", () =>
    Effect.gen(function* () {
      const { all } = yield* workspace
      expect(yield* all()).toEqual([])
    }).pipe(onFiles)
  )

  it.scoped("gives the newest first and leaves out what is no session", () =>
    Effect.gen(function* () {
      const { all, fs, store, write } = yield* workspace
      const files = yield* Effect.forEach([1, 2, 3, 4, 5, 6], (n) =>
        write(`sessions/--w${n % 2}--/t_${n}.jsonl`, lines(header({ id: `${n}` }), user("a", null)))
      )
      yield* Effect.forEach(files, (file, i) => fs.utimes(file, 1000, [5, 3, 6, 1, 4, 2][i] ?? 0))
      yield* write("sessions/--w1--/notes.jsonl", lines({ some: "thing" }))
      yield* write("sessions/--w1--/empty.jsonl", "")
      yield* write("sessions/--w1--/t_1.jsonl.v1.bak", lines(header({ id: "bak" })))
      const found = yield* all()
      expect(found.map((one) => one.id)).toEqual(["3", "1", "5", "2", "6", "4"])
      expect(found[0]).toEqual({
        key: files[2],
        id: "3",
        cwd: "/w",
        name: undefined,
        bytes: (yield* fs.readFile(files[2] ?? "")).length,
        modified: 6000,
        contextTokens: undefined
      })
      const first = yield* Stream.runHead(store.list())
      expect(first).toMatchObject({ value: { id: "3" } })
    }).pipe(onFiles)
  )

  it.scoped("filters by working folder: the header's, else that of the place", () =>
    Effect.gen(function* () {
      const { all, write } = yield* workspace
      yield* write("sessions/--x--/t_1.jsonl", lines(header({ id: "1", cwd: "/a/b" })))
      yield* write("sessions/--a-b--/t_2.jsonl", lines(header({ id: "2", cwd: undefined })))
      yield* write("sessions/--a-b--/t_3.jsonl", lines(header({ id: "3", cwd: "/a-b" })))
      expect((yield* all("/a/b/")).map((one) => one.id).toSorted()).toEqual(["1", "2"])
      expect((yield* all()).length).toBe(3)
    }).pipe(onFiles)
  )

  it.scoped("gives the last name and the last trusted size of the context", () =>
    Effect.gen(function* () {
      const { all, write } = yield* workspace
      const cases: ReadonlyArray<[ReadonlyArray<object | string>, number | undefined, string | undefined]> = [
        [[user("a", null), reply("b", "a", 100), user("x", "b")], 100, undefined],
        [[reply("a", null, 100), reply("b", "a", 200)], 200, undefined],
        [
          [reply("a", null, 100), reply("b", "a", 0), reply("d", "b", 300, "aborted"), reply("f", "d", 1, "error")],
          100,
          undefined
        ],
        [[reply("a", null, 100), compaction], undefined, undefined],
        [[reply("a", null, 100), edit], undefined, undefined],
        [[reply("a", null, 100), compaction, reply("d", "c", 40)], 40, undefined],
        [[named("one"), named("two"), user("a", null)], undefined, "two"],
        [[named("one"), named(null)], undefined, undefined],
        [["{torn", JSON.stringify(reply("a", null, 7)) + JSON.stringify(named("joined"))], 7, "joined"]
      ]
      for (const [entries, contextTokens, name] of cases) {
        yield* write("sessions/--w--/t_s1.jsonl", lines(header(), ...entries))
        expect(yield* all()).toMatchObject([{ contextTokens, name }])
      }
    }).pipe(onFiles)
  )

  it.scoped("reads version 1 and a byte order mark", () =>
    Effect.gen(function* () {
      const { all, write } = yield* workspace
      const { id: _, parentId: __, ...old } = reply("a", null, 12)
      yield* write("sessions/--w--/t_s1.jsonl", "\uFEFF" + lines("", header({ version: undefined }), old))
      expect(yield* all()).toMatchObject([{ id: "s1", contextTokens: 12 }])
    }).pipe(onFiles)
  )

  it.scoped("fails where the folder cannot be read", () =>
    Effect.gen(function* () {
      const { all, write } = yield* workspace
      yield* write("sessions", "a file")
      expect((yield* Effect.flip(all()))._tag).toBe("SessionUnreadable")
    }).pipe(onFiles)
  )

  it.scoped("shows a session whose header is nested too deep to be written again", () =>
    Effect.gen(function* () {
      const { all, store, write } = yield* workspace
      const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`
      const file = yield* write(
        "sessions/--w--/1_s1.jsonl",
        header().replace("{", `{"deep":${deep},`) + "\n" + lines(reply("a", null, 5))
      )
      expect(yield* all()).toMatchObject([{ id: "s1", contextTokens: 5 }])
      expect(yield* store.find("s1")).toBe(file)
    }).pipe(onFiles)
  )
})
