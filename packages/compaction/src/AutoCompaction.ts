/**
 * Compaction without being asked: where the context is over the threshold at
 * the end of a turn or before a prompt, and where a provider finds it too large.
 *
 * It never stands in an agent's way: it has no errors, and what came of it is an
 * outcome and an event. It never loops either: see `Attempts` of
 * `@cutpoint/core`.
 *
 * @since 0.1.0
 */
import * as Attempts from "@cutpoint/core/Attempts"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as PubSub from "effect/PubSub"
import * as Stream from "effect/Stream"
import type { Automatic, Event, Failed, Obstacle, Outcome, Skipped } from "./AutoCompactionEvent.js"
import * as Compaction from "./Compaction.js"
import * as NewEntry from "./NewEntry.js"
import * as SessionStore from "./SessionStore.js"
import * as SummaryProgress from "./SummaryProgress.js"

export type { Automatic, Event, Failed, Outcome, Skipped, Obstacle } from "./AutoCompactionEvent.js"

/** How sessions are compacted; what is left out comes from the settings. */
export type Options = Omit<Compaction.Options, "reason" | "reading">

/** A request that a provider found too large. */
export interface Overflow extends Options {
  /** The entries of the failed attempt, if it left any; they are hidden from the model. */
  readonly failedEntryIds?: ReadonlyArray<string> | undefined
  /** Whether the request had been made again after a compaction already. */
  readonly isRetry?: boolean | undefined
}

/** Compacts sessions by itself. */
export interface Service {
  /**
   * Compacts a session that is over the threshold. To be called at the end of a
   * turn, and before a prompt is sent, when it has been appended.
   */
  readonly ifDue: (key: string, options?: Options) => Effect.Effect<Outcome>
  /**
   * Compacts a session whose last request a provider found too large, so that it
   * can be made again, once: if the outcome is `Compacted`.
   */
  readonly onOverflow: (key: string, overflow?: Overflow) => Effect.Effect<Outcome>
  /**
   * What happens, to all sessions. Who listens too slowly misses the oldest of
   * more than a thousand.
   */
  readonly events: Stream.Stream<Event>
}

/** Compacts sessions by itself. */
export class AutoCompaction extends Context.Tag("@cutpoint/compaction/AutoCompaction")<AutoCompaction, Service>() {}

/** How many events wait for a listener. */
const eventsKept = 1024

interface Means {
  readonly compaction: Compaction.Service
  readonly store: SessionStore.Service
  readonly publish: (event: Event) => Effect.Effect<void>
  /** What is remembered of sessions whose last attempt came to nothing. */
  readonly attempts: Map<string, Attempts.Attempts>
}

const make = Effect.gen(function* () {
  const events = yield* Effect.acquireRelease(PubSub.sliding<Event>(eventsKept), PubSub.shutdown)
  const means: Means = {
    compaction: yield* Compaction.Compaction,
    store: yield* SessionStore.SessionStore,
    publish: (event) => Effect.asVoid(PubSub.publish(events, event)),
    attempts: new Map()
  }

  const ifDue = Effect.fn("AutoCompaction.ifDue")(function* (key: string, options: Options = {}) {
    yield* Effect.annotateCurrentSpan({ session: key })
    return yield* settled(means, key, "threshold", overThreshold(means, key, options))
  })

  const onOverflow = Effect.fn("AutoCompaction.onOverflow")(function* (key: string, overflow: Overflow = {}) {
    yield* Effect.annotateCurrentSpan({ session: key })
    return yield* settled(means, key, "overflow", afterOverflow(means, key, overflow))
  })

  return AutoCompaction.of({ ifDue, onOverflow, events: Stream.fromPubSub(events) })
})

/** Compacts sessions by itself, by the `Compaction` and in the store in context. */
export const layer: Layer.Layer<AutoCompaction, never, Compaction.Compaction | SessionStore.SessionStore> =
  Layer.scoped(AutoCompaction, make)

const overThreshold = Effect.fnUntraced(function* (means: Means, key: string, options: Options) {
  const check = yield* means.compaction.check(key, { ...options, reason: "threshold" })
  if (!check.isOver) {
    remember(means, key, Attempts.under)
    const notDue: Outcome = { _tag: "NotDue", check }
    return notDue
  }
  if (!check.isAutomatic) return disabled
  const obstacle = Attempts.obstacle(attemptsOf(means, key), check, yield* Clock.currentTimeMillis)
  if (Option.isSome(obstacle)) return skipped(obstacle.value.kind, obstacle.value.why)
  return yield* attempt(means, key, { ...options, reason: "threshold" })
})

const afterOverflow = Effect.fnUntraced(function* (means: Means, key: string, overflow: Overflow) {
  const { failedEntryIds = [], isRetry = false, ...options } = overflow
  const check = yield* means.compaction.check(key, { ...options, reason: "overflow" })
  if (!check.isAutomatic) return disabled
  yield* hide(means.store, key, failedEntryIds)
  const now = yield* Clock.currentTimeMillis
  if (isRetry) {
    remember(means, key, (before) => Attempts.failed(before, stillRefused, now))
    return skipped("stuck", stillRefused)
  }
  const pause = Attempts.pause(attemptsOf(means, key), now)
  if (Option.isSome(pause)) return skipped("paused", pause.value.why)
  return yield* attempt(means, key, { ...options, reason: "overflow" })
})

const stillRefused =
  "The provider finds the context too large although it was compacted; set cutpoint.contextWindow to what it really takes, or keep less."

const disabled: Skipped = {
  _tag: "Skipped",
  obstacle: "disabled",
  why: "The context is too large, but compaction.enabled is false."
}

const skipped = (obstacle: Obstacle, why: string): Skipped => ({ _tag: "Skipped", obstacle, why })

const attemptsOf = ({ attempts }: Means, key: string): Attempts.Attempts => attempts.get(key) ?? Attempts.none

const remember = (means: Means, key: string, change: (before: Attempts.Attempts) => Attempts.Attempts) => {
  const after = change(attemptsOf(means, key))
  if (Attempts.isNone(after)) means.attempts.delete(key)
  else means.attempts.set(key, after)
  return after
}

/** Hides what a failed attempt left, so that the next does not see it. */
const hide = Effect.fnUntraced(function* (store: SessionStore.Service, key: string, ids: ReadonlyArray<string>) {
  const [first, ...rest] = ids.map((targetId): NewEntry.Body => ({ type: "context_edit", targetId, replacement: null }))
  if (first === undefined) return
  const { tree, ...session } = yield* store.open(key, { part: "context", toWrite: true })
  yield* store.append({ tree, ...session }, yield* NewEntry.chain(tree, tree.leafId, [first, ...rest]))
})

/** One compaction, with what comes of it remembered for the next. */
const attempt = Effect.fnUntraced(function* (means: Means, key: string, options: Compaction.Options) {
  const reason = options.reason === "overflow" ? "overflow" : "threshold"
  yield* means.publish({ _tag: "Started", session: key, reason })
  const result = yield* telling(means, key, reason, means.compaction.compact(key, options))
  const { keepRecentTokens, threshold } = result.prepared.check
  if (result._tag === "Compacted") {
    const fill = { contextTokens: result.tokensAfter, threshold, keepRecentTokens }
    // That a compaction after an overflow helped is only known when the provider takes the context.
    remember(means, key, (before) =>
      Attempts.ended(reason === "overflow" ? before : Attempts.none, fill, stillOver(fill))
    )
    const compacted: Outcome = { _tag: "Compacted", result }
    return compacted
  }
  const none: Outcome =
    result._tag === "BelowThreshold"
      ? { _tag: "NotDue", check: result.prepared.check }
      : skipped(obstacles[result._tag], result.why)
  return none
})

const obstacles = { NothingToCompact: "stuck", Disabled: "disabled", Canceled: "canceled" } as const

const stillOver = ({ contextTokens, threshold }: Attempts.Fill): string =>
  `The last compaction left ${contextTokens} tokens, over the threshold of ${threshold}; another is made when there is more to summarize.`

/** Tells of each request that is made for a summary. */
const telling = <A, E, R>(
  { publish }: Means,
  session: string,
  reason: Automatic,
  run: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.flatMap(SummaryProgress.SummaryProgress, (before) =>
    Effect.provideService(run, SummaryProgress.SummaryProgress, {
      report: (event) => {
        const told = before.report(event)
        if (event._tag !== "Request") return told
        const { kind, of, request } = event
        return Effect.zipRight(told, publish({ _tag: "Request", session, reason, kind, request, of }))
      }
    })
  )

/** Turns every end into an outcome, and tells of it where there was something to do. */
const settled = (
  means: Means,
  session: string,
  reason: Automatic,
  run: Effect.Effect<Outcome, Compaction.CompactError>
): Effect.Effect<Outcome> =>
  run.pipe(
    Effect.catchAll((error) => failure(means, session, error)),
    Effect.tap((outcome) => (outcome._tag === "NotDue" ? Effect.void : means.publish({ ...outcome, session, reason }))),
    Effect.onInterrupt(() => means.publish({ _tag: "Canceled", session, reason }))
  )

/** Where somebody else is at it, or nothing can be summarized, nothing was asked of a model. */
const failure = Effect.fnUntraced(function* (means: Means, session: string, error: Compaction.CompactError) {
  if (error._tag === "Busy") return skipped("busy", error.message)
  if (error._tag === "CannotShrink") return skipped("stuck", error.message)
  const now = yield* Clock.currentTimeMillis
  const { pausedUntil } = remember(means, session, (before) => Attempts.failed(before, error.message, now))
  const failed: Failed = { _tag: "Failed", error, pausedUntil }
  return failed
})
