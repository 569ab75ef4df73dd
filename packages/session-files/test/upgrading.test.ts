import { describe, expect, it } from "@effect/vitest"
import * as PlatformError from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import { Effect, Layer } from "effect"
import * as SessionFiles from "../src/SessionFiles.js"
import { faulty, header, ids, lines, makeWorkspace, onFiles, user } from "./workspace.js"

const refused = new PlatformError.SystemError({ module: "FileSystem", method: "x", reason: "PermissionDenied" })

const said = (content: string) => ({
  type: "message",
  timestamp: "2026-01-01",
  message: { role: "user", content },
  extra: [1]
})

const versionOne = lines(
  header({ version: undefined, odd: true }),
  said("1"),
  "{torn",
  said("2"),
  { type: "compaction", timestamp: "2026-01-01", summary: "s", firstKeptEntryIndex: 3, tokensBefore: 5 },
  said("3")
)

const versionTwo = lines(header({ version: 2 }), user("a", null), {
  type: "message",
  id: "h",
  parentId: "a",
  timestamp: "2026-01-01",
  message: { role: "hookMessage", customType: "t", content: "from a hook", display: true }
})

describe("Upgrade", () => {
  it.scoped("writes version 3 with the ids that reading showed, and keeps the original", () =>
    Effect.gen(function* () {
      const { fs, path, store, text, write } = yield* makeWorkspace
      for (const [name, content, version] of [
        ["one/x.jsonl", versionOne, 1],
        ["two/x.jsonl", versionTwo, 2]
      ] as const) {
        const file = yield* write(name, content)
        yield* fs.chmod(file, 0o640)
        const session = yield* store.open(file)
        const appended = yield* store.append(session, [user("new", session.tree.leafId)])
        expect(appended.backup).toBe(`${file}.v${version}.bak`)
        expect(yield* text(appended.backup ?? "")).toBe(content)
        expect((yield* fs.stat(appended.backup ?? "")).mode & 0o777).toBe(0o640)
        expect((yield* fs.stat(file)).mode & 0o777).toBe(0o640)
        const reopened = yield* store.open(file)
        expect(reopened.version).toBe(3)
        expect(reopened.diagnostics).toEqual([])
        expect(ids(reopened)).toEqual([...ids(session), "new"])
        expect(reopened.tree.leafId).toBe("new")
        expect(reopened.revision).toBe(appended.session.revision)
        expect(ids(appended.session)).toEqual(ids(reopened))
        expect((yield* fs.readDirectory(path.dirname(file))).toSorted()).toEqual(["x.jsonl", `x.jsonl.v${version}.bak`])
        yield* store.append(appended.session, [user("more", "new")])
        expect(yield* text(appended.backup ?? "")).toBe(content)
      }
    }).pipe(onFiles)
  )

  it.scoped("keeps what it does not know, and the boundary", () =>
    Effect.gen(function* () {
      const { store, text, write } = yield* makeWorkspace
      const file = yield* write("x.jsonl", versionOne)
      const { session } = yield* store.append(yield* store.open(file), [user("new", null)])
      const records = (yield* text(file))
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line))
      expect(records[0]).toMatchObject({ type: "session", version: 3, odd: true })
      expect(records[1]).toMatchObject({ extra: [1], id: ids(session)[0], parentId: null })
      expect(records[3].firstKeptEntryId).toBe(ids(session)[1])
      expect(records[3].firstKeptEntryIndex).toBeUndefined()
    }).pipe(onFiles)
  )

  it.scoped("never overwrites an earlier backup", () =>
    Effect.gen(function* () {
      const { store, text, write } = yield* makeWorkspace
      yield* write("x.jsonl.v2.bak", "first")
      yield* write("x.jsonl.v2.1.bak", "second")
      const file = yield* write("x.jsonl", versionTwo)
      const { backup } = yield* store.append(yield* store.open(file), [user("new", "h")])
      expect(backup).toBe(`${file}.v2.2.bak`)
      expect(yield* text(`${file}.v2.bak`)).toBe("first")
    }).pipe(onFiles)
  )

  it.scoped("copies where a second name cannot be had", () =>
    Effect.gen(function* () {
      const { fs, path, sessionsDir, store, text, write } = yield* makeWorkspace
      const linkless = yield* SessionFiles.make({ sessionsDir }).pipe(
        Effect.provideService(FileSystem.FileSystem, { ...fs, link: () => Effect.fail(refused) })
      )
      const file = yield* write("d/x.jsonl", versionTwo)
      yield* fs.chmod(file, 0o604)
      yield* write("d/x.jsonl.v2.bak", "first")
      const { backup } = yield* linkless.append(yield* store.open(file), [user("new", "h")])
      expect(backup).toBe(`${file}.v2.1.bak`)
      expect(yield* text(backup ?? "")).toBe(versionTwo)
      expect((yield* fs.stat(backup ?? "")).mode & 0o777).toBe(0o604)
      expect((yield* fs.readDirectory(path.dirname(file))).length).toBe(3)
    }).pipe(onFiles)
  )

  it.scoped("writes through a symbolic link and leaves the backup beside the file", () =>
    Effect.gen(function* () {
      const { fs, path, root, store, text, write } = yield* makeWorkspace
      const file = yield* write("real/x.jsonl", versionTwo)
      const link = path.join(root, "link.jsonl")
      yield* fs.symlink(file, link)
      const { backup, session } = yield* store.append(yield* store.open(link), [user("new", "h")])
      expect(session.key).toBe(link)
      expect(backup).toBe(`${file}.v2.bak`)
      expect(yield* fs.readLink(link)).toBe(file)
      expect(yield* text(link)).toBe(yield* text(file))
      expect((yield* store.open(link)).version).toBe(3)
    }).pipe(onFiles)
  )

  it.scoped("leaves everything as it was where a step fails", () =>
    Effect.gen(function* () {
      const { fs, path, sessionsDir, store, text, write } = yield* makeWorkspace
      const file = yield* write("d/x.jsonl", versionTwo)
      const session = yield* store.open(file)
      const steps: ReadonlyArray<Partial<FileSystem.FileSystem>> = [
        yield* faulty(() => ({ writeAll: () => Effect.fail(refused) }), "wx"),
        yield* faulty(() => ({ sync: Effect.fail(refused) }), "wx"),
        { chmod: () => Effect.fail(refused) },
        { link: () => Effect.fail(refused), copyFile: () => Effect.fail(refused) },
        { rename: () => Effect.fail(refused) }
      ]
      for (const step of steps) {
        const broken = yield* SessionFiles.make({ sessionsDir }).pipe(
          Effect.provide(Layer.succeed(FileSystem.FileSystem, { ...fs, ...step }))
        )
        expect((yield* Effect.flip(broken.append(session, [user("new", "h")])))._tag).toBe("AppendFailed")
        expect(yield* text(file)).toBe(versionTwo)
        expect(yield* fs.readDirectory(path.dirname(file))).toEqual(["x.jsonl"])
      }
      expect((yield* store.append(session, [user("new", "h")])).backup).toBeDefined()
    }).pipe(onFiles)
  )

  it.scoped("notices a change, before and while the new file is written", () =>
    Effect.gen(function* () {
      const { fs, path, sessionsDir, store, text, write } = yield* makeWorkspace
      const file = yield* write("d/x.jsonl", versionTwo)
      const grow = Effect.orDie(fs.writeFileString(file, lines(user("z", "h")), { flag: "a" }))
      const session = yield* store.open(file)
      yield* grow
      expect((yield* Effect.flip(store.append(session, [user("new", "h")])))._tag).toBe("SessionChanged")
      const raced = yield* SessionFiles.make({ sessionsDir }).pipe(
        Effect.provideService(FileSystem.FileSystem, {
          ...fs,
          link: (from, to) => Effect.andThen(grow, fs.link(from, to))
        })
      )
      expect((yield* Effect.flip(raced.append(yield* store.open(file), [user("new", "h")])))._tag).toBe(
        "SessionChanged"
      )
      expect(yield* text(file)).toBe(versionTwo + lines(user("z", "h"), user("z", "h")))
      expect(yield* fs.readDirectory(path.dirname(file))).toEqual(["x.jsonl"])
    }).pipe(onFiles)
  )

  it.scoped("removes what killed upgrades of the session left, and nothing else", () =>
    Effect.gen(function* () {
      const { fs, path, store, write } = yield* makeWorkspace
      const file = yield* write("d/x.jsonl", versionTwo)
      const others = [".y.jsonl.00000000.tmp", ".x.jsonl.mine.tmp", ".x.jsonl.0000000g.tmp", "x.jsonl.00000000.tmp"]
      for (const name of [".x.jsonl.0123abcd.tmp", ".x.jsonl.ffffffff.tmp", ...others])
        yield* write(`d/${name}`, "half")
      yield* store.append(yield* store.open(file), [user("new", "h")])
      const names = yield* fs.readDirectory(path.dirname(file))
      expect(names.toSorted()).toEqual([...others, "x.jsonl", "x.jsonl.v2.bak"].toSorted())
    }).pipe(onFiles)
  )

  it.scoped("goes on with the backup of an upgrade that was killed, but not with a link to the file", () =>
    Effect.gen(function* () {
      const { fs, path, store, text, write } = yield* makeWorkspace
      const killed = yield* write("one/x.jsonl", versionTwo)
      yield* fs.link(killed, `${killed}.v2.bak`)
      expect((yield* store.append(yield* store.open(killed), [user("new", "h")])).backup).toBe(`${killed}.v2.bak`)
      expect(yield* text(`${killed}.v2.bak`)).toBe(versionTwo)
      const linked = yield* write("two/x.jsonl", versionTwo)
      yield* fs.symlink(linked, `${linked}.v2.bak`)
      const { backup } = yield* store.append(yield* store.open(linked), [user("new", "h")])
      expect(path.basename(backup ?? "")).toBe("x.jsonl.v2.1.bak")
      expect(yield* text(backup ?? "")).toBe(versionTwo)
    }).pipe(onFiles)
  )
})
