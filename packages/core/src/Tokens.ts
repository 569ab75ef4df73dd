/**
 * What messages cost, in tokens, given how a text is counted.
 *
 * @since 0.1.0
 */
import * as Json from "./Json.js"
import * as Message from "./Message.js"
import type * as Rules from "./Rules.js"
import * as Skimmed from "./Skimmed.js"

/** Counts the tokens of a text. */
export type Count = (text: string) => number

/** Counts the tokens of a message. */
export type CountMessage = (message: Message.Message) => number

/** What an image costs, in tokens. */
export const imageTokens = 1200

/** One token for four UTF-16 code units, rounded up: quick, and the same everywhere. */
export const heuristic: Count = (text) => Math.ceil(text.length / 4)

/** A counter of messages that counts each message object once. */
export const counter = (count: Count, rules: Rules.Rules): CountMessage => {
  const known = new WeakMap<Message.Message, number>()
  return (message) => {
    const before = known.get(message)
    if (before !== undefined) return before
    const tokens = ofMessage(message, count, rules)
    known.set(message, tokens)
    return tokens
  }
}

/**
 * The tokens of one message: of its joined text, plus `imageTokens` an image.
 * A bash execution kept from the model costs nothing.
 */
export const ofMessage = (message: Message.Message, count: Count, rules: Rules.Rules): number => {
  if (rules.excludedBashIsSilent && Message.isExcludedBash(message)) return 0
  const text = countedText(Skimmed.whole(message))
  return (text === "" ? 0 : count(text)) + images(message) * imageTokens
}

/** The sum over messages. */
export const sum = (messages: ReadonlyArray<Message.Message>, count: CountMessage): number => {
  let total = 0
  for (const message of messages) total += count(message)
  return total
}

/** By role: what a file says of other fields of a message has not been checked. */
const images = (message: Message.Message): number => {
  switch (message.role) {
    case "system":
    case "user":
    case "toolResult":
    case "custom":
      return Message.imageCount(message.content)
    default:
      return 0
  }
}

/** The text that a message is counted on. */
const countedText = (message: Message.Message): string => {
  switch (message.role) {
    case "user":
    case "toolResult":
    case "custom":
      return Message.texts(message.content).join("")
    case "assistant":
      return message.content.map(blockText).join("")
    case "bashExecution":
      return message.command + message.output
    case "branchSummary":
    case "compactionSummary":
      return message.summary
    case "system":
      return systemText(message)
    case "unknown":
      return ""
  }
}

const blockText = (block: Message.AssistantBlock): string => {
  if (block.type === "text") return block.text
  if (block.type === "thinking") return block.thinking
  return block.name + Json.textOf(block.arguments)
}

const systemText = (message: Message.SystemMessage): string => {
  const sections = Object.values(message.sections ?? {}).filter((section) => section !== null)
  const tools = message.toolsAdded === undefined ? "" : Json.textOf(message.toolsAdded)
  return Message.texts(message.content).join("") + sections.join("") + tools
}
