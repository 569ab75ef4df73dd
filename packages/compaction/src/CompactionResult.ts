/**
 * What compactions are asked for, and what comes of them. Sizes are in tokens.
 *
 * @since 0.1.0
 */
import type * as Diagnostic from "@cutpoint/core/Diagnostic"
import type * as Entry from "@cutpoint/core/Entry"
import type * as Message from "@cutpoint/core/Message"
import type * as Preparation from "@cutpoint/core/Preparation"
import type * as Rules from "@cutpoint/core/Rules"
import type * as Option from "effect/Option"
import type * as SessionStore from "./SessionStore.js"
import type * as Summarizer from "./SummarizerPort.js"

/** Why a session is compacted: somebody asks, the context is over the threshold, or a provider found it too large. */
export type Reason = "manual" | "threshold" | "overflow"

/**
 * How much of a session is read: what its context needs, which is all that a
 * compaction takes; that, with older messages known by their roles alone, which
 * is enough to know whether and where to cut; or every entry, with its faults
 * and positions.
 */
export type Reading = "context" | "outline" | "all"

/** How a session is compacted; what is left out comes from the settings. */
export interface Options {
  /** About how much of the newest context stays as it is. */
  readonly keepRecentTokens?: number | undefined
  /** What is kept free for the next reply. */
  readonly reserveTokens?: number | undefined
  /** The model's window. */
  readonly contextWindow?: number | undefined
  /** `provider/model`, where that is not the session's latest: its window and overrides hold. */
  readonly model?: string | undefined
  /** `manual` compacts in any case, `threshold` only over the threshold; neither automatic one where it is turned off. */
  readonly reason?: Reason | undefined
  /** What the summary should look at above all. */
  readonly customInstructions?: string | undefined
  /** `context` where left out. A compaction reads an outline as it reads a context. */
  readonly reading?: Reading | undefined
  /** Which rules hold; the standard ones where left out. */
  readonly rules?: Rules.Rules | undefined
}

/** How full a session's context is. */
export interface Check {
  readonly contextTokens: number
  readonly contextWindow: number
  /** The window less the reserve. */
  readonly threshold: number
  readonly isOver: boolean
  /** About how much a compaction keeps as it is. */
  readonly keepRecentTokens: number
  /** Whether automatic compactions are turned on. */
  readonly isAutomatic: boolean
}

/** What a compaction would do, and what it would take. */
export interface Prepared {
  readonly session: SessionStore.Session
  readonly check: Check
  /** None where there is nothing to summarize. */
  readonly preparation: Option.Option<Preparation.Preparation>
  readonly plan: Summarizer.Plan
  readonly diagnostics: ReadonlyArray<Diagnostic.Diagnostic>
  /** Sentences for the user: what was assumed, what was left out of settings. */
  readonly notices: ReadonlyArray<string>
}

/** A session was compacted. */
export interface Compacted {
  readonly _tag: "Compacted"
  readonly prepared: Prepared
  readonly session: SessionStore.Session
  readonly entry: Entry.CompactionEntry
  readonly tokensBefore: number
  /** By estimate. */
  readonly tokensAfter: number
  /** Who wrote the summary: `offline`, `provider/model`, or `hook`. */
  readonly writer: string
  readonly usage: Message.Usage | undefined
  readonly requests: number
  readonly durationMs: number
  /** Faults found in reading and in writing. */
  readonly diagnostics: ReadonlyArray<Diagnostic.Diagnostic>
  /** Where the original of a session in an older format was kept. */
  readonly backup: string | undefined
}

/** Nothing was done, and nothing written. */
export interface NotCompacted {
  readonly _tag: "NothingToCompact" | "BelowThreshold" | "Disabled" | "Canceled"
  readonly prepared: Prepared
  /** Why, in a sentence. */
  readonly why: string
}
