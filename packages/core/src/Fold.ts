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
}

/** How large chunks may be, and how they are counted and written. */
export interface Options {
  /** The most of one chunk, in tokens. */
  readonly chunkTokens: number
  readonly count: Tokens.Count
  readonly transcript: Transcript.Options
}

/** A message's part of the transcript. */
interface Piece {
  readonly text: string
  readonly tokens: number
  /** Whether a chunk may start here without parting a call from its result. */
  readonly isCut: boolean
}

/** What the blank line between two parts costs at most, in tokens. */
const separatorTokens = 2

/** The chunks in order; none where nothing would be printed. */
export const split = (messages: ReadonlyArray<LlmMessage>, options: Options): ReadonlyArray<Chunk> => {
  const pieces = piecesOf(messages, options)
  const chunks: Array<Chunk> = []
  let counted = 0
  for (let start = 0; start < pieces.length;) {
    const end = chunkEnd(pieces, start, options.chunkTokens)
    const texts = pieces.slice(start, end).flatMap(({ text }) => (text === "" ? [] : [text]))
    start = end
    if (texts.length === 0) continue
    chunks.push({ messages: end - counted, transcript: texts.join("\n\n") })
    counted = end
  }
  return chunks
}

/** As far as fits, back to the last place that parts no call from its result; where there is none, as far as fits. */
const chunkEnd = (pieces: ReadonlyArray<Piece>, start: number, limit: number): number => {
  let tokens = pieces[start]?.tokens ?? 0
  let end = start + 1
  for (; end < pieces.length; end++) {
    const next = pieces[end]?.tokens ?? 0
    if (tokens + next > limit) break
    tokens += next
  }
  if (end === pieces.length) return end
  const cut = pieces.findLastIndex((piece, index) => index > start && index <= end && piece.isCut)
  return cut < 0 ? end : cut
}

const piecesOf = (messages: ReadonlyArray<LlmMessage>, options: Options): ReadonlyArray<Piece> => {
  const isBound = boundToCall(messages)
  return messages.map((message, index) => {
    const text = fitted(Transcript.parts(message, options.transcript).join("\n\n"), options)
    const tokens = text === "" ? 0 : options.count(text) + separatorTokens
    return { text, tokens, isCut: isBound[index] !== true }
  })
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
