/**
 * Who holds a lock: a process, told apart from every other that has had its
 * number.
 *
 * Law. A process that may still run is never called gone: what cannot be
 * known counts as running.
 *
 * @since 0.1.0
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

/** What stands in a lock file. */
export const LockHolder = Schema.Struct({
  /** Names this one holding; another by the same process has another. Becomes part of a file's name, so only a UUID will do. */
  token: Schema.UUID,
  pid: Schema.Int,
  /** The machine; and, where it is known, the space that process numbers count in, which a container has of its own. */
  host: Schema.String,
  /** Boot and moment at which the process started; absent where the system does not tell. */
  started: Schema.optional(Schema.String),
  /** When the lock was taken, in milliseconds since 1970. For people to read. */
  at: Schema.Number
})

/** What stands in a lock file. */
export type LockHolder = typeof LockHolder.Type

/** Reads a lock file's text; none where nobody has written it, or not yet the whole of it. */
export const parse = (text: string): Option.Option<LockHolder> =>
  Schema.decodeUnknownOption(Schema.parseJson(LockHolder))(text)

/** This process as a holder, under a token. */
export const current = Effect.fnUntraced(function* (
  token: string
): Effect.fn.Return<LockHolder, never, FileSystem.FileSystem> {
  const started = (yield* lookUp(process.pid))?.started
  return {
    token,
    pid: process.pid,
    host: yield* hostName,
    ...(started === undefined ? {} : { started }),
    at: yield* Clock.currentTimeMillis
  }
})

/** Whether a holder's process is known to have ended. One of another machine never is. */
export const isGone = Effect.fnUntraced(function* (
  holder: LockHolder
): Effect.fn.Return<boolean, never, FileSystem.FileSystem> {
  // Without a name of its own, a machine cannot be told from another.
  if (holder.host === "" || holder.host !== (yield* hostName)) return false
  if (!exists(holder.pid)) return true
  const found = yield* lookUp(holder.pid)
  if (found === undefined) return false
  return found.hasEnded || (holder.started !== undefined && found.started !== holder.started)
})

/** Whether there is a process of this number; one that belongs to somebody else is there too. */
const exists = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "ESRCH")
  }
}

/** The name of a file under `/proc`, or what it says; undefined on systems that have none. */
const proc = <A, E>(read: (fs: FileSystem.FileSystem) => Effect.Effect<A, E>) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => Effect.orElseSucceed(read(fs), () => undefined))

const hostName = Effect.gen(function* () {
  const name = yield* proc((fs) => fs.readFileString("/proc/sys/kernel/hostname"))
  if (name === undefined) return reportedHost()
  const space = yield* proc((fs) => fs.readLink("/proc/self/ns/pid"))
  return space === undefined ? name.trim() : `${name.trim()} ${space}`
})

/** Without `/proc`, Node's own report knows the machine's name. */
const reportedHost = (): string => {
  const report: unknown = process.report?.getReport()
  return Option.match(Schema.decodeUnknownOption(Report)(report), {
    onNone: () => "",
    onSome: ({ header }) => header.host
  })
}

const Report = Schema.Struct({ header: Schema.Struct({ host: Schema.String }) })

/** A process that has ended is listed until its parent has taken note. */
const endedStates = /^[ZX]$/

/** What Linux knows of a process; undefined elsewhere, and where it may not be seen. */
const lookUp = Effect.fnUntraced(function* (pid: number) {
  const stat = yield* proc((fs) => fs.readFileString(`/proc/${pid}/stat`))
  const boot = yield* proc((fs) => fs.readFileString("/proc/sys/kernel/random/boot_id"))
  // The command's name, in parentheses, may hold anything; fields are counted from behind it.
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ")
  const [state, startTicks] = [fields?.[0], fields?.[19]]
  if (state === undefined || startTicks === undefined || boot === undefined) return undefined
  return { hasEnded: endedStates.test(state), started: `${boot.trim()} ${startTicks}` }
})
