/**
 * An advisory lock for the moment of writing to a session: around one append
 * or one upgrade, never while a model is asked. It is the file
 * `<session>.lock` beside the session.
 *
 * Laws. Of the programs that take the lock, one at a time writes. A lock whose
 * holder lives is never removed by anyone else. A holder that was killed locks
 * nobody out.
 *
 * A dead holder's lock is taken over in three steps, so that no two who find
 * it dead can remove each other's. Each holding has a token of its own. Who
 * wants to remove holding T creates the file `<session>.lock.T.dead`, which
 * only one can. Then it looks again: only if the lock is still T, it removes
 * it. Last it removes the file it made, and competes for the lock like anybody
 * else. If it dies on the way, its own file is a dead lock and is removed in
 * the same way.
 *
 * @since 0.1.0
 */
import { IdGenerator } from "@cutpoint/compaction/IdGenerator"
import { SessionLocked } from "@cutpoint/compaction/SessionStore"
import type * as PlatformError from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as LockHolder from "./LockHolder.js"

/** Lets one at a time write to a session. */
export interface WriteLock {
  /**
   * Runs while holding the lock of a session's file, which is given by its
   * path without symbolic links. Fails as `SessionLocked` where another
   * process holds it for too long. Can be interrupted while it waits.
   */
  readonly exclusive: <A, E, R>(
    target: string,
    run: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | SessionLocked | PlatformError.PlatformError, R | FileSystem.FileSystem | Path.Path>
}

/** So long a process waits for another one's write. */
const maxWaitMillis = 10_000

/** Between two looks at a lock that is held. */
const minPauseMillis = 2
const maxPauseMillis = 50

/**
 * A lock file that says nothing after so long was left by a process that died
 * before it wrote. Shorter than others wait, so that they do not fail for it.
 */
const unwrittenMillis = 2000

/** A lock file is short; what is longer is none. */
const maxLockBytes = 4096

/** How often looking at and removing a lock of one's own is tried again. */
const retries = 2

/** Locks for the writers of one process, which wait for each other without a file. */
export const make: Effect.Effect<WriteLock> = Effect.sync(() => {
  const queues = new Map<string, { readonly semaphore: Effect.Semaphore; users: number }>()
  // Tokens that this process holds no more, and files it created and could not write, where it could not remove
  // them either: dead to it, while others see that it lives.
  const abandoned = new Set<string>()
  const inTurn = <A, E, R>(target: string, run: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        const queue = queues.get(target) ?? { semaphore: Effect.unsafeMakeSemaphore(1), users: 0 }
        queues.set(target, queue)
        queue.users++
        return queue
      }),
      ({ semaphore }) => semaphore.withPermits(1)(run),
      (queue) => Effect.sync(() => void (--queue.users === 0 && queues.delete(target)))
    )
  return {
    exclusive: (target, run) =>
      inTurn(
        target,
        Effect.uninterruptibleMask((restore) =>
          Effect.gen(function* () {
            const lock: Lock = { target, path: `${target}.lock`, abandoned }
            const token = yield* acquire(lock, restore)
            return yield* Effect.ensuring(restore(run), token === undefined ? Effect.void : release(lock, token))
          })
        )
      )
  }
})

interface Lock {
  readonly target: string
  readonly path: string
  readonly abandoned: Set<string>
}

type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** Takes the lock and gives its token; undefined where the folder lets nobody create one. */
const acquire = Effect.fnUntraced(function* (lock: Lock, restore: Restore) {
  let { text, token } = yield* newHolding
  const deadline = (yield* Clock.currentTimeMillis) + maxWaitMillis
  while (true) {
    const outcome = yield* createExclusively(lock, lock.path, text)
    if (outcome === "forbidden") return undefined
    if (outcome === "created") {
      // Who was stopped between creating and writing may have been taken for dead.
      if (yield* isOwn(lock.path, token)) return token
      lock.abandoned.add(token)
      ;({ text, token } = yield* newHolding)
    }
    const seen = yield* look(lock, lock.path)
    if (seen._tag === "Dead") yield* Effect.zipRight(removeDead(lock, lock.path, seen.holding), sweep(lock))
    if ((yield* Clock.currentTimeMillis) > deadline) return yield* lockedBy(lock, seen)
    yield* restore(Effect.sleep(yield* Random.nextIntBetween(minPauseMillis, maxPauseMillis)))
  }
})

/** A fresh token, and what a file says that is created with it. */
const newHolding = Effect.gen(function* () {
  const ids = yield* IdGenerator
  const token = yield* ids.uuid
  return { token, text: JSON.stringify(yield* LockHolder.current(token)) }
})

const lockedBy = ({ path, target }: Lock, seen: Seen): SessionLocked => {
  const holder = seen._tag === "Held" ? seen.holder : undefined
  return new SessionLocked({ key: target, lock: path, pid: holder?.pid, host: holder?.host, waitedMs: maxWaitMillis })
}

/** Removes the lock if it is still this holding's. Where that fails for good, this process at least does not wait for itself. */
const release = (lock: Lock, token: string) =>
  Effect.whenEffect(remove(lock.path), holds(lock.path, token)).pipe(
    // Looked at anew each time: what seemed to fail may have been done, and the lock be another's.
    Effect.retry({ times: retries }),
    Effect.catchAll(() => Effect.sync(() => lock.abandoned.add(token)))
  )

/** Removes a file; one that is gone is as good as removed. */
const remove = (path: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => fs.remove(path)).pipe(
    Effect.catchIf(
      (error) => is(error, "NotFound"),
      () => Effect.void
    )
  )

/** Removes a file of one's own; where that fails for good, this process at least does not wait for itself. */
const removeOrAbandon = (lock: Lock, path: string, name: string) =>
  remove(path).pipe(
    Effect.retry({ times: retries }),
    Effect.catchAll(() => Effect.sync(() => void lock.abandoned.add(name)))
  )

/** Creates a file that says who holds it, if nothing has its name. */
const createExclusively = (lock: Lock, path: string, text: string) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const file = yield* fs.open(path, { flag: "wx", mode: 0o600 })
    yield* file.writeAll(new TextEncoder().encode(text)).pipe(Effect.onError(() => removeOrAbandon(lock, path, path)))
    return "created" as const
  }).pipe(
    Effect.scoped,
    Effect.catchIf(
      (error) => is(error, "AlreadyExists"),
      () => Effect.succeed("taken" as const)
    ),
    // An advisory lock must not keep from writing who may write the session, but not into its folder.
    Effect.catchIf(isForbidden, () => Effect.succeed("forbidden" as const))
  )

const holds = (path: string, token: string) =>
  Effect.map(readHolder(path), (found) => Option.exists(found, (holder) => holder.token === token))

const isOwn = (path: string, token: string) =>
  holds(path, token).pipe(
    Effect.retry({ times: retries }),
    Effect.orElseSucceed(() => false)
  )

const readHolder = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const info = yield* fs.stat(path)
  // Nothing else is read: a device or a pipe may never end.
  if (info.type !== "File" || info.size > FileSystem.Size(maxLockBytes)) return Option.none<LockHolder.LockHolder>()
  return LockHolder.parse(yield* fs.readFileString(path))
})

// -----------------------------------------------------------------------------
// Dead holders
// -----------------------------------------------------------------------------

/** A lock file as it was found. `holding` names what of it is dead; another holding has another name. */
type Seen =
  | { readonly _tag: "Free" }
  | { readonly _tag: "Held"; readonly holder: LockHolder.LockHolder | undefined }
  | { readonly _tag: "Dead"; readonly holding: string }

const heldBySomebody: Seen = { _tag: "Held", holder: undefined }

const look = (lock: Lock, path: string): Effect.Effect<Seen, never, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const found = yield* readHolder(path)
    if (Option.isNone(found)) return yield* lookAtUnwritten(lock, path)
    const holder = found.value
    const isDead = lock.abandoned.has(holder.token) || (yield* LockHolder.isGone(holder))
    return isDead ? ({ _tag: "Dead", holding: holder.token } satisfies Seen) : ({ _tag: "Held", holder } satisfies Seen)
  }).pipe(Effect.catchAll((error) => Effect.succeed<Seen>(is(error, "NotFound") ? { _tag: "Free" } : heldBySomebody)))

/** Without a holder in it, a file is told apart by its inode and the time of its creation. */
const lookAtUnwritten = Effect.fnUntraced(function* (lock: Lock, path: string) {
  const fs = yield* FileSystem.FileSystem
  const info = yield* fs.stat(path)
  const inode = Option.getOrUndefined(info.ino)
  const modified = Option.getOrUndefined(info.mtime)?.getTime()
  if (info.type !== "File" || inode === undefined || modified === undefined) return heldBySomebody
  const age = (yield* Clock.currentTimeMillis) - modified
  const seen: Seen =
    age > unwrittenMillis || lock.abandoned.has(path)
      ? { _tag: "Dead", holding: `${inode}-${modified}` }
      : heldBySomebody
  return seen
})

/** Removes a dead holding from a lock file, if nobody else is about to, and if it is still there. */
const removeDead = (
  lock: Lock,
  path: string,
  holding: string
): Effect.Effect<void, PlatformError.PlatformError, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const { text, token } = yield* newHolding
    const mark = `${lock.path}.${holding}.dead`
    const outcome = yield* createExclusively(lock, mark, text)
    if (outcome === "taken") {
      const seen = yield* look(lock, mark)
      return seen._tag === "Dead" ? yield* removeDead(lock, mark, seen.holding) : undefined
    }
    if (outcome === "forbidden") return
    const seen = yield* look(lock, path)
    if (seen._tag === "Dead" && seen.holding === holding) {
      yield* Effect.ignore(Effect.tap(remove(path), () => Effect.sync(() => lock.abandoned.delete(path))))
    }
    yield* removeOrAbandon(lock, mark, token)
  })

/** Removes what those have left who died after they had removed a dead holding: nobody else would look for it. */
const sweep = (lock: Lock) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const [folder, start] = [path.dirname(lock.path), `${path.basename(lock.path)}.`]
    const names = (yield* fs.readDirectory(folder)).filter((name) => name.startsWith(start) && name.endsWith(".dead"))
    for (const name of names) {
      const mark = path.join(folder, name)
      const seen = yield* look(lock, mark)
      if (seen._tag === "Dead") yield* removeDead(lock, mark, seen.holding)
    }
  }).pipe(Effect.ignore)

// -----------------------------------------------------------------------------
// What the system says
// -----------------------------------------------------------------------------

const is = (error: PlatformError.PlatformError, reason: PlatformError.SystemErrorReason): boolean =>
  error._tag === "SystemError" && error.reason === reason

/** Permission denied, or a file system that is read-only. */
const isForbidden = (error: PlatformError.PlatformError): boolean =>
  is(error, "PermissionDenied") ||
  /^(?:EPERM|EROFS)\b/.test(error._tag === "SystemError" ? (error.description ?? "") : "")
