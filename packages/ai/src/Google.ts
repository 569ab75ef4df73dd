/**
 * Gemini models at Google's Generative Language API.
 *
 * The API has no place for a routing id, and writes no cache that is paid for
 * unless one is made beforehand.
 *
 * @since 0.1.0
 */
import type * as Llm from "@cutpoint/compaction/Llm"
import type * as ModelFacts from "@cutpoint/compaction/ModelFacts"
import * as GoogleClient from "@effect/ai-google/GoogleClient"
import * as GoogleLanguageModel from "@effect/ai-google/GoogleLanguageModel"
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
  name: "google",
  fromConfig: ProviderLayer.keyFrom("GEMINI_API_KEY"),
  keys: ({ apiKey }) => [apiKey],
  call: (...given) => callOf(...given)
}

/** A model at Google. */
export const layer = ProviderLayer.layer(provider)

/** A model at Google, with the key in `GEMINI_API_KEY` unless said otherwise. */
export const layerConfig = ProviderLayer.layerConfig(provider)

const callOf = (options: Options, { thinks }: ModelFacts.Facts, request: Llm.Request): ProviderLlm.Call => ({
  framing: serverSentEvents,
  read,
  languageModel: (transformClient) =>
    Effect.flatMap(GoogleClient.make({ apiKey: options.apiKey, apiUrl: options.apiUrl, transformClient }), (client) =>
      GoogleLanguageModel.make({
        model: options.model,
        config: {
          // Its type asks for it; without tools it is not sent.
          toolConfig: {},
          generationConfig: {
            maxOutputTokens: request.maxOutputTokens,
            ...(thinks === false ? { temperature: ProviderLlm.temperature } : {})
          }
        }
      }).pipe(Effect.provideService(GoogleClient.GoogleClient, client))
    )
})

const refusals = [
  "BLOCKLIST",
  "LANGUAGE",
  "PROHIBITED_CONTENT",
  "RECITATION",
  "SAFETY",
  "SPII",
  "IMAGE_SAFETY",
  "IMAGE_PROHIBITED_CONTENT"
]

const stopReasons = {
  MAX_TOKENS: "length",
  MALFORMED_FUNCTION_CALL: "toolUse",
  UNEXPECTED_TOOL_CALL: "toolUse",
  TOO_MANY_TOOL_CALLS: "toolUse",
  ...Object.fromEntries(refusals.map((reason) => [reason, "refusal" as const]))
} as const

/** The first candidate's text passes, without the fields that its decoder might not know. */
const read: Said.Reader = (event) => {
  const { candidates, error, promptFeedback, usageMetadata } = WireJson.at(event)
  if (error !== undefined) return { fault: ErrorBody.ofEvent(event) }
  const usage = usageOf(WireJson.at(usageMetadata))
  if (WireJson.at(promptFeedback)["blockReason"] !== undefined) return { stopReason: "refusal", usage }
  const candidate = WireJson.at(WireJson.objects(candidates)[0])
  const parts = WireJson.objects(WireJson.at(candidate, "content")["parts"])
  const isCall = parts.some((part) => part["functionCall"] !== undefined)
  return {
    pass: { candidates: [{ content: { role: "model", parts: parts.filter(isText).map(textPart) } }] },
    stopReason: isCall ? "toolUse" : Said.stopReason(stopReasons, candidate["finishReason"]),
    usage
  }
}

const isText = ({ text }: { readonly [key: string]: unknown }): boolean => typeof text === "string"

const textPart = ({ text, thought }: { readonly [key: string]: unknown }) => ({ text, thought: thought === true })

/** Thinking is counted apart from the reply, and paid for like it. */
const usageOf = (usage: { readonly [key: string]: unknown }) => {
  const { cachedContentTokenCount, candidatesTokenCount, promptTokenCount, thoughtsTokenCount } = usage
  const output = Number(candidatesTokenCount ?? Number.NaN) + Number(thoughtsTokenCount ?? 0)
  return WireJson.usage({
    input: WireJson.without(promptTokenCount, cachedContentTokenCount),
    output: Number.isNaN(output) ? undefined : output,
    cacheRead: cachedContentTokenCount
  })
}
