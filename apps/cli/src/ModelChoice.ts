/**
 * Which model summarizes, and who says so.
 *
 * @since 0.1.0
 */
import * as ModelCatalogue from "@cutpoint/ai/ModelCatalogue"
import * as Prices from "@cutpoint/ai/Prices"
import type * as Providers from "@cutpoint/ai/Providers"
import * as CompactionSettings from "@cutpoint/compaction/CompactionSettings"
import * as SessionStore from "@cutpoint/compaction/SessionStore"
import type * as SettingsValues from "@cutpoint/compaction/SettingsValues"
import type * as Summarizer from "@cutpoint/compaction/Summarizer"
import * as Projection from "@cutpoint/core/Projection"
import * as SessionTree from "@cutpoint/core/SessionTree"
import * as Effect from "effect/Effect"

/** What a command says of the model. */
export interface Options {
  readonly offline?: boolean | undefined
  /** `provider/model`, or `offline`. */
  readonly model?: string | undefined
  /** In tokens. */
  readonly contextWindow?: number | undefined
}

/** A model, and what is known of it. */
export interface Model {
  /** `provider/model`. */
  readonly name: string
  /** What the settings say of it over what the catalogue knows. */
  readonly overrides: Providers.Overrides
  /** Sizes in tokens. */
  readonly contextWindow: number
  readonly maxOutputTokens: number
  readonly cost: SettingsValues.Prices | undefined
  /** Whether its window is only assumed. */
  readonly isAssumed: boolean
}

/** Who summarizes. Where it is nobody, a dry run plans with what a model like the session's would take. */
export type Choice =
  | { readonly _tag: "Offline"; readonly because: string }
  | { readonly _tag: "Model"; readonly model: Model; readonly because: string }
  | { readonly _tag: "Nobody"; readonly model: Model }

/** The most that an ordinary reply has, in tokens: what is planned with where a model's own limit is not known. */
const usualOutput = 8192

/** The providers, loaded when they are first needed. */
export const loadProviders = Effect.promise(() => import("@cutpoint/ai/Providers"))

/** The first of: the options, the user's settings, the session's own model where its key is at hand. */
export const choose = Effect.fnUntraced(function* (key: string, options: Options, values: SettingsValues.Values) {
  const chosen = (choice: Choice): Choice => choice
  if (options.offline === true) return chosen({ _tag: "Offline", because: "--offline" })
  const given = options.model ?? values.cutpoint.model
  const because = options.model === undefined ? "cutpoint.model in your settings" : "--model"
  if (given === "offline") return chosen({ _tag: "Offline", because })
  if (given !== undefined) {
    return chosen({ _tag: "Model", because, model: yield* modelOf(given, options, values) })
  }
  const own = yield* modelOfSession(key)
  const model = yield* modelOf(own ?? "a model", options, values)
  if (own === undefined) return chosen({ _tag: "Nobody", model })
  const providers = yield* loadProviders
  const isReady = yield* providers.isReady(own, model.overrides)
  return chosen(isReady ? { _tag: "Model", model, because: "the session's own model" } : { _tag: "Nobody", model })
})

/** What a plan would cost, in US dollars; undefined where the prices are not known, and without a model. */
export const estimatedCost = (choice: Choice, plan: Summarizer.Plan): number | undefined =>
  choice._tag === "Offline" ? undefined : Prices.estimated(plan, choice.model.cost)

const modelOfSession = Effect.fnUntraced(function* (key: string) {
  const store = yield* SessionStore.SessionStore
  const { tree } = yield* store.open(key, { part: "model" })
  const { model } = Projection.project(SessionTree.leafPath(tree))
  return model === undefined ? undefined : `${model.provider}/${model.modelId}`
})

/** What is said of a model in the settings, else what the catalogue knows, else what the command says of windows. */
const modelOf = Effect.fnUntraced(function* (name: string, options: Options, { cutpoint }: SettingsValues.Values) {
  const said = cutpoint.models[name] ?? {}
  const known = yield* ModelCatalogue.find(name)
  const contextWindow = said.contextWindow ?? known.contextWindow ?? options.contextWindow ?? cutpoint.contextWindow
  const maxOutputTokens = said.maxOutput ?? known.maxOutput
  const model: Model = {
    name,
    overrides: { apiUrl: said.baseUrl, contextWindow, maxOutputTokens, cost: said.cost },
    contextWindow: contextWindow ?? CompactionSettings.unknownWindow,
    maxOutputTokens: maxOutputTokens ?? usualOutput,
    cost: said.cost ?? known.cost,
    isAssumed: contextWindow === undefined
  }
  return model
})
