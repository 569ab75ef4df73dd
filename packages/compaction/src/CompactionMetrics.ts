/**
 * What is counted of compactions, by Effect's own metrics. None of it, nor any
 * of its tags, holds a word of a session.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as MetricBoundaries from "effect/MetricBoundaries"
import * as Option from "effect/Option"
import type { CompactError } from "./Compaction.js"
import type { Compacted, Reason } from "./CompactionResult.js"

const tokenBoundaries = MetricBoundaries.exponential({ start: 1000, factor: 2, count: 12 })

/** Compactions that were written, by `reason` and by `writer`: `offline`, `provider/model` or `hook`. */
export const compactions = Metric.counter("cutpoint_compactions", {
  description: "Compactions that were written",
  incremental: true
})

/** Compactions that failed, by `reason` and by `error`. */
export const failures = Metric.counter("cutpoint_compaction_failures", {
  description: "Compactions that failed or were interrupted",
  incremental: true
})

/** Requests that were made of a model for compactions that were written. */
export const requests = Metric.counter("cutpoint_compaction_requests", {
  description: "Requests made of a model for summaries",
  incremental: true
})

/** The context before, in tokens. */
export const tokensBefore = Metric.histogram("cutpoint_compaction_tokens_before", tokenBoundaries)

/** The context after, in tokens. */
export const tokensAfter = Metric.histogram("cutpoint_compaction_tokens_after", tokenBoundaries)

/** How long a compaction took, in seconds. */
export const seconds = Metric.histogram(
  "cutpoint_compaction_seconds",
  MetricBoundaries.exponential({ start: 0.05, factor: 2, count: 14 })
)

/** Counts a compaction that was written. */
export const written = (reason: Reason, result: Compacted): Effect.Effect<void> =>
  Effect.all(
    [
      Metric.increment(tagged(compactions, { reason, writer: result.writer })),
      Metric.incrementBy(requests, result.requests),
      Metric.update(tokensBefore, result.tokensBefore),
      Metric.update(tokensAfter, result.tokensAfter),
      Metric.update(seconds, result.durationMs / 1000)
    ],
    { discard: true }
  )

/** Counts a compaction that failed, or was interrupted. */
export const failed = (reason: Reason, cause: Cause.Cause<CompactError>): Effect.Effect<void> => {
  const error = Option.match(Cause.failureOption(cause), {
    onNone: () => (Cause.isInterruptedOnly(cause) ? "interrupted" : "defect"),
    onSome: kindOf
  })
  return Metric.increment(tagged(failures, { reason, error }))
}

const tagged = <Type, In, Out>(
  metric: Metric.Metric<Type, In, Out>,
  tags: { readonly [tag: string]: string }
): Metric.Metric<Type, In, Out> =>
  Object.entries(tags).reduce((tagged, [tag, value]) => Metric.tagged(tagged, tag, value), metric)

/** The error's name; where a summary could not be had, why. */
const kindOf = (error: CompactError): string =>
  error._tag === "SummarizerFailed" || error._tag === "SummaryRejected" ? error.reason : error._tag
