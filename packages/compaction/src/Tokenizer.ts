/**
 * The port by which texts are counted.
 *
 * @since 0.1.0
 */
import * as Tokens from "@cutpoint/core/Tokens"
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"

/** Counts the tokens of texts. */
export interface Service {
  /** What this tokenizer goes by, such as `o200k_base`. */
  readonly name: string
  /** The tokens of a text: a whole number, 0 for the empty text. Synchronous, never throws, linear in the text's length. */
  readonly count: Tokens.Count
}

/** Counts the tokens of texts. */
export class Tokenizer extends Context.Tag("@cutpoint/compaction/Tokenizer")<Tokenizer, Service>() {}

/** A token for every four UTF-16 code units, rounded up. Needs nothing and is the same everywhere. */
export const layerHeuristic: Layer.Layer<Tokenizer> = Layer.succeed(
  Tokenizer,
  Tokenizer.of({ name: "heuristic", count: Tokens.heuristic })
)
