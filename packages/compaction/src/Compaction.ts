/**
 * Compaction: the older part of a session's context gives way to a summary.
 *
 * @since 0.1.0
 */
import * as Preparation from "@cutpoint/core/Preparation"
import * as Projection from "@cutpoint/core/Projection"
import type * as Rules from "@cutpoint/core/Rules"
import * as SessionTree from "@cutpoint/core/SessionTree"
import * as Tokens from "@cutpoint/core/Tokens"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as CompactionAppend from "./CompactionAppend.js"
import * as Errors from "./CompactionErrors.js"
import { CompactionHooks } from "./CompactionHooks.js"
import type { Compacted, NotCompacted, Options, Prepared, Check } from "./CompactionResult.js"
import * as CompactionSettings from "./CompactionSettings.js"
import * as CompactionSummary from "./CompactionSummary.js"
import * as SessionLocks from "./SessionLocks.js"
import * as SessionStore from "./SessionStore.js"
import * as Settings from "./Settings.js"
import * as SharedRuns from "./SharedRuns.js"
import * as Summarizer from "./SummarizerPort.js"
import * as Tokenizer from "./Tokenizer.js"

export type { Check, Compacted, NotCompacted, Options, Prepared, Reason } from "./CompactionResult.js"

/** Why reading and preparing can fail. */
export type PrepareError =
  | SessionStore.SessionNotFound
  | SessionStore.NotASession
  | SessionStore.SessionUnreadable
  | Settings.SettingsError
  | Errors.SettingsInvalid

/** Why compacting can fail. */
export type CompactError =
  | PrepareError
  | SessionStore.AppendError
  | Errors.CannotShrink
  | Errors.SummarizeError
  | Errors.HookFailed
  | Errors.Busy

/** Compacts sessions. */
export interface Service {
  /** Whether a session is over the threshold. */
  readonly check: (key: string, options?: Options) => Effect.Effect<Check, PrepareError>
  /** What a compaction at the leaf would do. Writes nothing. */
  readonly prepare: (key: string, options?: Options) => Effect.Effect<Prepared, PrepareError>
  /**
   * Compacts at the leaf. On any failure the session is as it was. Who asks
   * for the same while it is under way shares the run; who asks for something
   * else gets `Busy`.
   */
  readonly compact: (key: string, options?: Options) => Effect.Effect<Compacted | NotCompacted, CompactError>
}

/** Compacts sessions. */
export class Compaction extends Context.Tag("@cutpoint/compaction/Compaction")<Compaction, Service>() {}

/** A run that goes on to write: what was prepared, and by what. */
interface Run {
  readonly options: Options
  readonly prepared: Prepared
  readonly preparation: Preparation.Preparation
  readonly settings: CompactionSettings.Resolved
  readonly started: number
}

const make = Effect.gen(function* () {
  const store = yield* SessionStore.SessionStore
  const tokenizer = yield* Tokenizer.Tokenizer
  const summarizer = yield* Summarizer.Summarizer
  const settings = yield* Settings.Settings
  const locks = yield* SessionLocks.SessionLocks
  const hooks = yield* CompactionHooks
  const runs = SharedRuns.make<Compacted | NotCompacted, CompactError>()
  const counterOf = counters(tokenizer.count)

  const prepareWith = Effect.fnUntraced(function* (key: string, options: Options) {
    const session = yield* store.open(key)
    const projection = Projection.project(SessionTree.leafPath(session.tree))
    const { cwd } = session.tree.header
    const resolved = yield* CompactionSettings.ofCompaction(yield* settings.load(cwd), options, projection.model)
    const { contextWindow, keepRecentTokens, rules, threshold } = resolved
    const count = counterOf(rules)
    const contextTokens = Projection.contextTokens(projection, count)
    const preparation = Preparation.prepareProjection(projection, count, { keepRecentTokens, cwd, rules })
    const isOver = contextTokens > threshold
    const prepared: Prepared = {
      session,
      check: { contextTokens, contextWindow, threshold, isOver },
      preparation,
      plan: CompactionSummary.plan(summarizer, preparation, summaryOptions(options, resolved)),
      diagnostics: [...session.diagnostics, ...projection.diagnostics],
      notices: resolved.notices
    }
    return { prepared, settings: resolved }
  })

  const prepare = Effect.fn("Compaction.prepare")(function* (key: string, options: Options = {}) {
    return (yield* prepareWith(key, options)).prepared
  })

  const check = Effect.fn("Compaction.check")(function* (key: string, options: Options = {}) {
    return (yield* prepareWith(key, options)).prepared.check
  })

  /** What a hook brings along, or what the summarizer writes; a reason where a hook says no. */
  const summaryOf = Effect.fnUntraced(function* (run: Run) {
    const { options, prepared, preparation } = run
    const path = SessionTree.leafPath(prepared.session.tree)
    const decision = yield* hooks.beforeCompact({
      preparation,
      branchEntries: path,
      customInstructions: options.customInstructions,
      reason: options.reason ?? "manual",
      willRetry: options.reason === "overflow"
    })
    if (decision._tag === "Cancel") return decision.reason
    if (decision._tag === "Use") {
      if (path.some((entry) => entry.id === decision.summary.firstKeptEntryId)) {
        return CompactionSummary.supplied(decision.summary)
      }
      const problem = `it keeps messages from ${decision.summary.firstKeptEntryId} on, which is not on the path.`
      return yield* new Errors.HookFailed({ hook: "beforeCompact", problem })
    }
    const context = { count: counterOf(run.settings.rules) }
    const freeTokens = CompactionAppend.freeTokens(context, prepared.session, preparation.firstKeptEntryId)
    const wanted = summaryOptions(options, run.settings)
    return yield* CompactionSummary.write(summarizer, tokenizer.count, preparation, wanted, freeTokens)
  })

  const carryOut = Effect.fnUntraced(function* (run: Run) {
    const summary = yield* summaryOf(run)
    if (typeof summary === "string") return notCompacted("Canceled", run.prepared, summary)
    const context: CompactionAppend.Context = { store, count: counterOf(run.settings.rules) }
    // Counting may have kept the runtime busy. A cancellation that came meanwhile is
    // heard before anything is written; that takes it up to two turns of its loop.
    yield* Effect.repeatN(Effect.sleep(0), 1)
    const appended = yield* CompactionAppend.append(context, run.prepared.session, summary)
    const { requests, usage, writer } = summary
    const { tokensAfter, tokensBefore } = appended
    yield* Effect.annotateCurrentSpan({ tokensBefore, tokensAfter, requests })
    const durationMs = (yield* Clock.currentTimeMillis) - run.started
    const compacted: Compacted = {
      _tag: "Compacted",
      prepared: run.prepared,
      ...appended,
      writer,
      requests,
      usage,
      durationMs
    }
    yield* hooks.afterCompact(compacted)
    return compacted
  })

  const run = Effect.fn("Compaction.run")(function* (key: string, options: Options) {
    yield* Effect.annotateCurrentSpan({ session: key, reason: options.reason ?? "manual" })
    const started = yield* Clock.currentTimeMillis
    const { prepared, settings: resolved } = yield* prepareWith(key, options)
    const why = notDue(prepared, options, resolved)
    if (why !== undefined) return why
    if (Option.isNone(prepared.preparation)) {
      if (prepared.check.isOver) return yield* cannotShrink(prepared, counterOf(resolved.rules))
      return notCompacted("NothingToCompact", prepared, "What could be summarized is within the tokens to keep.")
    }
    return yield* carryOut({ options, prepared, preparation: prepared.preparation.value, settings: resolved, started })
  })

  /** Hooks hear of every failure, interruption included. */
  const reported = (key: string, options: Options) =>
    Effect.onExit(run(key, options), (exit) =>
      Exit.isSuccess(exit)
        ? Effect.void
        : hooks.compactionFailed({
            reason: options.reason ?? "manual",
            error: Cause.isInterruptedOnly(exit.cause) ? undefined : Cause.squash(exit.cause),
            aborted: Cause.isInterruptedOnly(exit.cause),
            willRetry: options.reason === "overflow"
          })
    )

  const compact = Effect.fn("Compaction.compact")(function* (key: string, options: Options = {}) {
    return yield* runs.share(key, signatureOf(options), locks.exclusive(key, reported(key, options)))
  })

  return Compaction.of({ check, prepare, compact })
})

/** Compacts sessions of the store in context, by its tokenizer, summarizer and settings. */
export const layer: Layer.Layer<
  Compaction,
  never,
  SessionStore.SessionStore | Tokenizer.Tokenizer | Summarizer.Summarizer | Settings.Settings
> = Layer.effect(Compaction, make).pipe(Layer.provide(SessionLocks.layer))

/** One counter for each set of rules, so that a message is counted once however often it is asked for. */
const counters = (count: Tokens.Count): ((rules: Rules.Rules) => Tokens.CountMessage) => {
  const known = new Map<Rules.Rules, Tokens.CountMessage>()
  return (rules) => {
    const counter = known.get(rules) ?? Tokens.counter(count, rules)
    known.set(rules, counter)
    return counter
  }
}

/** Options that come to the same have the same signature, whatever the order they are written in. */
const signatureOf = (options: Options): string =>
  JSON.stringify(
    Object.entries(options)
      .filter(([, value]) => value !== undefined)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
  )

const summaryOptions = (options: Options, { values }: CompactionSettings.Resolved): CompactionSummary.Options => ({
  customInstructions: options.customInstructions,
  values: values.cutpoint
})

const notCompacted = (_tag: NotCompacted["_tag"], prepared: Prepared, why: string): NotCompacted => ({
  _tag,
  prepared,
  why
})

/** Automatic compactions only happen where they are turned on, and over the threshold. */
const notDue = (
  prepared: Prepared,
  { reason }: Options,
  { values }: CompactionSettings.Resolved
): NotCompacted | undefined => {
  if (reason === undefined || reason === "manual") return undefined
  if (!values.compaction.enabled) return notCompacted("Disabled", prepared, "compaction.enabled is false.")
  if (reason === "overflow" || prepared.check.isOver) return undefined
  return notCompacted("BelowThreshold", prepared, "The context is below the threshold.")
}

/** Names the entry that fills the window. */
const cannotShrink = (prepared: Prepared, count: Tokens.CountMessage): Errors.CannotShrink => {
  const { items } = Projection.project(SessionTree.leafPath(prepared.session.tree))
  let largest = { entryId: "", entryTokens: -1 }
  for (const { entry, messages } of items) {
    const entryTokens = Tokens.sum(messages, count)
    if (entryTokens > largest.entryTokens) largest = { entryId: entry.id, entryTokens }
  }
  const { contextTokens, threshold } = prepared.check
  return new Errors.CannotShrink({ ...largest, contextTokens, threshold })
}
