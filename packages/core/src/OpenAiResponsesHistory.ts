/**
 * Histories as items of OpenAI's Responses: a list, a request with the list at
 * `input`, or a response with it at `output`. `instructions` are a system
 * message. Items of one reply (reasoning, text, calls) become one message.
 *
 * Reasoning stands in a session as the same agents write it: the summary as
 * the thinking, the item's JSON as its signature. Thinking without such a
 * signature is left out: a server takes back only its own.
 *
 * @since 0.1.0
 */
import * as Format from "./HistoryFormat.js"
import * as Json from "./Json.js"
import type * as Message from "./Message.js"

const textTypes: ReadonlySet<unknown> = new Set(["input_text", "output_text", "text"])

const textPart = (part: Json.JsonObject): Message.TextBlock | undefined =>
  textTypes.has(part.type) ? Format.textBlock(part.text) : undefined

const part = (part: Json.JsonObject): Message.UserBlock | undefined =>
  part.type === "input_image" ? Format.imageOfUrl(part.image_url) : textPart(part)

const summaryOf = ({ summary }: Json.JsonObject): string => {
  const parts: ReadonlyArray<unknown> = Array.isArray(summary) ? summary : []
  return parts.map((each) => (Json.isObject(each) ? Json.stringOr(each.text, "") : "")).join("\n\n")
}

/** The blocks of an item of a reply; undefined for items of other kinds. */
const replyBlocks = (item: unknown): ReadonlyArray<Message.AssistantBlock> | undefined => {
  if (!Json.isObject(item)) return undefined
  if (item.type === "reasoning") {
    return [{ type: "thinking", thinking: summaryOf(item), thinkingSignature: JSON.stringify(item) }]
  }
  if (item.type === "function_call") {
    const call = Format.callBlock(item.call_id, item.name, Format.parseArguments(item.arguments))
    return call === undefined ? undefined : [call]
  }
  return isMessage(item) && item.role === "assistant" ? Format.blocksOf(item.content, textPart) : undefined
}

const isMessage = ({ role, type }: Json.JsonObject): boolean =>
  (type === "message" || type === undefined) && role !== undefined

const read = (item: unknown): Format.HistoryMessage => {
  if (!Json.isObject(item)) return Format.unread
  if (typeof item.instructions === "string") return { role: "system", content: item.instructions }
  if (item.type === "function_call_output") {
    return Format.resultOf(Json.stringOr(item.call_id, ""), Format.blocksOf(item.output, part))
  }
  if (!isMessage(item)) return Format.unread
  if (item.role === "user") return { role: "user", content: Format.contentOf(item.content, part) }
  const isSystem = item.role === "system" || item.role === "developer"
  return isSystem ? { role: "system", content: Format.contentOf(item.content, textPart) } : Format.unread
}

const segments = (items: ReadonlyArray<unknown>): ReadonlyArray<Format.Segment> => {
  const found: Array<Format.Segment> = []
  let reply: { readonly items: Array<unknown>; readonly blocks: Array<Message.AssistantBlock> } | undefined
  const end = (): void => {
    if (reply !== undefined) {
      found.push({ items: reply.items, messages: [{ role: "assistant", content: reply.blocks }] })
    }
    reply = undefined
  }
  for (const item of items) {
    const blocks = replyBlocks(item)
    if (blocks === undefined) {
      end()
      found.push({ items: [item], messages: [read(item)] })
      continue
    }
    reply ??= { items: [], blocks: [] }
    reply.items.push(item)
    reply.blocks.push(...blocks)
  }
  end()
  return Format.named(found)
}

const toPart = (block: Message.UserBlock): unknown =>
  block.type === "text"
    ? { type: "input_text", text: block.text }
    : { type: "input_image", image_url: Format.imageUrl(block) }

const toContent = (content: Message.UserContent): unknown =>
  typeof content === "string" ? content : content.map(toPart)

const toOutput = (content: ReadonlyArray<Message.UserBlock>): unknown => {
  const [first] = content
  if (first === undefined) return ""
  return content.length === 1 && first.type === "text" ? first.text : content.map(toPart)
}

/** The item a thinking came from, unless it says something else by now. */
const reasoningOf = ({ thinking, thinkingSignature }: Message.ThinkingBlock): Json.JsonObject | undefined => {
  if (typeof thinkingSignature !== "string") return undefined
  const item = Format.parseArguments(thinkingSignature)
  return Json.isObject(item) && item.type === "reasoning" && summaryOf(item) === thinking ? item : undefined
}

/** Texts in a row are the parts of one message. */
const buildReply = ({ content }: Message.AssistantMessage): ReadonlyArray<unknown> => {
  const items: Array<unknown> = []
  let parts: Array<unknown> | undefined
  for (const block of content) {
    if (block.type === "text") {
      if (parts === undefined) items.push({ type: "message", role: "assistant", content: (parts = []) })
      parts.push({ type: "output_text", text: block.text })
      continue
    }
    parts = undefined
    const item = block.type === "thinking" ? reasoningOf(block) : toCall(block)
    if (item !== undefined) items.push(item)
  }
  return items
}

const toCall = (block: Message.ToolCallBlock): Json.JsonObject => ({
  type: "function_call",
  call_id: block.id,
  name: block.name,
  arguments: Format.argumentsText(block)
})

const build = (message: Format.HistoryMessage): ReadonlyArray<unknown> => {
  switch (message.role) {
    case "system":
      return [{ type: "message", role: "system", content: toContent(Format.systemContent(message)) }]
    case "user":
      return [{ type: "message", role: "user", content: toContent(message.content) }]
    case "assistant":
      return buildReply(message)
    case "toolResult":
      return [{ type: "function_call_output", call_id: message.toolCallId, output: toOutput(message.content) }]
    default:
      return []
  }
}

const isInstructions = (item: unknown): item is { readonly instructions: string } =>
  Json.isObject(item) && typeof item.instructions === "string" && item.type === undefined && item.role === undefined

const parse = (document: unknown): Format.Document | undefined => {
  const found = Format.parse(document, ["input", "output"])
  if (found === undefined || typeof found.envelope.rest.instructions !== "string") return found
  const { instructions, ...rest } = found.envelope.rest
  return { envelope: { ...found.envelope, rest }, items: [{ instructions }, ...found.items] }
}

const print = (items: ReadonlyArray<unknown>, envelope: Format.Envelope = { list: null, rest: {} }): unknown => {
  const [first, ...others] = items
  if (envelope.list === null || !isInstructions(first)) return Format.print(items, envelope)
  return Format.print(others, { ...envelope, rest: { ...envelope.rest, instructions: first.instructions } })
}

const ownTypes: ReadonlySet<unknown> = new Set(["message", "function_call", "function_call_output", "reasoning"])

/** OpenAI's Responses. */
export const format: Format.HistoryFormat = {
  provider: "openai",
  parse,
  isOwn: ({ envelope, items }) =>
    envelope.list !== null || items.some((item) => Json.isObject(item) && ownTypes.has(item.type)),
  segments,
  joins: () => false,
  build: (messages) => messages.flatMap(build),
  leavesOut: Format.leftOut([
    ["thinking", Format.hasThinking((block) => reasoningOf(block) === undefined)],
    ["mark of a failed tool", Format.isFailure],
    ["declaration of tools", Format.declaresTools]
  ]),
  print
}
