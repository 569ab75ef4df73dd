/**
 * Why a session was not compacted or navigated. Each error says what happened,
 * where, and what to do next; the session is as it was.
 *
 * @since 0.1.0
 */
import * as Message from "@cutpoint/core/Message"
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

/** What a run took although it came to nothing. */
const spent = {
  /** The requests made. */
  requests: Schema.Int,
  /** What the provider reported to have used. */
  usage: Schema.optional(Message.Usage)
}

const spentText = ({
  requests,
  usage
}: {
  readonly requests: number
  readonly usage?: Message.Usage | undefined
}): string => (usage === undefined ? "" : ` (requests: ${requests}, tokens used: ${Message.usageTotal(usage)})`)

/** The model gave no summary. */
export class SummarizerFailed extends Schema.TaggedError<SummarizerFailed>()("SummarizerFailed", {
  /** Why, as the `Llm` port's errors are called. */
  reason: Schema.Literal(
    "LlmOverflow",
    "LlmRateLimited",
    "LlmUnavailable",
    "LlmAuth",
    "LlmRefused",
    "LlmBadRequest",
    "LlmMalformed",
    "LlmTimeout"
  ),
  problem: Schema.String,
  ...spent
}) {
  override get message(): string {
    return `${this.problem} The session is as it was.${spentText(this)}`
  }
}

/** A summary that cannot stand for what it summarizes. */
export class SummaryRejected extends Schema.TaggedError<SummaryRejected>()("SummaryRejected", {
  reason: Schema.Literal("blank", "cut-off", "tool-call", "refusal", "missing-section", "grown"),
  problem: Schema.String,
  /** Who wrote it: `offline`, or `provider/model`. */
  writer: Schema.String,
  ...spent
}) {
  override get message(): string {
    return `The summary (${this.writer}) was not accepted. ${this.problem} The session is as it was; ${this.remedy}${spentText(this)}`
  }

  private get remedy(): string {
    return this.reason === "grown"
      ? "there is too little to summarize: keep less (a smaller keepRecentTokens), or wait until there is more."
      : "try again, with another model, or with the offline summarizer."
  }
}

/** Somebody else is compacting or navigating this session. */
export class Busy extends Schema.TaggedError<Busy>()("Busy", { session: Schema.String }) {
  override get message(): string {
    return `${this.session} is being compacted or navigated. Wait until that is done and try again.`
  }
}

/** A hook failed; nothing was written. */
export class HookFailed extends Schema.TaggedError<HookFailed>()("HookFailed", {
  hook: Schema.String,
  problem: Schema.String,
  cause: Schema.optional(Schema.Defect)
}) {
  override get message(): string {
    return `The hook ${this.hook} stands in the way: ${this.problem} The session is as it was; mend the hook or take it out.`
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

/** There is no text to pin. */
export class NothingToPin extends Schema.TaggedError<NothingToPin>()("NothingToPin", { what: Schema.String }) {
  override get message(): string {
    return `${this.what} holds no text that could be pinned. Pin an entry with text, or a text.`
  }
}

/** No live pin goes by this id. */
export class PinNotFound extends Schema.TaggedError<PinNotFound>()("PinNotFound", {
  session: Schema.String,
  pinId: Schema.String,
  live: Schema.Array(Schema.String)
}) {
  override get message(): string {
    const others = this.live.length === 0 ? "There are none." : `There are: ${this.live.join(", ")}.`
    return `${this.session} has no pin ${this.pinId} here. ${others}`
  }
}

/** Taking a compaction back would leave later messages behind. */
export class UndoRefused extends Schema.TaggedError<UndoRefused>()("UndoRefused", {
  session: Schema.String,
  compactionId: Schema.String,
  messagesAfter: Schema.Int
}) {
  override get message(): string {
    const [follow, them] = this.messagesAfter === 1 ? ["message follows", "it"] : ["messages follow", "them"]
    return `${this.messagesAfter} ${follow} the compaction ${this.compactionId}; taking it back leaves ${them} on a branch apart. Say so (--abandon-later) to do it all the same.`
  }
}

/** Why a summary could not be had. */
export type SummarizeError = SummaryRejected | SummarizerFailed
