/**
 * The port by which messages become a summary.
 *
 * @since 0.1.0
 */
import type * as Message from "@cutpoint/core/Message"
import * as OfflineSummary from "@cutpoint/core/OfflineSummary"
import type * as SummaryPrompt from "@cutpoint/core/SummaryPrompt"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Errors from "./CompactionErrors.js"
import * as Tokenizer from "./Tokenizer.js"

/** What is to be summarized. */
export interface Request {
  readonly kind: SummaryPrompt.Kind
  readonly messages: ReadonlyArray<Message.Message>
  /** Stands for what came before the messages. */
  readonly previousSummary?: string | undefined
  /** What the summary should look at above all. */
  readonly customInstructions?: string | undefined
  /** Whether these instructions stand in place of the usual ones. */
  readonly replaceInstructions?: boolean | undefined
  /** The most that the summary may cost, in tokens. */
  readonly maxTokens: number
  /** The session's folder. */
  readonly cwd?: string | undefined
}

/** A summary, and what it took. */
export interface Summary {
  readonly text: string
  readonly usage: Message.Usage | undefined
  /** The requests made to a model. */
  readonly requests: number
}

/** What a summary will take, known beforehand. */
export interface Plan {
  readonly requests: number
  /** What goes to the model in all, in tokens. */
  readonly inputTokens: number
}

/** Turns messages into a summary. */
export interface Service {
  /** `offline`, or `provider/model`. */
  readonly name: string
  readonly plan: (request: Request) => Plan
  readonly summarize: (request: Request) => Effect.Effect<Summary, Errors.SummarizeError>
}

/** Turns messages into a summary. */
export class Summarizer extends Context.Tag("@cutpoint/compaction/Summarizer")<Summarizer, Service>() {}

/**
 * Summarizes without a model: no key, no network, the same summary for the
 * same messages. Counts by the given `Tokenizer`.
 */
export const layerOffline: Layer.Layer<Summarizer, never, Tokenizer.Tokenizer> = Layer.effect(
  Summarizer,
  Effect.map(Tokenizer.Tokenizer, ({ count }) =>
    Summarizer.of({
      name: "offline",
      plan: () => ({ requests: 0, inputTokens: 0 }),
      summarize: (request) =>
        Effect.sync(() => ({
          text: OfflineSummary.summarize(request.messages, { ...request, count }),
          usage: undefined,
          requests: 0
        }))
    })
  )
)
