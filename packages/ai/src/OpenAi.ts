/**
 * Models at OpenAI's Responses API.
 *
 * @since 0.1.0
 */
import type * as Llm from "@cutpoint/compaction/Llm"
import type * as ModelFacts from "@cutpoint/compaction/ModelFacts"
import * as OpenAiClient from "@effect/ai-openai/OpenAiClient"
import * as OpenAiLanguageModel from "@effect/ai-openai/OpenAiLanguageModel"
import * as Effect from "effect/Effect"
import * as ErrorBody from "./ErrorBody.js"
import { serverSentEvents } from "./Framing.js"
import * as ProviderLayer from "./ProviderLayer.js"
import * as ProviderLlm from "./ProviderLlm.js"
import * as Said from "./Said.js"
import * as WireJson from "./WireJson.js"

/** How the model is reached. */
export type Options = ProviderLayer.Options

/** The provider. */
export const provider: ProviderLayer.Provider<Options> = {
  name: "openai",
  fromConfig: ProviderLayer.keyFrom("OPENAI_API_KEY"),
  keys: ({ apiKey }) => [apiKey],
  call: (...given) => callOf(...given)
}

/** A model at OpenAI. */
export const layer = ProviderLayer.layer(provider)

/** A model at OpenAI, with the key in `OPENAI_API_KEY` unless said otherwise. */
export const layerConfig = ProviderLayer.layerConfig(provider)

const callOf = (options: Options, { thinks }: ModelFacts.Facts, request: Llm.Request): ProviderLlm.Call => ({
  framing: serverSentEvents,
  read,
  languageModel: (transformClient) =>
    Effect.flatMap(OpenAiClient.make({ apiKey: options.apiKey, apiUrl: options.apiUrl, transformClient }), (client) =>
      OpenAiLanguageModel.make({
        model: options.model,
        config: {
          max_output_tokens: request.maxOutputTokens,
          store: false,
          // Requests with one key are routed to one cache: a fresh one finds none.
          prompt_cache_key: request.routingId,
          ...withoutCacheWrites(options.model),
          ...(thinks === true ? { reasoning: { effort: "low" } } : {}),
          ...(thinks === false ? { temperature: ProviderLlm.temperature } : {})
        }
      }).pipe(Effect.provideService(OpenAiClient.OpenAiClient, client))
    )
})

/**
 * With explicit breakpoints only, and none set, nothing is written to a cache.
 * Models before 5.6 know no such option: their caches cost nothing to write.
 */
export const withoutCacheWrites = (model: string): object => {
  const [, major, minor] = (/^gpt-(\d+)(?:\.(\d+))?/.exec(model) ?? []).map(Number)
  const hasOptions = major !== undefined && (major > 5 || (major === 5 && (minor ?? 0) >= 6))
  return hasOptions ? { prompt_cache_options: { mode: "explicit" } } : {}
}

/** Text passes; the rest of a response's life is told by its events. */
const read: Said.Reader = (event) => {
  const { response, type } = WireJson.at(event)
  switch (type) {
    case "response.output_text.delta":
      return { pass: { ...WireJson.at(event), logprobs: undefined } }
    case "response.refusal.delta":
    case "response.refusal.done":
      return { stopReason: "refusal" }
    case "response.output_item.added":
    case "response.output_item.done":
      return isCall(WireJson.at(event, "item")["type"]) ? { stopReason: "toolUse" } : Said.nothing
    case "response.completed":
      return { stopReason: "stop", usage: usageOf(response), isLast: true }
    case "response.incomplete":
      return {
        stopReason: Said.stopReason(incomplete, WireJson.at(response, "incomplete_details")["reason"]) ?? "length",
        usage: usageOf(response),
        isLast: true
      }
    case "response.failed":
      return { fault: ErrorBody.ofEvent(WireJson.at(response)), usage: usageOf(response) }
    case "error":
      return { fault: ErrorBody.ofEvent(event) }
    default:
      return Said.nothing
  }
}

const incomplete = { max_output_tokens: "length", content_filter: "refusal" } as const

const isCall = (type: unknown): boolean => typeof type === "string" && type.endsWith("_call")

const usageOf = (response: unknown) => {
  const usage = WireJson.at(response, "usage")
  const cached = WireJson.at(usage, "input_tokens_details")["cached_tokens"]
  return WireJson.usage({
    input: WireJson.without(usage["input_tokens"], cached),
    output: usage["output_tokens"],
    cacheRead: cached
  })
}
