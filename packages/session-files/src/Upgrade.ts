/**
 * Rewrites a session of version 1 or 2 as version 3, new entries included, in
 * one step: whoever looks sees the old file or the new one. The original stays
 * beside it.
 *
 * @since 0.1.0
 */
import { type Appended, type NotASession, type Session, SessionChanged } from "@cutpoint/compaction/SessionStore"
import * as Entry from "@cutpoint/core/Entry"
import * as SessionLines from "@cutpoint/core/SessionLines"
import * as SessionTree from "@cutpoint/core/SessionTree"
import type * as PlatformError from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Revision from "./Revision.js"
import * as SessionReader from "./SessionReader.js"
import * as SessionWriter from "./SessionWriter.js"

/** A file's permissions, without its type. */
const modeBits = 0o7777

/** So many names are tried for a backup. */
const maxBackups = 1000

/** Whether a session must be rewritten before it can be appended to. */
export const isNeeded = (session: Session): boolean => session.version < Entry.currentVersion

/**
 * Upgrades a session's file and appends entries to it. Written through
 * symbolic links; mode and, where allowed, owner are kept. Fails as
 * `SessionChanged` where the file is not as the session was read.
 */
export const append = Effect.fnUntraced(function* (
  session: Session,
  entries: SessionWriter.Entries
): Effect.fn.Return<
  Appended,
  SessionChanged | NotASession | PlatformError.PlatformError,
  FileSystem.FileSystem | Path.Path
> {
  const fs = yield* FileSystem.FileSystem
  const target = yield* fs.realPath(session.key)
  const reading = yield* readUnchanged(session, target)
  const { backup, state } = yield* replace(session, target, textsOf(reading.lines, entries))
  const appended = upgradedSession(session, reading.lines, entries, state)
  return { session: appended, backup }
})

const readUnchanged = Effect.fnUntraced(function* (session: Session, target: string) {
  const reading = yield* SessionReader.read(target, { keepTexts: true })
  if (reading.state.revision === session.revision) return reading
  return yield* new SessionChanged({ key: session.key })
})

/** Writes the new file beside the old one, keeps the old one under another name, and puts the new one in its place. */
const replace = (session: Session, target: string, texts: Iterable<string>) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    yield* removeLeftovers(target)
    const temporary = yield* temporaryName(target)
    const state = yield* SessionWriter.writeNew(temporary, texts)
    const backup = yield* Effect.gen(function* () {
      yield* takeOver(target, temporary)
      const backup = yield* keepOriginal(target, session.version)
      yield* Effect.andThen(readUnchangedState(session, target), fs.rename(temporary, target)).pipe(
        Effect.onError(() => Effect.ignore(fs.remove(backup)))
      )
      return backup
    }).pipe(Effect.onError(() => Effect.ignore(fs.remove(temporary))))
    yield* SessionWriter.syncFolder(target)
    return { backup, state }
  }).pipe(Effect.uninterruptible)

/** The last look before the old file is replaced: an append in the meantime must not be lost. */
const readUnchangedState = (session: Session, target: string) =>
  Effect.gen(function* () {
    const file = yield* SessionReader.openForReading(target)
    const state = yield* Revision.of(file)
    if (state.revision !== session.revision) return yield* new SessionChanged({ key: session.key })
  }).pipe(Effect.scoped)

const temporaryName = Effect.fnUntraced(function* (target: string) {
  const path = yield* Path.Path
  const random = yield* Random.nextIntBetween(0, 2 ** 32)
  const name = `${temporaryStart(path, target)}${random.toString(16).padStart(8, "0")}${temporaryEnd}`
  return path.join(path.dirname(target), name)
})

const temporaryStart = (path: Path.Path, target: string): string => `.${path.basename(target)}.`
const temporaryEnd = ".tmp"

/**
 * Removes what upgrades of this session that were killed have left. Whoever
 * upgrades holds the session's lock, so that no other upgrade is under way.
 */
const removeLeftovers = Effect.fnUntraced(
  function* (target: string) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const folder = path.dirname(target)
    const start = temporaryStart(path, target)
    const isLeftover = (name: string): boolean =>
      name.startsWith(start) &&
      name.endsWith(temporaryEnd) &&
      /^[0-9a-f]{8}$/.test(name.slice(start.length, -temporaryEnd.length))
    const names = yield* fs.readDirectory(folder)
    yield* Effect.forEach(names.filter(isLeftover), (name) => fs.remove(path.join(folder, name)), { discard: true })
  },
  // They are only in the way of tidiness.
  Effect.ignore
)

/** Gives a file the mode of another, and its owner where that is allowed. */
const takeOver = Effect.fnUntraced(function* (from: string, to: string) {
  const fs = yield* FileSystem.FileSystem
  const [old, fresh] = yield* Effect.all([fs.stat(from), fs.stat(to)])
  const [uid, gid] = [Option.getOrNull(old.uid), Option.getOrNull(old.gid)]
  const isOthers = uid !== Option.getOrNull(fresh.uid) || gid !== Option.getOrNull(fresh.gid)
  if (isOthers && uid !== null && gid !== null) yield* Effect.ignore(fs.chown(to, uid, gid))
  yield* fs.chmod(to, old.mode & modeBits)
})

/**
 * Leaves the original beside the session and returns its path. A second name
 * for the same file is best: it costs no room, and what a program that has the
 * old file open still writes is kept. Where that cannot be had, it is a copy.
 */
const keepOriginal = Effect.fnUntraced(function* (target: string, version: number) {
  const fs = yield* FileSystem.FileSystem
  for (let taken = 0; ; taken++) {
    const backup = `${target}.v${version}${taken === 0 ? "" : `.${taken}`}.bak`
    // An upgrade that was killed may have got as far as this.
    if (yield* isSameFile(target, backup)) return backup
    const isKept = yield* fs.link(target, backup).pipe(
      Effect.catchIf(
        (error) => !isTaken(error),
        () => copyTo(target, backup)
      ),
      Effect.as(true),
      Effect.catchIf(
        (error) => isTaken(error) && taken < maxBackups,
        () => Effect.succeed(false)
      )
    )
    if (isKept) return backup
  }
})

/** Whether two names are names of one file; a symbolic link is none. */
const isSameFile = Effect.fnUntraced(function* (one: string, other: string) {
  const fs = yield* FileSystem.FileSystem
  const [info, found] = yield* Effect.all([fs.stat(one), Effect.option(fs.stat(other))])
  const hasNames = Option.exists(info.nlink, (links) => links > 1)
  return hasNames && Option.exists(found, (found) => SessionWriter.isSame(info, found))
})

/** Copies a file to a name that must be free, down to the disk. */
const copyTo = (from: string, to: string) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const file = yield* fs.open(to, { flag: "wx+", mode: 0o600 })
    yield* Effect.andThen(fs.copyFile(from, to), takeOver(from, to)).pipe(
      Effect.andThen(file.sync),
      Effect.onError(() => Effect.ignore(fs.remove(to)))
    )
  }).pipe(Effect.scoped)

const isTaken = (error: PlatformError.PlatformError): boolean =>
  error._tag === "SystemError" && error.reason === "AlreadyExists"

/** The upgraded file, in pieces of a bearable size. */
function* textsOf(lines: SessionLines.SessionLines, entries: SessionWriter.Entries): Iterable<string> {
  yield* SessionWriter.pieces(SessionLines.upgraded(lines))
  yield SessionWriter.linesOf(entries)
}

/** The session as the upgraded file gives it: the header is line 1, each entry has a line of its own. */
const upgradedSession = (
  session: Session,
  lines: SessionLines.SessionLines,
  entries: SessionWriter.Entries,
  state: Revision.FileState
): Session => {
  const all = [...lines.entries, ...entries]
  const { version: _, ...fields } = lines.header
  const header = { ...fields, version: Entry.currentVersion }
  const tree = SessionTree.make(
    header,
    all,
    all.map((_, index) => index + 2)
  )
  return {
    key: session.key,
    tree,
    version: Entry.currentVersion,
    revision: state.revision,
    diagnostics: tree.diagnostics
  }
}
