/**
 * Whether an automatic compaction is to be tried, given how those before it
 * ended. Without this, a session that cannot be brought under its threshold, or
 * a model that does not answer, would be asked about at every turn and paid for
 * each time.
 *
 * Laws. After an attempt that found nothing to summarize, no other is made until
 * the cut has moved. After one that was made and did not bring the context under
 * its threshold, none is made until the context has grown, or shrunk, by what an
 * attempt keeps. Other settings, or another model, make room for one at once.
 * After a failure none is made for a while: the first ten seconds, twice as long
 * each time, ten minutes at most; when it has been over for as long as that, it
 * is forgotten.
 *
 * @since 0.1.0
 */
import * as Option from "effect/Option"

/** How long nothing is tried after a first failure, in milliseconds. */
export const firstPauseMs = 10_000

/** How long nothing is tried at most after a failure, in milliseconds. */
export const longestPauseMs = 600_000

/** By how much a context has to change at least before another attempt can do better, in tokens. */
export const leastChangeTokens = 1000

/** How full a context is, and what an attempt would keep of it. In tokens. */
export interface Fill {
  readonly contextTokens: number
  readonly threshold: number
  readonly keepRecentTokens: number
  /** The first entry that an attempt would keep; undefined where nothing can be cut. */
  readonly firstKeptEntryId: string | undefined
}

/** An attempt that left the context as full as this. */
export interface Stuck extends Fill {
  /** Whether a summary was made, and paid for. */
  readonly wasMade: boolean
  /** Why, in a sentence. */
  readonly why: string
}

/** What is remembered of attempts. */
export interface Attempts {
  /** Failures in a row. */
  readonly failures: number
  /** Until when nothing is tried, in milliseconds since 1970. */
  readonly pausedUntil: number
  /** What failed last, in a sentence. */
  readonly failure: string
  readonly stuck: Stuck | undefined
}

/** Nothing was tried yet, or nothing that matters any more. */
export const none: Attempts = { failures: 0, pausedUntil: 0, failure: "", stuck: undefined }

/** Whether nothing is remembered. */
export const isNone = ({ failures, stuck }: Attempts): boolean => failures === 0 && stuck === undefined

/** Why nothing is tried now: `stuck` or `paused`, and a sentence that says until when. */
export interface Obstacle {
  readonly kind: "stuck" | "paused"
  readonly why: string
}

/** Why an attempt is not to be made now; none where it may be. `now` is in milliseconds since 1970. */
export const obstacle = (attempts: Attempts, fill: Fill, now: number): Option.Option<Obstacle> => {
  const { failure, pausedUntil, stuck } = attempts
  if (stuck !== undefined && !hasChanged(stuck, fill)) return Option.some({ kind: "stuck", why: stuck.why })
  if (now >= pausedUntil) return Option.none()
  const seconds = Math.ceil((pausedUntil - now) / 1000)
  return Option.some({ kind: "paused", why: `The last attempt failed; the next is made in ${seconds} s. ${failure}` })
}

/** Whether another attempt can do better than the one that left this. */
const hasChanged = (left: Stuck, now: Fill): boolean => {
  if (now.threshold !== left.threshold || now.keepRecentTokens !== left.keepRecentTokens) return true
  if (!left.wasMade) return now.firstKeptEntryId !== left.firstKeptEntryId
  const change = Math.abs(now.contextTokens - left.contextTokens)
  return change >= Math.max(left.keepRecentTokens, leastChangeTokens)
}

/** After an attempt that came to its end: stuck or not. */
export const ended = (before: Attempts, stuck: Stuck | undefined): Attempts => ({ ...before, stuck })

/** After an attempt that failed. */
export const failed = (before: Attempts, failure: string, now: number): Attempts => {
  const failures = now > before.pausedUntil + longestPauseMs ? 0 : before.failures
  const wait = Math.min(firstPauseMs * 2 ** failures, longestPauseMs)
  return { ...before, failures: failures + 1, pausedUntil: now + wait, failure }
}
