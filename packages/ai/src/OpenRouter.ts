/**
 * Models of many providers at OpenRouter.
 *
 * @since 0.1.0
 */
import type * as Llm from "@cutpoint/compaction/Llm"
import type * as ModelFacts from "@cutpoint/compaction/ModelFacts"
import * as OpenRouterClient from "@effect/ai-openrouter/OpenRouterClient"
import * as OpenRouterLanguageModel from "@effect/ai-openrouter/OpenRouterLanguageModel"
import * as Effect from "effect/Effect"
import * as ChatChunks from "./ChatChunks.js"
import { serverSentEvents } from "./Framing.js"
import { withoutCacheWrites } from "./OpenAi.js"
import * as ProviderLayer from "./ProviderLayer.js"
import * as ProviderLlm from "./ProviderLlm.js"

/** How the model is reached. `model` is OpenRouter's name of it, such as `anthropic/claude-sonnet-5`. */
export type Options = ProviderLayer.Options

/** The provider. */
export const provider: ProviderLayer.Provider<Options> = {
  name: "openrouter",
  fromConfig: ProviderLayer.keyFrom("OPENROUTER_API_KEY"),
  keys: ({ apiKey }) => [apiKey],
  call: (...given) => callOf(...given)
}

/** A model at OpenRouter. */
export const layer = ProviderLayer.layer(provider)

/** A model at OpenRouter, with the key in `OPENROUTER_API_KEY` unless said otherwise. */
export const layerConfig = ProviderLayer.layerConfig(provider)

const callOf = (options: Options, { thinks }: ModelFacts.Facts, request: Llm.Request): ProviderLlm.Call => ({
  framing: serverSentEvents,
  read: ChatChunks.read,
  languageModel: (transformClient) =>
    Effect.flatMap(
      OpenRouterClient.make({ apiKey: options.apiKey, apiUrl: options.apiUrl, title: "Cutpoint", transformClient }),
      (client) =>
        OpenRouterLanguageModel.make({
          model: options.model,
          config: {
            max_tokens: request.maxOutputTokens,
            // A session of its own is routed by nothing that came before.
            session_id: request.routingId,
            ...withoutCacheWrites(options.model.replace(/^openai\//, "")),
            ...(thinks === true ? { reasoning: { effort: "low" } } : {}),
            ...(thinks === false ? { temperature: ProviderLlm.temperature } : {})
          }
        }).pipe(Effect.provideService(OpenRouterClient.OpenRouterClient, client))
    )
})
