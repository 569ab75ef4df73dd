/**
 * The port by which sessions are found, read and appended to.
 *
 * A session is only ever appended to. Laws, checked by the contract in
 * `@cutpoint/testing`: what was appended is there at the next `open`, once and
 * in order; an append that fails leaves everything as it was; an append whose
 * session has grown since it was read fails as `SessionChanged`.
 *
 * @since 0.1.0
 */
import type * as Diagnostic from "@cutpoint/core/Diagnostic"
import * as Entry from "@cutpoint/core/Entry"
import * as Projection from "@cutpoint/core/Projection"
import type * as Skimmed from "@cutpoint/core/Skimmed"
import * as SessionTree from "@cutpoint/core/SessionTree"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Ref from "effect/Ref"
import * as Stream from "effect/Stream"
import { IdGenerator } from "./IdGenerator.js"
import * as Errors from "./SessionErrors.js"

export * from "./SessionErrors.js"

/** A session as it was at one moment. */
export interface Session {
  /** What the store opens it by; over files, the absolute path. */
  readonly key: string
  readonly tree: SessionTree.SessionTree
  /** The format's version in the store; entries are given as version 3 all the same. */
  readonly version: number
  /** Names this state of the session; another state has another revision. */
  readonly revision: string
  /** Faults found in reading, those of the tree included. */
  readonly diagnostics: ReadonlyArray<Diagnostic.Diagnostic>
}

/** What an append left behind. */
export interface Appended {
  /** The session with the new entries; the last of them is the leaf. */
  readonly session: Session
  /** Where the original of a session in an older format was kept, if this append upgraded it. */
  readonly backup: string | undefined
}

/** A session as lists show it. */
export interface SessionInfo {
  readonly key: string
  readonly id: string
  readonly cwd: string | undefined
  readonly name: string | undefined
  /** The size in the store, in bytes. */
  readonly bytes: number
  /** The last change, in milliseconds since 1970. */
  readonly modified: number
  /** The tokens of the context as the last reply reported them; undefined where none did since the last compaction. */
  readonly contextTokens: number | undefined
}

/** Which sessions to list. */
export interface ListOptions {
  /** Only sessions of this folder; of all folders where it is left out. */
  readonly cwd?: string | undefined
}

/** What a new session starts with. */
export interface NewSession {
  readonly cwd: string
  readonly parentSession?: string | undefined
}

/** How much of a session is read. */
export interface OpenOptions {
  /**
   * `context` for the entries that the context at the leaf needs, and no
   * others: what it costs follows the context and not the history. Faults
   * elsewhere are not found. `model` for only as many of the newest of these as
   * name the model. A store may give the whole session all the same.
   */
  readonly part?: "context" | "model" | undefined
  /** Whether a compaction is to be appended, for which pins from before the context must be there, and ids known. */
  readonly toWrite?: boolean | undefined
  /** Which older messages may be known by their roles alone (see `Skimmed` of `@cutpoint/core`); none where left out. */
  readonly skim?: Skimmed.What | undefined
}

/** Finds, reads and appends to sessions. */
export interface Service {
  /** The key of a session, from its key, its id, or an unambiguous start of its id. */
  readonly find: (
    query: string
  ) => Effect.Effect<string, Errors.SessionNotFound | Errors.AmbiguousSession | Errors.SessionUnreadable>
  /** Sessions, the newest first. */
  readonly list: (options?: ListOptions) => Stream.Stream<SessionInfo, Errors.SessionUnreadable>
  /** The first line of a session, without reading the rest. */
  readonly header: (
    key: string
  ) => Effect.Effect<Entry.Header, Errors.SessionNotFound | Errors.NotASession | Errors.SessionUnreadable>
  /** Reads a session. Never changes it. */
  readonly open: (
    key: string,
    options?: OpenOptions
  ) => Effect.Effect<Session, Errors.SessionNotFound | Errors.NotASession | Errors.SessionUnreadable>
  /** The revision that a session has now, without reading the session. */
  readonly revision: (key: string) => Effect.Effect<string, Errors.SessionNotFound | Errors.SessionUnreadable>
  /** A new session with no entries. */
  readonly create: (session: NewSession) => Effect.Effect<Session, Errors.AppendFailed>
  /**
   * Appends entries, all or none, and makes them durable before it succeeds.
   * Cannot be interrupted once it has begun to write.
   */
  readonly append: (
    session: Session,
    entries: readonly [Entry.Entry, ...ReadonlyArray<Entry.Entry>]
  ) => Effect.Effect<Appended, Errors.AppendError>
}

/** Finds, reads and appends to sessions. */
export class SessionStore extends Context.Tag("@cutpoint/compaction/SessionStore")<SessionStore, Service>() {}

// -----------------------------------------------------------------------------
// In memory
// -----------------------------------------------------------------------------

/** A session that a store in memory starts with. */
export interface InitialSession {
  readonly header: Entry.Header
  readonly entries: ReadonlyArray<Entry.Entry>
}

/**
 * Sessions in memory, for tests and for sessions that need not outlive the
 * process. The key of a session is its header's id.
 *
 * @example
 * ```ts
 * import { SessionStore } from "@cutpoint/compaction"
 * import { Projection } from "@cutpoint/core"
 * import { Effect } from "effect"
 *
 * const header = { type: "session", version: 3, id: "mine" } as const
 * const store = SessionStore.layerMemory([{ header, entries: [] }])
 * export const seen = SessionStore.context("mine").pipe(Effect.map(Projection.messages), Effect.provide(store))
 * ```
 */
export const layerMemory = (initial: Iterable<InitialSession> = []): Layer.Layer<SessionStore> =>
  Layer.effect(SessionStore, makeMemory(initial))

type Sessions = ReadonlyMap<string, { readonly session: Session; readonly modified: number }>

const makeMemory = Effect.fnUntraced(function* (initial: Iterable<InitialSession>) {
  const ids = yield* IdGenerator
  const started = [...initial].map(({ header, entries }) => sessionOf(SessionTree.make(header, entries)))
  const sessions = yield* Ref.make<Sessions>(new Map(started.map((session) => [session.key, { session, modified: 0 }])))

  const open = (key: string): Effect.Effect<Session, Errors.SessionNotFound> =>
    Effect.flatMap(Ref.get(sessions), (all) => {
      const found = all.get(key)
      return found === undefined ? Effect.fail(notFound(key, all)) : Effect.succeed(found.session)
    })

  const find: Service["find"] = Effect.fn("SessionStore.find")(function* (query) {
    const all = yield* Ref.get(sessions)
    if (all.has(query)) return query
    const candidates = query === "" ? [] : [...all.keys()].filter((key) => key.startsWith(query))
    const [only] = candidates
    if (only === undefined) return yield* notFound(query, all)
    if (candidates.length > 1) return yield* new Errors.AmbiguousSession({ query, candidates })
    return only
  })

  const list: Service["list"] = (options = {}) =>
    Stream.fromIterableEffect(
      Effect.map(Ref.get(sessions), (all) =>
        [...all.values()]
          .map(({ session, modified }) => infoOf(session, modified))
          .filter((info) => options.cwd === undefined || info.cwd === options.cwd)
          .toSorted((one, other) => other.modified - one.modified)
      )
    )

  const put = (session: Session) =>
    Effect.flatMap(Clock.currentTimeMillis, (modified) =>
      Effect.as(
        Ref.update(sessions, (all) => new Map(all).set(session.key, { session, modified })),
        session
      )
    )

  const create: Service["create"] = Effect.fn("SessionStore.create")(function* ({ cwd, parentSession }) {
    const timestamp = new Date(yield* Clock.currentTimeMillis).toISOString()
    const base = { type: "session", version: Entry.currentVersion, id: yield* ids.uuid, timestamp, cwd } as const
    const header: Entry.Header = parentSession === undefined ? base : { ...base, parentSession }
    return yield* put(sessionOf(SessionTree.make(header, [])))
  })

  const append: Service["append"] = Effect.fn("SessionStore.append")(function* (session, entries) {
    const current = yield* open(session.key)
    if (!(current.version <= Entry.currentVersion)) {
      return yield* new Errors.SessionReadOnly({ key: session.key, version: current.version })
    }
    const next = sessionOf(SessionTree.append(current.tree, entries))
    const modified = yield* Clock.currentTimeMillis
    const isDone = yield* Ref.modify(sessions, (all) =>
      all.get(session.key)?.session.revision === session.revision
        ? [true, new Map(all).set(session.key, { session: next, modified })]
        : [false, all]
    )
    if (!isDone) return yield* new Errors.SessionChanged({ key: session.key })
    return { session: next, backup: undefined }
  })

  return SessionStore.of({
    find,
    list,
    header: (key) => Effect.map(open(key), ({ tree }) => tree.header),
    open,
    revision: (key) => Effect.map(open(key), ({ revision }) => revision),
    create,
    append
  })
})

const sessionOf = (tree: SessionTree.SessionTree): Session => ({
  key: tree.header.id,
  tree,
  version: tree.header.version ?? Entry.currentVersion,
  revision: String(tree.entries.length),
  diagnostics: tree.diagnostics
})

const infoOf = ({ key, tree }: Session, modified: number): SessionInfo => ({
  key,
  id: tree.header.id,
  cwd: tree.header.cwd,
  name: SessionTree.sessionName(tree),
  bytes: JSON.stringify(tree.entries).length,
  modified,
  contextTokens: SessionTree.reportedTokens(tree.entries)
})

const notFound = (query: string, sessions: Sessions): Errors.SessionNotFound =>
  new Errors.SessionNotFound({ query, available: [...sessions.keys()].slice(0, 10) })

/** What the model sees of a session: at its leaf, or at another entry. */
export const context = (
  key: string,
  leafId?: string
): Effect.Effect<
  Projection.Projection,
  Errors.SessionNotFound | Errors.NotASession | Errors.SessionUnreadable,
  SessionStore
> =>
  Effect.flatMap(SessionStore, (store) =>
    Effect.map(store.open(key), ({ tree }) => Projection.project(SessionTree.path(tree, leafId ?? tree.leafId)))
  )
