/**
 * The summarizer that asks a model: in one request where the transcript fits,
 * in several that each bring the summary up to date where it does not.
 *
 * @since 0.1.0
 */
import * as Fold from "@cutpoint/core/Fold"
import * as Projection from "@cutpoint/core/Projection"
import * as SummaryFormat from "@cutpoint/core/SummaryFormat"
import * as SummaryPrompt from "@cutpoint/core/SummaryPrompt"
import type * as Tokens from "@cutpoint/core/Tokens"
import type * as Transcript from "@cutpoint/core/Transcript"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Ref from "effect/Ref"
import * as Errors from "./CompactionErrors.js"
import * as Llm from "./Llm.js"
import * as LlmRequest from "./LlmRequest.js"
import * as OfflineSummarizer from "./OfflineSummarizer.js"
import * as Port from "./SummarizerPort.js"
import * as Tokenizer from "./Tokenizer.js"

/** How often the chunks are halved when the provider still says that a request is too large. */
export const maxHalvings = 4

/** The share of the window that is used: a tokenizer's count is not exactly the provider's. */
const usableShare = 0.9

/** How many tokens of the window a reply is given at least, where the model has as many. */
const replyReserve = 8192

/** The least that a chunk is given, in tokens, however little room the rest leaves. */
const minChunkTokens = 256

/** Summarizes by the model in context. Counts by the `Tokenizer`. */
export const layerLlm: Layer.Layer<Port.Summarizer, never, Llm.Llm | Tokenizer.Tokenizer> = Layer.effect(
  Port.Summarizer,
  Effect.gen(function* () {
    const llm = yield* Llm.Llm
    const { count } = yield* Tokenizer.Tokenizer
    return Port.Summarizer.of({
      name: llm.name,
      plan: (request) => planOf(request, llm, count),
      summarize: Effect.fn("Summarizer.summarize")((request) => summarize(request, llm, count))
    })
  })
)

/** What of the window goes to what, in tokens. */
interface Room {
  /** What the reply is given. */
  readonly reply: number
  /** What a chunk of the transcript may take. */
  readonly chunk: number
  /** The previous summary, shortened where it alone would fill the window. */
  readonly previousSummary: string | undefined
}

const roomOf = (request: Port.Request, llm: Llm.Service, count: Tokens.Count): Room => {
  const usable = Math.floor(llm.contextWindow * usableShare)
  const reply = Math.max(1, Math.min(llm.maxOutputTokens, replyReserve, Math.floor(usable / 4)))
  const previousSummary =
    request.previousSummary === undefined
      ? undefined
      : Fold.fitted(request.previousSummary, { chunkTokens: Math.floor(usable / 3), count })
  const bare = SummaryPrompt.prompt({ ...request, kind: Port.kindOf(request), transcript: "", previousSummary: "" })
  const fixed = count(SummaryPrompt.system) + count(bare)
  const free = usable - reply - fixed
  const first = free - count(previousSummary ?? "")
  // From the second request on, the summary so far goes along; it is no longer than a reply.
  return { reply, previousSummary, chunk: Math.max(minChunkTokens, Math.min(first, free - reply)) }
}

const transcriptOf = (request: Port.Request): Transcript.Options => ({
  includeThinking: request.includeThinking ?? true,
  guarded: true
})

/** The conversation, printed and counted once. */
const partsOf = (request: Port.Request, count: Tokens.Count): Fold.Parts =>
  Fold.parts(Projection.convertToLlm(request.messages), { count, transcript: transcriptOf(request) })

const planOf = (request: Port.Request, llm: Llm.Service, count: Tokens.Count): Port.Plan => {
  const room = roomOf(request, llm, count)
  const parts = partsOf(request, count)
  const chunks = Fold.chunks(parts, room.chunk)
  const fixed =
    count(SummaryPrompt.system) +
    count(SummaryPrompt.prompt({ ...request, kind: Port.kindOf(request), transcript: "" }))
  const inputTokens = chunks.reduce((sum, { tokens }) => sum + fixed + tokens, 0)
  const countAfterHalvings = (size: number, from = 0): number =>
    Fold.chunkCount(parts, Math.max(1, Math.floor(size / 2 ** maxHalvings)), from)
  const before = chunks.slice(0, -1)
  const readBefore = before.reduce((sum, { messages }) => sum + messages, 0)
  const mostChunks = Math.max(
    countAfterHalvings(room.chunk),
    before.length + countAfterHalvings(sizeOf(chunks.slice(-1), room.chunk), readBefore)
  )
  return {
    requests: chunks.length,
    mostRequests: (mostChunks * 2 + maxHalvings) * (1 + LlmRequest.maxRetries),
    inputTokens
  }
}

const summarize = (
  request: Port.Request,
  llm: Llm.Service,
  count: Tokens.Count
): Effect.Effect<Port.Summary, Errors.SummarizeError> =>
  Effect.gen(function* () {
    if (!(llm.contextWindow > 0 && llm.maxOutputTokens > 0)) return yield* sizeless(llm)
    const spent = yield* Ref.make<LlmRequest.Spent>({ requests: 0, usage: undefined })
    const text = yield* Effect.catchAll(fold(request, llm, count, spent), (error) =>
      request.onRejected === "offline" && isRejected(error)
        ? Effect.succeed({ text: OfflineSummarizer.write(request, count), writer: OfflineSummarizer.name })
        : Effect.fail(error)
    )
    return { ...text, ...(yield* Ref.get(spent)) }
  })

/** A provider can refuse in a reply, or by an error that takes a reply's place. */
const isRejected = (error: Errors.SummarizeError): boolean =>
  error._tag === "SummaryRejected" || error.reason === "LlmRefused"

const sizeless = ({ contextWindow, maxOutputTokens, name }: Llm.Service) =>
  new Errors.SummarizerFailed({
    reason: "LlmBadRequest",
    problem: `${name} has a window of ${contextWindow} and replies of ${maxOutputTokens} tokens; both must be above 0.`,
    requests: 0
  })

/** Where a fold stands: how many messages have been read, in which sizes, and the summary so far. */
interface Position {
  readonly read: number
  readonly chunkTokens: number
  readonly halvings: number
  readonly summary: string | undefined
  readonly done: number
}

const fold = Effect.fnUntraced(function* (
  request: Port.Request,
  llm: Llm.Service,
  count: Tokens.Count,
  spent: Ref.Ref<LlmRequest.Spent>
) {
  const room = roomOf(request, llm, count)
  const parts = partsOf(request, count)
  let position: Position = {
    read: 0,
    chunkTokens: room.chunk,
    halvings: 0,
    summary: room.previousSummary,
    done: 0
  }
  for (;;) {
    const chunks = Fold.chunks(parts, position.chunkTokens, position.read)
    const [chunk] = chunks
    if (chunk === undefined) return { text: position.summary ?? nothingSaid(request), writer: llm.name }
    const isOnly = position.done === 0 && chunks.length === 1
    const next = yield* Effect.either(
      LlmRequest.ask({
        llm,
        count,
        spent,
        request: { ...request, previousSummary: position.summary },
        transcript: chunk.transcript,
        // What is carried into further requests must leave room in them.
        replyTokens: isOnly ? llm.maxOutputTokens : room.reply,
        isLast: chunks.length === 1,
        number: position.done + 1,
        of: position.done + chunks.length
      })
    )
    position =
      next._tag === "Right"
        ? advanced(position, chunk, next.right)
        : yield* halved(position, sizeOf(chunks, position.chunkTokens), next.left)
  }
})

/** Messages that print nothing, such as pictures alone, need no model to be summarized. */
const nothingSaid = (request: Port.Request): string =>
  Port.kindOf(request) === "turnPrefix"
    ? SummaryFormat.printTurnPrefix({ asked: [], doneSoFar: [], needed: [] })
    : SummaryFormat.print(SummaryFormat.empty)

const advanced = (position: Position, chunk: Fold.Chunk, summary: string): Position => ({
  ...position,
  read: position.read + chunk.messages,
  summary,
  done: position.done + 1
})

/**
 * What is to be halved. Where all that is left is one chunk, halving begins at
 * what it has: to halve a limit far above that would change nothing.
 */
const sizeOf = (chunks: ReadonlyArray<Fold.Chunk>, chunkTokens: number): number => {
  const [only, ...others] = chunks
  return only === undefined || others.length > 0 ? chunkTokens : Math.min(chunkTokens, only.tokens)
}

/** Too large after all: smaller chunks, if that has not been tried often enough. */
const halved = (
  position: Position,
  size: number,
  error: Errors.SummarizeError
): Effect.Effect<Position, Errors.SummarizeError> =>
  error._tag === "SummarizerFailed" && error.reason === "LlmOverflow" && position.halvings < maxHalvings
    ? Effect.succeed({
        ...position,
        chunkTokens: Math.floor(size / 2),
        halvings: position.halvings + 1
      })
    : Effect.fail(error)
