/**
 * The port by which messages become a summary.
 *
 * @since 0.1.0
 */
import type * as Message from "@cutpoint/core/Message"
import type * as SummaryPrompt from "@cutpoint/core/SummaryPrompt"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { type SummarizeError, SummarizerFailed } from "./CompactionErrors.js"

/** What is to be summarized. */
export interface Request {
  /** The history where left out. */
  readonly kind?: SummaryPrompt.Kind | undefined
  readonly messages: ReadonlyArray<Message.Message>
  /** Stands for what came before the messages. */
  readonly previousSummary?: string | undefined
  /** What the summary should look at above all. */
  readonly customInstructions?: string | undefined
  /** Whether these instructions stand in place of the usual ones. */
  readonly replaceInstructions?: boolean | undefined
  /** How long a summary without a model is to be at most, in tokens; 2,000 where left out. */
  readonly maxTokens?: number | undefined
  /** A summary that costs more, in tokens, would not make the context smaller; none where left out. */
  readonly limitTokens?: number | undefined
  /** Whether a model is shown what was thought; it is where left out. */
  readonly includeThinking?: boolean | undefined
  /** What happens when a model's summary cannot be accepted; it fails where left out. */
  readonly onRejected?: "fail" | "offline" | undefined
  /** How long a model may send nothing, in milliseconds; 120,000 where left out. */
  readonly stallTimeout?: number | undefined
  /** The session's folder. */
  readonly cwd?: string | undefined
}

/** A summary, and what it took. */
export interface Summary {
  readonly text: string
  /** Who wrote it: `offline`, or `provider/model`. */
  readonly writer: string
  readonly usage: Message.Usage | undefined
  /** The requests made to a model. */
  readonly requests: number
}

/** What a summary will take, known beforehand. */
export interface Plan {
  readonly requests: number
  /** The most requests that can be made, when every reply is turned down and every size too large. */
  readonly mostRequests: number
  /** What goes to the model in all, in tokens. */
  readonly inputTokens: number
}

/** Turns messages into a summary. */
export interface Service {
  /** `offline`, or `provider/model`. */
  readonly name: string
  /** Whether it makes do without what older tool results and replies say; it must be given all of them where left out. */
  readonly skims?: boolean | undefined
  readonly plan: (request: Request) => Plan
  readonly summarize: (request: Request) => Effect.Effect<Summary, SummarizeError>
}

/** Turns messages into a summary. */
export class Summarizer extends Context.Tag("@cutpoint/compaction/Summarizer")<Summarizer, Service>() {}

/** A summarizer that cannot do harm: one that throws has failed. */
export const guarded = (summarizer: Service): Service => ({
  ...summarizer,
  summarize: (request) =>
    Effect.catchAllDefect(
      Effect.suspend(() => summarizer.summarize(request)),
      (defect) => {
        const problem = `The summarizer ${summarizer.name} broke down (${defect instanceof Error ? defect.message : String(defect)}).`
        return new SummarizerFailed({ reason: "LlmMalformed", problem, requests: 0 })
      }
    )
})

/** What a request for the history, of the usual length, leaves unsaid. */
export const defaults = { kind: "history", maxTokens: 2000 } as const

/** The kind of a request. */
export const kindOf = (request: Request): SummaryPrompt.Kind => request.kind ?? defaults.kind
