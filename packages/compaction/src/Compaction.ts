/**
 * Compaction: the older part of a session's context gives way to a summary.
 *
 * @since 0.1.0
 */
import type * as Rules from "@cutpoint/core/Rules"
import * as Tokens from "@cutpoint/core/Tokens"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Errors from "./CompactionErrors.js"
import { CompactionHooks, guarded, none } from "./CompactionHooks.js"
import type { Check, Compacted, NotCompacted, Options, Prepared } from "./CompactionResult.js"
import { ModelFacts } from "./ModelFacts.js"
import * as CompactionRun from "./CompactionRun.js"
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

const make = Effect.gen(function* () {
  const hooks = yield* CompactionHooks
  const tokenizer = yield* Tokenizer.Tokenizer
  const means: CompactionRun.Means = {
    store: yield* SessionStore.SessionStore,
    tokenizer,
    summarizer: Summarizer.guarded(yield* Summarizer.Summarizer),
    settings: yield* Settings.Settings,
    facts: yield* ModelFacts,
    hooks: guarded(hooks),
    isWatched: hooks !== none,
    counterOf: counters(tokenizer.count)
  }
  const locks = yield* SessionLocks.SessionLocks
  const runs = SharedRuns.make<Compacted | NotCompacted, CompactError>()

  const prepare = Effect.fn("Compaction.prepare")(function* (key: string, options: Options = {}) {
    return (yield* CompactionRun.prepare(means, key, options)).prepared
  })

  const check = Effect.fn("Compaction.check")(function* (key: string, options: Options = {}) {
    return (yield* CompactionRun.prepare(means, key, { ...options, reading: "outline" })).prepared.check
  })

  const compact = Effect.fn("Compaction.compact")(function* (key: string, options: Options = {}) {
    const run = locks.exclusive(key, CompactionRun.compact(means, key, options))
    return yield* runs.share(key, signatureOf(options), run)
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
    Object.entries({ reason: "manual", ...options })
      .filter(([, value]) => value !== undefined)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
  )
