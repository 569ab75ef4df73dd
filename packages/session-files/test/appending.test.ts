import { describe, expect, it } from "@effect/vitest"
import * as PlatformError from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import { Effect, Fiber, Layer, Random, TestClock } from "effect"
import * as SessionFiles from "../src/SessionFiles.js"
import { faults, faulty, header, ids, lines, makeWorkspace, onFiles, user } from "./workspace.js"

const diskFull = new PlatformError.SystemError({
  module: "FileSystem",
  method: "writeAll",
  reason: "Unknown",
  description: "ENOSPC: no space left on device, write",
  cause: new Error("ENOSPC: no space left on device, write")
})

const failing = (sessionsDir: string, fault: (file: FileSystem.File) => Partial<FileSystem.File>, flag?: string) =>
  SessionFiles.make({ sessionsDir }).pipe(Effect.provide(Layer.effect(FileSystem.FileSystem, faulty(fault, flag))))

describe("SessionFiles.append", () => {
  it.scoped("appends whole lines that are there at the next open", () =>
    Effect.gen(function* () {
      const { store, text, write } = yield* makeWorkspace
      const before = lines(header(), user("a", null))
      const file = yield* write("x.jsonl", before)
      const first = yield* store.append(yield* store.open(file), [user("b", "a"), user("c", "b")])
      expect(first.backup).toBeUndefined()
      expect(first.session.tree.leafId).toBe("c")
      const second = yield* store.append(first.session, [user("d", "b", "\ud800\u2028\n")])
      expect((yield* text(file)).startsWith(before)).toBe(true)
      const reopened = yield* store.open(file)
      expect(reopened).toEqual(second.session)
      expect(ids(reopened)).toEqual(["a", "b", "c", "d"])
      expect(reopened.diagnostics).toEqual([])
    }).pipe(onFiles)
  )

  it.scoped("starts a new line after a torn one, which stays reported", () =>
    Effect.gen(function* () {
      const { store, text, write } = yield* makeWorkspace
      const torn = lines(header(), user("a", null)) + '{"type":"message","id":"t'
      const file = yield* write("x.jsonl", torn)
      yield* store.append(yield* store.open(file), [user("b", "a")])
      expect(yield* text(file)).toBe(`${torn}\n${lines(user("b", "a"))}`)
      const session = yield* store.open(file)
      expect([ids(session), faults(session)]).toEqual([["a", "b"], ["NotJson"]])
    }).pipe(onFiles)
  )

  it.scoped("starts a new line after a whole one without a line break", () =>
    Effect.gen(function* () {
      const { store, text, write } = yield* makeWorkspace
      const file = yield* write("x.jsonl", lines(header(), user("a", null)).trimEnd())
      const { session } = yield* store.append(yield* store.open(file), [user("b", "a")])
      expect(yield* text(file)).toBe(lines(header(), user("a", null), user("b", "a")))
      expect(session).toEqual(yield* store.open(file))
    }).pipe(onFiles)
  )

  it.scoped("writes neither newer versions nor unreadable ones", () =>
    Effect.gen(function* () {
      const { store, text, write } = yield* makeWorkspace
      for (const version of [9, "three", 2.5]) {
        const content = lines(header({ version }), user("a", null), { type: "future" })
        const file = yield* write("x.jsonl", content)
        const session = yield* store.open(file)
        expect(session.tree.leafId).toBe("a")
        expect((yield* Effect.flip(store.append(session, [user("b", "a")])))._tag).toBe("SessionReadOnly")
        expect(yield* text(file)).toBe(content)
      }
    }).pipe(onFiles)
  )

  it.scoped("does not bring back a deleted file", () =>
    Effect.gen(function* () {
      const { fs, store, write } = yield* makeWorkspace
      for (const version of [3, 2]) {
        const file = yield* write("x.jsonl", lines(header({ version }), user("a", null)))
        const session = yield* store.open(file)
        yield* fs.remove(file)
        expect((yield* Effect.flip(store.append(session, [user("b", "a")])))._tag).toBe("SessionNotFound")
        expect(yield* fs.exists(file)).toBe(false)
      }
    }).pipe(onFiles)
  )

  it.scoped("does not bring back a file that is deleted while it is opened", () =>
    Effect.gen(function* () {
      const { fs, sessionsDir, store, write } = yield* makeWorkspace
      const file = yield* write("x.jsonl", lines(header(), user("a", null)))
      const session = yield* store.open(file)
      const late = yield* SessionFiles.make({ sessionsDir }).pipe(
        Effect.provideService(FileSystem.FileSystem, {
          ...fs,
          open: (path, options) =>
            Effect.andThen(options?.flag === "a" ? Effect.orDie(fs.remove(file)) : Effect.void, fs.open(path, options))
        })
      )
      expect((yield* Effect.flip(late.append(session, [user("b", "a")])))._tag).toBe("SessionChanged")
      expect(yield* fs.exists(file)).toBe(false)
    }).pipe(onFiles)
  )

  it.scoped("notices what another store appended", () =>
    Effect.gen(function* () {
      const { sessionsDir, store, write } = yield* makeWorkspace
      const other = yield* SessionFiles.make({ sessionsDir })
      const file = yield* write("x.jsonl", lines(header(), user("a", null)))
      const [mine, theirs] = [yield* store.open(file), yield* other.open(file)]
      yield* other.append(theirs, [user("b", "a")])
      expect((yield* Effect.flip(store.append(mine, [user("c", "a")])))._tag).toBe("SessionChanged")
      yield* store.append(yield* store.open(file), [user("c", "b")])
      expect(ids(yield* store.open(file))).toEqual(["a", "b", "c"])
    }).pipe(onFiles)
  )

  it.scoped("lets one of several appends at once through", () =>
    Effect.gen(function* () {
      const { store, write } = yield* makeWorkspace
      const session = yield* store.open(yield* write("x.jsonl", lines(header(), user("a", null))))
      const exits = yield* Effect.forEach(
        ["b", "c", "d", "e"],
        (id) => Effect.either(store.append(session, [user(id, "a")])),
        { concurrency: "unbounded" }
      )
      expect(exits.filter((exit) => exit._tag === "Right").length).toBe(1)
      expect(ids(yield* store.open(session.key)).length).toBe(2)
    }).pipe(onFiles)
  )

  it.scoped("keeps what another program writes in the same moment, and says so", () =>
    Effect.gen(function* () {
      const { fs, sessionsDir, store, write } = yield* makeWorkspace
      const file = yield* write("x.jsonl", lines(header(), user("a", null)))
      const session = yield* store.open(file)
      const foreign = Effect.orDie(fs.writeFileString(file, lines(user("z", "a")), { flag: "a" }))
      const raced = yield* failing(sessionsDir, (file) => ({
        writeAll: (bytes) => Effect.andThen(foreign, file.writeAll(bytes))
      }))
      const appended = yield* raced.append(session, [user("b", "a")])
      expect(faults(appended.session)).toEqual(["ForkedWrite"])
      expect(ids(yield* store.open(file))).toEqual(["a", "z", "b"])
      expect((yield* Effect.flip(store.append(appended.session, [user("c", "b")])))._tag).toBe("SessionChanged")
    }).pipe(onFiles)
  )

  it.scoped("takes back what a full disk left of a write", () =>
    Effect.gen(function* () {
      const { sessionsDir, store, text, write } = yield* makeWorkspace
      const content = lines(header(), user("a", null)).trimEnd()
      const file = yield* write("x.jsonl", content)
      const session = yield* store.open(file)
      const faultsOfDisk: ReadonlyArray<(file: FileSystem.File) => Partial<FileSystem.File>> = [
        () => ({ writeAll: () => Effect.fail(diskFull) }),
        (file) => ({
          writeAll: (bytes) => Effect.andThen(file.writeAll(bytes.subarray(0, 20)), Effect.fail(diskFull))
        }),
        () => ({ sync: Effect.fail(diskFull) })
      ]
      for (const fault of faultsOfDisk) {
        const broken = yield* failing(sessionsDir, fault)
        const error = yield* Effect.flip(broken.append(session, [user("b", "a")]))
        expect(error._tag).toBe("AppendFailed")
        expect(error.message).toContain("ENOSPC")
        expect(yield* text(file)).toBe(content)
      }
      expect(ids((yield* store.append(session, [user("b", "a")])).session)).toEqual(["a", "b"])
    }).pipe(onFiles)
  )

  it.scoped("does not cut off what another program wrote after a half write", () =>
    Effect.gen(function* () {
      const { fs, sessionsDir, store, text, write } = yield* makeWorkspace
      const content = lines(header(), user("a", null))
      const file = yield* write("x.jsonl", content)
      const session = yield* store.open(file)
      const foreign = Effect.orDie(fs.writeFileString(file, "theirs\n", { flag: "a" }))
      const broken = yield* failing(sessionsDir, (file) => ({
        writeAll: (bytes) =>
          file.writeAll(bytes.subarray(0, 5)).pipe(Effect.andThen(foreign), Effect.andThen(Effect.fail(diskFull)))
      }))
      const error = yield* Effect.flip(broken.append(session, [user("b", "a")]))
      expect(error._tag).toBe("AppendFailed")
      expect(error.message).toContain("could not be taken back")
      expect(yield* text(file)).toBe(`${content}{"typtheirs\n`)
    }).pipe(onFiles)
  )

  it.scoped("is not interrupted once it writes", () =>
    Effect.gen(function* () {
      const { sessionsDir, store, write } = yield* makeWorkspace
      const file = yield* write("x.jsonl", lines(header(), user("a", null)))
      const session = yield* store.open(file)
      const begun = yield* Effect.makeLatch()
      const released = yield* Effect.makeLatch()
      const slow = yield* failing(sessionsDir, (file) => ({
        writeAll: (bytes) => begun.open.pipe(Effect.andThen(released.await), Effect.andThen(file.writeAll(bytes)))
      }))
      const fiber = yield* Effect.fork(slow.append(session, [user("b", "a")]))
      yield* begun.await
      const interrupted = yield* Effect.fork(Fiber.interrupt(fiber))
      yield* released.open
      yield* Fiber.join(interrupted)
      expect(ids(yield* store.open(file))).toEqual(["a", "b"])
    }).pipe(onFiles)
  )

  it.scoped("writes through a symbolic link", () =>
    Effect.gen(function* () {
      const { fs, path, root, store, write } = yield* makeWorkspace
      const file = yield* write("real.jsonl", lines(header(), user("a", null)))
      const link = path.join(root, "link.jsonl")
      yield* fs.symlink(file, link)
      yield* store.append(yield* store.open(link), [user("b", "a")])
      expect(yield* fs.readLink(link)).toBe(file)
      expect(ids(yield* store.open(file))).toEqual(["a", "b"])
    }).pipe(onFiles)
  )
})

describe("SessionFiles.create", () => {
  it.scoped("makes a private file in a private folder", () =>
    Effect.gen(function* () {
      const { fs, path, sessionsDir, store, text } = yield* makeWorkspace
      yield* TestClock.setTime(Date.parse("2026-02-03T04:05:06.789Z"))
      const session = yield* Effect.withRandom(
        store.create({ cwd: "/a/b", parentSession: "/p.jsonl" }),
        Random.make("seed")
      )
      const { id } = session.tree.header
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      expect(session.key).toBe(path.join(sessionsDir, "--a-b--", `2026-02-03T04-05-06-789Z_${id}.jsonl`))
      expect(JSON.parse(yield* text(session.key))).toEqual({
        type: "session",
        version: 3,
        id,
        timestamp: "2026-02-03T04:05:06.789Z",
        cwd: "/a/b",
        parentSession: "/p.jsonl"
      })
      expect((yield* fs.stat(session.key)).mode & 0o777).toBe(0o600)
      expect((yield* fs.stat(path.dirname(session.key))).mode & 0o777).toBe(0o700)
      expect((yield* fs.stat(sessionsDir)).mode & 0o777).toBe(0o700)
      expect(yield* store.open(session.key)).toEqual(session)
      expect(yield* store.find(id.slice(0, 8))).toBe(session.key)
      const again = yield* Effect.withRandom(Effect.flip(store.create({ cwd: "/a/b" })), Random.make("seed"))
      expect(again._tag).toBe("AppendFailed")
      yield* store.append(session, [user("a", null)])
      expect(ids(yield* store.open(session.key))).toEqual(["a"])
    }).pipe(onFiles)
  )

  it.scoped("leaves no file where writing fails", () =>
    Effect.gen(function* () {
      const { fs, path, sessionsDir } = yield* makeWorkspace
      const broken = yield* failing(sessionsDir, () => ({ sync: Effect.fail(diskFull) }), "wx")
      expect((yield* Effect.flip(broken.create({ cwd: "/w" })))._tag).toBe("AppendFailed")
      expect(yield* fs.readDirectory(path.join(sessionsDir, "--w--"))).toEqual([])
    }).pipe(onFiles)
  )
})
