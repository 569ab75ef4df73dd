/**
 * The summarizer that needs no model.
 *
 * @since 0.1.0
 */
import * as OfflineSummary from "@cutpoint/core/OfflineSummary"
import type * as Tokens from "@cutpoint/core/Tokens"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Port from "./SummarizerPort.js"
import * as Tokenizer from "./Tokenizer.js"

/** What this summarizer goes by. */
export const name = "offline"

/** The summary of a request, written without a model. */
export const write = (request: Port.Request, count: Tokens.Count): string =>
  OfflineSummary.summarize(request.messages, {
    ...request,
    kind: Port.kindOf(request),
    maxTokens: request.maxTokens ?? Port.defaults.maxTokens,
    count
  })

/**
 * Summarizes without a model: no key, no network, the same summary for the
 * same messages. Counts by the given `Tokenizer`.
 */
export const layerOffline: Layer.Layer<Port.Summarizer, never, Tokenizer.Tokenizer> = Layer.effect(
  Port.Summarizer,
  Effect.map(Tokenizer.Tokenizer, ({ count }) =>
    Port.Summarizer.of({
      name,
      skims: true,
      plan: () => ({ requests: 0, mostRequests: 0, inputTokens: 0 }),
      summarize: (request) =>
        Effect.sync(() => ({ text: write(request, count), writer: name, usage: undefined, requests: 0 }))
    })
  )
)
