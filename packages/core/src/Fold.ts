/**
 * Splits a transcript that does not fit one request into chunks that do.
 *
 * Laws. The chunks hold every message once and in order; no chunk costs more
 * than its limit; a message is only cut where it is larger than a chunk by
 * itself, and then in the middle.
 *
 * @since 0.1.0
 */
import type { LlmMessage } from "./LlmMessages.js"
import * as Message from "./Message.js"
import type * as Tokens from "./Tokens.js"
import * as Transcript from "./Transcript.js"

/** A stretch of the conversation for one request. */
export interface Chunk {
  /** How many messages it holds, those before it that print nothing included. */
  readonly messages: number
  readonly transcript: string
  /** What the transcript costs at most, in tokens. */
  readonly tokens: number
}

/** How a conversation is counted and written. */
export interface PartsOptions {
  readonly count: Tokens.Count
  readonly transcript: Transcript.Options
}

/** How large chunks may be, and how they are counted and written. */
export interface Options extends PartsOptions {
  /** The most of one chunk, in tokens. */
  readonly chunkTokens: number
}

/** A conversation as parts of a transcript, each printed and counted once, however often it is split. */
export interface Parts {
  readonly options: PartsOptions
  readonly all: ReadonlyArray<Part>
}

/** A message's part of the transcript. */
interface Part {
  readonly text: string
  readonly tokens: number
  /** Whether a chunk may start here without parting a call from its result. */
  readonly isCut: boolean
}

/** What the blank line between two parts costs at most, in tokens. */
const separatorTokens = 2

/** The parts of messages. */
export const parts = (messages: ReadonlyArray<LlmMessage>, options: PartsOptions): Parts => {
  const isBound = boundToCall(messages)
  const all = messages.map((message, index) => {
    const text = Transcript.parts(message, options.transcript).join("\n\n")
    const tokens = text === "" ? 0 : options.count(text) + separatorTokens
    return { text, tokens, isCut: isBound[index] !== true }
  })
  return { options, all }
}

/** The chunks in order; none where nothing would be printed. */
export const split = (messages: ReadonlyArray<LlmMessage>, options: Options): ReadonlyArray<Chunk> =>
  chunks(parts(messages, options), options.chunkTokens)

/** The chunks of parts from one on, in order; none where nothing would be printed. */
export const chunks = (parts: Parts, chunkTokens: number, from = 0): ReadonlyArray<Chunk> => {
  const found: Array<Chunk> = []
  let counted = from
  for (let start = from; start < parts.all.length;) {
    const end = chunkEnd(parts.all, start, chunkTokens)
    const chunk = chunkOf(parts, start, end, chunkTokens)
    start = end
    if (chunk.transcript === "") continue
    found.push({ ...chunk, messages: end - counted })
    counted = end
  }
  return found
}

/** How many chunks there would be, from one part on. */
export const chunkCount = ({ all }: Parts, chunkTokens: number, from = 0): number => {
  let found = 0
  for (let start = from; start < all.length;) {
    const end = chunkEnd(all, start, chunkTokens)
    if (all.slice(start, end).some(({ text }) => text !== "")) found++
    start = end
  }
  return found
}

const chunkOf = ({ all, options }: Parts, start: number, end: number, chunkTokens: number) => {
  const texts: Array<string> = []
  let tokens = 0
  for (const part of all.slice(start, end)) {
    if (part.text === "") continue
    // What is larger than a chunk by itself loses its middle.
    const text = part.tokens <= chunkTokens ? part.text : fitted(part.text, { chunkTokens, count: options.count })
    if (text === "") continue
    texts.push(text)
    tokens += Math.min(part.tokens, chunkTokens)
  }
  return { transcript: texts.join("\n\n"), tokens }
}

/** As far as fits, back to the last place that parts no call from its result; where there is none, as far as fits. */
const chunkEnd = (all: ReadonlyArray<Part>, start: number, limit: number): number => {
  let tokens = all[start]?.tokens ?? 0
  let end = start + 1
  for (; end < all.length; end++) {
    const next = Math.min(all[end]?.tokens ?? 0, limit)
    if (tokens + next > limit) break
    tokens += next
  }
  if (end === all.length) return end
  for (let cut = end; cut > start; cut--) if (all[cut]?.isCut === true) return cut
  return end
}

/** Which messages stand between a call and its last result. */
const boundToCall = (messages: ReadonlyArray<LlmMessage>): ReadonlyArray<boolean> => {
  const callAt = new Map<string, number>()
  const lastResult: Array<number> = []
  messages.forEach((message, index) => {
    if (message.role === "assistant") for (const call of Message.toolCalls(message)) callAt.set(call.id, index)
    const call = message.role === "toolResult" ? callAt.get(message.toolCallId) : undefined
    if (call !== undefined) lastResult[call] = index
  })
  let reach = -1
  return messages.map((_, index) => {
    const isBound = index <= reach
    reach = Math.max(reach, lastResult[index] ?? -1)
    return isBound
  })
}

/** The text, without its middle where it does not fit a chunk by itself. */
export const fitted = (text: string, { chunkTokens, count }: Pick<Options, "chunkTokens" | "count">): string => {
  if (fits(text, chunkTokens, count)) return text
  let shortest = 0
  let longest = text.length
  while (longest - shortest > Math.max(16, shortest / 50)) {
    const middle = Math.floor((shortest + longest) / 2)
    if (fits(shortened(text, middle), chunkTokens, count)) shortest = middle
    else longest = middle
  }
  return shortest === 0 ? "" : shortened(text, shortest)
}

const fits = (text: string, limit: number, count: Tokens.Count): boolean =>
  // No tokenizer makes more than one token of a byte: short texts need no counting.
  text.length * 3 + separatorTokens <= limit || count(text) + separatorTokens <= limit

const shortened = (text: string, length: number): string =>
  Transcript.withoutMiddle(text, length, Math.ceil(length * 0.7))
