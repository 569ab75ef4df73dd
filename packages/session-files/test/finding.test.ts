import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { header, lines, makeWorkspace, onFiles } from "./workspace.js"

describe("SessionFiles.find", () => {
  it.scoped("finds by path, absolute and relative", () =>
    Effect.gen(function* () {
      const { path, root, store, write } = yield* makeWorkspace
      const file = yield* write("elsewhere/x.jsonl", lines(header()))
      expect(yield* store.find(file)).toBe(file)
      expect(yield* store.find(path.relative(process.cwd(), file))).toBe(file)
      expect((yield* Effect.flip(store.find(path.join(file, "y.jsonl"))))._tag).toBe("SessionNotFound")
      expect((yield* Effect.flip(store.find(path.join(root, "no.jsonl"))))._tag).toBe("SessionNotFound")
      expect((yield* Effect.flip(store.find("no.jsonl")))._tag).toBe("SessionNotFound")
    }).pipe(onFiles)
  )

  it.scoped("finds by id, by its start, and by the header where the name says something else", () =>
    Effect.gen(function* () {
      const { store, write } = yield* makeWorkspace
      const one = yield* write("sessions/--w--/2026_abc-1.jsonl", lines(header({ id: "abc-1" })))
      const two = yield* write("sessions/--w--/renamed.jsonl", lines(header({ id: "xyz" })))
      const three = yield* write("sessions/--v--/2026_old.jsonl", lines(header({ id: "new" })))
      const flat = yield* write("sessions/2026_flat.jsonl", lines(header({ id: "flat" })))
      const nameless = yield* write("sessions/--v--/2026_byname.jsonl", lines({ type: "session", version: 3 }))
      expect(yield* store.find("abc-1")).toBe(one)
      expect(yield* store.find("ab")).toBe(one)
      expect(yield* store.find("xyz")).toBe(two)
      expect(yield* store.find("new")).toBe(three)
      expect(yield* store.find("flat")).toBe(flat)
      expect(yield* store.find("byn")).toBe(nameless)
      expect((yield* Effect.flip(store.find("old")))._tag).toBe("SessionNotFound")
    }).pipe(onFiles)
  )

  it.scoped("lists the candidates of an ambiguous start; a whole id wins", () =>
    Effect.gen(function* () {
      const { store, write } = yield* makeWorkspace
      const one = yield* write("sessions/--w--/t_ab.jsonl", lines(header({ id: "ab" })))
      const two = yield* write("sessions/--w--/t_abc.jsonl", lines(header({ id: "abc" })))
      const error = yield* Effect.flip(store.find("a"))
      expect(error._tag).toBe("AmbiguousSession")
      expect(error.message).toContain(`ab  ${one}`)
      expect(error.message).toContain(`abc  ${two}`)
      expect(yield* store.find("ab")).toBe(one)
      yield* write("sessions/--v--/t_ab.jsonl", lines(header({ id: "ab" })))
      expect((yield* Effect.flip(store.find("ab")))._tag).toBe("AmbiguousSession")
    }).pipe(onFiles)
  )

  it.scoped("says what there is where nothing fits", () =>
    Effect.gen(function* () {
      const { store, write } = yield* makeWorkspace
      const nothing = yield* Effect.flip(store.find("a"))
      expect(nothing).toMatchObject({ _tag: "SessionNotFound", available: [] })
      const file = yield* write("sessions/--w--/t_s1.jsonl", lines(header()))
      yield* write("sessions/--w--/t_other.jsonl", "no session\n")
      for (const query of ["", "  ", "zzz", "other", "./zzz.jsonl", "../s1"]) {
        const error = yield* Effect.flip(store.find(query))
        expect(error).toMatchObject({ _tag: "SessionNotFound", query, available: [`s1  ${file}`] })
      }
    }).pipe(onFiles)
  )

  it.scoped("never makes a path of an id", () =>
    Effect.gen(function* () {
      const { store, write } = yield* makeWorkspace
      const file = yield* write("sessions/--w--/t_x.jsonl", lines(header({ id: "..%2f..", cwd: "../.." })))
      expect(yield* store.find("..")).toBe(file)
    }).pipe(onFiles)
  )
})
