/**
 * Writes sessions: new ones, and entries after the last of those there are.
 *
 * Laws. What is written is on the disk before it counts as written. A write
 * that fails leaves the file as it was. Nothing is written to a file that is
 * in another state than the one that was read.
 *
 * @since 0.1.0
 */
import { IdGenerator } from "@cutpoint/compaction/IdGenerator"
import {
  AppendFailed,
  type Appended,
  type NewSession,
  type Session,
  SessionChanged
} from "@cutpoint/compaction/SessionStore"
import * as Diagnostic from "@cutpoint/core/Diagnostic"
import * as Entry from "@cutpoint/core/Entry"
import * as SessionTree from "@cutpoint/core/SessionTree"
import type * as PlatformError from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Revision from "./Revision.js"
import * as SessionFolder from "./SessionFolder.js"

/** Entries to append. */
export type Entries = readonly [Entry.Entry, ...ReadonlyArray<Entry.Entry>]

/** Only the owner may read what was said. */
const privateFile = 0o600
const privateFolder = 0o700

const encoder = new TextEncoder()

/** Entries as lines of a session's file. */
export const linesOf = (entries: Entries): string => entries.map((entry) => lineOf(Entry.toJson(entry))).join("")

const lineOf = (value: unknown): string => `${JSON.stringify(value)}\n`

// -----------------------------------------------------------------------------
// Appending
// -----------------------------------------------------------------------------

/**
 * Appends entries in one write, on a line of their own, and waits until they
 * are on the disk. Never creates the file. Fails as `SessionChanged` where the
 * file is not as the session was read, and as `AppendFailed` where what was
 * half written had to be taken back.
 */
export const append = (
  session: Session,
  entries: Entries
): Effect.Effect<Appended, SessionChanged | AppendFailed | PlatformError.PlatformError, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const files = yield* openBoth(session.key)
    const before = yield* Revision.of(files.reader)
    if (before.revision !== session.revision) return yield* new SessionChanged({ key: session.key })
    const text = linesOf(entries)
    const bytes = encoder.encode(before.endsLine ? text : `\n${text}`)
    yield* writeDurably(files.writer, bytes).pipe(
      Effect.catchAll((error) => takenBack(session.key, files, before, bytes, error))
    )
    const after = yield* Effect.option(Revision.of(files.reader))
    return { session: grown(session, entries, before, bytes.length, after), backup: undefined }
  }).pipe(Effect.scoped, Effect.uninterruptible)

interface Files {
  readonly reader: FileSystem.File
  readonly writer: FileSystem.File
}

/**
 * Opens a file for appending, so that nobody's bytes are overwritten, but only
 * a file that is there: a headless session would be worse than a failure.
 * Opening for appending creates; opening for reading first does not, and shows
 * whether both are one file.
 */
const openBoth = Effect.fnUntraced(function* (
  key: string
): Effect.fn.Return<Files, SessionChanged | PlatformError.PlatformError, FileSystem.FileSystem | Scope.Scope> {
  const fs = yield* FileSystem.FileSystem
  const reader = yield* fs.open(key, { flag: "r" })
  const writer = yield* fs.open(key, { flag: "a", mode: privateFile })
  const [read, written] = yield* Effect.all([reader.stat, writer.stat])
  if (isSame(read, written)) return { reader, writer }
  if (written.size === FileSystem.Size(0)) yield* Effect.ignore(fs.remove(key))
  return yield* new SessionChanged({ key })
})

/** Whether two names lead to one file. */
export const isSame = (one: FileSystem.File.Info, other: FileSystem.File.Info): boolean =>
  one.dev === other.dev && Option.getOrNull(one.ino) === Option.getOrNull(other.ino)

const writeDurably = (file: FileSystem.File, bytes: Uint8Array) => Effect.andThen(file.writeAll(bytes), file.sync)

/** Fails with `error` after taking back what was written; says so where that cannot be done. */
const takenBack = Effect.fnUntraced(function* (
  key: string,
  files: Files,
  before: Revision.FileState,
  bytes: Uint8Array,
  error: PlatformError.PlatformError
): Effect.fn.Return<never, AppendFailed | PlatformError.PlatformError> {
  const isAsBefore = yield* takeBack(files, before, bytes).pipe(Effect.orElseSucceed(() => false))
  if (isAsBefore) return yield* Effect.fail(error)
  const message = `${error.message} (and part of what was written could not be taken back)`
  return yield* new AppendFailed({ key, cause: new Error(message, { cause: error }) })
})

/** Cuts off what was written, if the file is what it was and a part of that, and nothing else. */
const takeBack = Effect.fnUntraced(function* (files: Files, before: Revision.FileState, bytes: Uint8Array) {
  const size = Number((yield* files.reader.stat).size)
  if (size > before.size + bytes.length) return false
  const old = yield* Revision.at(files.reader, before.size)
  const added = yield* Revision.bytesAt(files.reader, before.size, Math.max(0, size - before.size))
  if (old.revision !== before.revision || !added.every((byte, index) => byte === bytes[index])) return false
  if (added.length > 0) yield* files.writer.truncate(before.size)
  return true
})

/** The session with its new entries. */
const grown = (
  session: Session,
  entries: Entries,
  before: Revision.FileState,
  bytes: number,
  after: Option.Option<Revision.FileState>
): Session => {
  const tree = SessionTree.append(session.tree, entries)
  const isAlone = Option.exists(after, (state) => state.size === before.size + bytes)
  const kept = session.diagnostics.filter((one) => one._tag !== "NoFinalLineBreak")
  const added = tree.diagnostics.filter((one) => entries.some((entry) => entry.id === one.entryId))
  return {
    ...session,
    tree,
    // The old revision fits no file any more: the next append is told that there is more to read.
    revision: Option.match(
      Option.filter(after, () => isAlone),
      {
        onNone: () => before.revision,
        onSome: (state) => state.revision
      }
    ),
    diagnostics: [...kept, ...added, ...(isAlone ? [] : [forked(entries[0].id)])]
  }
}

const forked = (entryId: string): Diagnostic.Diagnostic =>
  Diagnostic.make("ForkedWrite", "Another program wrote to the session in the same moment; nothing was lost.", {
    entryId
  })

// -----------------------------------------------------------------------------
// New files
// -----------------------------------------------------------------------------

/** Where a new session goes, and what it starts with. */
export interface Plan {
  readonly key: string
  readonly header: Entry.Header
}

/** Names a new session. */
export const plan = Effect.fnUntraced(function* (
  sessionsDir: string,
  session: NewSession
): Effect.fn.Return<Plan, never, Path.Path> {
  const path = yield* Path.Path
  const now = yield* Clock.currentTimeMillis
  const ids = yield* IdGenerator
  const id = yield* ids.uuid
  const cwd = path.resolve(session.cwd)
  const parent = session.parentSession === undefined ? {} : { parentSession: session.parentSession }
  return {
    key: path.join(sessionsDir, SessionFolder.folderName(cwd), SessionFolder.fileName(now, id)),
    header: {
      type: "session",
      version: Entry.currentVersion,
      id,
      timestamp: new Date(now).toISOString(),
      cwd,
      ...parent
    }
  }
})

/** Writes a new session with no entries, its folder included. */
export const create = Effect.fnUntraced(function* (
  plan: Plan
): Effect.fn.Return<Session, PlatformError.PlatformError, FileSystem.FileSystem | Path.Path> {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  yield* fs.makeDirectory(path.dirname(plan.key), { recursive: true, mode: privateFolder })
  const state = yield* writeNew(plan.key, [lineOf(plan.header)])
  yield* syncFolder(plan.key)
  const tree = SessionTree.make(plan.header, [])
  return { key: plan.key, tree, version: Entry.currentVersion, revision: state.revision, diagnostics: [] }
})

/** Writes a file that must not be there yet, for its owner alone, down to the disk; where that fails, there is none. */
export const writeNew = (
  path: string,
  texts: Iterable<string>
): Effect.Effect<Revision.FileState, PlatformError.PlatformError, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const file = yield* fs.open(path, { flag: "wx+", mode: privateFile })
    return yield* Effect.forEach(texts, (text) => file.writeAll(encoder.encode(text)), { discard: true }).pipe(
      Effect.andThen(file.sync),
      Effect.andThen(Revision.of(file)),
      Effect.onError(() => Effect.ignore(fs.remove(path)))
    )
  }).pipe(Effect.scoped, Effect.uninterruptible)

/** How much is written at once, in characters. */
const pieceLength = 1024 * 1024

/** Lines as texts of a bearable size, with their line feeds. */
export function* pieces(lines: Iterable<string>): Iterable<string> {
  let piece = ""
  for (const line of lines) {
    piece += `${line}\n`
    if (piece.length < pieceLength) continue
    yield piece
    piece = ""
  }
  yield piece
}

/** Makes a file's name durable too, on systems where a folder can be flushed. */
export const syncFolder = (file: string): Effect.Effect<void, never, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const folder = yield* fs.open(path.dirname(file), { flag: "r" })
    yield* folder.sync
  }).pipe(Effect.scoped, Effect.ignore)
