/**
 * Histories as Anthropic's messages: a list, or a request with the list at
 * `messages`. `system` is a system message. Results stand there in a user's
 * message, often with a text after them, and are messages of their own in a
 * session.
 *
 * Thinking carries its signature. Thinking without one is left out: the
 * provider does not take it back.
 *
 * @since 0.1.0
 */
import * as Format from "./HistoryFormat.js"
import * as Json from "./Json.js"
import type * as Message from "./Message.js"

const part = (part: Json.JsonObject): Message.UserBlock | undefined => {
  if (part.type === "text") return Format.textBlock(part.text)
  const source = part.type === "image" && Json.isObject(part.source) ? part.source : {}
  const { data, media_type: mimeType } = source
  const isHere = source.type === "base64" && typeof data === "string" && typeof mimeType === "string"
  return isHere ? { type: "image", data, mimeType } : undefined
}

const replyPart = (part: Json.JsonObject): Message.AssistantBlock | undefined => {
  switch (part.type) {
    case "text":
      return Format.textBlock(part.text)
    case "thinking":
      return typeof part.thinking === "string" && typeof part.signature === "string"
        ? { type: "thinking", thinking: part.thinking, thinkingSignature: part.signature }
        : undefined
    case "redacted_thinking":
      return typeof part.data === "string"
        ? { type: "thinking", thinking: "", thinkingSignature: part.data, redacted: true }
        : undefined
    case "tool_use":
      return Format.callBlock(part.id, part.name, part.input)
    default:
      return undefined
  }
}

const isResult = (part: unknown): part is Json.JsonObject => Json.isObject(part) && part.type === "tool_result"

/** A user's message: each result by itself, what stands between them together. */
const readUser = (content: unknown): ReadonlyArray<Format.HistoryMessage> => {
  if (!Array.isArray(content)) return [{ role: "user", content: Json.stringOr(content, "") }]
  const messages: Array<Format.HistoryMessage> = []
  let said: Array<unknown> = []
  const end = (): void => {
    if (said.length > 0) messages.push({ role: "user", content: Format.blocksOf(said, part) })
    said = []
  }
  for (const each of content) {
    if (!isResult(each)) {
      said.push(each)
      continue
    }
    end()
    const id = Json.stringOr(each.tool_use_id, "")
    messages.push(Format.resultOf(id, Format.blocksOf(each.content, part), each.is_error === true))
  }
  end()
  return messages.length === 0 ? [{ role: "user", content: [] }] : messages
}

const read = (item: unknown): ReadonlyArray<Format.HistoryMessage> => {
  if (!Json.isObject(item)) return [Format.unread]
  if (isSystem(item)) return [{ role: "system", content: Format.contentOf(item.system, part) }]
  if (item.role === "user") return readUser(item.content)
  if (item.role !== "assistant") return [Format.unread]
  return [{ role: "assistant", content: Format.blocksOf(item.content, replyPart) }]
}

const toPart = (block: Message.UserBlock): unknown =>
  block.type === "text"
    ? { type: "text", text: block.text }
    : { type: "image", source: { type: "base64", media_type: block.mimeType ?? "image/png", data: block.data ?? "" } }

const toContent = (content: Message.UserContent): unknown =>
  typeof content === "string" ? content : content.map(toPart)

const toResult = (message: Message.ToolResultMessage): unknown => {
  const [first] = message.content
  const isOneText = message.content.length === 1 && first?.type === "text"
  return {
    type: "tool_result",
    tool_use_id: message.toolCallId,
    ...(first === undefined ? {} : { content: isOneText ? first.text : message.content.map(toPart) }),
    ...(message.isError ? { is_error: true } : {})
  }
}

const toReplyParts = (block: Message.AssistantBlock): ReadonlyArray<unknown> => {
  if (block.type === "text") return [{ type: "text", text: block.text }]
  if (block.type === "toolCall") {
    return [{ type: "tool_use", id: block.id, name: block.name, input: block.arguments ?? {} }]
  }
  if (!isSigned(block)) return []
  const signature = block.thinkingSignature
  return [
    block.redacted === true
      ? { type: "redacted_thinking", data: signature }
      : { type: "thinking", thinking: block.thinking, signature }
  ]
}

/** A signature that is JSON is another provider's. */
const isSigned = ({ thinkingSignature }: Message.ThinkingBlock): boolean =>
  typeof thinkingSignature === "string" && !thinkingSignature.startsWith("{")

/** What stands together in a user's message. */
const userParts = (message: Format.HistoryMessage): ReadonlyArray<unknown> => {
  if (message.role === "toolResult") return [toResult(message)]
  return message.role === "user" ? Format.toBlocks(message.content).map(toPart) : []
}

const build = (messages: ReadonlyArray<Format.HistoryMessage>): ReadonlyArray<unknown> => {
  const [first, ...others] = messages
  if (first === undefined) return []
  if (first.role === "system") {
    const content = Format.systemContent(first)
    return [{ system: toContent(content) }]
  }
  if (first.role === "assistant") {
    const content = first.content.flatMap(toReplyParts)
    return content.length === 0 ? [] : [{ role: "assistant", content }]
  }
  if (first.role === "user" && others.length === 0) return [{ role: "user", content: toContent(first.content) }]
  const content = messages.flatMap(userParts)
  return content.length === 0 ? [] : [{ role: "user", content }]
}

/** What stands for the text at `system` among the items. */
const isSystem = (item: unknown): item is { readonly system: unknown } =>
  Json.isObject(item) && "system" in item && !("role" in item)

const parse = (document: unknown): Format.Document | undefined => {
  const found = Format.parse(document, ["messages"])
  const system = found?.envelope.rest.system
  if (found === undefined || (typeof system !== "string" && !Array.isArray(system))) return found
  const rest = Object.fromEntries(Object.entries(found.envelope.rest).filter(([key]) => key !== "system"))
  return { envelope: { ...found.envelope, rest }, items: [{ system }, ...found.items] }
}

const usual: Format.Envelope = { list: "messages", rest: {} }

/** All that is said at `system`; several become parts of one. */
const print = (items: ReadonlyArray<unknown>, envelope: Format.Envelope = usual): unknown => {
  const systems = items.filter(isSystem).map(({ system }) => system)
  if (systems.length === 0) return Format.print(items, envelope)
  const { list, rest } = envelope.list === null ? usual : envelope
  const parts = systems.flatMap((system): ReadonlyArray<unknown> =>
    Array.isArray(system) ? system : [{ type: "text", text: system }]
  )
  const others = items.filter((item) => !isSystem(item))
  return Format.print(others, { list, rest: { ...rest, system: systems.length === 1 ? systems[0] : parts } })
}

const ownTypes: ReadonlySet<unknown> = new Set(["tool_use", "tool_result", "thinking", "image", "document"])

const hasOwnPart = (item: unknown): boolean =>
  Json.isObject(item) &&
  Array.isArray(item.content) &&
  item.content.some((part: unknown) => Json.isObject(part) && ownTypes.has(part.type))

/** Anthropic's messages. */
export const format: Format.HistoryFormat = {
  provider: "anthropic",
  parse,
  isOwn: ({ items }) => items.some((item) => isSystem(item) || hasOwnPart(item)),
  segments: (items) => Format.named(items.map((item) => ({ items: [item], messages: read(item) }))),
  joins: (previous, next) => previous.role === "toolResult" && (next.role === "toolResult" || next.role === "user"),
  build,
  leavesOut: Format.leftOut([
    ["thinking", Format.hasThinking((block) => !isSigned(block))],
    ["declaration of tools", Format.declaresTools]
  ]),
  print
}
