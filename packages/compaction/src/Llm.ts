/**
 * The port by which a language model is asked.
 *
 * Who provides it promises: the routing id goes along where the provider has a
 * place for it; the provider is asked to write no prompt cache where it can be;
 * no tools are offered; interrupting ends the request.
 *
 * @since 0.1.0
 */
import type * as Message from "@cutpoint/core/Message"
import type * as SummaryCheck from "@cutpoint/core/SummaryCheck"
import * as Context from "effect/Context"
import type * as Stream from "effect/Stream"
import type { LlmError } from "./LlmErrors.js"

export * from "./LlmErrors.js"

/** What a model is asked. */
export interface Request {
  readonly system: string
  readonly prompt: string
  /** The most of the reply, in tokens. */
  readonly maxOutputTokens: number
  /** A UUID, fresh for each request, that no cache can have seen. */
  readonly routingId: string
}

/** A part of a reply as it comes in. A reply that ends without `Finish` is broken. */
export type Part =
  | { readonly _tag: "Text"; readonly text: string }
  | { readonly _tag: "Thinking"; readonly text: string }
  /** What the reply has used so far; a later one takes its place. It counts where the reply gets no further. */
  | { readonly _tag: "Usage"; readonly usage: Message.Usage | undefined }
  | {
      readonly _tag: "Finish"
      readonly stopReason: SummaryCheck.StopReason
      readonly usage: Message.Usage | undefined
    }

/** A model. */
export interface Service {
  /** `provider/model`. */
  readonly name: string
  /** In tokens. */
  readonly contextWindow: number
  /** The most that a reply can have, in tokens. */
  readonly maxOutputTokens: number
  /** Asks, and gives the reply as it comes in. */
  readonly stream: (request: Request) => Stream.Stream<Part, LlmError>
}

/** A model. */
export class Llm extends Context.Tag("@cutpoint/compaction/Llm")<Llm, Service>() {}
