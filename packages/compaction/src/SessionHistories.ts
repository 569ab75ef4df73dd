/**
 * Histories of other formats become sessions, and sessions such histories.
 * What `Histories` of `@cutpoint/core` reads is appended in one step.
 *
 * @since 0.1.0
 */
import type * as Diagnostic from "@cutpoint/core/Diagnostic"
import * as Histories from "@cutpoint/core/Histories"
import * as Projection from "@cutpoint/core/Projection"
import * as SessionTree from "@cutpoint/core/SessionTree"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as NewEntry from "./NewEntry.js"
import * as SessionStore from "./SessionStore.js"

/** A document is no history, or not of the format that was named. Nothing was written. */
export class NotAHistory extends Schema.TaggedError<NotAHistory>()("NotAHistory", {
  /** The format that was named, if one was. */
  format: Schema.optional(Schema.String)
}) {
  override get message(): string {
    const known = Histories.names.join(", ")
    return this.format === undefined
      ? `This is no history of a known format (${known}): a list of messages or items, or an object that holds one. Name the format if you know it; nothing was written.`
      : `This is no history of the format ${this.format}. Leave the format out to have it found, or name another of ${known}; nothing was written.`
  }
}

/** Where a history goes, and what it is. */
export interface ImportOptions {
  /** Found by what the document says where it is left out. */
  readonly format?: Histories.Name | undefined
  /** The session at whose leaf it is appended, or the folder of a new one. */
  readonly to: { readonly key: string } | { readonly cwd: string }
}

/** A history that became entries. */
export interface ImportedHistory {
  readonly session: SessionStore.Session
  readonly format: Histories.Name
  /** How many messages were appended. */
  readonly messages: number
  /** What has no counterpart in a session, and is kept for an export. */
  readonly kept: ReadonlyArray<Histories.Kept>
  /** Where the original of a session in an older format was kept. */
  readonly backup: string | undefined
}

/** What is exported, and as what. */
export interface ExportOptions {
  readonly format: Histories.Name
  /** The whole path, in place of what the model sees of it; no summary stands in it then. */
  readonly all?: boolean | undefined
}

/** A session as a history. */
export interface ExportedHistory extends Histories.Exported {
  readonly leafId: string | null
  /** How many messages were written. */
  readonly messages: number
  readonly diagnostics: ReadonlyArray<Diagnostic.Diagnostic>
}

type ReadError = SessionStore.SessionNotFound | SessionStore.NotASession | SessionStore.SessionUnreadable

/** Turns histories into sessions and back. */
export interface Service {
  /** `document` is JSON as `JSON.parse` gives it. */
  readonly importHistory: (
    document: unknown,
    options: ImportOptions
  ) => Effect.Effect<ImportedHistory, NotAHistory | SessionStore.AppendError>
  readonly exportHistory: (key: string, options: ExportOptions) => Effect.Effect<ExportedHistory, ReadError>
}

/** Turns histories into sessions and back. */
export class SessionHistories extends Context.Tag("@cutpoint/compaction/SessionHistories")<
  SessionHistories,
  Service
>() {}

const make = Effect.gen(function* () {
  const store = yield* SessionStore.SessionStore

  const importHistory: Service["importHistory"] = Effect.fn("SessionHistories.importHistory")(function* (
    document,
    { format, to }
  ) {
    const imported = read(document, format)
    if (imported === undefined) return yield* new NotAHistory({ format })
    const session = yield* "key" in to ? store.open(to.key) : store.create(to)
    const appended = yield* store.append(session, yield* entriesOf(session, imported))
    const { kept, messages } = imported
    return { ...appended, format: imported.format, messages: messages.length, kept }
  })

  const exportHistory: Service["exportHistory"] = Effect.fn("SessionHistories.exportHistory")(function* (
    key,
    { all = false, format }
  ) {
    const { diagnostics, tree } = yield* store.open(key)
    const path = SessionTree.leafPath(tree)
    const messages = all
      ? path.flatMap((entry) => (entry.type === "message" ? [entry.message] : Projection.messagesOf(entry, false)))
      : Histories.contextMessages(Projection.project(path))
    const exported = Histories.write(messages, format, Histories.envelopeOf(path, format))
    return { ...exported, leafId: tree.leafId, messages: messages.length, diagnostics }
  })

  return SessionHistories.of({ importHistory, exportHistory })
})

/**
 * Histories of sessions in the store in context.
 *
 * @example
 * ```ts
 * import { SessionHistories, SessionStore } from "@cutpoint/compaction"
 * import { Effect, Layer } from "effect"
 *
 * const program = Effect.gen(function* () {
 *   const histories = yield* SessionHistories.SessionHistories
 *   const { session } = yield* histories.importHistory([{ role: "user", content: "Hello" }], { to: { cwd: "/work" } })
 *   return (yield* histories.exportHistory(session.key, { format: "anthropic" })).document
 * })
 *
 * const services = SessionHistories.layer.pipe(Layer.provide(SessionStore.layerMemory()))
 * export const exported = Effect.provide(program, services)
 * ```
 */
export const layer: Layer.Layer<SessionHistories, never, SessionStore.SessionStore> = Layer.effect(
  SessionHistories,
  make
)

const read = (document: unknown, named: Histories.Name | undefined): Histories.Imported | undefined => {
  const format = named ?? Histories.detect(document)
  return format === undefined ? undefined : Histories.read(document, format)
}

/** A mark of the import, then its messages, one below the other. */
const entriesOf = Effect.fnUntraced(function* ({ tree }: SessionStore.Session, imported: Histories.Imported) {
  const timestamp = yield* Clock.currentTimeMillis
  const data = Histories.importData(imported)
  const mark: NewEntry.Body = { type: "custom", customType: Histories.importType, data }
  const messages = imported.messages.map((message): NewEntry.Body => ({
    type: "message",
    message: message.role === "unknown" ? message : { ...message, timestamp }
  }))
  return yield* NewEntry.chain(tree, tree.leafId, [mark, ...messages])
})
