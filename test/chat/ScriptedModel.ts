/**
 * A `LanguageModel` that says what a script says, and refuses, in a provider's
 * words, what does not fit its window. It remembers what it was sent.
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

/** What the model does when it is asked. */
export interface Script {
  /** More than this is refused, in tokens of four characters. */
  readonly window?: number
  /** The parts of the nth reply, counted from 0, without its finish. */
  readonly reply: (
    prompt: Prompt.Prompt,
    index: number
  ) => ReadonlyArray<Response.PartEncoded> | AiError.AiError | Effect.Effect<ReadonlyArray<Response.PartEncoded>>
  /** Between the parts of a streamed reply. */
  readonly between?: (part: Response.StreamPartEncoded) => Effect.Effect<void>
}

/** What it was sent, in order. */
export interface Asked {
  readonly prompt: Prompt.Prompt
  readonly tokens: number
  readonly isRefused: boolean
}

export const make = (script: Script) => {
  const asked: Array<Asked> = []
  const answer = (prompt: Prompt.Prompt): Effect.Effect<ReadonlyArray<Response.PartEncoded>, AiError.AiError> =>
    Effect.suspend(() => {
      const tokens = tokensOf(prompt)
      const isRefused = tokens > (script.window ?? Infinity)
      asked.push({ prompt, tokens, isRefused })
      if (isRefused) return Effect.fail(tooLarge)
      const reply = script.reply(prompt, asked.length - 1)
      if (AiError.isAiError(reply)) return Effect.fail(reply)
      return Effect.map(Effect.isEffect(reply) ? reply : Effect.succeed(reply), (parts) => [
        ...parts,
        finish(parts, tokens)
      ])
    })
  const model = LanguageModel.make({
    generateText: ({ prompt }) => Effect.map(answer(prompt), (parts) => [...parts]),
    streamText: ({ prompt }) => {
      const parts = Stream.mapConcat(Stream.fromEffect(answer(prompt)), (parts) => parts.flatMap(inPieces))
      return Stream.rechunk(Stream.tap(parts, script.between ?? (() => Effect.void)), 1)
    }
  })
  return { asked, layer: Layer.effect(LanguageModel.LanguageModel, model) }
}

/** What a prompt costs, by its texts, arguments and results. */
export const tokensOf = (prompt: Prompt.Prompt): number =>
  prompt.content.reduce((total, message) => total + Tokens.heuristic(textOf(message)), 0)

const textOf = ({ content }: Prompt.Message): string => {
  if (typeof content === "string") return content
  return content
    .map((part) => {
      if (part.type === "tool-call") return part.name + JSON.stringify(part.params)
      if (part.type === "tool-result")
        return typeof part.result === "string" ? part.result : JSON.stringify(part.result)
      return part.type === "file" ? "" : part.text
    })
    .join("")
}

export const text = (text: string): Response.TextPartEncoded => ({ type: "text", text })

export const call = (id: string, name: string, params: unknown): Response.ToolCallPartEncoded => ({
  type: "tool-call",
  id,
  name,
  params
})

const finish = (parts: ReadonlyArray<Response.PartEncoded>, input: number): Response.FinishPartEncoded => {
  const output = Tokens.heuristic(JSON.stringify(parts))
  return {
    type: "finish",
    reason: parts.some((part) => part.type === "tool-call") ? "tool-calls" : "stop",
    usage: { inputTokens: input, outputTokens: output, totalTokens: input + output }
  }
}

/** A text or thought comes in words. */
const inPieces = (part: Response.PartEncoded): ReadonlyArray<Response.StreamPartEncoded> => {
  if (part.type !== "text" && part.type !== "reasoning") return [part]
  const { metadata = {}, text, type } = part
  const id = `${type}-${text.length}`
  const words = (text.match(/\s*\S+\s*/gu) ?? []).map((delta) => ({ type: `${type}-delta` as const, id, delta }))
  return [{ type: `${type}-start`, id }, ...words, { type: `${type}-end`, id, metadata }]
}

const request = { url: "http://x", urlParams: [], hash: Option.none(), method: "POST", headers: {} } as const

/** What a provider answers with a status and a body. */
export const refusal = (status: number, body: string, headers: Record<string, string> = {}) =>
  new AiError.HttpResponseError({
    module: "Scripted",
    method: "ask",
    reason: "StatusCode",
    request,
    response: { status, headers },
    body
  })

/** What a provider says of a request that does not fit. */
export const tooLarge = refusal(400, '{"error":{"code":"context_length_exceeded","message":"The prompt is too long."}}')
