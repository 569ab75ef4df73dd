/**
 * What a format of histories has to say for `Histories` to read and write it,
 * and what all formats have in common.
 *
 * A format need not be able to say all that a session can, nor the reverse:
 * `segments` reads what has a counterpart, `build` makes of that what the
 * format says in the usual case, and `Histories` keeps the difference.
 *
 * @since 0.1.0
 */
import * as Json from "./Json.js"
import * as JsonDifference from "./JsonDifference.js"
import * as Message from "./Message.js"

/** Messages as a model takes them, and those that stand for items without a counterpart. */
export type HistoryMessage = Extract<
  Message.Message,
  { readonly role: "system" | "user" | "assistant" | "toolResult" | "unknown" }
>

/** The rest of a document around its list of items; `list` is null where the document is the list itself. */
export interface Envelope {
  readonly list: string | null
  readonly rest: Json.JsonObject
}

/** A document taken apart. What it says once for all its items (a system text) is an item too. */
export interface Document {
  readonly envelope: Envelope
  readonly items: ReadonlyArray<unknown>
}

/** Items that are read together, and the messages they become: at least one. */
export interface Segment {
  readonly items: ReadonlyArray<unknown>
  readonly messages: ReadonlyArray<HistoryMessage>
}

/** A format of histories. */
export interface HistoryFormat {
  /** Whose models speak it, by the name that sessions give the provider. */
  readonly provider: string | undefined
  /** The document taken apart; undefined for what is no document of this format. */
  readonly parse: (document: unknown) => Document | undefined
  /** Whether a document says something that only this format says so. */
  readonly isOwn: (document: Document) => boolean
  readonly segments: (items: ReadonlyArray<unknown>) => ReadonlyArray<Segment>
  /** Whether two messages in a row are said by one item in the usual case. */
  readonly joins: (previous: HistoryMessage, next: HistoryMessage) => boolean
  /** The items for messages that stand together; nothing for those without a counterpart. */
  readonly build: (messages: ReadonlyArray<HistoryMessage>) => ReadonlyArray<unknown>
  /** What `build` leaves out of a message, in a few words each. */
  readonly leavesOut: (message: HistoryMessage) => ReadonlyArray<string>
  /** The document of items, in the envelope they came in or in the usual one. */
  readonly print: (items: ReadonlyArray<unknown>, envelope: Envelope | undefined) => unknown
}

// -----------------------------------------------------------------------------
// Documents
// -----------------------------------------------------------------------------

/** The list at one of the keys of an object, or the document itself where it is a list. */
export const parse = (document: unknown, keys: ReadonlyArray<string>): Document | undefined => {
  if (Array.isArray(document)) return { envelope: { list: null, rest: {} }, items: document }
  if (!Json.isObject(document)) return undefined
  const list = keys.find((key) => Array.isArray(document[key]))
  const items = list === undefined ? undefined : document[list]
  if (list === undefined || !Array.isArray(items)) return undefined
  const rest = Object.fromEntries(Object.entries(document).filter(([key]) => key !== list))
  return { envelope: { list, rest }, items }
}

/** The items in an envelope. */
export const print = (items: ReadonlyArray<unknown>, { list, rest }: Envelope): unknown =>
  list === null ? items : { ...rest, [list]: items }

// -----------------------------------------------------------------------------
// Reading
// -----------------------------------------------------------------------------

/** The role of messages that stand for items without a counterpart; no model sees them. */
export const importedRole = "imported"

/** Stands for an item without a counterpart. */
export const unread: Message.UnknownMessage = { role: "unknown", original: { role: importedRole } }

/** Stands for a part without a counterpart, so that the model knows there was one. */
export const placeholder = (part: unknown): Message.TextBlock => {
  const type = Json.isObject(part) ? Json.stringOr(part.type, "part") : "part"
  return { type: "text", text: `[${type}]` }
}

/** A content of parts, each read by itself; a text as it is, anything else as empty. */
export const contentOf = (value: unknown, read: (part: Json.JsonObject) => Message.UserBlock | undefined) => {
  if (typeof value === "string" || !Array.isArray(value)) return Json.stringOr(value, "")
  return blocksOf(value, read)
}

/** Parts as blocks; a text as one block, unless it is empty. */
export const blocksOf = <B extends Message.Block>(
  value: unknown,
  read: (part: Json.JsonObject) => B | undefined
): ReadonlyArray<B | Message.TextBlock> => {
  if (typeof value === "string") return value === "" ? [] : [{ type: "text", text: value }]
  if (!Array.isArray(value)) return []
  return value.map((part: unknown) => (Json.isObject(part) ? read(part) : undefined) ?? placeholder(part))
}

/** The block of a text that may not be there. */
export const textBlock = (text: unknown): Message.TextBlock | undefined =>
  typeof text === "string" ? { type: "text", text } : undefined

/** The block of a call; undefined where it has no name or id. */
export const callBlock = (id: unknown, name: unknown, args: unknown): Message.ToolCallBlock | undefined =>
  typeof id === "string" && typeof name === "string" ? { type: "toolCall", id, name, arguments: args } : undefined

/** Arguments that are written as the text of a JSON value; a text of none, or of numbers that JSON cannot say again, stays one. */
export const parseArguments = (value: unknown): unknown => {
  if (typeof value !== "string") return value
  try {
    const parsed: unknown = JSON.parse(value)
    return JsonDifference.of(parsed, JSON.parse(JSON.stringify(parsed))) === undefined ? parsed : value
  } catch {
    return value
  }
}

/** The image of a data URL; undefined for other addresses. */
export const imageOfUrl = (url: unknown): Message.ImageBlock | undefined => {
  const [, mimeType, data] = (typeof url === "string" ? /^data:([^;,]+);base64,(.*)$/s.exec(url) : undefined) ?? []
  return mimeType === undefined || data === undefined ? undefined : { type: "image", data, mimeType }
}

/** Which tool each call so far was for, so that its result can be named. */
export const callNames = (messages: Iterable<HistoryMessage>): ReadonlyMap<string, string> => {
  const names = new Map<string, string>()
  for (const message of messages) {
    if (message.role !== "assistant") continue
    for (const call of Message.toolCalls(message)) names.set(call.id, call.name)
  }
  return names
}

/** The results of segments with the names of their tools. */
export const named = (segments: ReadonlyArray<Segment>): ReadonlyArray<Segment> => {
  const names = callNames(segments.flatMap(({ messages }) => messages))
  return segments.map(({ items, messages }) => ({
    items,
    messages: messages.map((message) =>
      message.role === "toolResult" && message.toolName === ""
        ? { ...message, toolName: names.get(message.toolCallId) ?? "" }
        : message
    )
  }))
}

/** A result whose tool is not named yet. */
export const resultOf = (
  toolCallId: string,
  content: ReadonlyArray<Message.UserBlock>,
  isError = false
): Message.ToolResultMessage => ({ role: "toolResult", toolCallId, toolName: "", content, isError })

// -----------------------------------------------------------------------------
// Writing
// -----------------------------------------------------------------------------

/** A system message's content, its sections as texts after it. */
export const systemContent = ({ content, sections }: Message.SystemMessage): Message.UserContent => {
  const texts = Object.values(sections ?? {}).filter((text) => text !== null)
  if (texts.length === 0) return content
  return [...Message.texts(content), ...texts].filter((text) => text !== "").join("\n\n")
}

/** The text of a call's arguments. */
export const argumentsText = ({ arguments: args }: Message.ToolCallBlock): string => JSON.stringify(args ?? {})

/** A data URL of an image. */
export const imageUrl = ({ data, mimeType }: Message.ImageBlock): string =>
  `data:${mimeType ?? "image/png"};base64,${data ?? ""}`

/** The blocks of a content. */
export const toBlocks = (content: Message.UserContent): ReadonlyArray<Message.UserBlock> =>
  typeof content === "string" ? [{ type: "text", text: content }] : content

/** What is left out of a message: those of some kinds, if it has them. */
export const leftOut = (
  kinds: ReadonlyArray<readonly [what: string, has: (message: HistoryMessage) => boolean]>
): HistoryFormat["leavesOut"] => {
  return (message) => kinds.filter(([, has]) => has(message)).map(([what]) => what)
}

/** Whether a tool result holds an image. */
export const hasResultImage = (message: HistoryMessage): boolean =>
  message.role === "toolResult" && Message.imageCount(message.content) > 0

/** Whether a result is marked as a failure. */
export const isFailure = (message: HistoryMessage): boolean => message.role === "toolResult" && message.isError

/** Whether a system message declares tools. */
export const declaresTools = (message: HistoryMessage): boolean =>
  message.role === "system" && (message.toolsAdded ?? []).length > 0

/** Whether a reply has thinking of which a test holds. */
export const hasThinking =
  (test: (block: Message.ThinkingBlock) => boolean) =>
  (message: HistoryMessage): boolean =>
    message.role === "assistant" && message.content.some((block) => block.type === "thinking" && test(block))
