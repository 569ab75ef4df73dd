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
import type * as Entry from "@cutpoint/core/Entry"
import type * as SessionTree from "@cutpoint/core/SessionTree"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type * as Errors from "./SessionErrors.js"

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

/** Finds, reads and appends to sessions. */
export interface Service {
  /** The key of a session, from its key, its id, or an unambiguous start of its id. */
  readonly find: (
    query: string
  ) => Effect.Effect<string, Errors.SessionNotFound | Errors.AmbiguousSession | Errors.SessionUnreadable>
  /** Sessions, the newest first. */
  readonly list: (options?: ListOptions) => Stream.Stream<SessionInfo, Errors.SessionUnreadable>
  /** Reads a session. Never changes it. */
  readonly open: (
    key: string
  ) => Effect.Effect<Session, Errors.SessionNotFound | Errors.NotASession | Errors.SessionUnreadable>
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
