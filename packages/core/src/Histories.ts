/**
 * Histories of other formats become messages of a session, and come back.
 *
 * Laws. Writing what was read gives the same document, in any format, also
 * after the messages have been stored and read again. Reading what was written
 * of any messages gives the same messages, as far as the format can say them
 * (`leftOut` names what it cannot).
 *
 * How. A run of items is read as messages (`segments`). Where the messages by
 * themselves would be written as something else (`build`), the first of them
 * keeps the difference in `details.imported`, with a mark of what it was taken
 * from: once a message is edited, or stands without its neighbors, the mark
 * does not fit, and the message is written as any other. So nothing stale is
 * ever put back.
 *
 * @since 0.1.0
 */
import * as AnthropicHistory from "./AnthropicHistory.js"
import type * as Entry from "./Entry.js"
import * as Format from "./HistoryFormat.js"
import { type Name, names } from "./HistoryName.js"
import * as Json from "./Json.js"
import * as JsonDifference from "./JsonDifference.js"
import * as LlmMessages from "./LlmMessages.js"
import * as Message from "./Message.js"
import * as OpenAiChatHistory from "./OpenAiChatHistory.js"
import * as OpenAiResponsesHistory from "./OpenAiResponsesHistory.js"
import type * as Projection from "./Projection.js"
import * as PromptHistory from "./PromptHistory.js"

export type { Envelope } from "./HistoryFormat.js"
export { type Name, names } from "./HistoryName.js"

const formats: { readonly [N in Name]: Format.HistoryFormat } = {
  prompt: PromptHistory.format,
  "openai-responses": OpenAiResponsesHistory.format,
  anthropic: AnthropicHistory.format,
  "openai-chat": OpenAiChatHistory.format
}

/** Something without a counterpart in a session, which is kept and comes back. */
export interface Kept {
  /** The item it is of, counted from 0; null for what stands beside the list. */
  readonly item: number | null
  /** Where in the item, such as `content.0.cache_control`; empty for all of it. */
  readonly path: string
}

/** Something of a message that a format cannot say. */
export interface LeftOut {
  /** The message, counted from 0. */
  readonly message: number
  readonly what: string
}

/** A history as messages. */
export interface Imported {
  readonly format: Name
  readonly envelope: Format.Envelope
  readonly messages: ReadonlyArray<Message.Message>
  readonly kept: ReadonlyArray<Kept>
}

/** Messages as a history. */
export interface Exported {
  /** JSON. */
  readonly document: unknown
  readonly leftOut: ReadonlyArray<LeftOut>
}

/**
 * The format of a document: the first that it says something in that no other
 * says so. Plain texts of users and assistants are the same in several formats
 * and count as OpenAI's chat. Undefined for what is no history.
 */
export const detect = (document: unknown): Name | undefined => {
  const own = names.find((name) => {
    const parsed = formats[name].parse(document)
    return parsed !== undefined && formats[name].isOwn(parsed) && isHistory(name, parsed)
  })
  if (own !== undefined) return own
  const plain = OpenAiChatHistory.format.parse(document)
  return plain !== undefined && isHistory("openai-chat", plain) ? "openai-chat" : undefined
}

/** Whether any message can be read; a list of nothing says nothing wrong. */
const isHistory = (name: Name, { items }: Format.Document): boolean =>
  items.length === 0 ||
  formats[name].segments(items).some(({ messages }) => messages.some((message) => message.role !== "unknown"))

/** Reads a document of a format; undefined where it is none. */
export const read = (document: unknown, name: Name): Imported | undefined => {
  const format = formats[name]
  const parsed = format.parse(document)
  if (parsed === undefined || !isHistory(name, parsed)) return undefined
  const { envelope, items } = parsed
  const kept: Array<Kept> = Object.keys(envelope.rest).map((path) => ({ item: null, path }))
  const messages: Array<Format.HistoryMessage> = []
  let item = 0
  for (const segment of format.segments(items)) {
    const difference = JsonDifference.of(format.build(segment.messages), segment.items)
    for (const place of difference === undefined ? [] : JsonDifference.places(difference)) {
      kept.push(...keptAt(place, item, segment.items.length))
    }
    const isPlain = difference === undefined && standsAlone(format, messages.at(-1), segment.messages)
    messages.push(...(isPlain ? segment.messages : marked(name, segment.messages, difference)))
    item += segment.items.length
  }
  const { model } = envelope.rest
  return { format: name, envelope, messages: messages.map((message) => completed(message, format, model)), kept }
}

/** What a difference of a segment's items keeps, by item. */
const keptAt = (place: string, first: number, items: number): ReadonlyArray<Kept> => {
  if (place === "") return Array.from({ length: items }, (_, index) => ({ item: first + index, path: "" }))
  const [index = "0", ...rest] = place.split(".")
  return [{ item: first + Number(index), path: rest.join(".") }]
}

/** Whether messages would be taken for one segment, apart from those before them. */
const standsAlone = (
  format: Format.HistoryFormat,
  before: Format.HistoryMessage | undefined,
  messages: ReadonlyArray<Format.HistoryMessage>
): boolean =>
  messages.every((message, index) => {
    const previous = index === 0 ? before : messages[index - 1]
    return (previous !== undefined && format.joins(previous, message)) === index > 0
  })

/** What a session's agent expects of every reply. The model is known where the document says it. */
const completed = (
  message: Format.HistoryMessage,
  format: Format.HistoryFormat,
  model: unknown
): Format.HistoryMessage => {
  if (message.role !== "assistant") return message
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 }
  const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost }
  const stopReason = Message.toolCalls(message).length > 0 ? "toolUse" : "stop"
  const by = typeof model === "string" && format.provider !== undefined ? { provider: format.provider, model } : {}
  return { ...message, ...by, usage, stopReason }
}

// -----------------------------------------------------------------------------
// What is kept beside
// -----------------------------------------------------------------------------

interface Mark {
  readonly format: string
  /** How many messages the items became. */
  readonly messages: number
  /** Names what the messages were written as. */
  readonly of: string
  readonly difference?: JsonDifference.Difference
}

const marked = (
  format: Name,
  messages: ReadonlyArray<Format.HistoryMessage>,
  difference: JsonDifference.Difference | undefined
): ReadonlyArray<Format.HistoryMessage> => {
  const mark: Mark = {
    format,
    messages: messages.length,
    of: fingerprint(formats[format].build(messages)),
    ...(difference === undefined ? {} : { difference })
  }
  return messages.map((message, index) => (index === 0 ? withMark(message, mark) : message))
}

const withMark = (message: Format.HistoryMessage, imported: Mark): Format.HistoryMessage =>
  message.role === "unknown"
    ? { role: "unknown", original: { role: Format.importedRole, details: { imported } } }
    : { ...message, details: { imported } }

const markOf = (message: Format.HistoryMessage): Mark | undefined => {
  const holder: unknown = message.role === "unknown" ? message.original : message
  const details = Json.isObject(holder) && Json.isObject(holder.details) ? holder.details : {}
  const { imported } = details
  return isMark(imported) ? imported : undefined
}

const isMark = (value: unknown): value is Mark =>
  Json.isObject(value) &&
  typeof value.format === "string" &&
  typeof value.messages === "number" &&
  typeof value.of === "string" &&
  (value.difference === undefined || JsonDifference.isDifference(value.difference))

/** FNV-1a over the JSON text: enough to notice that a message was edited. */
const fingerprint = (value: unknown): string => {
  let hash = 0x811c9dc5
  for (const character of JSON.stringify(value)) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193)
  }
  return (hash >>> 0).toString(16)
}

// -----------------------------------------------------------------------------
// Writing
// -----------------------------------------------------------------------------

/**
 * Writes messages as a document of a format, in the envelope they came in or in
 * the usual one.
 *
 * @example
 * ```ts
 * import { Histories } from "@cutpoint/core"
 *
 * const chat = [{ role: "user", content: "Hello", name: "ann" }]
 * const imported = Histories.read(chat, "openai-chat")
 * if (imported !== undefined) {
 *   console.log(imported.kept) // [{ item: 0, path: "name" }]
 *   console.log(Histories.write(imported.messages, "openai-chat").document) // the chat
 *   console.log(Histories.write(imported.messages, "anthropic").document) // { messages: [{ role: "user", … }] }
 * }
 * ```
 */
export const write = (all: ReadonlyArray<Message.Message>, name: Name, envelope?: Format.Envelope): Exported => {
  const format = formats[name]
  const messages = all.flatMap(writable)
  const items: Array<unknown> = []
  const leftOut: Array<LeftOut> = []
  for (let at = 0; at < messages.length;) {
    const restored = restore(name, messages, at)
    const end = restored?.end ?? endOf(format, messages, at)
    const segment = messages.slice(at, end)
    items.push(...(restored?.items ?? format.build(segment)))
    if (restored === undefined) {
      for (const [index, message] of segment.entries()) {
        const missing = message.role === "unknown" ? ["item of another format"] : format.leavesOut(message)
        for (const what of missing) leftOut.push({ message: at + index, what })
      }
    }
    at = end
  }
  return { document: format.print(items, envelope), leftOut }
}

/** As a model takes it; what stands for an imported item stays. */
const writable = (message: Message.Message): ReadonlyArray<Format.HistoryMessage> =>
  message.role === "unknown" ? (markOf(message) === undefined ? [] : [message]) : LlmMessages.convertToLlm([message])

/** The items that messages were, where they came from this format and say the same as then. */
const restore = (name: Name, messages: ReadonlyArray<Format.HistoryMessage>, at: number) => {
  const first = messages[at]
  const mark = first === undefined ? undefined : markOf(first)
  if (mark === undefined || mark.format !== name) return undefined
  const end = at + mark.messages
  const built = formats[name].build(messages.slice(at, end))
  if (end > messages.length || fingerprint(built) !== mark.of) return undefined
  const items = mark.difference === undefined ? built : JsonDifference.applied(built, mark.difference)
  const list: ReadonlyArray<unknown> | undefined = Array.isArray(items) ? items : undefined
  return list === undefined ? undefined : { items: list, end }
}

/** Where the messages end that are written together; what was marked stands by itself. */
const endOf = (format: Format.HistoryFormat, messages: ReadonlyArray<Format.HistoryMessage>, at: number): number => {
  let end = at + 1
  for (; end < messages.length; end++) {
    const [previous, next] = [messages[end - 1], messages[end]]
    if (previous === undefined || next === undefined) break
    if (markOf(next) !== undefined || !format.joins(previous, next)) break
  }
  return end
}

// -----------------------------------------------------------------------------
// Sessions
// -----------------------------------------------------------------------------

/** The `customType` of the entry that stands before imported messages. */
export const importType = "cutpoint.import"

/** What the entry before imported messages says: the format, and what stood beside the list. */
export const importData = ({ envelope, format }: Imported): unknown => ({ format, envelope })

/** What stood beside the list of the latest import of a format on a path. */
export const envelopeOf = (path: ReadonlyArray<Entry.Entry>, name: Name): Format.Envelope | undefined => {
  const found = path.findLast(
    (entry) =>
      entry.type === "custom" &&
      entry.customType === importType &&
      Json.isObject(entry.data) &&
      entry.data.format === name &&
      isEnvelope(entry.data.envelope)
  )
  const data = found?.type === "custom" && Json.isObject(found.data) ? found.data : {}
  return isEnvelope(data.envelope) ? data.envelope : undefined
}

const isEnvelope = (value: unknown): value is Format.Envelope =>
  Json.isObject(value) && (value.list === null || typeof value.list === "string") && Json.isObject(value.rest)

/** The messages of a context, with those no model sees that stand for imported items. */
export const contextMessages = ({ items }: Pick<Projection.Projection, "items">): ReadonlyArray<Message.Message> =>
  items.flatMap(({ entry, hidden, messages }) =>
    !hidden && entry.type === "message" && entry.message.role === "unknown" ? [entry.message] : messages
  )
