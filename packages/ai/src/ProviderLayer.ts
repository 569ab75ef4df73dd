/**
 * The layers that every provider has: from options, and from configuration.
 *
 * @since 0.1.0
 */
import * as Llm from "@cutpoint/compaction/Llm"
import type * as ModelFacts from "@cutpoint/compaction/ModelFacts"
import type * as SettingsValues from "@cutpoint/compaction/SettingsValues"
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import * as Keys from "./Keys.js"
import * as Stream from "effect/Stream"
import * as ModelCatalogue from "./ModelCatalogue.js"
import * as ProviderLlm from "./ProviderLlm.js"

/** What is said of a model over what the catalogue knows. Sizes are in tokens. */
interface ModelOptions {
  /** The provider's name of the model. */
  readonly model: string
  readonly contextWindow?: number | undefined
  readonly maxOutputTokens?: number | undefined
  readonly cost?: SettingsValues.Prices | undefined
  /** The first part of the model's name, where it is not the provider's own. */
  readonly provider?: string | undefined
}

/** A model, and how it is reached. */
export interface Options extends ModelOptions {
  readonly apiKey?: Redacted.Redacted | undefined
  /** Another address than the provider's own. */
  readonly apiUrl?: string | undefined
}

/** A model whose key and address are read when the layer is built. */
export interface ConfigOptions extends ModelOptions {
  readonly apiKey?: Config.Config<Redacted.Redacted> | undefined
  readonly apiUrl?: Config.Config<string> | undefined
}

/** A provider. */
export interface Provider<O extends Options> {
  /** The first part of its models' names. */
  readonly name: string
  readonly fromConfig: (options: ConfigOptions) => Config.Config<O>
  /** Keys, which must appear nowhere. */
  readonly keys: (options: O) => ReadonlyArray<Redacted.Redacted | undefined>
  readonly call: (options: O, facts: ModelFacts.Facts, request: Llm.Request) => ProviderLlm.Call
}

/** A provider's layer. */
export const layer =
  <O extends Options>(provider: Provider<O>) =>
  (options: O): Layer.Layer<Llm.Llm, never, HttpClient.HttpClient> =>
    Layer.effect(Llm.Llm, make(provider, options))

/** A provider's layer, from configuration. */
export const layerConfig =
  <O extends Options>(provider: Provider<O>) =>
  (options: ConfigOptions): Layer.Layer<Llm.Llm, ConfigError.ConfigError, HttpClient.HttpClient> =>
    Layer.effect(
      Llm.Llm,
      Effect.flatMap(provider.fromConfig(options), (read) => make(provider, read))
    )

/** Options whose key is in an environment variable unless said otherwise. */
export const keyFrom =
  (variable: string) =>
  (options: ConfigOptions): Config.Config<Options> =>
    Config.map(
      Config.all({
        apiKey: options.apiKey ?? Keys.keyOf(variable),
        apiUrl: options.apiUrl ?? Config.succeed(undefined)
      }),
      (read) => ({ ...options, ...read })
    )

const make = Effect.fnUntraced(function* <O extends Options>(provider: Provider<O>, options: O) {
  const name = `${options.provider ?? provider.name}/${options.model}`
  const known = yield* ModelCatalogue.find(name)
  const facts: ModelFacts.Facts = {
    ...known,
    contextWindow: options.contextWindow ?? known.contextWindow,
    maxOutput: options.maxOutputTokens ?? known.maxOutput,
    cost: options.cost ?? known.cost
  }
  const keys = provider.keys(options).filter((key) => key !== undefined)
  const llm = yield* ProviderLlm.make({ name, facts, keys }, (request) => provider.call(options, facts, request))
  if (options.apiUrl === undefined || isAddress(options.apiUrl)) return llm
  // It is not shown: there may be a password in it.
  const detail = "the address that is set for it does not begin with http:// or https://, or is none."
  const noAddress = new Llm.LlmBadRequest({ model: name, detail })
  return Llm.Llm.of({ ...llm, stream: () => Stream.fail(noAddress) })
})

/** `localhost:11434/v1` would be taken for an address of a kind called `localhost`. */
const isAddress = (text: string): boolean => /^https?:\/\//i.test(text) && URL.canParse(text)
