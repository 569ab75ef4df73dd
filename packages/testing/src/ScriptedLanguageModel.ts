/**
 * A `LanguageModel` of `@effect/ai` that says what a script says: texts, tool
 * calls, failures, replies that break off or never come. For tests of agents.
 *
 * @since 0.1.0
 */
import * as Tokens from "@cutpoint/core/Tokens"
import * as AiError from "@effect/ai/AiError"
import * as LanguageModel from "@effect/ai/LanguageModel"
import type * as Prompt from "@effect/ai/Prompt"
import type * as Response from "@effect/ai/Response"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"

/** Parts of a reply, and what comes after them: not even a finish. */
export interface Unfinished {
  readonly _tag: "BreaksOff" | "Hangs"
  readonly parts: ReadonlyArray<Response.PartEncoded>
}

/**
 * What the model replies: the parts of a reply, which is finished as these say
 * unless a `finish` is among them; an error; or what breaks off or hangs.
 */
export type Reply = ReadonlyArray<Response.PartEncoded> | AiError.AiError | Unfinished

/** What a scripted model is. */
export interface Options {
  /** Requests over this are refused as too large, in tokens as `tokensOf` counts. */
  readonly window?: number
  /** The reply to the nth request, counted from 0. */
  readonly reply: (request: LanguageModel.ProviderOptions, index: number) => Reply | Effect.Effect<Reply>
  /** Runs before each part of a streamed reply. */
  readonly before?: (part: Response.StreamPartEncoded) => Effect.Effect<void>
}

/** What the model was asked. */
export interface Request {
  readonly prompt: Prompt.Prompt
  readonly tokens: number
  /** Whether it was refused as too large. */
  readonly isRefused: boolean
}

/** A scripted model, and what it was asked, in order. */
export interface ScriptedLanguageModel {
  readonly layer: Layer.Layer<LanguageModel.LanguageModel>
  readonly requests: ReadonlyArray<Request>
}

/** A model that follows a script. */
export const make = (options: Options): ScriptedLanguageModel => {
  const requests: Array<Request> = []
  const ask = (request: LanguageModel.ProviderOptions) => Effect.suspend(() => answer(options, requests, request))
  const before = options.before ?? (() => Effect.void)
  const model = LanguageModel.make({
    generateText: (request) => Effect.flatMap(ask(request), whole),
    streamText: (request) => Stream.tap(Stream.unwrap(Effect.map(ask(request), streamed)), before)
  })
  return { layer: Layer.effect(LanguageModel.LanguageModel, model), requests }
}

/** A model that gives these replies in order, and the last one from then on. */
export const ofReplies = (...replies: readonly [Reply, ...ReadonlyArray<Reply>]): ScriptedLanguageModel =>
  make({ reply: (_, index) => replies[Math.min(index, replies.length - 1)] ?? replies[0] })

const answer = (
  { reply, window = Infinity }: Options,
  requests: Array<Request>,
  request: LanguageModel.ProviderOptions
): Effect.Effect<ReadonlyArray<Response.PartEncoded> | Unfinished, AiError.AiError> => {
  const tokens = tokensOf(request)
  const isRefused = tokens > window
  const index = requests.push({ prompt: request.prompt, tokens, isRefused }) - 1
  if (isRefused) return Effect.fail(tooLarge(tokens, window))
  const given = reply(request, index)
  return Effect.flatMap(Effect.isEffect(given) ? given : Effect.succeed(given), (reply) => {
    if (AiError.isAiError(reply)) return Effect.fail(reply)
    return Effect.succeed("_tag" in reply ? reply : finished(reply, tokens))
  })
}

// -----------------------------------------------------------------------------
// Replies
// -----------------------------------------------------------------------------

/** A text. */
export const text = (text: string): Response.TextPartEncoded => ({ type: "text", text })

/** A call of a tool. */
export const call = (id: string, name: string, params: unknown): Response.ToolCallPartEncoded => ({
  type: "tool-call",
  id,
  name,
  params
})

/** The connection breaks after these parts: a stream ends without a finish, anything else fails. */
export const breaksOff = (...parts: ReadonlyArray<Response.PartEncoded>): Unfinished => ({ _tag: "BreaksOff", parts })

/** Nothing comes after these parts, ever. */
export const hangs = (...parts: ReadonlyArray<Response.PartEncoded>): Unfinished => ({ _tag: "Hangs", parts })

/** An answer of a provider that is an error. */
export const refusal = (status: number, message: string): AiError.AiError =>
  new AiError.HttpResponseError({
    module: "ScriptedLanguageModel",
    method: "generateText",
    reason: "StatusCode",
    request: { method: "POST", url: "http://model.invalid/", urlParams: [], hash: Option.none(), headers: {} },
    response: { status, headers: {} },
    body: JSON.stringify({ error: { message } })
  })

/** How a provider says that a request is too large. In tokens. */
export const tooLarge = (tokens: number, window: number): AiError.AiError =>
  refusal(400, `prompt is too long: ${tokens} tokens > ${window} maximum`)

// -----------------------------------------------------------------------------
// Tokens
// -----------------------------------------------------------------------------

/** What a provider adds for each message, in tokens. */
const perMessage = 4

/** What a request comes to: a token for four characters of what is said, and a few for each message. */
export const tokensOf = ({ prompt }: { readonly prompt: Prompt.Prompt }): number =>
  prompt.content.reduce((sum, message) => sum + perMessage + Tokens.heuristic(textOf(message)), 0)

const textOf = ({ content }: Prompt.Message): string =>
  typeof content === "string" ? content : content.map(textOfPart).join("")

const textOfPart = (part: Prompt.Part): string => {
  switch (part.type) {
    case "text":
    case "reasoning":
      return part.text
    case "tool-call":
      return part.name + JSON.stringify(part.params)
    case "tool-result":
      return typeof part.result === "string" ? part.result : JSON.stringify(part.result)
    case "file":
      return part.mediaType
  }
}

const finished = (
  parts: ReadonlyArray<Response.PartEncoded>,
  inputTokens: number
): ReadonlyArray<Response.PartEncoded> => {
  if (parts.some((part) => part.type === "finish")) return parts
  const outputTokens = Tokens.heuristic(JSON.stringify(parts))
  const usage = { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens }
  const reason = parts.some((part) => part.type === "tool-call") ? "tool-calls" : "stop"
  return [...parts, { type: "finish", reason, usage }]
}

// -----------------------------------------------------------------------------
// How replies come
// -----------------------------------------------------------------------------

const whole = (
  reply: ReadonlyArray<Response.PartEncoded> | Unfinished
): Effect.Effect<Array<Response.PartEncoded>, AiError.AiError> => {
  if (!("_tag" in reply)) return Effect.succeed([...reply])
  return reply._tag === "Hangs" ? Effect.never : Effect.fail(refusal(502, "the connection broke"))
}

/** One part at a time, as from a connection. */
const streamed = (
  reply: ReadonlyArray<Response.PartEncoded> | Unfinished
): Stream.Stream<Response.StreamPartEncoded> => {
  const parts = "_tag" in reply ? reply.parts : reply
  const pieces = Stream.rechunk(Stream.fromIterable(parts.flatMap(inPieces)), 1)
  return "_tag" in reply && reply._tag === "Hangs" ? Stream.concat(pieces, Stream.never) : pieces
}

/** Texts and thoughts come in words. */
const inPieces = (part: Response.PartEncoded, index: number): ReadonlyArray<Response.StreamPartEncoded> => {
  if (part.type !== "text" && part.type !== "reasoning") return [part]
  const { metadata = {}, text, type } = part
  const id = `${index}`
  const words = (text.match(/\s*\S+\s*/gu) ?? []).map((delta) => ({ type: `${type}-delta` as const, id, delta }))
  return [{ type: `${type}-start`, id }, ...words, { type: `${type}-end`, id, metadata }]
}
