/**
 * Histories as the JSON of a `Prompt` of `@effect/ai`: an object with the list
 * at `content`, or the list. Results of several calls stand in one message
 * there, and are messages of their own in a session.
 *
 * @since 0.1.0
 */
import * as Format from "./HistoryFormat.js"
import * as Json from "./Json.js"
import * as Message from "./Message.js"

const isAddress = /^[a-z][a-z0-9+.-]*:/i

const part = (part: Json.JsonObject): Message.UserBlock | undefined => {
  if (part.type === "text") return Format.textBlock(part.text)
  const { data, mediaType: mimeType } = part
  const isImage = part.type === "file" && typeof mimeType === "string" && mimeType.startsWith("image/")
  return isImage && typeof data === "string" && !isAddress.test(data) ? { type: "image", data, mimeType } : undefined
}

/** What the provider ran itself stands in the reply with its result; a call without one would look unanswered. */
const replyPart = (part: Json.JsonObject): Message.AssistantBlock | undefined => {
  if (part.type === "text") return Format.textBlock(part.text)
  if (part.type === "tool-call" && part.providerExecuted !== true) {
    return Format.callBlock(part.id, part.name, part.params)
  }
  return part.type === "reasoning" && typeof part.text === "string"
    ? { type: "thinking", thinking: part.text }
    : undefined
}

const isResult = (part: unknown): part is Json.JsonObject => Json.isObject(part) && part.type === "tool-result"

const readResult = (part: Json.JsonObject): Message.ToolResultMessage => {
  const text = typeof part.result === "string" ? part.result : Json.textOf(part.result)
  const content = text === "" ? [] : [{ type: "text" as const, text }]
  const [toolCallId, toolName] = [Json.stringOr(part.id, ""), Json.stringOr(part.name, "")]
  return { role: "toolResult", toolCallId, toolName, content, isError: part.isFailure === true }
}

const read = (item: unknown): ReadonlyArray<Format.HistoryMessage> => {
  if (!Json.isObject(item)) return [Format.unread]
  const { content, role } = item
  if (role === "system") return [{ role, content: Json.stringOr(content, "") }]
  if (role === "user") return [{ role, content: Format.contentOf(content, part) }]
  if (role === "assistant") return [{ role, content: Format.blocksOf(content, replyPart) }]
  const parts: ReadonlyArray<unknown> = role === "tool" && Array.isArray(content) ? content : []
  return parts.length > 0 && parts.every(isResult) ? parts.map(readResult) : [Format.unread]
}

const options = {}

const toPart = (block: Message.UserBlock): unknown =>
  block.type === "text"
    ? { type: "text", text: block.text, options }
    : { type: "file", mediaType: block.mimeType ?? "image/png", data: block.data ?? "", options }

const toReplyPart = (block: Message.AssistantBlock): unknown => {
  if (block.type === "text") return { type: "text", text: block.text, options }
  if (block.type === "thinking") return { type: "reasoning", text: block.thinking, options }
  const { arguments: params = {}, id, name } = block
  return { type: "tool-call", id, name, params, providerExecuted: false, options }
}

/** What tools give is JSON, and stands in a session as its text. */
const resultOf = (text: string): unknown => {
  if (!/^[[{]/.test(text)) return text
  const parsed = Format.parseArguments(text)
  return Json.textOf(parsed) === text ? parsed : text
}

const toResult = (message: Message.ToolResultMessage): unknown => ({
  type: "tool-result",
  id: message.toolCallId,
  name: message.toolName,
  isFailure: message.isError,
  result: resultOf(Message.texts(message.content).join("\n")),
  providerExecuted: false,
  options
})

const build = (messages: ReadonlyArray<Format.HistoryMessage>): ReadonlyArray<unknown> => {
  const [first] = messages
  switch (first?.role) {
    case "system":
      return [{ role: "system", content: Message.texts(Format.systemContent(first)).join("\n"), options }]
    case "user": {
      const content = typeof first.content === "string" ? first.content : first.content.map(toPart)
      return [{ role: "user", content, options }]
    }
    case "assistant":
      return [{ role: "assistant", content: first.content.map(toReplyPart), options }]
    case "toolResult": {
      const content = messages.filter((message) => message.role === "toolResult").map(toResult)
      return [{ role: "tool", content, options }]
    }
    default:
      return []
  }
}

const ownTypes: ReadonlySet<unknown> = new Set(["tool-call", "tool-result", "reasoning", "file"])

const hasOwnPart = (item: unknown): boolean =>
  Json.isObject(item) &&
  Array.isArray(item.content) &&
  item.content.some((part: unknown) => Json.isObject(part) && ownTypes.has(part.type))

/** A `Prompt` of `@effect/ai`. */
export const format: Format.HistoryFormat = {
  provider: undefined,
  parse: (document) => Format.parse(document, ["content"]),
  isOwn: ({ envelope, items }) => envelope.list !== null || items.some(hasOwnPart),
  segments: (items) => Format.named(items.map((item) => ({ items: [item], messages: read(item) }))),
  joins: (previous, next) => previous.role === "toolResult" && next.role === "toolResult",
  build,
  leavesOut: Format.leftOut([
    ["image in a tool result", Format.hasResultImage],
    ["declaration of tools", Format.declaresTools]
  ]),
  print: (items, envelope) => Format.print(items, envelope ?? { list: "content", rest: {} })
}
