/**
 * What comes of automatic compactions, and what is told of them.
 *
 * @since 0.1.0
 */
import type * as SummaryPrompt from "@cutpoint/core/SummaryPrompt"
import type { CompactError } from "./Compaction.js"
import type { Check, Compacted, Reason } from "./CompactionResult.js"

/** Why a session is compacted without being asked. */
export type Automatic = Exclude<Reason, "manual">

/**
 * Why nothing was done although the context is too large: automatic compactions
 * are turned off; nothing can be summarized, or the last compaction did not help
 * and nothing has changed since (`stuck`); the last attempt failed a short while
 * ago (`paused`); somebody else is compacting or navigating (`busy`); a hook said
 * no (`canceled`).
 */
export type Obstacle = "disabled" | "stuck" | "paused" | "busy" | "canceled"

/** Nothing was done although the context is too large. */
export interface Skipped {
  readonly _tag: "Skipped"
  readonly obstacle: Obstacle
  /** Why, and what to do, in sentences. */
  readonly why: string
}

/** An attempt failed; the session is as it was. */
export interface Failed {
  readonly _tag: "Failed"
  readonly error: CompactError
  /** Until when no other attempt is made, in milliseconds since 1970. */
  readonly pausedUntil: number
}

/** The session was compacted. */
export interface Done {
  readonly _tag: "Compacted"
  readonly result: Compacted
}

/** What came of being asked. */
export type Outcome = { readonly _tag: "NotDue"; readonly check: Check } | Done | Skipped | Failed

interface OfSession {
  /** The session's key. */
  readonly session: string
  readonly reason: Automatic
}

/**
 * What is told. `Started` is followed by a `Request` for each that is made of a
 * model, and then by one of the others. `Canceled` was interrupted.
 */
export type Event =
  | (OfSession & { readonly _tag: "Started" })
  | (OfSession & {
      readonly _tag: "Request"
      readonly kind: SummaryPrompt.Kind
      /** Which request this is, 1-based, and how many are foreseen. */
      readonly request: number
      readonly of: number
    })
  | (OfSession & Done)
  | (OfSession & Skipped)
  | (OfSession & Failed)
  | (OfSession & { readonly _tag: "Canceled" })
