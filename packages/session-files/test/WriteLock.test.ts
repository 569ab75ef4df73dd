import { spawn } from "node:child_process"
import { once } from "node:events"
import { describe, expect, it } from "@effect/vitest"
import * as PlatformError from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import { Effect, Either, Fiber, Option, TestClock } from "effect"
import * as LockHolder from "../src/LockHolder.js"
import * as SessionFiles from "../src/SessionFiles.js"
import { header, ids, lines, makeWorkspace, onFiles, user } from "./workspace.js"

const token = "11111111-2222-4333-8444-555555555555"
const third = "33333333-2222-4333-8444-555555555555"
const other = "99999999-2222-4333-8444-555555555555"

/** The number of a process that has ended. */
const endedPid = Effect.promise(async () => {
  const child = spawn(process.execPath, ["-e", ""])
  await once(child, "exit")
  return child.pid ?? 0
})

/** The number of a process that lives as long as the test. */
const livingPid = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"])),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  ),
  (child) => child.pid ?? 0
)

/** This process as a holder, but for some fields. */
const holder = (fields: Partial<LockHolder.LockHolder>) =>
  Effect.map(LockHolder.current(token), (current) => JSON.stringify({ ...current, ...fields }))

const session = Effect.gen(function* () {
  const workspace = yield* makeWorkspace
  const file = yield* workspace.write("d/x.jsonl", lines(header(), user("a", null)))
  const opened = yield* workspace.store.open(file)
  const around = workspace.fs.readDirectory(workspace.path.dirname(file))
  return { ...workspace, file, opened, lock: `${file}.lock`, around }
})

/** Lets time pass for a fiber until it ends. */
const passTime = <A, E>(fiber: Fiber.RuntimeFiber<A, E>): Effect.Effect<Either.Either<A, E>> =>
  Effect.flatMap(Fiber.poll(fiber), (exit) =>
    Option.isSome(exit)
      ? Effect.either(Fiber.join(fiber))
      : TestClock.adjust("1 second").pipe(
          Effect.zipRight(Effect.async<void>((resume) => void setImmediate(() => resume(Effect.void)))),
          Effect.zipRight(passTime(fiber))
        )
  )

describe("the lock of a dead process", () => {
  it.scopedLive("is taken over, and nothing of it is left", () =>
    Effect.gen(function* () {
      const { around, lock, opened, store, write } = yield* session
      const started = yield* holder({ started: "another boot 1" })
      let { session: current } = yield* store.append(opened, [user("b", "a")])
      for (const text of [yield* holder({ pid: yield* endedPid }), started]) {
        yield* write("d/x.jsonl.lock", text)
        current = (yield* store.append(current, [user(`c${current.tree.entries.length}`, "b")])).session
        expect(yield* around).toEqual(["x.jsonl"])
      }
      expect(lock.endsWith("/d/x.jsonl.lock")).toBe(true)
      expect(ids(current)).toEqual(["a", "b", "c2", "c3"])
    }).pipe(onFiles)
  )

  it.scopedLive("is taken over where a process died in taking it over, at each step", () =>
    Effect.gen(function* () {
      const { around, opened, store, write } = yield* session
      const pid = yield* endedPid
      yield* write("d/x.jsonl.lock", yield* holder({ pid }))
      yield* write(`d/x.jsonl.lock.${token}.dead`, yield* holder({ pid, token: other }))
      // Left by one who died right before the end, long ago.
      yield* write(`d/x.jsonl.lock.${other.replace("9", "8")}.dead`, yield* holder({ pid, token: third }))
      const { session: grown } = yield* store.append(opened, [user("b", "a")])
      expect(ids(grown)).toEqual(["a", "b"])
      expect(yield* around).toEqual(["x.jsonl"])
    }).pipe(onFiles)
  )

  it.scopedLive("is not removed under those who find it at the same time", () =>
    Effect.gen(function* () {
      const { around, file, sessionsDir, store, write } = yield* session
      const pid = yield* endedPid
      for (let round = 0; round < 10; round++) {
        yield* write("d/x.jsonl.lock", yield* holder({ pid }))
        yield* Effect.forEach(
          Array.from({ length: 8 }, (_, n) => `r${round}n${n}`),
          (id) =>
            Effect.gen(function* () {
              const rival = yield* SessionFiles.make({ sessionsDir })
              const append = Effect.flatMap(rival.open(file), (read) =>
                rival.append(read, [user(id, read.tree.leafId)])
              )
              yield* Effect.retry(append, { while: (error) => error._tag === "SessionChanged" })
            }),
          { concurrency: "unbounded" }
        )
        expect(yield* around).toEqual(["x.jsonl"])
      }
      const { diagnostics, tree } = yield* store.open(file)
      expect(diagnostics).toEqual([])
      expect(new Set(tree.entries.map((entry) => entry.id)).size).toBe(81)
      // One after the other: each follows the one before it.
      expect(tree.entries.slice(1).map((entry) => entry.parentId)).toEqual(
        tree.entries.slice(0, -1).map(({ id }) => id)
      )
    }).pipe(onFiles)
  )

  it.scoped("that never wrote who it is, is taken over after a while", () =>
    Effect.gen(function* () {
      const { around, fs, lock, opened, store, write } = yield* session
      for (const text of ["", '{"token":"', JSON.stringify({ token: "../../../x", pid: 1, host: "", at: 0 })]) {
        yield* write("d/x.jsonl.lock", text)
        yield* fs.utimes(lock, 100, 100)
        yield* TestClock.setTime(101_000)
        const waiting = yield* Effect.fork(store.append(opened, [user("b", "a")]))
        yield* Effect.yieldNow()
        expect(yield* around).toContain("x.jsonl.lock")
        const result = yield* passTime(waiting)
        expect(Either.isRight(result) || result.left._tag === "SessionChanged").toBe(true)
        expect(yield* around).toEqual(["x.jsonl"])
      }
    }).pipe(onFiles)
  )
})

describe("the lock of a process that may live", () => {
  it.scoped("is waited for, then it is an error that says who holds it", () =>
    Effect.gen(function* () {
      const { around, file, fs, lock, opened, store, text, write } = yield* session
      const before = yield* text(file)
      const cases = [
        [{ pid: yield* livingPid, started: undefined }, "process"],
        [{ pid: 1, started: undefined, host: "elsewhere" }, "process 1 on elsewhere"],
        [{ pid: yield* endedPid, host: "elsewhere" }, "on elsewhere"]
      ] as const
      for (const [fields, said] of cases) {
        const content = yield* holder(fields)
        yield* write("d/x.jsonl.lock", content)
        const result = yield* passTime(yield* Effect.fork(store.append(opened, [user("b", "a")])))
        expect(result).toMatchObject({ left: { _tag: "SessionLocked", key: file, lock, pid: fields.pid } })
        if (Either.isLeft(result)) {
          expect(result.left.message).toContain(said)
          expect(result.left.message).toContain(`remove ${lock}`)
        }
        expect([yield* text(lock), yield* text(file)]).toEqual([content, before])
        expect(yield* around).toEqual(["x.jsonl", "x.jsonl.lock"])
      }
      yield* fs.remove(lock)
      yield* store.append(opened, [user("b", "a")])
    }).pipe(onFiles)
  )

  it.scopedLive("is waited for, and then the write is made; who waits can be interrupted", () =>
    Effect.gen(function* () {
      const { around, fs, lock, opened, store, write } = yield* session
      yield* write("d/x.jsonl.lock", yield* holder({ host: "elsewhere" }))
      const given = yield* Effect.fork(store.append(opened, [user("x", "a")]))
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(given)
      const waiting = yield* Effect.fork(store.append(opened, [user("b", "a")]))
      yield* fs.remove(lock)
      expect(ids((yield* Fiber.join(waiting)).session)).toEqual(["a", "b"])
      expect(yield* around).toEqual(["x.jsonl"])
    }).pipe(onFiles)
  )
})

describe("a lock", () => {
  it.scoped("is there while a session is written, for its owner alone, beside the file that a link leads to", () =>
    Effect.gen(function* () {
      const { file, fs, path, root, sessionsDir, store } = yield* session
      const link = path.join(root, "link.jsonl")
      yield* fs.symlink(file, link)
      const seen: Array<unknown> = []
      const watched = yield* SessionFiles.make({ sessionsDir }).pipe(
        Effect.provideService(FileSystem.FileSystem, {
          ...fs,
          open: (name, options) =>
            Effect.tap(fs.open(name, options), () =>
              options?.flag === "a"
                ? Effect.map(Effect.orDie(fs.stat(`${file}.lock`)), ({ mode }) => seen.push(mode & 0o777))
                : Effect.void
            )
        })
      )
      yield* watched.append(yield* store.open(link), [user("b", "a")])
      expect(seen).toEqual([0o600])
    }).pipe(onFiles)
  )

  it.scoped("is done without where its folder may not be written", () =>
    Effect.gen(function* () {
      const { file, fs, opened, sessionsDir, store } = yield* session
      const denied = (description: string, reason: PlatformError.SystemErrorReason) =>
        new PlatformError.SystemError({ module: "FileSystem", method: "open", reason, description })
      let parent = "a"
      let current = opened
      for (const error of [denied("EACCES: no", "PermissionDenied"), denied("EROFS: no", "Unknown")]) {
        const lockless = yield* SessionFiles.make({ sessionsDir }).pipe(
          Effect.provideService(FileSystem.FileSystem, {
            ...fs,
            open: (name, options) => (options?.flag === "wx" ? Effect.fail(error) : fs.open(name, options))
          })
        )
        const id = `after ${parent}`
        current = (yield* lockless.append(current, [user(id, parent)])).session
        parent = id
      }
      expect(yield* store.open(file)).toEqual(current)
      expect(current.tree.entries.length).toBe(3)
    }).pipe(onFiles)
  )

  it.scoped("is no session: lists do not show it", () =>
    Effect.gen(function* () {
      const { store, write } = yield* makeWorkspace
      yield* write("sessions/--w--/1_s1.jsonl", lines(header(), user("a", null)))
      for (const name of ["1_s1.jsonl.lock", `1_s1.jsonl.lock.${token}.dead`]) {
        yield* write(`sessions/--w--/${name}`, lines(header({ id: "s1-lock" })))
      }
      expect(yield* store.find("s1")).toContain("1_s1.jsonl")
      expect(yield* Effect.flip(store.find("s1-lock"))).toMatchObject({ _tag: "SessionNotFound" })
    }).pipe(onFiles)
  )
})
