/**
 * The settings of one compaction or one branch: what the caller says, else
 * what the settings say of the model, else what they say.
 *
 * @since 0.1.0
 */
import * as Rules from "@cutpoint/core/Rules"
import * as Effect from "effect/Effect"
import * as Errors from "./CompactionErrors.js"
import type * as CompactionResult from "./CompactionResult.js"
import type * as ModelFacts from "./ModelFacts.js"
import type * as Settings from "./Settings.js"
import type * as SettingsValues from "./SettingsValues.js"

/** Settings in force. Sizes are in tokens, `stallTimeout` in milliseconds. */
export interface Resolved {
  readonly keepRecentTokens: number
  readonly contextWindow: number
  readonly reserveTokens: number
  readonly rules: Rules.Rules
  readonly values: SettingsValues.Values
  readonly notices: ReadonlyArray<string>
}

/** What a window is taken to be where nothing is known of the model, in tokens. */
export const unknownWindow = 128_000

interface Model {
  readonly provider: string
  readonly modelId: string
}

/** Where settings come from. */
export interface Sources {
  readonly loaded: Settings.Loaded
  /** What is known of models that the settings say nothing of. */
  readonly facts: ModelFacts.Service
}

/** The settings of a compaction, for the model that goes on with the session. */
export const ofCompaction = (
  sources: Sources,
  options: CompactionResult.Options,
  sessionModel: Model | undefined
): Effect.Effect<Resolved, Errors.SettingsInvalid> => {
  const { values } = sources.loaded
  const model = options.model ?? nameOf(sessionModel)
  const override = model === undefined ? undefined : values.compaction.modelOverrides[model]
  const keepRecentTokens = options.keepRecentTokens ?? override?.keepRecentTokens ?? values.compaction.keepRecentTokens
  const reserveTokens = options.reserveTokens ?? override?.reserveTokens ?? values.compaction.reserveTokens
  return resolved("compaction.reserveTokens", reserveTokens, sources, { ...options, model }, keepRecentTokens)
}

/** The settings of a branch that is left. */
export const ofBranch = (
  sources: Sources,
  options: Pick<CompactionResult.Options, "contextWindow" | "reserveTokens" | "rules"> & {
    readonly tokenBudget?: number | undefined
  },
  sessionModel: Model | undefined
): Effect.Effect<Resolved, Errors.SettingsInvalid> => {
  // A budget that is given needs no window to be computed from.
  const isGiven = options.tokenBudget !== undefined
  const reserveTokens = isGiven ? 0 : (options.reserveTokens ?? sources.loaded.values.branchSummary.reserveTokens)
  return resolved("branchSummary.reserveTokens", reserveTokens, sources, { ...options, model: nameOf(sessionModel) }, 0)
}

/** The window of the model that goes on with a session, in tokens; undefined where nothing is known of it. */
export const knownWindow = Effect.fnUntraced(function* (
  { facts, loaded }: Sources,
  { contextWindow, model }: Pick<CompactionResult.Options, "contextWindow" | "model">
) {
  const { cutpoint } = loaded.values
  const given = contextWindow ?? cutpoint.contextWindow
  if (given !== undefined || model === undefined) return given
  return cutpoint.models[model]?.contextWindow ?? (yield* facts.find(model)).contextWindow
})

const nameOf = (model: Model | undefined): string | undefined =>
  model === undefined ? undefined : `${model.provider}/${model.modelId}`

const resolved = Effect.fnUntraced(function* (
  setting: string,
  reserveTokens: number,
  sources: Sources,
  options: Pick<CompactionResult.Options, "contextWindow" | "model" | "rules">,
  keepRecentTokens: number
): Effect.fn.Return<Resolved, Errors.SettingsInvalid> {
  const { notices, values } = sources.loaded
  const known = yield* knownWindow(sources, options)
  const contextWindow = known ?? unknownWindow
  const odd = Object.entries({ contextWindow, reserveTokens, keepRecentTokens }).find(([, size]) => !isSize(size))
  if (odd !== undefined) return yield* noSize(...odd)
  if (reserveTokens >= contextWindow) return yield* noRoom(setting, reserveTokens, contextWindow)
  return {
    keepRecentTokens,
    contextWindow,
    reserveTokens,
    rules: options.rules ?? Rules.standard,
    values,
    notices: known === undefined ? [...notices, assumed(options.model)] : notices
  }
})

const isSize = (size: number): boolean => Number.isSafeInteger(size) && size >= 0

const noSize = (setting: string, size: number) =>
  new Errors.SettingsInvalid({
    setting,
    problem: `${size} is no number of tokens.`,
    remedy: "Give a whole number that is not negative."
  })

const noRoom = (setting: string, reserveTokens: number, contextWindow: number) =>
  new Errors.SettingsInvalid({
    setting,
    problem: `a reserve of ${reserveTokens} tokens leaves no room in a window of ${contextWindow}.`,
    remedy: "Set a smaller reserve, or the right context window."
  })

/** Says that the window of a model is assumed. */
export const assumed = (model: string | undefined): string =>
  `The context window of ${model ?? "the model"} is not known and taken to be ${unknownWindow} tokens; set cutpoint.contextWindow to say otherwise.`
