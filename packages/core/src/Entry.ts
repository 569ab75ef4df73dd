/**
 * Entries of a session: the lines of its file, and the nodes of its tree.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { Content, CustomMessage, Message, SystemMessage, Usage, UserContent } from "./Message.js"

/** The version of the session format that Cutpoint writes. */
export const currentVersion = 3

/** A session's first line. No `version` means 1. */
export const Header = Schema.Struct({
  type: Schema.Literal("session"),
  version: Schema.optional(Schema.Number),
  id: Schema.String,
  timestamp: Schema.optional(Schema.Union(Schema.String, Schema.Number)),
  cwd: Schema.optional(Schema.String),
  parentSession: Schema.optional(Schema.String)
})
export interface Header extends Schema.Schema.Type<typeof Header> {}

const base = {
  id: Schema.NonEmptyString,
  parentId: Schema.NullOr(Schema.String),
  timestamp: Schema.Union(Schema.String, Schema.Number)
}

const entry = <Type extends string, Fields extends Schema.Struct.Fields>(type: Type, fields: Fields) =>
  Schema.Struct({ type: Schema.Literal(type), ...base, ...fields })

/** Something that was said. */
export const MessageEntry = entry("message", { message: Message })
export interface MessageEntry extends Schema.Schema.Type<typeof MessageEntry> {}

/** A message that an extension put into the context. */
export const CustomMessageEntry = entry("custom_message", {
  customType: CustomMessage.fields.customType,
  content: UserContent,
  display: CustomMessage.fields.display,
  details: CustomMessage.fields.details
})
export interface CustomMessageEntry extends Schema.Schema.Type<typeof CustomMessageEntry> {}

/** What was done on the branch that ends at `fromId`. */
export const BranchSummaryEntry = entry("branch_summary", {
  fromId: Schema.NullOr(Schema.String),
  summary: Schema.String,
  details: Schema.optional(Schema.Unknown),
  usage: Schema.optional(Usage),
  fromHook: Schema.optional(Schema.Boolean)
})
export interface BranchSummaryEntry extends Schema.Schema.Type<typeof BranchSummaryEntry> {}

/** Stands for everything on its path before `firstKeptEntryId`. `tokensBefore` is in tokens. */
export const CompactionEntry = entry("compaction", {
  summary: Schema.String,
  firstKeptEntryId: Schema.String,
  tokensBefore: Schema.Number,
  details: Schema.optional(Schema.Unknown),
  usage: Schema.optional(Usage),
  fromHook: Schema.optional(Schema.Boolean),
  systemMessage: Schema.optional(SystemMessage)
})
export interface CompactionEntry extends Schema.Schema.Type<typeof CompactionEntry> {}

/** Hides an earlier entry from the model (null), or gives its message another content. */
export const ContextEditEntry = entry("context_edit", {
  targetId: Schema.String,
  replacement: Schema.NullOr(Schema.Struct({ content: Content }))
})
export interface ContextEditEntry extends Schema.Schema.Type<typeof ContextEditEntry> {}

/** From here on another model answers. */
export const ModelChangeEntry = entry("model_change", { provider: Schema.String, modelId: Schema.String })
export interface ModelChangeEntry extends Schema.Schema.Type<typeof ModelChangeEntry> {}

/** From here on the model thinks more, or less. */
export const ThinkingLevelChangeEntry = entry("thinking_level_change", { thinkingLevel: Schema.String })
export interface ThinkingLevelChangeEntry extends Schema.Schema.Type<typeof ThinkingLevelChangeEntry> {}

/** A name for an entry; no label takes the name away. */
export const LabelEntry = entry("label", {
  targetId: Schema.String,
  label: Schema.optional(Schema.NullOr(Schema.String))
})
export interface LabelEntry extends Schema.Schema.Type<typeof LabelEntry> {}

/** A name for the session. */
export const SessionInfoEntry = entry("session_info", { name: Schema.optional(Schema.NullOr(Schema.String)) })
export interface SessionInfoEntry extends Schema.Schema.Type<typeof SessionInfoEntry> {}

/** An extension's own state. Never in the context. */
export const CustomEntry = entry("custom", { customType: Schema.String, data: Schema.optional(Schema.Unknown) })
export interface CustomEntry extends Schema.Schema.Type<typeof CustomEntry> {}

/** Tokens used outside the conversation. */
export const UsageEntry = entry("usage", { usage: Usage })
export interface UsageEntry extends Schema.Schema.Type<typeof UsageEntry> {}

/** An entry of a type that this version does not know: kept as it is, and ignored. */
export const UnknownEntry = entry("unknown", { original: Schema.Record({ key: Schema.String, value: Schema.Unknown }) })
export interface UnknownEntry extends Schema.Schema.Type<typeof UnknownEntry> {}

/** Any entry. */
export const Entry = Schema.Union(
  MessageEntry,
  CustomMessageEntry,
  BranchSummaryEntry,
  CompactionEntry,
  ContextEditEntry,
  ModelChangeEntry,
  ThinkingLevelChangeEntry,
  LabelEntry,
  SessionInfoEntry,
  CustomEntry,
  UsageEntry,
  UnknownEntry
)
export type Entry = typeof Entry.Type

/** The `customType` of the entry that makes a move to another leaf durable. */
export const leafMarker = "cutpoint.leaf"

/** Whether an entry marks its parent as the leaf. */
export const isLeafMarker = (entry: Entry): boolean => entry.type === "custom" && entry.customType === leafMarker

/** An entry's type as its file spells it. */
export const typeName = (entry: Entry): string =>
  entry.type === "unknown" ? (typeof entry.original.type === "string" ? entry.original.type : "") : entry.type

/** The JSON value that stands for an entry in a file: what is unknown of it as it was found. */
export const toJson = (entry: Entry): unknown => {
  if (entry.type === "unknown") return entry.original
  const isUnknownRole = entry.type === "message" && entry.message.role === "unknown"
  return isUnknownRole ? { ...entry, message: entry.message.original } : entry
}

/** When an entry was written, in milliseconds since 1970; undefined where its timestamp cannot be read. */
export const writtenAt = (entry: Pick<Entry, "timestamp">): number | undefined => {
  const time = typeof entry.timestamp === "number" ? entry.timestamp : Date.parse(entry.timestamp)
  return Number.isFinite(time) ? time : undefined
}
