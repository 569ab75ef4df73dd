/**
 * Claude models at Anthropic's Messages API.
 *
 * @since 0.1.0
 */
import type * as Llm from "@cutpoint/compaction/Llm"
import type * as ModelFacts from "@cutpoint/compaction/ModelFacts"
import * as AnthropicClient from "@effect/ai-anthropic/AnthropicClient"
import * as AnthropicLanguageModel from "@effect/ai-anthropic/AnthropicLanguageModel"
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
  name: "anthropic",
  fromConfig: ProviderLayer.keyFrom("ANTHROPIC_API_KEY"),
  keys: ({ apiKey }) => [apiKey],
  call: (...given) => callOf(...given)
}

/** A model at Anthropic. */
export const layer = ProviderLayer.layer(provider)

/** A model at Anthropic, with the key in `ANTHROPIC_API_KEY` unless said otherwise. */
export const layerConfig = ProviderLayer.layerConfig(provider)

const callOf = (options: Options, { thinks }: ModelFacts.Facts, request: Llm.Request): ProviderLlm.Call => ({
  framing: serverSentEvents,
  read,
  languageModel: (transformClient) =>
    Effect.flatMap(
      AnthropicClient.make({ apiKey: options.apiKey, apiUrl: options.apiUrl, transformClient }),
      (client) =>
        AnthropicLanguageModel.make({
          model: options.model,
          config: {
            max_tokens: request.maxOutputTokens,
            metadata: { user_id: request.routingId },
            // Newer models, which can think, take no temperature; one that nothing is known of may be newer still.
            ...(thinks === false ? { temperature: ProviderLlm.temperature } : {})
          }
        }).pipe(Effect.provideService(AnthropicClient.AnthropicClient, client))
    )
})

const stopReasons = {
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "toolUse",
  refusal: "refusal"
} as const

/** Text and thinking pass; how it ended and what it cost stands in the events around them. */
const read: Said.Reader = (event) => {
  const { content_block, delta, type } = WireJson.at(event)
  switch (type) {
    case "message_start":
      return { usage: usageOf(WireJson.at(event, "message", "usage")) }
    case "message_delta":
      return {
        stopReason: Said.stopReason(stopReasons, WireJson.at(delta)["stop_reason"]),
        usage: usageOf(WireJson.at(event, "usage"))
      }
    case "content_block_start":
      return passes[String(WireJson.at(content_block)["type"])] === true ? { pass: event } : Said.nothing
    case "content_block_delta":
      return passes[String(WireJson.at(delta)["type"])] === true ? { pass: event } : Said.nothing
    case "message_stop":
      return { pass: event, isLast: true }
    case "error":
      return { fault: ErrorBody.ofEvent(event) }
    default:
      return Said.nothing
  }
}

const passes: { readonly [type: string]: true } = {
  text: true,
  text_delta: true,
  thinking: true,
  thinking_delta: true
}

const usageOf = (usage: { readonly [key: string]: unknown }) =>
  WireJson.usage({
    input: usage["input_tokens"],
    output: usage["output_tokens"],
    cacheRead: usage["cache_read_input_tokens"],
    cacheWrite: usage["cache_creation_input_tokens"]
  })
