import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as SessionDoctor from "../src/SessionDoctor.js"
import { header, lines, makeWorkspace, onFiles, user } from "./workspace.js"

const names = ["../../x", "/etc/passwd", "..", "", "a\0b", "C:\\x", "x".repeat(300)]

describe("names that are paths, or no names at all", () => {
  it.scoped("of a folder: its session is in the sessions folder all the same, or it is an error", () =>
    Effect.gen(function* () {
      const { fs, path, sessionsDir, store } = yield* makeWorkspace
      for (const cwd of names) {
        const made = yield* Effect.either(store.create({ cwd, parentSession: cwd }))
        if (made._tag === "Left") expect([cwd, made.left._tag]).toEqual([cwd, "AppendFailed"])
        else expect(path.dirname(path.dirname(made.right.key))).toBe(sessionsDir)
      }
      expect(yield* fs.readDirectory(path.dirname(sessionsDir))).toEqual(["sessions"])
    }).pipe(onFiles)
  )

  it.scoped("of a session: finding and opening it is an error that says so", () =>
    Effect.gen(function* () {
      const { store, write } = yield* makeWorkspace
      const session = yield* store.open(yield* write("x.jsonl", lines(header(), user("a", null))))
      for (const name of ["a\0b", "a\0b.jsonl", "/none/../\0", "x".repeat(300)]) {
        const errors = [
          yield* Effect.flip(store.find(name)),
          yield* Effect.flip(store.open(name)),
          yield* Effect.flip(store.header(name)),
          yield* Effect.flip(store.append({ ...session, key: name }, [user("b", "a")]))
        ]
        for (const { _tag } of errors) expect(_tag).toMatch(/^(?:SessionNotFound|SessionUnreadable|AppendFailed)$/)
      }
    }).pipe(onFiles)
  )

  it.scoped("of a copy: nothing is written, and that is an error", () =>
    Effect.gen(function* () {
      const { fs, path, root, write } = yield* makeWorkspace
      const file = yield* write("d/x.jsonl", lines(header(), user("a", null)))
      for (const out of ["", "..", "a\0b", "x".repeat(300), "d"]) {
        const error = yield* Effect.flip(SessionDoctor.repair(file, out === "" ? "" : path.join(root, out)))
        expect(error._tag).toMatch(/^(?:AppendFailed|CopyExists)$/)
      }
      expect(yield* fs.readDirectory(path.join(root, "d"))).toEqual(["x.jsonl"])
    }).pipe(onFiles)
  )
})
