/**
 * Whether an automatic compaction is to be tried, given how those before it
 * ended. Without this, a session that cannot be brought under its threshold, or
 * a model that does not answer, would be asked about at every turn and paid for
 * each time.
 *
 * Laws. After an attempt that did not bring the context under its threshold, no
 * other is made for the same threshold until the context has grown by what an
 * attempt keeps, or shrunk. After a failure none is made for a while: the first
 * ten seconds, twice as long each time, ten minutes at most; when it has been over
 * for as long as that, it is forgotten.
 *
 * @since 0.1.0
 */
import * as Option from "effect/Option"

/** How long nothing is tried after a first failure, in milliseconds. */
export const firstPauseMs = 10_000

/** How long nothing is tried at most after a failure, in milliseconds. */
export const longestPauseMs = 600_000

/** By how much a context has to grow at least before another attempt can do better, in tokens. */
export const leastGrowthTokens = 1000

/** How full a context is, and what an attempt would keep of it. In tokens. */
export interface Fill {
  readonly contextTokens: number
  readonly threshold: number
  readonly keepRecentTokens: number
}

/** What is remembered of attempts. */
export interface Attempts {
  /** Failures in a row. */
  readonly failures: number
  /** Until when nothing is tried, in milliseconds since 1970. */
  readonly pausedUntil: number
  /** What failed last, in a sentence. */
  readonly failure: string
  /** What an attempt left that was still over the threshold. */
  readonly stuck: (Fill & { readonly why: string }) | undefined
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

/** Why an attempt over the threshold is not to be made now; none where it may be. `now` is in milliseconds since 1970. */
export const obstacle = (attempts: Attempts, fill: Fill, now: number): Option.Option<Obstacle> => {
  const { stuck } = attempts
  if (stuck !== undefined && !hasChanged(stuck, fill)) return Option.some({ kind: "stuck", why: stuck.why })
  return pause(attempts, now)
}

/** Why nothing is to be tried now, whatever the context has become since. */
export const pause = ({ failure, pausedUntil }: Attempts, now: number): Option.Option<Obstacle> => {
  if (now >= pausedUntil) return Option.none()
  const seconds = Math.ceil((pausedUntil - now) / 1000)
  return Option.some({ kind: "paused", why: `The last attempt failed; the next is made in ${seconds} s. ${failure}` })
}

/** Whether another attempt can do better than the one that left this. */
const hasChanged = (left: Fill, { contextTokens, threshold }: Fill): boolean =>
  threshold !== left.threshold ||
  contextTokens < left.contextTokens ||
  contextTokens >= left.contextTokens + Math.max(left.keepRecentTokens, leastGrowthTokens)

/** After an attempt that left the context as full as this: stuck, where that is still over the threshold. */
export const ended = (before: Attempts, fill: Fill, why: string): Attempts => ({
  ...before,
  stuck: fill.contextTokens > fill.threshold ? { ...fill, why } : undefined
})

/** After an attempt that failed. */
export const failed = (before: Attempts, failure: string, now: number): Attempts => {
  const failures = now > before.pausedUntil + longestPauseMs ? 0 : before.failures
  const wait = Math.min(firstPauseMs * 2 ** failures, longestPauseMs)
  return { ...before, failures: failures + 1, pausedUntil: now + wait, failure }
}

/** Once the context is under its threshold, nothing is stuck. */
export const under = (before: Attempts): Attempts => ({ ...before, stuck: undefined })
