/**
 * Messages as text for a model that is to summarize them.
 *
 * Laws. The text is well-formed UTF-16 whatever the messages hold; no tool
 * result and no argument is longer than its limit and its marker; nothing in
 * it can end the fence it is put in, or pass for another part.
 *
 * @since 0.1.0
 */
import * as Json from "./Json.js"
import type { LlmMessage } from "./LlmMessages.js"
import * as Message from "./Message.js"

/** How a transcript is written. */
export interface Options {
  /** Whether thinking is shown. */
  readonly includeThinking: boolean
  /**
   * Whether long results keep head and tail, long arguments are cut, and text
   * is made well formed and unable to leave its fence. What goes to a provider
   * always is.
   */
  readonly guarded: boolean
}

/** What a provider gets. */
export const forModel: Options = { includeThinking: true, guarded: true }

/** The most of a tool result or an argument that is shown, in UTF-16 code units, the marker apart. */
export const maxPart = 2000

/** How much of that is the start, in UTF-16 code units; the rest is the end, where verdicts stand. */
export const headOfPart = 1400

/** The transcript: a part each for what was said, joined by a blank line. */
export const serialize = (messages: ReadonlyArray<LlmMessage>, options: Options): string => {
  let transcript = ""
  for (const message of messages) {
    for (const part of parts(message, options)) transcript += transcript === "" ? part : `\n\n${part}`
  }
  return transcript
}

/** The parts of one message. Images and system messages print nothing. */
export const parts = (message: LlmMessage, options: Options): ReadonlyArray<string> => {
  const found: Array<string> = []
  const add = (label: string, text: string): void => {
    if (text !== "") found.push(`[${label}]: ${options.guarded ? guard(text) : text}`)
  }
  if (message.role === "user") add("User", Message.texts(message.content).join(""))
  else if (message.role === "toolResult") {
    add("Tool result", shortened(Message.texts(message.content).join(""), options))
  } else if (message.role === "assistant") {
    if (options.includeThinking) add("Assistant thinking", thinkingOf(message))
    add("Assistant", Message.texts(message.content).join("\n"))
    add("Assistant tool calls", callsOf(message, options))
  }
  return found
}

/** The tags that fence something in a request or a summary. */
const fences = "conversation|previous-summary|turn-prefix|pinned|read-files|modified-files"

const fenceTag = new RegExp(`<(?=\\s*/?\\s*(?:${fences})\\b)`, "gi")

const partMarker = /\[(?=(?:User|Assistant|Assistant thinking|Assistant tool calls|Tool result)\]\s*:)/gi

/**
 * Makes text well formed and keeps it inside its fence: the opening character
 * of a fence tag or a part marker becomes one that looks like it. The length
 * stays the same.
 */
export const guard = (text: string): string =>
  text.toWellFormed().replace(fenceTag, "\u2039").replace(partMarker, "\u27E6")

/** The text without its middle where it is longer than `max`; no surrogate pair is split. Lengths in UTF-16 code units. */
export const withoutMiddle = (text: string, max: number, head: number): string => {
  if (text.length <= max) return text
  const start = wholeUpTo(text, head)
  const end = wholeFrom(text, text.length - (max - head))
  return `${text.slice(0, start)}\n\n[... ${end - start} characters left out ...]\n\n${text.slice(end)}`
}

const splitsPair = (text: string, at: number): boolean =>
  at > 0 && at < text.length && isHigh(text.charCodeAt(at - 1)) && isLow(text.charCodeAt(at))

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff

const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff

const wholeUpTo = (text: string, at: number): number => (splitsPair(text, at) ? at - 1 : at)

const wholeFrom = (text: string, at: number): number => (splitsPair(text, at) ? at + 1 : at)

const shortened = (text: string, options: Options): string => {
  if (options.guarded) return withoutMiddle(text, maxPart, headOfPart)
  if (text.length <= maxPart) return text
  return `${text.slice(0, maxPart)}\n\n[... ${text.length - maxPart} more characters truncated]`
}

const thinkingOf = (message: Message.AssistantMessage): string => {
  const found: Array<string> = []
  for (const block of message.content) if (block.type === "thinking") found.push(block.thinking)
  return found.join("\n")
}

const callsOf = (message: Message.AssistantMessage, options: Options): string => {
  const found: Array<string> = []
  for (const block of message.content) {
    if (block.type === "toolCall") found.push(`${block.name}(${argumentsText(block.arguments, options)})`)
  }
  return found.join("; ")
}

/** `key=JSON` for each argument; what is no object is shown as it is. */
export const argumentsText = (args: unknown, options: Options): string => {
  const cut = (text: string): string => (options.guarded ? withoutMiddle(text, maxPart, headOfPart) : text)
  if (args === null || args === undefined) return ""
  if (typeof args === "string") return cut(args)
  if (!Json.isObject(args)) return cut(Json.textOf(args))
  const found: Array<string> = []
  for (const [key, value] of Object.entries(args)) found.push(`${key}=${cut(Json.textOf(value))}`)
  return found.join(", ")
}
