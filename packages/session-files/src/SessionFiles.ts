/**
 * Sessions as JSON Lines files: one file a session, one folder a working
 * folder, appended to and never rewritten, except once to bring an older
 * version up to date.
 *
 * A session's key is the absolute path of its file.
 *
 * @since 0.1.0
 */
import {
  type AppendError,
  AppendFailed,
  type Appended,
  type ListOptions,
  type OpenOptions,
  type Service,
  type Session,
  type SessionNotFound,
  SessionReadOnly,
  SessionStore,
  SessionUnreadable
} from "@cutpoint/compaction/SessionStore"
import * as Entry from "@cutpoint/core/Entry"
import { isPlatformError, type PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as ContextReader from "./ContextReader.js"
import * as Revision from "./Revision.js"
import * as SessionFinder from "./SessionFinder.js"
import * as SessionFolder from "./SessionFolder.js"
import * as SessionListing from "./SessionListing.js"
import * as SessionReader from "./SessionReader.js"
import * as SessionWriter from "./SessionWriter.js"
import * as Upgrade from "./Upgrade.js"
import * as WriteLock from "./WriteLock.js"

/** Where the files are. */
export interface Options {
  /** The sessions folder; a relative path starts at the process's folder. It need not be there yet. */
  readonly sessionsDir: string
}

type Needs = FileSystem.FileSystem | Path.Path

/** How many sessions are read at once for a list. */
const listConcurrency = 4

/** A store over the files of a sessions folder, and over any other file that is given by its path. */
export const make = Effect.fnUntraced(function* (options: Options): Effect.fn.Return<Service, never, Needs> {
  const path = yield* Path.Path
  const context = yield* Effect.context<Needs>()
  const sessionsDir = path.resolve(options.sessionsDir)
  const lock = yield* WriteLock.make
  return {
    find: Effect.fn("SessionFiles.find")((query) => Effect.provide(find(sessionsDir, query), context)),
    list: (options) =>
      list(sessionsDir, options).pipe(Stream.withSpan("SessionFiles.list"), Stream.provideContext(context)),
    header: Effect.fn("SessionFiles.header")((key) => Effect.provide(header(sessionsDir, path.resolve(key)), context)),
    open: Effect.fn("SessionFiles.open")((key, options) =>
      Effect.provide(openAs(sessionsDir, path.resolve(key), options), context)
    ),
    revision: Effect.fn("SessionFiles.revision")((key) =>
      Effect.provide(revision(sessionsDir, path.resolve(key)), context)
    ),
    create: Effect.fn("SessionFiles.create")((session) =>
      Effect.provide(Effect.flatMap(SessionWriter.plan(sessionsDir, session), create), context)
    ),
    append: Effect.fn("SessionFiles.append")((session, entries) =>
      Effect.provide(append(sessionsDir, lock, session, entries), context)
    )
  }
})

/** The store over a given sessions folder. */
export const layer = (options: Options): Layer.Layer<SessionStore, never, Needs> =>
  Layer.effect(SessionStore, make(options))

/**
 * The store over the default sessions folder: `sessions` in the folder that
 * `PI_CODING_AGENT_DIR` names, else in `~/.pi/agent`.
 */
export const layerConfig: Layer.Layer<SessionStore, ConfigError.ConfigError, Needs> = Layer.effect(
  SessionStore,
  Effect.flatMap(SessionFolder.defaultSessionsDir, (sessionsDir) => make({ sessionsDir }))
)

// -----------------------------------------------------------------------------
// The edge: what the file system says becomes what the port says
// -----------------------------------------------------------------------------

const find = (sessionsDir: string, query: string) =>
  SessionFinder.find(sessionsDir, query).pipe(
    Effect.catchIf(isPlatformError, (error) => Effect.fail(unreadable(sessionsDir, error)))
  )

const list = (sessionsDir: string, options: ListOptions = {}) =>
  Stream.unwrap(
    Effect.gen(function* () {
      const path = yield* Path.Path
      const isOf = ofFolder(path, options.cwd)
      const files = yield* SessionFolder.newestFirst(sessionsDir)
      return Stream.fromIterable(files).pipe(
        // One file that cannot be read must not hide the others.
        Stream.mapEffect((found) => Effect.orElseSucceed(SessionListing.info(found, isOf(found)), () => undefined), {
          concurrency: listConcurrency
        }),
        Stream.filter((one) => one !== undefined)
      )
    })
  ).pipe(Stream.mapError((error) => unreadable(sessionsDir, error)))

/** Whether a session belongs to a working folder: by its header, or where that names none, by where its file is. */
const ofFolder =
  (path: Path.Path, cwd: string | undefined) => (found: SessionFolder.Found) => (header: Entry.Header) => {
    if (cwd === undefined) return true
    const wanted = path.resolve(cwd)
    return header.cwd === undefined
      ? found.folder === SessionFolder.folderName(wanted)
      : path.resolve(header.cwd) === wanted
  }

const header = (sessionsDir: string, key: string) =>
  SessionListing.header(key).pipe(
    Effect.catchIf(isPlatformError, notFoundOr(sessionsDir, key, unreadable)),
    // A header far down, below lines that cannot be read, is found by reading on.
    Effect.flatMap((found) =>
      found === undefined ? Effect.map(open(sessionsDir, key), ({ tree }) => tree.header) : Effect.succeed(found)
    )
  )

/** A part where that is enough and can be had, else the whole. */
const openAs = (sessionsDir: string, key: string, options: OpenOptions = {}) =>
  options.part === undefined
    ? open(sessionsDir, key)
    : ContextReader.read(key, options).pipe(
        Effect.catchIf(isPlatformError, notFoundOr(sessionsDir, key, unreadable)),
        Effect.flatMap((part) => (part === undefined ? open(sessionsDir, key) : Effect.succeed(part)))
      )

const open = (sessionsDir: string, key: string) =>
  SessionReader.read(key).pipe(
    Effect.map((reading) => SessionReader.toSession(key, reading)),
    Effect.catchIf(isPlatformError, notFoundOr(sessionsDir, key, unreadable))
  )

const revision = (sessionsDir: string, key: string) =>
  SessionReader.openForReading(key).pipe(
    Effect.flatMap(Revision.of),
    Effect.map(({ revision }) => revision),
    Effect.scoped,
    Effect.catchIf(isPlatformError, notFoundOr(sessionsDir, key, unreadable))
  )

const create = (plan: SessionWriter.Plan) =>
  Effect.mapError(SessionWriter.create(plan), (error) => failed(plan.key, error))

const append = Effect.fnUntraced(function* (
  sessionsDir: string,
  lock: WriteLock.WriteLock,
  session: Session,
  entries: SessionWriter.Entries
) {
  const fs = yield* FileSystem.FileSystem
  const { key, version } = session
  if (!(version <= Entry.currentVersion)) return yield* new SessionReadOnly({ key, version })
  const appending: Effect.Effect<Appended, AppendError | PlatformError, Needs> = Upgrade.isNeeded(session)
    ? Upgrade.append(session, entries)
    : SessionWriter.append(session, entries)
  return yield* Effect.flatMap(fs.realPath(key), (target) => lock.exclusive(target, appending)).pipe(
    Effect.catchIf(isPlatformError, notFoundOr(sessionsDir, key, failed)),
    // JSON nested many thousands deep can be read, but not be written again as an upgrade must.
    Effect.catchSomeDefect((defect) =>
      defect instanceof RangeError ? Option.some(new AppendFailed({ key, cause: defect })) : Option.none()
    )
  )
})

/** A file that is not there is a session that was not found; anything else is what `other` makes of it. */
const notFoundOr =
  <E>(sessionsDir: string, key: string, other: (key: string, error: PlatformError) => E) =>
  (error: PlatformError): Effect.Effect<never, SessionNotFound | E, Needs> =>
    SessionFolder.isNotFound(error) ? SessionFinder.notFound(sessionsDir, key) : Effect.fail(other(key, error))

const unreadable = (key: string, error: PlatformError) => new SessionUnreadable({ key, cause: reasonOf(error) })

const failed = (key: string, error: PlatformError) => new AppendFailed({ key, cause: reasonOf(error) })

/** What the system itself said, where it did: it reads better than what was made of it. */
const reasonOf = (error: PlatformError): unknown => error.cause ?? error
