/**
 * Compaction without being asked: where the context is over the threshold at
 * the end of a turn or before a prompt, and where a provider finds it too large.
 *
 * Whether it is due costs nothing that grows with the session: see
 * `OpenSession`. It never stands in an agent's way: it has no errors, and what
 * came of it is an outcome and an event. It never loops either: see `Attempts`
 * of `@cutpoint/core`.
 *
 * @since 0.1.0
 */
import * as Attempts from "@cutpoint/core/Attempts"
import type * as Entry from "@cutpoint/core/Entry"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as PubSub from "effect/PubSub"
import * as Stream from "effect/Stream"
import type { Automatic, Event, Failed, Obstacle, Outcome, Skipped } from "./AutoCompactionEvent.js"
import * as Compaction from "./Compaction.js"
import * as CompactionCheck from "./CompactionCheck.js"
import * as CompactionSettings from "./CompactionSettings.js"
import { ModelFacts, type Service as Facts } from "./ModelFacts.js"
import * as OpenSession from "./OpenSession.js"
import * as SessionStore from "./SessionStore.js"
import * as Settings from "./Settings.js"
import * as SummaryProgress from "./SummaryProgress.js"
import * as Tokenizer from "./Tokenizer.js"

export type { Automatic, Event, Failed, Outcome, Skipped, Obstacle } from "./AutoCompactionEvent.js"

/** How sessions are compacted; what is left out comes from the settings. */
export type Options = Omit<Compaction.Options, "reason" | "reading" | "rules">

/** A request that a provider found too large. */
export interface Overflow extends Options {
  /** The entries that the failed attempt left, if any; they are hidden from the model. */
  readonly failedEntryIds?: ReadonlyArray<string> | undefined
  /** Whether the request had been made again after a compaction already. */
  readonly isRetry?: boolean | undefined
}

/** Compacts sessions by itself. */
export interface Service {
  /** Opens a session, so that it is known at each turn how full its context is. */
  readonly open: (key: string) => Effect.Effect<OpenSession.OpenSession, OpenSession.OpenError>
  /**
   * Compacts a session that is over the threshold. To be called at the end of a
   * turn, and before a prompt is sent, when it has been appended.
   */
  readonly ifDue: (session: OpenSession.OpenSession, options?: Options) => Effect.Effect<Outcome>
  /**
   * Compacts a session whose last request a provider found too large. Where the
   * outcome is `Compacted`, the request may be made again, once.
   */
  readonly onOverflow: (session: OpenSession.OpenSession, overflow?: Overflow) => Effect.Effect<Outcome>
  /**
   * What happens, to all sessions, from the subscription on. Nothing is left
   * out; who listens too slowly keeps what waits for it in memory.
   */
  readonly events: Stream.Stream<Event>
}

/** Compacts sessions by itself. */
export class AutoCompaction extends Context.Tag("@cutpoint/compaction/AutoCompaction")<AutoCompaction, Service>() {}

interface Means {
  readonly compaction: Compaction.Service
  readonly settings: Settings.Service
  readonly facts: Facts
  readonly publish: (event: Event) => Effect.Effect<void>
  /**
   * What is remembered of sessions whose last attempt came to nothing. A provider
   * that refuses a context in spite of a compaction says nothing of the threshold.
   */
  readonly attempts: { readonly [reason in Automatic]: Map<string, Attempts.Attempts> }
}

const make = Effect.gen(function* () {
  const events = yield* Effect.acquireRelease(PubSub.unbounded<Event>(), PubSub.shutdown)
  const store = yield* SessionStore.SessionStore
  const { count } = yield* Tokenizer.Tokenizer
  const means: Means = {
    compaction: yield* Compaction.Compaction,
    settings: yield* Settings.Settings,
    facts: yield* ModelFacts,
    publish: (event) => Effect.asVoid(PubSub.publish(events, event)),
    attempts: { threshold: new Map(), overflow: new Map() }
  }

  const open = Effect.fn("AutoCompaction.open")((key: string) => OpenSession.open(store, count, key))

  const ifDue = Effect.fn("AutoCompaction.ifDue")(function* (session: OpenSession.OpenSession, options: Options = {}) {
    yield* Effect.annotateCurrentSpan({ session: session.key })
    return yield* settled(means, session, "threshold", overThreshold(means, session, options))
  })

  const onOverflow = Effect.fn("AutoCompaction.onOverflow")(function* (
    session: OpenSession.OpenSession,
    overflow: Overflow = {}
  ) {
    yield* Effect.annotateCurrentSpan({ session: session.key })
    return yield* settled(means, session, "overflow", afterOverflow(means, session, overflow))
  })

  return AutoCompaction.of({ open, ifDue, onOverflow, events: Stream.fromPubSub(events) })
})

/** Compacts sessions of the store in context by itself, by its `Compaction`, tokenizer and settings. */
export const layer: Layer.Layer<
  AutoCompaction,
  never,
  Compaction.Compaction | SessionStore.SessionStore | Settings.Settings | Tokenizer.Tokenizer
> = Layer.scoped(AutoCompaction, make)

/** How full the context is: by the index, without reading the session. */
const checked = Effect.fnUntraced(function* (
  { facts, settings }: Means,
  session: OpenSession.OpenSession,
  options: Options,
  reason: Automatic
) {
  const { cwd } = session.session().tree.header
  const sources = { loaded: yield* settings.load(cwd), facts }
  const resolved = yield* CompactionSettings.ofCompaction(sources, options, session.model())
  return CompactionCheck.make(resolved, session.context().contextTokens(), reason)
})

const overThreshold = Effect.fnUntraced(function* (means: Means, session: OpenSession.OpenSession, options: Options) {
  const check = yield* checked(means, session, options, "threshold")
  if (!check.isOver) {
    remember(means, session.key, "threshold", (before) => Attempts.ended(before, undefined))
    const notDue: Outcome = { _tag: "NotDue", check }
    return notDue
  }
  return yield* unlessHindered(means, session, check, { ...options, reason: "threshold" })
})

const afterOverflow = Effect.fnUntraced(function* (means: Means, session: OpenSession.OpenSession, overflow: Overflow) {
  const { failedEntryIds = [], isRetry = false, ...options } = overflow
  const before = yield* checked(means, session, options, "overflow")
  if (!before.isAutomatic) return disabled
  yield* hide(session, failedEntryIds)
  if (isRetry) {
    const now = yield* Clock.currentTimeMillis
    remember(means, session.key, "overflow", (before) => Attempts.failed(before, stillRefused, now))
    return skipped("stuck", stillRefused)
  }
  const check = yield* checked(means, session, options, "overflow")
  return yield* unlessHindered(means, session, check, { ...options, reason: "overflow" })
})

const stillRefused =
  "The provider finds the context too large although it was compacted; set cutpoint.contextWindow to what it really takes, or keep less."

const disabled: Skipped = {
  _tag: "Skipped",
  obstacle: "disabled",
  why: "The context is too large, but compaction.enabled is false."
}

const skipped = (obstacle: Obstacle, why: string): Skipped => ({ _tag: "Skipped", obstacle, why })

/** Hides what a failed attempt left, so that the next does not see it. */
const hide = (session: OpenSession.OpenSession, ids: ReadonlyArray<string>) => {
  const [first, ...rest] = ids.map((targetId) => ({ type: "context_edit" as const, targetId, replacement: null }))
  const last = ids.at(-1)
  return first === undefined || last === undefined
    ? Effect.void
    : session.append([first, ...rest], { onBranchOf: last })
}

const attemptsOf = ({ attempts }: Means, key: string, reason: Automatic): Attempts.Attempts =>
  attempts[reason].get(key) ?? Attempts.none

const remember = (
  means: Means,
  key: string,
  reason: Automatic,
  change: (before: Attempts.Attempts) => Attempts.Attempts
) => {
  const after = change(attemptsOf(means, key, reason))
  if (Attempts.isNone(after)) means.attempts[reason].delete(key)
  else means.attempts[reason].set(key, after)
  return after
}

/** One compaction, where it is turned on and nothing that is remembered speaks against it. */
const unlessHindered = Effect.fnUntraced(function* (
  means: Means,
  session: OpenSession.OpenSession,
  check: Compaction.Check,
  options: Options & { readonly reason: Automatic }
) {
  if (!check.isAutomatic) return disabled
  const now = yield* Clock.currentTimeMillis
  const fill = fillOf(session, check)
  const obstacle = Attempts.obstacle(attemptsOf(means, session.key, options.reason), fill, now)
  if (Option.isSome(obstacle)) return skipped(obstacle.value.kind, obstacle.value.why)
  yield* means.publish({ _tag: "Started", session: session.key, reason: options.reason })
  return yield* attempt(means, session, fill, options).pipe(
    Effect.catchAll((error) => failure(means, session.key, options.reason, fill, error))
  )
})

const fillOf = (session: OpenSession.OpenSession, check: Compaction.Check): Attempts.Fill => {
  const { contextTokens, keepRecentTokens, threshold } = check
  const context = session.context()
  const cut = Option.getOrUndefined(context.cut(keepRecentTokens))
  const headLength = context.items()[0]?.entry.type === "compaction" ? 1 : 0
  const firstKept: Entry.Entry | undefined =
    cut === undefined ? undefined : context.items()[cut.index + headLength]?.entry
  return { contextTokens, keepRecentTokens, threshold, firstKeptEntryId: firstKept?.id }
}

const attempt = Effect.fnUntraced(function* (
  means: Means,
  session: OpenSession.OpenSession,
  fill: Attempts.Fill,
  options: Options & { readonly reason: Automatic }
) {
  const { key } = session
  const compacting = Effect.onInterrupt(means.compaction.compact(key, options), () => Effect.ignore(session.refresh))
  const result = yield* telling(means, key, options.reason, compacting)
  switch (result._tag) {
    case "Compacted": {
      yield* session.refresh
      const left = fillOf(session, { ...result.prepared.check, contextTokens: result.tokensAfter })
      const isStuck = left.contextTokens > left.threshold
      // Whether one after an overflow has helped is known when the provider takes the context.
      remember(means, key, options.reason, (before) =>
        Attempts.ended(
          options.reason === "overflow" ? before : Attempts.none,
          isStuck ? { ...left, wasMade: true, why: stillOver(left) } : undefined
        )
      )
      const compacted: Outcome = { _tag: "Compacted", result }
      return compacted
    }
    case "BelowThreshold": {
      // Somebody else has compacted meanwhile.
      yield* session.refresh
      const notDue: Outcome = { _tag: "NotDue", check: result.prepared.check }
      return notDue
    }
    case "NothingToCompact":
      return stuck(means, key, options.reason, { ...fill, wasMade: false, why: result.why })
    case "Disabled":
      return disabled
    case "Canceled":
      return skipped("canceled", result.why)
  }
})

const stuck = (means: Means, key: string, reason: Automatic, stuck: Attempts.Stuck): Skipped => {
  remember(means, key, reason, (before) => Attempts.ended(before, stuck))
  return skipped("stuck", stuck.why)
}

const stillOver = ({ contextTokens, threshold }: Attempts.Fill): string =>
  `The last compaction left ${contextTokens} tokens, over the threshold of ${threshold}; another is made when the context has changed by more than what is kept, or with other settings.`

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

/** What cannot get better by itself waits for a change; what may, for a while. */
const failure = Effect.fnUntraced(function* (
  means: Means,
  key: string,
  reason: Automatic,
  fill: Attempts.Fill,
  error: Compaction.CompactError
) {
  if (error._tag === "Busy") return skipped("busy", error.message)
  if (error._tag === "CannotShrink") return stuck(means, key, reason, { ...fill, wasMade: false, why: error.message })
  if (error._tag === "SummaryRejected" && error.reason === "grown") {
    return stuck(means, key, reason, { ...fill, wasMade: true, why: error.message })
  }
  const now = yield* Clock.currentTimeMillis
  const { pausedUntil } = remember(means, key, reason, (before) => Attempts.failed(before, error.message, now))
  const failed: Failed = { _tag: "Failed", error, pausedUntil }
  return failed
})

/**
 * Turns every end into an outcome, and tells of it where there was something to
 * do. What failed before an attempt was made is tried again at the next turn.
 */
const settled = (
  means: Means,
  { key }: OpenSession.OpenSession,
  reason: Automatic,
  run: Effect.Effect<Outcome, Compaction.CompactError>
): Effect.Effect<Outcome> =>
  run.pipe(
    Effect.catchAll((error): Effect.Effect<Outcome> =>
      Effect.map(Clock.currentTimeMillis, (now) => ({ _tag: "Failed", error, pausedUntil: now }))
    ),
    Effect.tap((outcome) =>
      outcome._tag === "NotDue" ? Effect.void : means.publish({ ...outcome, session: key, reason })
    ),
    Effect.onInterrupt(() => means.publish({ _tag: "Canceled", session: key, reason }))
  )
