/**
 * Navigation: going to another place in a session's tree, with a summary of
 * what is left behind.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Compaction from "./Compaction.js"
import type * as Errors from "./CompactionErrors.js"
import { CompactionHooks, guarded, none } from "./CompactionHooks.js"
import type { BranchOptions, BranchSummary, Navigated, Options, Prepared } from "./NavigationResult.js"
import { ModelFacts } from "./ModelFacts.js"
import * as NavigationRun from "./NavigationRun.js"
import * as SessionLocks from "./SessionLocks.js"
import * as SessionStore from "./SessionStore.js"
import * as Settings from "./Settings.js"
import * as Summarizer from "./SummarizerPort.js"
import * as Tokenizer from "./Tokenizer.js"

export type { BranchOptions, BranchSummary, Navigated, Options, Prepared } from "./NavigationResult.js"

/** Why a branch cannot be prepared. */
export type PrepareError = Compaction.PrepareError | Errors.EntryNotFound

/** Why a navigation can fail. */
export type NavigateError =
  | PrepareError
  | Errors.SummarizeError
  | Errors.HookFailed
  | Errors.Busy
  | SessionStore.AppendError

/** Goes from place to place in sessions. */
export interface Service {
  /** What going to an entry would leave behind. Writes nothing. */
  readonly prepare: (key: string, targetId: string, options?: BranchOptions) => Effect.Effect<Prepared, PrepareError>
  /** The summary of what going to an entry would leave behind; undefined where that is nothing. Writes nothing. */
  readonly summarize: (
    key: string,
    targetId: string,
    options?: BranchOptions
  ) => Effect.Effect<BranchSummary | undefined, PrepareError | Errors.SummarizeError>
  /** Goes to an entry. On any failure leaf and session are as they were. */
  readonly navigate: (key: string, targetId: string, options?: Options) => Effect.Effect<Navigated, NavigateError>
}

/** Goes from place to place in sessions. */
export class Navigation extends Context.Tag("@cutpoint/compaction/Navigation")<Navigation, Service>() {}

const make = Effect.gen(function* () {
  const hooks = yield* CompactionHooks
  const means: NavigationRun.Means = {
    store: yield* SessionStore.SessionStore,
    tokenizer: yield* Tokenizer.Tokenizer,
    summarizer: Summarizer.guarded(yield* Summarizer.Summarizer),
    settings: yield* Settings.Settings,
    facts: yield* ModelFacts,
    hooks: guarded(hooks),
    isWatched: hooks !== none
  }
  const locks = yield* SessionLocks.SessionLocks

  const prepare = Effect.fn("Navigation.prepare")(function* (
    key: string,
    targetId: string,
    options: BranchOptions = {}
  ) {
    return (yield* NavigationRun.prepare(means, key, targetId, options)).prepared
  })

  const summarize = Effect.fn("Navigation.summarize")(function* (
    key: string,
    targetId: string,
    options: BranchOptions = {}
  ) {
    const ready = yield* NavigationRun.prepare(means, key, targetId, options)
    return yield* NavigationRun.summarize(means, ready, options)
  })

  const navigate = Effect.fn("Navigation.navigate")(function* (key: string, targetId: string, options: Options = {}) {
    yield* Effect.annotateCurrentSpan({ session: key })
    return yield* locks.exclusive(key, NavigationRun.navigate(means, key, targetId, options))
  })

  return Navigation.of({ prepare, summarize, navigate })
})

/** Navigates sessions of the store in context, by its tokenizer, summarizer and settings. */
export const layer: Layer.Layer<
  Navigation,
  never,
  SessionStore.SessionStore | Tokenizer.Tokenizer | Summarizer.Summarizer | Settings.Settings
> = Layer.effect(Navigation, make).pipe(Layer.provide(SessionLocks.layer))
