/**
 * Finds a session by what a person types: a path, an id, or the start of one.
 *
 * @since 0.1.0
 */
import { AmbiguousSession, SessionNotFound } from "@cutpoint/compaction/SessionStore"
import type * as PlatformError from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as SessionFolder from "./SessionFolder.js"
import * as SessionListing from "./SessionListing.js"

/** How many headers are read at once. */
const headerConcurrency = 16

/** So many sessions are named to whoever asked for one that is not there. */
const suggestions = 5

type Needs = FileSystem.FileSystem | Path.Path

/**
 * The absolute path of the session that a query names. A query with a
 * separator, or with the ending of session files, is a path; anything else is
 * an id or its start, and a whole id counts before longer ones.
 */
export const find = Effect.fnUntraced(function* (
  sessionsDir: string,
  query: string
): Effect.fn.Return<string, SessionNotFound | AmbiguousSession | PlatformError.PlatformError, Needs> {
  const path = yield* Path.Path
  const isPath = query.includes("/") || query.includes(path.sep) || query.endsWith(SessionFolder.extension)
  const found = isPath ? yield* existing(path.resolve(query)) : yield* byId(sessionsDir, query)
  return found ?? (yield* notFound(sessionsDir, query))
})

/** Fails as `SessionNotFound`, naming the sessions that there are. */
export const notFound = Effect.fnUntraced(function* (
  sessionsDir: string,
  query: string
): Effect.fn.Return<never, SessionNotFound, Needs> {
  const files = yield* SessionFolder.newestFirst(sessionsDir).pipe(Effect.orElseSucceed(() => []))
  const candidates = yield* identified(files.slice(0, suggestions))
  return yield* new SessionNotFound({ query, available: candidates.map(described) })
})

/** Whatever there is goes by its path: opening it says what is wrong with it. A path through a file leads nowhere. */
const existing = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const exists = yield* fs.exists(file).pipe(
    Effect.catchIf(
      (error) => error._tag === "SystemError" && error.reason === "BadResource",
      () => Effect.succeed(false)
    )
  )
  return exists ? file : undefined
})

const byId = Effect.fnUntraced(function* (sessionsDir: string, query: string) {
  if (query.trim() === "") return undefined
  const candidates = yield* identified(yield* SessionFolder.newestFirst(sessionsDir))
  const exact = candidates.filter(({ id }) => id === query)
  const fitting = exact.length > 0 ? exact : candidates.filter(({ id }) => id.startsWith(query))
  if (fitting.length < 2) return fitting[0]?.path
  return yield* new AmbiguousSession({ query, candidates: fitting.map(described) })
})

interface Candidate {
  readonly id: string
  readonly path: string
}

const described = ({ id, path }: Candidate): string => `${id}  ${path}`

/** The ids of those files that are sessions. */
const identified = (files: ReadonlyArray<SessionFolder.Found>) =>
  Effect.map(Effect.forEach(files, identify, { concurrency: headerConcurrency }), (found) => found.flat())

/**
 * The header says what the id is, whatever the file is called. A file that
 * cannot be read goes by its name, so that opening it says why.
 */
const identify = ({ name, path }: SessionFolder.Found) =>
  Effect.match(SessionListing.header(path), {
    onFailure: (): ReadonlyArray<Candidate> => [{ id: SessionFolder.idInName(name), path }],
    onSuccess: (header) => (header === undefined ? [] : [{ id: SessionListing.idOf(header, name), path }])
  })
