/**
 * `cutpoint tree`: draws a session's tree, or goes to another place in it.
 *
 * @since 0.1.0
 */
import * as Navigation from "@cutpoint/compaction/Navigation"
import * as SessionStore from "@cutpoint/compaction/SessionStore"
import type * as SettingsValues from "@cutpoint/compaction/SettingsValues"
import * as Tokenizer from "@cutpoint/compaction/Tokenizer"
import type * as Entry from "@cutpoint/core/Entry"
import * as Projection from "@cutpoint/core/Projection"
import * as Rules from "@cutpoint/core/Rules"
import * as Tokens from "@cutpoint/core/Tokens"
import * as HelpDoc from "@effect/cli/HelpDoc"
import * as ValidationError from "@effect/cli/ValidationError"
import * as Effect from "effect/Effect"
import * as Diagnostics from "../Diagnostics.js"
import * as ModelChoice from "../ModelChoice.js"
import * as NavigationView from "../NavigationView.js"
import * as Output from "../Output.js"
import * as Printable from "../Printable.js"
import * as Services from "../Services.js"
import * as SessionArgument from "../SessionArgument.js"
import * as TreeDrawing from "../TreeDrawing.js"
import * as TreePicker from "../TreePicker.js"

/** What `tree` takes. */
export interface TreeOptions {
  readonly session: string | undefined
  readonly all: boolean
  readonly to: string | undefined
  readonly summarize: boolean
  readonly instructions: string | undefined
  readonly replaceInstructions: boolean
  readonly label: string | undefined
  readonly from: string | undefined
  readonly tokenBudget: number | undefined
  readonly reserveTokens: number | undefined
  readonly contextWindow: number | undefined
  readonly offline: boolean
  readonly model: string | undefined
  readonly dryRun: boolean
  readonly parity: boolean
  readonly withTranscript: boolean
  readonly tokenizer: SettingsValues.Tokenizer | undefined
  readonly json: boolean
  readonly yes: boolean
}

/** Runs it. */
export const run = Effect.fnUntraced(function* (options: TreeOptions) {
  yield* requireSense(options)
  const found = yield* SessionArgument.find(options.session)
  yield* Effect.provide(tree(found, options), Services.forSession(found.key, options))
})

const tree = Effect.fnUntraced(function* (found: SessionArgument.Found, options: TreeOptions) {
  if (options.to !== undefined) return yield* go(found, options.to, options)
  const store = yield* SessionStore.SessionStore
  const session = yield* store.open(found.key)
  yield* draw(session, options)
  const picked = options.json ? undefined : yield* TreePicker.pick(session.tree)
  if (picked === undefined) return
  const { loaded } = yield* Services.SessionSettings
  const { skipPrompt } = loaded.values.branchSummary
  const summarize = options.summarize || (!skipPrompt && (yield* TreePicker.wantsSummary))
  yield* go(found, picked, { ...options, summarize })
})

/** Some options only make sense beside others. */
const requireSense = (options: TreeOptions): Effect.Effect<void, ValidationError.ValidationError> => {
  const wrong = (text: string) => Effect.fail(ValidationError.invalidValue(HelpDoc.p(text)))
  if (options.from !== undefined && !options.dryRun) return wrong("--from goes with --dry-run.")
  if (options.to !== undefined) return Effect.void
  if (options.dryRun) return wrong("--dry-run goes with --to ENTRY.")
  return options.label === undefined ? Effect.void : wrong("--label goes with --to ENTRY.")
}

const counterOf = (options: TreeOptions) =>
  Effect.map(Tokenizer.Tokenizer, ({ count }) => Tokens.counter(count, options.parity ? Rules.parity : Rules.standard))

const draw = Effect.fnUntraced(function* (session: SessionStore.Session, options: TreeOptions) {
  const output = yield* Output.Output
  const count = yield* counterOf(options)
  const tokens = (entry: Entry.Entry) => Tokens.sum(Projection.messagesOf(entry, true), count)
  yield* Diagnostics.warn(session.diagnostics, options.json)
  if (options.json) return yield* output.result(Printable.json(NavigationView.treeJson(session, tokens)))
  const lines = TreeDrawing.draw(session.tree, { all: options.all, tokens, columns: output.columns })
  const isEmpty = session.tree.leafId === null ? ["● (before the first entry)  <- leaf"] : []
  yield* output.result([...isEmpty, ...lines].join("\n"))
})

const go = Effect.fnUntraced(function* (found: SessionArgument.Found, to: string, options: TreeOptions) {
  const navigation = yield* Navigation.Navigation
  const output = yield* Output.Output
  const settings: Navigation.Options = {
    summarize: options.summarize,
    customInstructions: options.instructions,
    replaceInstructions: options.replaceInstructions,
    label: options.label,
    tokenBudget: options.tokenBudget,
    reserveTokens: options.reserveTokens,
    contextWindow: options.contextWindow,
    fromId: options.from,
    rules: options.parity ? Rules.parity : Rules.standard,
    ...(options.parity ? { dropOldest: true } : {})
  }
  const view = options.dryRun
    ? NavigationView.prepared(yield* navigation.prepare(found.key, to, settings), to)
    : yield* navigate(found, to, options, settings)
  yield* Diagnostics.warn(view.session.diagnostics, options.json)
  yield* Services.tellNotices(view.prepared.notices)
  const { choice, loaded } = yield* Services.SessionSettings
  const shown = {
    ...options,
    includeThinking: loaded.values.cutpoint.includeThinking,
    estimatedCost: ModelChoice.estimatedCost(choice, view.prepared.plan)
  }
  const text = options.json ? Printable.json(NavigationView.toJson(view, shown)) : NavigationView.toText(view, shown)
  yield* output.result(text)
})

const navigate = Effect.fnUntraced(function* (
  found: SessionArgument.Found,
  to: string,
  options: TreeOptions,
  settings: Navigation.Options
) {
  const navigation = yield* Navigation.Navigation
  if (options.summarize) yield* Services.requireSummarizer
  yield* SessionArgument.confirm(found, options)
  const navigated = yield* navigation.navigate(found.key, to, settings)
  yield* Diagnostics.tellBackup(navigated.backup)
  return NavigationView.navigated(navigated)
})
