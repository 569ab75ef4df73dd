/**
 * Builds the services that a command's options ask for.
 *
 * @since 0.1.0
 */
import * as Compaction from "@cutpoint/compaction/Compaction"
import * as Navigation from "@cutpoint/compaction/Navigation"
import * as Summarizer from "@cutpoint/compaction/Summarizer"
import * as Tokenizer from "@cutpoint/compaction/Tokenizer"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { TokenizerName } from "./CommandOptions.js"
import * as Failure from "./Failure.js"

/** The tokenizer of a name; a vocabulary is loaded only when it is asked for. */
export const tokenizer = (name: TokenizerName) =>
  name === "heuristic"
    ? Tokenizer.layerHeuristic
    : Layer.unwrapEffect(
        Effect.map(
          Effect.promise(() => import("@cutpoint/gpt-tokenizer/GptTokenizer")),
          (GptTokenizer) => GptTokenizer.layer(name)
        )
      )

/** The two use cases, over the session store in context. */
export const useCases = (options: { readonly tokenizer: TokenizerName }) =>
  Layer.mergeAll(Compaction.layer, Navigation.layer).pipe(
    Layer.provide(Summarizer.layerOffline),
    Layer.provideMerge(tokenizer(options.tokenizer))
  )

/** Fails where a summary is to be written and nothing was chosen to write it with. */
export const requireSummarizer = (options: { readonly offline: boolean }): Effect.Effect<void, Failure.NoSummarizer> =>
  options.offline ? Effect.void : new Failure.NoSummarizer()
