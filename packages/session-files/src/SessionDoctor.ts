/**
 * Looks at a session's file for all that is wrong with it, and writes a sound
 * copy. The file itself is never touched.
 *
 * @since 0.1.0
 */
import { IdGenerator } from "@cutpoint/compaction/IdGenerator"
import {
  AppendFailed,
  CopyExists,
  type NotASession,
  SessionReadOnly,
  SessionUnreadable
} from "@cutpoint/compaction/SessionStore"
import type * as Diagnostic from "@cutpoint/core/Diagnostic"
import * as Entry from "@cutpoint/core/Entry"
import * as SessionFaults from "@cutpoint/core/SessionFaults"
import * as SessionRepair from "@cutpoint/core/SessionRepair"
import type * as PlatformError from "@effect/platform/Error"
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as SessionReader from "./SessionReader.js"
import * as SessionWriter from "./SessionWriter.js"

type Needs = FileSystem.FileSystem | Path.Path

/** All faults of a session's file, which is given by its path, and what else is worth knowing of it. */
export const examine = Effect.fn("SessionDoctor.examine")(function* (
  key: string
): Effect.fn.Return<ReadonlyArray<Diagnostic.Diagnostic>, NotASession | SessionUnreadable, Needs> {
  const { lines } = yield* reading(key, false)
  return SessionFaults.find(lines)
})

/**
 * Writes a sound copy of a session's file to a path where nothing is yet,
 * readable for its owner alone and flushed to the disk; where that fails there
 * is no copy. Gives the faults that the original has. A session of a newer
 * version cannot be repaired.
 */
export const repair = Effect.fn("SessionDoctor.repair")(function* (
  key: string,
  out: string
): Effect.fn.Return<
  ReadonlyArray<Diagnostic.Diagnostic>,
  NotASession | SessionUnreadable | SessionReadOnly | CopyExists | AppendFailed,
  Needs
> {
  const ids = yield* IdGenerator
  const { lines } = yield* reading(key, true)
  if (lines.version > Entry.currentVersion) return yield* new SessionReadOnly({ key, version: lines.version })
  const sound = SessionRepair.repair(lines, yield* ids.uuid)
  yield* SessionWriter.writeNew(out, SessionWriter.pieces(sound)).pipe(
    Effect.mapError((error) =>
      isTaken(error) ? new CopyExists({ path: out }) : new AppendFailed({ key: out, cause: error.cause ?? error })
    )
  )
  yield* SessionWriter.syncFolder(out)
  return SessionFaults.find(lines)
})

const reading = (key: string, keepTexts: boolean) =>
  SessionReader.read(key, { keepTexts }).pipe(
    Effect.catchTags({
      BadArgument: (cause) => new SessionUnreadable({ key, cause }),
      SystemError: (error) => new SessionUnreadable({ key, cause: error.cause ?? error })
    })
  )

const isTaken = (error: PlatformError.PlatformError): boolean =>
  error._tag === "SystemError" && error.reason === "AlreadyExists"
