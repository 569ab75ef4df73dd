/**
 * What moves are asked for, and what comes of them. Sizes are in tokens.
 *
 * @since 0.1.0
 */
import type * as Branch from "@cutpoint/core/Branch"
import type * as Entry from "@cutpoint/core/Entry"
import type * as FileOps from "@cutpoint/core/FileOps"
import type * as Rules from "@cutpoint/core/Rules"
import type * as SessionStore from "./SessionStore.js"
import type * as Summarizer from "./SummarizerPort.js"

/** How a branch is summarized; what is left out comes from the settings. */
export interface BranchOptions {
  readonly customInstructions?: string | undefined
  /** Whether the instructions stand in place of the usual ones. */
  readonly replaceInstructions?: boolean | undefined
  /** The model's window. */
  readonly contextWindow?: number | undefined
  /** What is kept free in it. */
  readonly reserveTokens?: number | undefined
  /** How much of the branch is taken at most, its oldest messages left out; 0 for all of it. */
  readonly tokenBudget?: number | undefined
  /** Whether the oldest messages are dropped where not all fit; else all are taken, in several requests. */
  readonly dropOldest?: boolean | undefined
  readonly rules?: Rules.Rules | undefined
  /** Where the branch ends; the leaf where left out. */
  readonly fromId?: string | undefined
}

/** How to go to another entry. */
export interface Options extends BranchOptions {
  /** Whether what is left behind is summarized and carried along. */
  readonly summarize?: boolean | undefined
  /** A label for the summary, or without one for the target. */
  readonly label?: string | undefined
}

/** A branch that would be left, and what of it would be summarized. */
export interface Prepared extends Branch.Collected, Branch.Prepared {
  readonly session: SessionStore.Session
  readonly oldLeafId: string | null
  /** Where one would stand: the target, or before a user's message. */
  readonly newLeafId: string | null
  /** The text of the message one would stand before, for editing. */
  readonly editText: string | undefined
  /** What summarizing would take; nothing where nothing is left behind. */
  readonly plan: Summarizer.Plan
  /** Sentences for the user. */
  readonly notices: ReadonlyArray<string>
}

/** A branch's summary, with what it took. */
export interface BranchSummary extends Summarizer.Summary {
  readonly files: FileOps.FileLists
}

/** What a navigation did. */
export interface Navigated {
  readonly _tag: "Navigated" | "Unchanged" | "Canceled"
  readonly prepared: Prepared
  readonly session: SessionStore.Session
  readonly newLeafId: string | null
  readonly summaryEntry: Entry.BranchSummaryEntry | undefined
  /** Where the original of a session in an older format was kept. */
  readonly backup: string | undefined
  /** Why a hook canceled it. */
  readonly why: string | undefined
}
