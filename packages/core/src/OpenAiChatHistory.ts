/**
 * Histories as messages of OpenAI's chat completions: a list, or a request
 * with the list at `messages`. An item is a message.
 *
 * @since 0.1.0
 */
import * as Format from "./HistoryFormat.js"
import * as Json from "./Json.js"
import type * as Message from "./Message.js"

const part = (part: Json.JsonObject): Message.UserBlock | undefined => {
  if (part.type === "text") return Format.textBlock(part.text)
  return part.type === "image_url" && Json.isObject(part.image_url) ? Format.imageOfUrl(part.image_url.url) : undefined
}

const textPart = (part: Json.JsonObject): Message.TextBlock | undefined =>
  part.type === "text" ? Format.textBlock(part.text) : undefined

const call = (value: unknown): Message.AssistantBlock => {
  const made = Json.isObject(value) && Json.isObject(value.function) ? value.function : {}
  const id = Json.isObject(value) ? value.id : undefined
  return Format.callBlock(id, made.name, Format.parseArguments(made.arguments)) ?? Format.placeholder(value)
}

const read = (item: unknown): Format.HistoryMessage => {
  if (!Json.isObject(item)) return Format.unread
  switch (item.role) {
    case "system":
    case "developer":
      return { role: "system", content: Format.contentOf(item.content, textPart) }
    case "user":
      return { role: "user", content: Format.contentOf(item.content, part) }
    case "assistant": {
      const calls: ReadonlyArray<unknown> = Array.isArray(item.tool_calls) ? item.tool_calls : []
      return { role: "assistant", content: [...Format.blocksOf(item.content, textPart), ...calls.map(call)] }
    }
    case "tool":
      return Format.resultOf(Json.stringOr(item.tool_call_id, ""), Format.blocksOf(item.content, textPart))
    default:
      return Format.unread
  }
}

const toPart = (block: Message.UserBlock): unknown =>
  block.type === "text" ? block : { type: "image_url", image_url: { url: Format.imageUrl(block) } }

const toContent = (content: Message.UserContent): unknown =>
  typeof content === "string" ? content : content.map(toPart)

/** One text stands by itself. */
const toTexts = (blocks: ReadonlyArray<Message.Block>, none: "" | null): unknown => {
  const texts = blocks.filter((block) => block.type === "text").map(({ text }) => ({ type: "text", text }))
  const [only] = texts
  return only === undefined ? none : texts.length === 1 ? only.text : texts
}

const toCall = (block: Message.ToolCallBlock): unknown => ({
  id: block.id,
  type: "function",
  function: { name: block.name, arguments: Format.argumentsText(block) }
})

const build = (message: Format.HistoryMessage): ReadonlyArray<unknown> => {
  switch (message.role) {
    case "system":
      return [{ role: "system", content: toContent(Format.systemContent(message)) }]
    case "user":
      return [{ role: "user", content: toContent(message.content) }]
    case "assistant": {
      const calls = message.content.filter((block) => block.type === "toolCall").map(toCall)
      const said = { role: "assistant", content: toTexts(message.content, null) }
      return calls.length === 0 && said.content === null
        ? []
        : [calls.length === 0 ? said : { ...said, tool_calls: calls }]
    }
    case "toolResult":
      return [{ role: "tool", tool_call_id: message.toolCallId, content: toTexts(message.content, "") }]
    default:
      return []
  }
}

const ownRoles: ReadonlySet<unknown> = new Set(["system", "developer", "tool", "function"])

/** OpenAI's chat completions. */
export const format: Format.HistoryFormat = {
  provider: "openai",
  parse: (document) => Format.parse(document, ["messages"]),
  isOwn: ({ items }) =>
    items.some((item) => Json.isObject(item) && "role" in item && (ownRoles.has(item.role) || "tool_calls" in item)),
  segments: (items) => Format.named(items.map((item) => ({ items: [item], messages: [read(item)] }))),
  joins: () => false,
  build: (messages) => messages.flatMap(build),
  leavesOut: Format.leftOut([
    ["thinking", Format.hasThinking(() => true)],
    ["image in a tool result", Format.hasResultImage],
    ["mark of a failed tool", Format.isFailure],
    ["declaration of tools", Format.declaresTools]
  ]),
  print: (items, envelope) => Format.print(items, envelope ?? { list: null, rest: {} })
}
