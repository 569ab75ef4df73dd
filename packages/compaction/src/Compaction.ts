/**
 * Compaction: the older part of a session's context gives way to a summary.
 *
 * @since 0.1.0
 */
import type * as Diagnostic from "@cutpoint/core/Diagnostic"
import type * as Entry from "@cutpoint/core/Entry"
import type * as Message from "@cutpoint/core/Message"
import * as Preparation from "@cutpoint/core/Preparation"
import * as Projection from "@cutpoint/core/Projection"
import * as Rules from "@cutpoint/core/Rules"
import * as SessionTree from "@cutpoint/core/SessionTree"
import * as Tokens from "@cutpoint/core/Tokens"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as CompactionAppend from "./CompactionAppend.js"
import * as Errors from "./CompactionErrors.js"
import * as CompactionSummary from "./CompactionSummary.js"
import * as SessionStore from "./SessionStore.js"
import * as Summarizer from "./Summarizer.js"
import * as Tokenizer from "./Tokenizer.js"

/** Why a session is compacted. */
export type Reason = "manual" | "threshold"

/** How a session is compacted. Sizes are in tokens. */
export interface Options {
  /** About how much of the newest context stays as it is; 20,000 where left out. */
  readonly keepRecentTokens?: number | undefined
  /** What is kept free for the next reply; 16,384 where left out. */
  readonly reserveTokens?: number | undefined
  /** The model's window; 128,000 where left out. */
  readonly contextWindow?: number | undefined
  /** The most that a summary without a model may cost; 2,000 where left out. */
  readonly summaryTokens?: number | undefined
  /** `manual` compacts in any case, `threshold` only over the threshold. */
  readonly reason?: Reason | undefined
  /** What the summary should look at above all. */
  readonly customInstructions?: string | undefined
  /** Which rules hold; the standard ones where left out. */
  readonly rules?: Rules.Rules | undefined
}

/** How full a session's context is, in tokens. */
export interface Check {
  readonly contextTokens: number
  readonly contextWindow: number
  /** The window less the reserve. */
  readonly threshold: number
  readonly isOver: boolean
}

/** What a compaction would do, and what it would take. */
export interface Prepared {
  readonly session: SessionStore.Session
  readonly check: Check
  /** None where there is nothing to summarize. */
  readonly preparation: Option.Option<Preparation.Preparation>
  readonly plan: Summarizer.Plan
  readonly diagnostics: ReadonlyArray<Diagnostic.Diagnostic>
}

/** What a compaction did. */
export interface Compacted {
  readonly _tag: "Compacted"
  readonly prepared: Prepared
  readonly session: SessionStore.Session
  readonly entry: Entry.CompactionEntry
  readonly tokensBefore: number
  /** By estimate. */
  readonly tokensAfter: number
  /** Which summarizer wrote it: `offline`, or `provider/model`. */
  readonly summarizer: string
  readonly usage: Message.Usage | undefined
  readonly requests: number
  readonly durationMs: number
  /** Where the original of a session in an older format was kept. */
  readonly backup: string | undefined
}

/** There was nothing to do; nothing was written. */
export interface NotCompacted {
  readonly _tag: "NothingToCompact" | "BelowThreshold"
  readonly prepared: Prepared
}

/** Why reading and preparing can fail. */
export type PrepareError =
  | SessionStore.SessionNotFound
  | SessionStore.NotASession
  | SessionStore.SessionUnreadable
  | Errors.SettingsInvalid

/** Why compacting can fail. */
export type CompactError = PrepareError | SessionStore.AppendError | Errors.CannotShrink | Errors.SummarizeError

/** Compacts sessions. */
export interface Service {
  /** Whether a session is over the threshold. */
  readonly check: (key: string, options?: Options) => Effect.Effect<Check, PrepareError>
  /** What a compaction at the leaf would do. Writes nothing. */
  readonly prepare: (key: string, options?: Options) => Effect.Effect<Prepared, PrepareError>
  /** Compacts at the leaf. On any failure the session is as it was. */
  readonly compact: (key: string, options?: Options) => Effect.Effect<Compacted | NotCompacted, CompactError>
}

/** Compacts sessions. */
export class Compaction extends Context.Tag("@cutpoint/compaction/Compaction")<Compaction, Service>() {}

/** The defaults of `Options`, in tokens. */
export const defaults = {
  keepRecentTokens: 20_000,
  reserveTokens: 16_384,
  contextWindow: 128_000,
  summaryTokens: 2000
}

/** The threshold, in tokens; an error where the reserve leaves no room. */
export const thresholdOf = (
  setting: string,
  contextWindow: number,
  reserveTokens: number
): Effect.Effect<number, Errors.SettingsInvalid> =>
  reserveTokens < contextWindow
    ? Effect.succeed(contextWindow - reserveTokens)
    : new Errors.SettingsInvalid({
        setting,
        problem: `a reserve of ${reserveTokens} tokens leaves no room in a window of ${contextWindow}.`,
        remedy: "Set a smaller reserve, or the right context window."
      })

const make = Effect.gen(function* () {
  const store = yield* SessionStore.SessionStore
  const tokenizer = yield* Tokenizer.Tokenizer
  const summarizer = yield* Summarizer.Summarizer
  const counters = new Map<Rules.Rules, Tokens.CountMessage>()

  /** One counter for each set of rules, so that a message is counted once however often it is asked for. */
  const counterOf = (rules: Rules.Rules): Tokens.CountMessage => {
    const counter = counters.get(rules) ?? Tokens.counter(tokenizer.count, rules)
    counters.set(rules, counter)
    return counter
  }

  const prepareSession = Effect.fnUntraced(function* (session: SessionStore.Session, options: Options) {
    const { contextWindow, keepRecentTokens, reserveTokens } = { ...defaults, ...withoutUndefined(options) }
    const rules = options.rules ?? Rules.standard
    const threshold = yield* thresholdOf("compaction.reserveTokens", contextWindow, reserveTokens)
    const projection = Projection.project(SessionTree.leafPath(session.tree))
    const count = counterOf(rules)
    const contextTokens = Projection.contextTokens(projection, count)
    const settings: Preparation.Settings = { keepRecentTokens, cwd: session.tree.header.cwd, rules }
    const preparation = Preparation.prepareProjection(projection, count, settings)
    const isOver = Preparation.shouldCompact(contextTokens, contextWindow, reserveTokens)
    return {
      session,
      check: { contextTokens, contextWindow, threshold, isOver },
      preparation,
      plan: CompactionSummary.plan(summarizer, preparation, options),
      diagnostics: [...session.diagnostics, ...projection.diagnostics]
    }
  })

  const prepare = Effect.fn("Compaction.prepare")(function* (key: string, options: Options = {}) {
    return yield* prepareSession(yield* store.open(key), options)
  })

  const check = Effect.fn("Compaction.check")(function* (key: string, options: Options = {}) {
    return (yield* prepare(key, options)).check
  })

  const compact = Effect.fn("Compaction.compact")(function* (key: string, options: Options = {}) {
    const started = yield* Clock.currentTimeMillis
    const prepared = yield* prepare(key, options)
    yield* Effect.annotateCurrentSpan({ session: key, reason: options.reason ?? "manual" })
    if (options.reason === "threshold" && !prepared.check.isOver) return notCompacted("BelowThreshold", prepared)
    if (Option.isNone(prepared.preparation)) {
      if (prepared.check.isOver) return yield* cannotShrink(prepared, counterOf(options.rules ?? Rules.standard))
      return notCompacted("NothingToCompact", prepared)
    }
    const preparation = prepared.preparation.value
    const summary = yield* CompactionSummary.write(summarizer, tokenizer.count, preparation, options)
    const appended = yield* CompactionAppend.append(
      { store, count: counterOf(preparation.settings.rules), summarizer: summarizer.name },
      prepared.session,
      preparation,
      summary
    )
    yield* Effect.annotateCurrentSpan({
      tokensBefore: preparation.tokensBefore,
      tokensAfter: appended.tokensAfter,
      requests: summary.requests
    })
    const durationMs = (yield* Clock.currentTimeMillis) - started
    const { requests, usage } = summary
    const compacted: Compacted = {
      _tag: "Compacted",
      prepared,
      ...appended,
      summarizer: summarizer.name,
      requests,
      usage,
      durationMs
    }
    return compacted
  })

  return Compaction.of({ check, prepare, compact })
})

/** Compacts sessions of the store in context, by its tokenizer and summarizer. */
export const layer: Layer.Layer<
  Compaction,
  never,
  SessionStore.SessionStore | Tokenizer.Tokenizer | Summarizer.Summarizer
> = Layer.effect(Compaction, make)

const notCompacted = (_tag: NotCompacted["_tag"], prepared: Prepared): NotCompacted => ({ _tag, prepared })

const withoutUndefined = (options: Options): Partial<typeof defaults> =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))

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
