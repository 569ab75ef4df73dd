/**
 * Models at Amazon Bedrock's Converse API.
 *
 * @since 0.1.0
 */
import type * as Llm from "@cutpoint/compaction/Llm"
import type * as ModelFacts from "@cutpoint/compaction/ModelFacts"
import * as AmazonBedrockClient from "@effect/ai-amazon-bedrock/AmazonBedrockClient"
import * as AmazonBedrockLanguageModel from "@effect/ai-amazon-bedrock/AmazonBedrockLanguageModel"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { eventStream } from "./EventStreamFraming.js"
import * as Keys from "./Keys.js"
import * as ProviderLayer from "./ProviderLayer.js"
import * as ProviderLlm from "./ProviderLlm.js"
import * as Said from "./Said.js"
import * as WireJson from "./WireJson.js"

/** How the model is reached. `apiKey` is the secret access key. */
export interface Options extends ProviderLayer.Options {
  readonly accessKeyId: string
  readonly sessionToken?: Redacted.Redacted | undefined
  /** `us-east-1` where left out. */
  readonly region?: string | undefined
}

/** The provider. */
export const provider: ProviderLayer.Provider<Options> = {
  name: "amazon-bedrock",
  fromConfig: (options) =>
    Config.map(
      Config.all({
        given: ProviderLayer.keyFrom("AWS_SECRET_ACCESS_KEY")(options),
        accessKeyId: Keys.textOf("AWS_ACCESS_KEY_ID"),
        sessionToken: Keys.optional(Keys.keyOf("AWS_SESSION_TOKEN")),
        region: Keys.optional(Config.orElse(Keys.textOf("AWS_REGION"), () => Keys.textOf("AWS_DEFAULT_REGION")))
      }),
      ({ given, ...aws }) => ({ ...given, ...aws })
    ),
  keys: ({ accessKeyId, apiKey, sessionToken }) => [apiKey, sessionToken, Redacted.make(accessKeyId)],
  call: (...given) => callOf(...given)
}

/** A model at Amazon Bedrock. */
export const layer = ProviderLayer.layer(provider)

/** A model at Amazon Bedrock, with the keys and the region of AWS's own variables unless said otherwise. */
export const layerConfig = ProviderLayer.layerConfig(provider)

const callOf = (options: Options, { thinks }: ModelFacts.Facts, request: Llm.Request): ProviderLlm.Call => ({
  framing: eventStream,
  read,
  languageModel: (transformClient) =>
    Effect.flatMap(
      AmazonBedrockClient.make({
        accessKeyId: options.accessKeyId,
        secretAccessKey: options.apiKey ?? Redacted.make(""),
        sessionToken: options.sessionToken,
        region: options.region,
        apiUrl: options.apiUrl,
        transformClient
      }),
      (client) =>
        AmazonBedrockLanguageModel.make({
          // It is a part of the path, and an ARN has a slash.
          model: options.model.replaceAll("/", "%2F"),
          config: {
            inferenceConfig: {
              maxTokens: request.maxOutputTokens,
              ...(thinks === false ? { temperature: ProviderLlm.temperature } : {})
            },
            requestMetadata: { routingId: request.routingId }
          }
        }).pipe(Effect.provideService(AmazonBedrockClient.AmazonBedrockClient, client))
    )
})

const stopReasons = {
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "toolUse",
  guardrail_intervened: "refusal",
  content_filtered: "refusal"
} as const

/** Text and thinking pass; an exception is an event of its name. */
const read: Said.Reader = (event, name) => {
  const body = WireJson.at(event)
  switch (name) {
    case "contentBlockDelta": {
      const { reasoningContent, text } = WireJson.at(body, "delta")
      const isText = typeof text === "string" || typeof WireJson.at(reasoningContent)["text"] === "string"
      return isText ? { pass: event } : Said.nothing
    }
    case "messageStop":
      return { stopReason: Said.stopReason(stopReasons, body["stopReason"]) }
    case "metadata":
      return { usage: usageOf(WireJson.at(body, "usage")), isLast: true }
    case "messageStart":
    case "contentBlockStart":
    case "contentBlockStop":
      return Said.nothing
    default:
      return faults(name, body)
  }
}

/** What is no event that may be skipped over: all of Amazon's exceptions have it in their names. */
const faults = (name: string, body: { readonly [key: string]: unknown }): Said.Said =>
  /(?:exception|error)$/i.test(name)
    ? { fault: { codes: [name], message: WireJson.text(body["message"]) } }
    : Said.nothing

const usageOf = (usage: { readonly [key: string]: unknown }) =>
  WireJson.usage({
    input: usage["inputTokens"],
    output: usage["outputTokens"],
    cacheRead: usage["cacheReadInputTokens"],
    cacheWrite: usage["cacheWriteInputTokens"]
  })
