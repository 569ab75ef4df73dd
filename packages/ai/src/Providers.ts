/**
 * Providers by name. Each is loaded when it is used, and only then.
 *
 * @since 0.1.0
 */
import type * as Llm from "@cutpoint/compaction/Llm"
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Keys from "./Keys.js"
import type * as ProviderLayer from "./ProviderLayer.js"

/** No provider goes by this name. */
export class UnknownProvider extends Schema.TaggedError<UnknownProvider>()("UnknownProvider", {
  /** `provider/model`. */
  model: Schema.String,
  known: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return `There is no provider for ${this.model}. Give one of ${this.known.map((one) => `${one}/\u2026`).join(", ")}, or set cutpoint.models["${this.model}"].baseUrl in your own settings to the address of a server that speaks OpenAI's chat completions.`
  }
}

/** The key or the address that a provider needs is not there. */
export class MissingKey extends Schema.TaggedError<MissingKey>()("MissingKey", {
  /** `provider/model`. */
  model: Schema.String,
  /** The environment variables that are to be set. */
  variables: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return `${this.model} needs ${this.variables.join(" and ")}. Set it in the environment, choose another model, or summarize without one.`
  }
}

/** What is said of a model over what the catalogue and the environment say. */
export type Overrides = Omit<ProviderLayer.Options, "model" | "apiKey">

type LlmLayer = Layer.Layer<Llm.Llm, ConfigError.ConfigError, HttpClient.HttpClient>

type Load = (options: ProviderLayer.ConfigOptions, provider: string) => Promise<LlmLayer>

interface Provider {
  /** The environment variables without which it cannot be asked. */
  readonly variables: ReadonlyArray<string>
  readonly load: Load
}

/** The address of a server that speaks OpenAI's chat completions. */
const addressVariable = "OPENAI_BASE_URL"

const compatible: Load = async (options, provider) =>
  (await import("./OpenAiCompatible.js")).layerConfig({ ...options, provider })

const providers: ReadonlyMap<string, Provider> = new Map([
  [
    "anthropic",
    {
      variables: ["ANTHROPIC_API_KEY"],
      load: async (options) => (await import("./Anthropic.js")).layerConfig(options)
    }
  ],
  [
    "openai",
    { variables: ["OPENAI_API_KEY"], load: async (options) => (await import("./OpenAi.js")).layerConfig(options) }
  ],
  [
    "google",
    { variables: ["GEMINI_API_KEY"], load: async (options) => (await import("./Google.js")).layerConfig(options) }
  ],
  [
    "openrouter",
    {
      variables: ["OPENROUTER_API_KEY"],
      load: async (options) => (await import("./OpenRouter.js")).layerConfig(options)
    }
  ],
  [
    "amazon-bedrock",
    {
      variables: ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"],
      load: async (options) => (await import("./Bedrock.js")).layerConfig(options)
    }
  ],
  ["openai-compatible", { variables: [addressVariable], load: compatible }]
])

const names: ReadonlyArray<string> = [...providers.keys()]

/** The environment variables that make a provider ready, each provider's together. */
export const variables: ReadonlyArray<string> = [...providers.values()].map((one) => one.variables.join(" and "))

/**
 * A model by `provider/model`, with the keys of the environment. A provider
 * that is not known is asked as a server that speaks OpenAI's chat completions,
 * at the address given or in the environment's `OPENAI_BASE_URL`; so is
 * `openai/…` where that variable names another server than OpenAI's.
 */
export const layer = (
  name: string,
  overrides: Overrides = {}
): Layer.Layer<Llm.Llm, UnknownProvider | MissingKey | ConfigError.ConfigError, HttpClient.HttpClient> =>
  Layer.unwrapEffect(
    Effect.flatMap(ready(name, overrides), ({ load, options }) => Effect.promise(() => load(options, providerOf(name))))
  )

/** Fails where a model cannot be asked for want of a provider or a key. */
export const check = (name: string, overrides: Overrides = {}): Effect.Effect<void, UnknownProvider | MissingKey> =>
  Effect.asVoid(ready(name, overrides))

/** Whether all that a model's provider needs is in the environment. */
export const isReady = (name: string, overrides: Overrides = {}): Effect.Effect<boolean> =>
  Effect.isSuccess(ready(name, overrides))

const ready = Effect.fnUntraced(function* (
  name: string,
  overrides: Overrides
): Effect.fn.Return<Found, UnknownProvider | MissingKey> {
  const found = yield* find(name, overrides)
  if (found === undefined) return yield* new UnknownProvider({ model: name, known: names })
  if (found.missing.length > 0) return yield* new MissingKey({ model: name, variables: found.missing })
  return found
})

interface Found {
  readonly load: Load
  readonly options: ProviderLayer.ConfigOptions
  /** The variables that are not there. */
  readonly missing: ReadonlyArray<string>
}

const find = Effect.fnUntraced(function* (name: string, overrides: Overrides): Effect.fn.Return<Found | undefined> {
  const provider = providerOf(name)
  const known = providers.get(provider)
  const { apiUrl, ...rest } = overrides
  const options = { ...rest, model: name.slice(provider.length + 1) }
  if (apiUrl !== undefined && (known === undefined || known.load === compatible)) {
    return {
      load: compatible,
      options: { ...options, apiUrl: Config.succeed(apiUrl), apiKey: Keys.keyOf(keyVariable(provider)) },
      missing: []
    }
  }
  // Who sets this address does not want to be sent elsewhere.
  const isRedirected = apiUrl === undefined && (known === undefined || provider === "openai") && (yield* isElsewhere)
  if (isRedirected) return { load: compatible, options, missing: [] }
  if (known === undefined) return undefined
  const missing = yield* Effect.filter(known.variables, (variable) =>
    Effect.map(valueOf(variable), (value) => value === undefined)
  )
  const address = apiUrl === undefined ? {} : { apiUrl: Config.succeed(apiUrl) }
  return { load: known.load, options: { ...options, ...address }, missing }
})

const providerOf = (name: string): string => name.split("/", 1)[0] ?? ""

/** A key goes nowhere but where its variable says: `GROQ_API_KEY` for `groq/…`. */
const keyVariable = (provider: string): string => `${provider.toUpperCase().replace(/[^A-Z0-9]/g, "_")}_API_KEY`

const valueOf = (variable: string): Effect.Effect<string | undefined> =>
  Effect.orElseSucceed(Keys.optional(Keys.textOf(variable)), () => undefined)

/** Whether the environment names another server than OpenAI's own. */
const isElsewhere = Effect.map(
  valueOf(addressVariable),
  (address) => address !== undefined && !/^https:\/\/api\.openai\.com(?:\/|$)/.test(address)
)
