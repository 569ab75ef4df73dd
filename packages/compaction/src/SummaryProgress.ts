/**
 * How far a summary is, for those who watch.
 *
 * @since 0.1.0
 */
import type * as SummaryPrompt from "@cutpoint/core/SummaryPrompt"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/** What has just happened. Two summaries can be under way at once, of different kinds. */
export type Event =
  | {
      readonly _tag: "Request"
      readonly kind: SummaryPrompt.Kind
      /** Which request this is, 1-based, and how many are foreseen. */
      readonly request: number
      readonly of: number
    }
  | {
      readonly _tag: "Received"
      readonly kind: SummaryPrompt.Kind
      /** What the reply has come to so far, by estimate, in tokens. */
      readonly tokens: number
    }
  | {
      readonly _tag: "Again"
      readonly kind: SummaryPrompt.Kind
      /** Why the request is made once more. */
      readonly why: string
    }

/** Is told of each event. */
export interface Service {
  readonly report: (event: Event) => Effect.Effect<void>
}

/** Is told of each event; by default nobody is. */
export class SummaryProgress extends Context.Reference<SummaryProgress>()("@cutpoint/compaction/SummaryProgress", {
  defaultValue: (): Service => ({ report: () => Effect.void })
}) {}
