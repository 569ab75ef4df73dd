/**
 * Reads entries from JSON objects that may be of any shape. Laws: a
 * well-formed entry comes back as the same object; nothing throws; an entry
 * that cannot be made sense of is kept as `unknown`, so that its children
 * still find their way to the root.
 *
 * @since 0.1.0
 */
import type * as Entry from "./Entry.js"
import * as Json from "./Json.js"
import * as MessageReader from "./MessageReader.js"

/** What the reader of a line has made sure of. */
export interface Base {
  readonly id: string
  readonly parentId: string | null
}

type Reader = (value: Json.JsonObject, base: Base) => Entry.Entry | undefined

/** Reads an entry whose `id` and `parentId` are known. */
export const read = (value: Json.JsonObject, base: Base): Entry.Entry => {
  const reader = typeof value.type === "string" ? readers.get(value.type) : undefined
  return reader?.(value, base) ?? unknown(value, base)
}

/** Whether a type of entry is one that this version knows. */
export const isKnownType = (type: unknown): boolean => typeof type === "string" && readers.has(type)

const timestampOf = (value: unknown): string | number =>
  typeof value === "string" || (typeof value === "number" && Number.isFinite(value)) ? value : ""

const unknown = (value: Json.JsonObject, base: Base): Entry.UnknownEntry => ({
  type: "unknown",
  id: base.id,
  parentId: base.parentId,
  timestamp: timestampOf(value.timestamp),
  original: value
})

/** The object itself where base and patch change nothing. `undefined` in a patch takes a key away. */
const sound = <E extends Entry.Entry>(value: Json.JsonObject, base: Base, patch: Json.JsonObject): E => {
  const wanted: Json.JsonObject = {
    id: base.id,
    parentId: base.parentId,
    timestamp: timestampOf(value.timestamp),
    ...patch
  }
  for (const key in wanted) {
    if (value[key] === wanted[key]) continue
    const merged = Object.entries({ ...value, ...wanted }).filter(([, item]) => item !== undefined)
    return Object.fromEntries(merged) as E
  }
  return value as E
}

const flagOf = (value: unknown): unknown => (typeof value === "boolean" ? value : undefined)

const readMessage: Reader = (value, base) =>
  sound<Entry.MessageEntry>(value, base, { message: MessageReader.read(value.message) })

const readCustomMessage: Reader = (value, base) =>
  sound<Entry.CustomMessageEntry>(value, base, {
    customType: Json.stringOr(value.customType, ""),
    content: MessageReader.readContent(value.content),
    display: flagOf(value.display)
  })

const readBranchSummary: Reader = (value, base) =>
  sound<Entry.BranchSummaryEntry>(value, base, {
    fromId: Json.stringOr(value.fromId, null),
    summary: Json.stringOr(value.summary, ""),
    usage: MessageReader.readUsage(value.usage),
    fromHook: flagOf(value.fromHook)
  })

const readCompaction: Reader = (value, base) =>
  sound<Entry.CompactionEntry>(value, base, {
    summary: Json.stringOr(value.summary, ""),
    firstKeptEntryId: Json.stringOr(value.firstKeptEntryId, ""),
    tokensBefore: typeof value.tokensBefore === "number" ? value.tokensBefore : 0,
    usage: MessageReader.readUsage(value.usage),
    fromHook: flagOf(value.fromHook),
    systemMessage: MessageReader.readSystem(value.systemMessage)
  })

const readContextEdit: Reader = (value, base) => {
  if (typeof value.targetId !== "string") return undefined
  const replacement = value.replacement
  if (replacement !== null && !Json.isObject(replacement)) return undefined
  return sound<Entry.ContextEditEntry>(value, base, {
    replacement: replacement === null ? null : readReplacement(replacement)
  })
}

const readReplacement = (replacement: Json.JsonObject): Json.JsonObject => {
  const content = MessageReader.readAnyContent(replacement.content)
  return content === replacement.content ? replacement : { ...replacement, content }
}

/** A type whose named fields must be strings; otherwise the entry says nothing that can be used. */
const ofStrings =
  (...fields: ReadonlyArray<string>): Reader =>
  (value, base) =>
    fields.every((field) => typeof value[field] === "string") ? sound<Entry.Entry>(value, base, {}) : undefined

const readLabel: Reader = (value, base) =>
  typeof value.targetId === "string"
    ? sound<Entry.LabelEntry>(value, base, {
        label: value.label === null ? null : Json.stringOr(value.label, undefined)
      })
    : undefined

const readSessionInfo: Reader = (value, base) =>
  sound<Entry.SessionInfoEntry>(value, base, {
    name: value.name === null ? null : Json.stringOr(value.name, undefined)
  })

const readUsage: Reader = (value, base) =>
  Json.isObject(value.usage)
    ? sound<Entry.UsageEntry>(value, base, { usage: MessageReader.readUsage(value.usage) })
    : undefined

const readers: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ["message", readMessage],
  ["custom_message", readCustomMessage],
  ["branch_summary", readBranchSummary],
  ["compaction", readCompaction],
  ["context_edit", readContextEdit],
  ["model_change", ofStrings("provider", "modelId")],
  ["thinking_level_change", ofStrings("thinkingLevel")],
  ["label", readLabel],
  ["session_info", readSessionInfo],
  ["custom", ofStrings("customType")],
  ["usage", readUsage]
])
