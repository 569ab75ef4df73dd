/**
 * What can go wrong with a session in its store. Each error says what
 * happened, where, and what to do next.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/** No session goes by this name. */
export class SessionNotFound extends Schema.TaggedError<SessionNotFound>()("SessionNotFound", {
  query: Schema.String,
  /** Sessions that there are, the newest first; at most a handful. */
  available: Schema.Array(Schema.String)
}) {
  override get message(): string {
    const named = this.query === "" ? "An empty name fits no session." : `There is no session ${this.query}.`
    const others =
      this.available.length === 0
        ? "There are none in the sessions folder; give the path of a session file."
        : `There are:\n${this.available.map((one) => `  ${one}`).join("\n")}`
    return `${named} ${others}`
  }
}

/** Several sessions go by this start of an id. */
export class AmbiguousSession extends Schema.TaggedError<AmbiguousSession>()("AmbiguousSession", {
  query: Schema.String,
  candidates: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return `${this.query} fits several sessions; give more of the id, or the path:\n${this.candidates.map((one) => `  ${one}`).join("\n")}`
  }
}

/** What was found under this name is no session, and is never written to. */
export class NotASession extends Schema.TaggedError<NotASession>()("NotASession", {
  key: Schema.String,
  /** The 1-based line where a header should be; undefined where no line can be read. */
  line: Schema.optional(Schema.Int)
}) {
  override get message(): string {
    const found =
      this.line === undefined
        ? "it has no readable line"
        : `line ${this.line}, its first readable one, is no session header`
    return `${this.key} is not a session: ${found}. Check the path; the file was not touched.`
  }
}

/** The store could not be read. */
export class SessionUnreadable extends Schema.TaggedError<SessionUnreadable>()("SessionUnreadable", {
  key: Schema.String,
  cause: Schema.Defect
}) {
  override get message(): string {
    return `${this.key} cannot be read: ${causeText(this.cause)}. Check that it exists and that you may read it.`
  }
}

/** The session's format is newer than this program, which must not write it. */
export class SessionReadOnly extends Schema.TaggedError<SessionReadOnly>()("SessionReadOnly", {
  key: Schema.String,
  version: Schema.Number
}) {
  override get message(): string {
    return Number.isNaN(this.version)
      ? `${this.key} does not say which version of the session format it has, so it is only read, never written. Correct the header's version.`
      : `${this.key} has version ${this.version} of the session format, which this program can read but not write. Update Cutpoint; the session was not touched.`
  }
}

/** The session has grown since it was read. Nothing was written. */
export class SessionChanged extends Schema.TaggedError<SessionChanged>()("SessionChanged", {
  key: Schema.String
}) {
  override get message(): string {
    return `${this.key} was changed by someone else in the meantime. Nothing was written; run the command again.`
  }
}

/** Another process is writing to the session, and does not end. Nothing was written. */
export class SessionLocked extends Schema.TaggedError<SessionLocked>()("SessionLocked", {
  key: Schema.String,
  /** The lock's file. */
  lock: Schema.String,
  /** The process that holds it, and its machine; undefined where the file does not say. */
  pid: Schema.optional(Schema.Int),
  host: Schema.optional(Schema.String),
  /** How long was waited, in milliseconds. */
  waitedMs: Schema.Number
}) {
  override get message(): string {
    const holder = this.pid === undefined ? "somebody" : `process ${this.pid} on ${this.host || "this machine"}`
    return `${this.key} is locked by ${holder}, for more than ${this.waitedMs} ms. Nothing was written. Wait until it is done; if nobody is writing any more, remove ${this.lock} and run the command again.`
  }
}

/** Writing failed; the session is as it was before. */
export class AppendFailed extends Schema.TaggedError<AppendFailed>()("AppendFailed", {
  key: Schema.String,
  cause: Schema.Defect
}) {
  override get message(): string {
    return `Writing to ${this.key} failed: ${causeText(this.cause)}. The session is as it was; make room or get permission, then run the command again.`
  }
}

/** A copy was to be written where there is something already. */
export class CopyExists extends Schema.TaggedError<CopyExists>()("CopyExists", {
  path: Schema.String
}) {
  override get message(): string {
    return `${this.path} is there already and is not overwritten. Give the name of a file that is not there yet.`
  }
}

/** Why an append can fail. */
export type AppendError =
  | SessionNotFound
  | NotASession
  | SessionUnreadable
  | SessionReadOnly
  | SessionChanged
  | SessionLocked
  | AppendFailed

/** What a foreign failure says of itself, on one line. */
const causeText = (cause: unknown): string => {
  const text = cause instanceof Error ? cause.message : String(cause)
  return text.split("\n", 1)[0] ?? ""
}
