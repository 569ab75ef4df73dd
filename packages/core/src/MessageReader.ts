/**
 * Reads messages from JSON that may be of any shape. What is well formed
 * comes back as the same object; what is not is put right: a null or missing
 * content reads as empty, a block of an unknown kind is left out, a reply's
 * plain text becomes one text block, an unknown role is kept and ignored.
 *
 * @since 0.1.0
 */
import * as Json from "./Json.js"
import type * as Message from "./Message.js"

type Reader = (value: Json.JsonObject) => Message.Message

/** Reads a message from any JSON value; never throws. */
export const read = (value: unknown): Message.Message => {
  if (!Json.isObject(value)) return { role: "unknown", original: value }
  const reader = typeof value.role === "string" ? readers.get(value.role) : undefined
  return reader === undefined ? { role: "unknown", original: value } : reader(value)
}

/** Reads a system message; undefined for anything else. */
export const readSystem = (value: unknown): Message.SystemMessage | undefined => {
  const message = read(value)
  return message.role === "system" ? message : undefined
}

/** Reads a content of user blocks: a text, or blocks. */
export const readContent = (value: unknown): Message.UserContent => {
  if (typeof value === "string") return value
  if (!Array.isArray(value)) return ""
  return keep(value, isUserBlock)
}

/** Reads a content of blocks of any kind: what an edit puts in an entry's place. */
export const readAnyContent = (value: unknown): Message.Content => {
  if (typeof value === "string") return value
  return Array.isArray(value) ? keep(value, isBlock) : ""
}

/** The text of a content as blocks, which replies and tool results need. */
const readBlocks = <B>(
  value: unknown,
  isBlock: (block: unknown) => block is B
): ReadonlyArray<B | Message.TextBlock> => {
  if (typeof value === "string") return value === "" ? [] : [{ type: "text", text: value }]
  return Array.isArray(value) ? keep(value, isBlock) : []
}

const isTextBlock = (block: unknown): block is Message.TextBlock =>
  Json.isObject(block) && block.type === "text" && typeof block.text === "string"

const isUserBlock = (block: unknown): block is Message.UserBlock =>
  isTextBlock(block) ||
  (Json.isObject(block) &&
    block.type === "image" &&
    isOptional(block.data, "string") &&
    isOptional(block.mimeType, "string"))

const isAssistantBlock = (block: unknown): block is Message.AssistantBlock => {
  if (!Json.isObject(block)) return false
  if (block.type === "text") return typeof block.text === "string"
  if (block.type === "thinking") return typeof block.thinking === "string"
  return block.type === "toolCall" && typeof block.id === "string" && typeof block.name === "string"
}

const isBlock = (block: unknown): block is Message.Block => isUserBlock(block) || isAssistantBlock(block)

const isOptional = (value: unknown, type: "string" | "number" | "boolean"): boolean =>
  value === undefined || typeof value === type

/** The array itself where every item passes, else a copy of those that do. */
const keep = <B>(items: ReadonlyArray<unknown>, is: (item: unknown) => item is B): ReadonlyArray<B> =>
  items.every(is) ? items : items.filter(is)

/** The object itself where nothing has to be changed. */
const patched = <M>(value: Json.JsonObject, patch: Json.JsonObject): M => {
  for (const key in patch) {
    if (value[key] !== patch[key]) return { ...value, ...patch } as M
  }
  return value as M
}

/** Keys that hold no value of their type are taken out, so that readers need not look twice. */
const withoutBad = (value: Json.JsonObject, good: { readonly [key: string]: boolean }): Json.JsonObject => {
  const bad = Object.keys(good).filter((key) => key in value && value[key] !== undefined && good[key] === false)
  if (bad.length === 0) return value
  return Object.fromEntries(Object.entries(value).filter(([key]) => !bad.includes(key)))
}

const isTimestamp = (value: unknown): boolean => typeof value === "number" || typeof value === "string"

const isSections = (value: unknown): boolean =>
  Json.isObject(value) && Object.values(value).every((text) => text === null || typeof text === "string")

const hasName = (value: unknown): value is { readonly name: string } =>
  Json.isObject(value) && typeof value.name === "string"

const amounts: ReadonlySet<string> = new Set(["input", "output", "cacheRead", "cacheWrite", "totalTokens", "total"])

/** A usage without what is no number in it, which does not make its other parts worth less; undefined for what is no object. */
export const readUsage = (value: unknown): Json.JsonObject | undefined => {
  if (!Json.isObject(value)) return undefined
  if (isSoundUsage(value)) return value
  const parts = Object.entries(value).map(([key, part]) => [key, key === "cost" ? readUsage(part) : part] as const)
  const sound = parts.filter(([key, part]) =>
    key === "cost" ? part !== undefined || value.cost === undefined : !amounts.has(key) || isOptional(part, "number")
  )
  return sound.length === parts.length && parts.every(([key, part]) => part === value[key])
    ? value
    : Object.fromEntries(sound)
}

/** Whether nothing has to be taken out of a usage. */
const isSoundUsage = (value: Json.JsonObject): boolean => {
  for (const key in value) {
    const part = value[key]
    if (
      key === "cost"
        ? part !== undefined && !(Json.isObject(part) && isSoundUsage(part))
        : amounts.has(key) && !isOptional(part, "number")
    )
      return false
  }
  return true
}

const readSystemMessage: Reader = (value) => {
  const sound = withoutBad(value, {
    sections: isSections(value.sections),
    toolsAdded: Array.isArray(value.toolsAdded),
    toolsRemoved: Array.isArray(value.toolsRemoved),
    timestamp: isTimestamp(value.timestamp)
  })
  return patched<Message.SystemMessage>(sound, {
    content: readContent(sound.content),
    ...(Array.isArray(sound.toolsAdded) ? { toolsAdded: keep(sound.toolsAdded, hasName) } : {}),
    ...(Array.isArray(sound.toolsRemoved) ? { toolsRemoved: keep(sound.toolsRemoved, hasName) } : {})
  })
}

const readUser: Reader = (value) =>
  patched<Message.UserMessage>(withoutBad(value, { timestamp: isTimestamp(value.timestamp) }), {
    content: readContent(value.content)
  })

const readAssistant: Reader = (value) => {
  const sound = withoutBad(value, {
    provider: typeof value.provider === "string",
    model: typeof value.model === "string",
    usage: Json.isObject(value.usage),
    stopReason: typeof value.stopReason === "string",
    errorMessage: typeof value.errorMessage === "string",
    timestamp: isTimestamp(value.timestamp)
  })
  return patched<Message.AssistantMessage>(sound, {
    content: readBlocks(value.content, isAssistantBlock),
    ...(sound.usage === undefined ? {} : { usage: readUsage(sound.usage) })
  })
}

const readToolResult: Reader = (value) => {
  const sound = withoutBad(value, {
    nestedCalls: Json.isObject(value.nestedCalls) && Array.isArray(value.nestedCalls.calls),
    usage: Json.isObject(value.usage),
    timestamp: isTimestamp(value.timestamp)
  })
  const nested = sound.nestedCalls
  return patched<Message.ToolResultMessage>(sound, {
    toolCallId: Json.stringOr(value.toolCallId, ""),
    toolName: Json.stringOr(value.toolName, ""),
    content: readBlocks(value.content, isUserBlock),
    isError: value.isError === true,
    ...(sound.usage === undefined ? {} : { usage: readUsage(sound.usage) }),
    ...(Json.isObject(nested) ? { nestedCalls: readNestedCalls(nested) } : {})
  })
}

const readNestedCalls = (value: Json.JsonObject): Json.JsonObject => {
  const found = Array.isArray(value.calls) ? value.calls : []
  const calls = found
    .filter(hasName)
    .map((call: Json.JsonObject) =>
      withoutBad(call, { id: typeof call.id === "string", status: typeof call.status === "string" })
    )
  const isSound = calls.length === found.length && calls.every((call, index) => call === found[index])
  const sound = withoutBad(value, { complete: typeof value.complete === "boolean" })
  return isSound ? sound : { ...sound, calls }
}

const readBash: Reader = (value) => {
  const sound = withoutBad(value, {
    exitCode: value.exitCode === null || typeof value.exitCode === "number",
    excludeFromContext: typeof value.excludeFromContext === "boolean",
    timestamp: isTimestamp(value.timestamp)
  })
  return patched<Message.BashExecutionMessage>(sound, {
    command: Json.stringOr(value.command, ""),
    output: Json.stringOr(value.output, "")
  })
}

const readCustom: Reader = (value) => {
  const sound = withoutBad(value, {
    display: typeof value.display === "boolean",
    timestamp: isTimestamp(value.timestamp)
  })
  return patched<Message.CustomMessage>(sound, {
    role: "custom",
    customType: Json.stringOr(value.customType, ""),
    content: readContent(value.content)
  })
}

const readSummary: Reader = (value) => {
  const sound = withoutBad(value, {
    fromId: value.fromId === null || typeof value.fromId === "string",
    tokensBefore: typeof value.tokensBefore === "number",
    timestamp: isTimestamp(value.timestamp)
  })
  return patched<Message.BranchSummaryMessage | Message.CompactionSummaryMessage>(sound, {
    summary: Json.stringOr(value.summary, "")
  })
}

const readers: ReadonlyMap<string, Reader> = new Map([
  ["system", readSystemMessage],
  ["user", readUser],
  ["assistant", readAssistant],
  ["toolResult", readToolResult],
  ["bashExecution", readBash],
  ["custom", readCustom],
  // What version 2 called an extension's message.
  ["hookMessage", readCustom],
  ["branchSummary", readSummary],
  ["compactionSummary", readSummary]
])
