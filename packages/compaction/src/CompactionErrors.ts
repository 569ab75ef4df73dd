/**
 * Why a session was not compacted or navigated. Each error says what happened,
 * where, and what to do next; the session is as it was.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/** Settings that leave no room. */
export class SettingsInvalid extends Schema.TaggedError<SettingsInvalid>()("SettingsInvalid", {
  /** The setting, as the settings file spells it. */
  setting: Schema.String,
  /** What is wrong, with the numbers. */
  problem: Schema.String,
  /** What to do. */
  remedy: Schema.String
}) {
  override get message(): string {
    return `${this.setting}: ${this.problem} ${this.remedy}`
  }
}

/** The context is over the threshold, and nothing in it can be summarized. */
export class CannotShrink extends Schema.TaggedError<CannotShrink>()("CannotShrink", {
  /** The entry that fills the window. */
  entryId: Schema.String,
  /** What that entry costs, in tokens. */
  entryTokens: Schema.Number,
  contextTokens: Schema.Number,
  threshold: Schema.Number
}) {
  override get message(): string {
    return `The context has ${this.contextTokens} tokens, over the threshold of ${this.threshold}, and nothing can be summarized: the entry ${this.entryId} alone has ${this.entryTokens}. Keep less (a smaller keepRecentTokens), hide that entry, or go back before it.`
  }
}

/** A summary that cannot stand for what it summarizes. */
export class SummaryRejected extends Schema.TaggedError<SummaryRejected>()("SummaryRejected", {
  reason: Schema.Literal("blank", "cut-off", "tool-call", "refusal", "missing-section", "grown"),
  problem: Schema.String,
  /** Which summarizer wrote it. */
  summarizer: Schema.String
}) {
  override get message(): string {
    return `The summary (${this.summarizer}) was not accepted. ${this.problem} The session is as it was; ${this.remedy}`
  }

  private get remedy(): string {
    return this.reason === "grown"
      ? "there is too little to summarize: keep less (a smaller keepRecentTokens), or wait until there is more."
      : "try again, with another model, or with the offline summarizer."
  }
}

/** No entry goes by this id. */
export class EntryNotFound extends Schema.TaggedError<EntryNotFound>()("EntryNotFound", {
  session: Schema.String,
  entryId: Schema.String
}) {
  override get message(): string {
    return `The session ${this.session} has no entry ${this.entryId}. Ids are listed by the tree of the session, with all entries.`
  }
}

/** Why a summary could not be had. */
export type SummarizeError = SummaryRejected
