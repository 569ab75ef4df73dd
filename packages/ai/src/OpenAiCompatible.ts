/**
 * Models at any server that speaks OpenAI's chat completions: Ollama, vLLM,
 * llama.cpp, LM Studio and many services.
 *
 * What such servers take differs, and some turn down what they do not know: so
 * a request has only what all of them take, and the routing id is a header.
 *
 * @since 0.1.0
 */
import type * as Llm from "@cutpoint/compaction/Llm"
import * as OpenRouterClient from "@effect/ai-openrouter/OpenRouterClient"
import * as OpenRouterLanguageModel from "@effect/ai-openrouter/OpenRouterLanguageModel"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as ChatChunks from "./ChatChunks.js"
import { serverSentEvents } from "./Framing.js"
import * as Keys from "./Keys.js"
import * as ProviderLayer from "./ProviderLayer.js"
import type * as ProviderLlm from "./ProviderLlm.js"

/** How the model is reached. `apiUrl` ends where `/chat/completions` begins, as in `http://127.0.0.1:11434/v1`. */
export interface Options extends ProviderLayer.Options {
  readonly apiUrl: string
}

/** The provider. */
export const provider: ProviderLayer.Provider<Options> = {
  name: "openai-compatible",
  fromConfig: (options) =>
    Config.map(
      Config.all({
        apiKey: Keys.optional(options.apiKey ?? Keys.keyOf("OPENAI_API_KEY")),
        apiUrl: options.apiUrl ?? Keys.textOf("OPENAI_BASE_URL")
      }),
      (read) => ({ ...options, ...read })
    ),
  keys: ({ apiKey }) => [apiKey],
  call: (options, _, request) => callOf(options, request)
}

/** A model at a server of this kind. */
export const layer = ProviderLayer.layer(provider)

/** A model at the server of `OPENAI_BASE_URL`, with the key in `OPENAI_API_KEY` if there is one. */
export const layerConfig = ProviderLayer.layerConfig(provider)

const callOf = (options: Options, request: Llm.Request): ProviderLlm.Call => ({
  framing: serverSentEvents,
  read: ChatChunks.read,
  headers: { "x-session-id": request.routingId },
  languageModel: (transformClient) =>
    Effect.flatMap(
      OpenRouterClient.make({ apiKey: options.apiKey, apiUrl: options.apiUrl, transformClient }),
      (client) =>
        OpenRouterLanguageModel.make({
          model: options.model,
          config: { max_tokens: request.maxOutputTokens }
        }).pipe(Effect.provideService(OpenRouterClient.OpenRouterClient, client))
    )
})
