/**
 * `cutpoint compact`: compacts a session at its leaf, or shows what that would do.
 *
 * @since 0.1.0
 */
import * as Compaction from "@cutpoint/compaction/Compaction"
import type * as SettingsValues from "@cutpoint/compaction/SettingsValues"
import * as Rules from "@cutpoint/core/Rules"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as CompactionView from "../CompactionView.js"
import * as Diagnostics from "../Diagnostics.js"
import * as ModelChoice from "../ModelChoice.js"
import * as Output from "../Output.js"
import * as Printable from "../Printable.js"
import * as RecentWrite from "../RecentWrite.js"
import * as Services from "../Services.js"
import * as SessionArgument from "../SessionArgument.js"

/** What `compact` takes. */
export interface CompactOptions {
  readonly session: string | undefined
  readonly instructions: string | undefined
  readonly dryRun: boolean
  readonly auto: boolean
  readonly offline: boolean
  readonly model: string | undefined
  readonly keepRecentTokens: number | undefined
  readonly reserveTokens: number | undefined
  readonly contextWindow: number | undefined
  readonly tokenizer: SettingsValues.Tokenizer | undefined
  readonly parity: boolean
  readonly withTranscript: boolean
  readonly json: boolean
  readonly yes: boolean
}

/** Runs it. */
export const run = (options: CompactOptions) =>
  Effect.flatMap(SessionArgument.find(options.session), (found) =>
    Effect.provide(compact(found, options), Services.forSession(found.key, options))
  )

const compact = Effect.fnUntraced(function* (found: SessionArgument.Found, options: CompactOptions) {
  const compaction = yield* Compaction.Compaction
  const settings: Compaction.Options = {
    keepRecentTokens: options.keepRecentTokens,
    reserveTokens: options.reserveTokens,
    contextWindow: options.contextWindow,
    customInstructions: options.instructions,
    // A document says where entries stand in the file, which takes all of it.
    reading: options.json ? "all" : "context",
    reason: options.auto ? "threshold" : "manual",
    rules: options.parity ? Rules.parity : Rules.standard
  }
  if (options.dryRun) {
    const prepared = yield* compaction.prepare(found.key, settings)
    return yield* show(prepared, yield* dryStatus(prepared, options), undefined, options)
  }
  yield* Services.requireSummarizer
  yield* RecentWrite.warn(found.key)
  yield* SessionArgument.confirm(found, options)
  const result = yield* compaction.compact(found.key, settings)
  switch (result._tag) {
    case "Compacted":
      yield* Diagnostics.tellBackup(result.backup)
      return yield* show(result.prepared, "compacted", result, options)
    case "BelowThreshold":
      return yield* show(result.prepared, "below-threshold", undefined, options)
    case "Disabled":
      return yield* show(result.prepared, "disabled", undefined, options)
    // No hook takes part in the command, so that nobody cancels.
    case "NothingToCompact":
    case "Canceled":
      return yield* show(result.prepared, "nothing-to-compact", undefined, options)
  }
})

/** What a run would come to. */
const dryStatus = Effect.fnUntraced(function* ({ check, preparation }: Compaction.Prepared, { auto }: CompactOptions) {
  const { loaded } = yield* Services.SessionSettings
  const status = (named: CompactionView.Status) => named
  if (auto && !loaded.values.compaction.enabled) return status("disabled")
  if (auto && !check.isOver) return status("below-threshold")
  return status(Option.isNone(preparation) ? "nothing-to-compact" : "prepared")
})

const show = Effect.fnUntraced(function* (
  prepared: Compaction.Prepared,
  status: CompactionView.Status,
  result: Compaction.Compacted | undefined,
  options: CompactOptions
) {
  const output = yield* Output.Output
  const { choice, loaded } = yield* Services.SessionSettings
  yield* Diagnostics.warn((result ?? prepared).diagnostics, options.json)
  yield* Services.tellNotices(prepared.notices)
  const view: CompactionView.View = {
    prepared,
    status,
    result,
    reason: options.auto ? "threshold" : "manual",
    estimatedCost: ModelChoice.estimatedCost(choice, prepared.plan),
    withTranscript: options.withTranscript,
    includeThinking: loaded.values.cutpoint.includeThinking
  }
  if (options.json) return yield* output.result(Printable.json(CompactionView.toJson(view)))
  yield* output.result(yield* CompactionView.toText(view))
})
