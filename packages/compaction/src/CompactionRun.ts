/**
 * One compaction from reading to writing, given what it is done with.
 *
 * @since 0.1.0
 */
import type * as Entry from "@cutpoint/core/Entry"
import * as Json from "@cutpoint/core/Json"
import * as Preparation from "@cutpoint/core/Preparation"
import * as Projection from "@cutpoint/core/Projection"
import type * as Rules from "@cutpoint/core/Rules"
import * as SessionTree from "@cutpoint/core/SessionTree"
import * as Tokens from "@cutpoint/core/Tokens"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type { CompactError } from "./Compaction.js"
import * as CompactionAppend from "./CompactionAppend.js"
import * as CompactionCheck from "./CompactionCheck.js"
import * as Errors from "./CompactionErrors.js"
import type * as Hooks from "./CompactionHooks.js"
import type { Compacted, NotCompacted, Options, Prepared } from "./CompactionResult.js"
import * as CompactionMetrics from "./CompactionMetrics.js"
import * as CompactionSettings from "./CompactionSettings.js"
import * as CompactionSummary from "./CompactionSummary.js"
import type * as ModelFacts from "./ModelFacts.js"
import * as NewEntry from "./NewEntry.js"
import type * as SessionStore from "./SessionStore.js"
import type * as Settings from "./Settings.js"
import type * as Summarizer from "./SummarizerPort.js"
import type * as Tokenizer from "./Tokenizer.js"

/** What compactions are done with. */
export interface Means {
  readonly store: SessionStore.Service
  readonly tokenizer: Tokenizer.Service
  readonly summarizer: Summarizer.Service
  readonly settings: Settings.Service
  readonly facts: ModelFacts.Service
  readonly hooks: Hooks.Service
  /** Whether there are hooks that have anything to say. */
  readonly isWatched: boolean
  readonly counterOf: (rules: Rules.Rules) => Tokens.CountMessage
}

/** A session's compaction, prepared, with the settings in force. */
export interface Ready {
  readonly prepared: Prepared
  readonly settings: CompactionSettings.Resolved
}

/** A run that goes on to write. */
interface Run extends Ready {
  readonly options: Options
  readonly preparation: Preparation.Preparation
  readonly started: number
}

/** Reads as much of a session as is asked for, and prepares its compaction. */
export const prepare = Effect.fnUntraced(function* (means: Means, key: string, options: Options) {
  const { reading = "context" } = options
  const opening: SessionStore.OpenOptions = reading === "all" ? {} : { part: "context" }
  if (reading === "outline") {
    const outline = yield* means.store.open(key, { ...opening, skim: "messages" })
    const ready = yield* prepareOpen(means, outline, options)
    if (ready !== undefined) return ready
  }
  return yield* prepareWhole(means, yield* means.store.open(key, opening), options)
})

/** As `prepareOpen`, of a session of which nothing was only skimmed. */
const prepareWhole = (means: Means, session: SessionStore.Session, options: Options) =>
  Effect.flatMap(prepareOpen(means, session, options), (ready) =>
    ready === undefined ? Effect.dieMessage("A session that was read is not known.") : Effect.succeed(ready)
  )

/** Prepares the compaction of an open session; undefined where more of it has to be read for that. */
const prepareOpen = Effect.fnUntraced(function* (means: Means, session: SessionStore.Session, options: Options) {
  const projection = Projection.atLeaf(session.tree)
  const { cwd } = session.tree.header
  const sources = { loaded: yield* means.settings.load(cwd), facts: means.facts }
  const settings = yield* CompactionSettings.ofCompaction(sources, options, projection.model)
  const { rules } = settings
  const count = means.counterOf(rules)
  // A compaction compares what there is with what will stay and its summary.
  const counted = settings.keepRecentTokens + CompactionAppend.plentyTokens
  if (!Preparation.isKnown(projection, count, counted)) return undefined
  const contextTokens = Projection.contextTokens(projection, count)
  const check = CompactionCheck.make(settings, contextTokens, options.reason ?? "manual")
  const { keepRecentTokens } = check
  const preparation = Preparation.prepareProjection(projection, count, { keepRecentTokens, cwd, rules })
  const planned = options.reading === "outline" ? Option.none() : preparation
  const prepared: Prepared = {
    session,
    check,
    preparation,
    plan: CompactionSummary.plan(means.summarizer, planned, summaryOptions(options, settings)),
    diagnostics: [...session.diagnostics, ...projection.diagnostics],
    notices: settings.notices
  }
  const ready: Ready = { prepared, settings }
  return ready
})

/** Prepares and, where it is due, writes. Hooks hear of what came of it, an interruption included. */
export const compact = (means: Means, key: string, options: Options) =>
  attempt(means, key, options).pipe(
    Effect.onExit((exit) => (Exit.isFailure(exit) ? tellFailure(means, options, exit.cause) : Effect.void)),
    // What is written is written: hearing of it comes after, and undoes nothing.
    Effect.tap((result) => (result._tag === "Compacted" ? means.hooks.afterCompact(result) : Effect.void))
  )

const tellFailure = (
  { hooks }: Means,
  { reason = "manual" }: Options,
  cause: Cause.Cause<CompactError>
): Effect.Effect<void> => {
  const aborted = Cause.isInterruptedOnly(cause)
  const error = aborted ? undefined : Cause.squash(cause)
  return Effect.zipRight(
    CompactionMetrics.failed(reason, cause),
    hooks.compactionFailed({ reason, error, aborted, willRetry: reason === "overflow" })
  )
}

const attempt = Effect.fn("Compaction.run")(function* (means: Means, key: string, options: Options) {
  yield* Effect.annotateCurrentSpan({ session: key, reason: options.reason ?? "manual" })
  const started = yield* Clock.currentTimeMillis
  const { prepared, settings } = yield* prepareToWrite(means, key, options)
  const notNow = notDue(prepared, options)
  if (notNow !== undefined) return notNow
  if (Option.isNone(prepared.preparation)) {
    if (prepared.check.isOver) return yield* cannotShrink(prepared, means.counterOf(settings.rules))
    return notCompacted("NothingToCompact", prepared, "What could be summarized is within the tokens to keep.")
  }
  yield* NewEntry.requireWritable(prepared.session)
  const run: Run = { options, prepared, preparation: prepared.preparation.value, settings, started }
  const summary = yield* summaryOf(means, run)
  if (typeof summary === "string") return notCompacted("Canceled", prepared, summary)
  return yield* Effect.uninterruptible(written(means, run, summary))
})

const prepareToWrite = Effect.fnUntraced(function* (means: Means, key: string, options: Options) {
  const opening = openingOf(means, options)
  const skim = opening.part === "context" && means.summarizer.skims === true ? "results" : undefined
  const ready = yield* prepareOpen(means, yield* means.store.open(key, { ...opening, skim }), options)
  return ready ?? (yield* prepareWhole(means, yield* means.store.open(key, opening), options))
})

/** What is written needs the pins of the whole path, and hooks are shown all of it. */
const openingOf = (means: Means, { reading }: Options): SessionStore.OpenOptions =>
  reading === "all" || means.isWatched ? {} : { part: "context", toWrite: true }

/** What a hook brings along, or what the summarizer writes; a reason where a hook says no. */
const summaryOf = Effect.fnUntraced(function* (means: Means, run: Run) {
  const { options, prepared, preparation } = run
  const path = SessionTree.leafPath(prepared.session.tree)
  const decision = yield* means.hooks.beforeCompact({
    preparation,
    branchEntries: path,
    customInstructions: options.customInstructions,
    reason: options.reason ?? "manual",
    willRetry: options.reason === "overflow"
  })
  if (decision._tag === "Cancel") return decision.reason
  if (decision._tag === "Use") {
    const problem = problemOf(decision.summary, path)
    if (problem === undefined) return CompactionSummary.supplied(decision.summary)
    return yield* new Errors.HookFailed({ hook: "beforeCompact", problem })
  }
  const context = { count: means.counterOf(run.settings.rules) }
  const freeTokens = CompactionAppend.freeTokens(context, prepared.session, preparation.firstKeptEntryId)
  const wanted = summaryOptions(options, run.settings)
  return yield* CompactionSummary.write(means.summarizer, means.tokenizer.count, preparation, wanted, freeTokens)
})

/** Why a hook's summary cannot be stored; undefined where it can. */
const problemOf = (summary: Hooks.SuppliedCompaction, path: ReadonlyArray<Entry.Entry>): string | undefined => {
  const { details, firstKeptEntryId, tokensBefore } = summary
  if (!path.some((entry) => entry.id === firstKeptEntryId)) {
    return `it keeps messages from ${firstKeptEntryId} on, which is not on the path.`
  }
  if (!Number.isFinite(tokensBefore)) return "its tokensBefore is no number."
  return details !== undefined && Json.textOf(details) === "" ? "its details are no JSON." : undefined
}

const written = Effect.fnUntraced(function* (means: Means, run: Run, summary: CompactionSummary.Written) {
  const context: CompactionAppend.Context = {
    store: means.store,
    opening: openingOf(means, run.options),
    count: means.counterOf(run.settings.rules)
  }
  const appended = yield* CompactionAppend.append(context, run.prepared.session, summary)
  const { requests, usage, writer } = summary
  const { tokensAfter, tokensBefore } = appended
  yield* Effect.annotateCurrentSpan({ tokensBefore, tokensAfter, requests })
  const durationMs = (yield* Clock.currentTimeMillis) - run.started
  const { prepared } = run
  const ofProjection = prepared.diagnostics.filter((one) => !prepared.session.diagnostics.includes(one))
  const diagnostics = [...appended.session.diagnostics, ...ofProjection]
  const result = { prepared, ...appended, writer, requests, usage, durationMs, diagnostics }
  const compacted: Compacted = { _tag: "Compacted", ...result }
  yield* CompactionMetrics.written(run.options.reason ?? "manual", compacted)
  return compacted
})

const summaryOptions = (options: Options, { values }: CompactionSettings.Resolved): CompactionSummary.Options => ({
  customInstructions: options.customInstructions,
  values: values.cutpoint
})

const notCompacted = (_tag: NotCompacted["_tag"], prepared: Prepared, why: string): NotCompacted => ({
  _tag,
  prepared,
  why
})

const isAutomatic = ({ reason = "manual" }: Options): boolean => reason !== "manual"

/** Automatic compactions only happen where they are turned on, and over the threshold. */
const notDue = (prepared: Prepared, options: Options): NotCompacted | undefined => {
  if (!isAutomatic(options)) return undefined
  if (!prepared.check.isAutomatic) return notCompacted("Disabled", prepared, "compaction.enabled is false.")
  if (options.reason === "overflow" || prepared.check.isOver) return undefined
  return notCompacted("BelowThreshold", prepared, "The context is below the threshold.")
}

/** Names the entry that fills the window. */
const cannotShrink = (prepared: Prepared, count: Tokens.CountMessage): Errors.CannotShrink => {
  const { items } = Projection.atLeaf(prepared.session.tree)
  let largest = { entryId: "", entryTokens: -1 }
  for (const { entry, messages } of items) {
    const entryTokens = Tokens.sum(messages, count)
    if (entryTokens > largest.entryTokens) largest = { entryId: entry.id, entryTokens }
  }
  const { contextTokens, threshold } = prepared.check
  return new Errors.CannotShrink({ ...largest, contextTokens, threshold })
}
