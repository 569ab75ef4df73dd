/**
 * The port by which facts of models are had: sizes, prices, what they take.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as SettingsValues from "./SettingsValues.js"

/** What is known of a model; what is left out is not known. Sizes are in tokens. */
export interface Facts {
  readonly contextWindow?: number | undefined
  readonly maxOutput?: number | undefined
  readonly cost?: SettingsValues.Prices | undefined
  /** Whether it thinks before it answers. */
  readonly thinks?: boolean | undefined
}

/** Knows models by `provider/model`. */
export interface Service {
  /** The facts of a model; empty where it is not known. */
  readonly find: (name: string) => Effect.Effect<Facts>
}

/** Knows models by `provider/model`; by default it knows none. */
export class ModelFacts extends Context.Reference<ModelFacts>()("@cutpoint/compaction/ModelFacts", {
  defaultValue: (): Service => ({ find: () => Effect.succeed({}) })
}) {}
