/**
 * The `Tokenizer` port over the vocabularies of `gpt-tokenizer`. A vocabulary
 * is loaded when a layer that needs it is built, and not before.
 *
 * Laws. Text that spells a special token, such as `<|endoftext|>`, is ordinary
 * text. Counting never throws, lone surrogates included, and takes linear
 * time. The count is the vocabulary's own, but for texts in which one kind of
 * character goes on for more than 255 characters: there it is the sum over
 * their pieces (see `Pieces`), less than one percent off.
 *
 * @since 0.1.0
 */
import * as Tokenizer from "@cutpoint/compaction/Tokenizer"
import type * as Tokens from "@cutpoint/core/Tokens"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Pieces from "./Pieces.js"

/** A vocabulary: `o200k_base` of GPT-4o and later, `cl100k_base` of GPT-4, `p50k_base` of older models. */
export const Encoding = Schema.Literal("o200k_base", "cl100k_base", "p50k_base")
export type Encoding = typeof Encoding.Type

/** The vocabulary could not be loaded. */
export class TokenizerUnavailable extends Schema.TaggedError<TokenizerUnavailable>()("TokenizerUnavailable", {
  encoding: Encoding,
  cause: Schema.Defect
}) {
  override get message(): string {
    return `The vocabulary ${this.encoding} cannot be loaded. Install gpt-tokenizer again, or set the tokenizer to "heuristic", which needs none.`
  }
}

/** Loads a vocabulary. Fails as `TokenizerUnavailable` where it cannot be loaded. */
export const make = (encoding: Encoding): Effect.Effect<Tokenizer.Service, TokenizerUnavailable> =>
  Effect.tryPromise({
    try: () => vocabularies[encoding](),
    catch: (cause) => new TokenizerUnavailable({ encoding, cause })
  }).pipe(Effect.map((vocabulary) => Tokenizer.Tokenizer.of({ name: encoding, count: counter(vocabulary) })))

/**
 * The tokenizer of a vocabulary. Layers are shared by reference: keep one in a
 * constant where it is used twice.
 */
export const layer = (encoding: Encoding): Layer.Layer<Tokenizer.Tokenizer, TokenizerUnavailable> =>
  Layer.effect(Tokenizer.Tokenizer, make(encoding))

/** What is used of a module of `gpt-tokenizer`. */
interface Vocabulary {
  readonly countTokens: (text: string, options: { readonly disallowedSpecial: Set<string> }) => number
  readonly clearMergeCache: () => void
}

/** Each specifier is a literal, so that a bundler puts each vocabulary in a file of its own. */
const vocabularies: Record<Encoding, () => Promise<Vocabulary>> = {
  o200k_base: () => import("gpt-tokenizer/encoding/o200k_base"),
  cl100k_base: () => import("gpt-tokenizer/encoding/cl100k_base"),
  p50k_base: () => import("gpt-tokenizer/encoding/p50k_base")
}

/** No special token is forbidden in a text, and none is read as one. */
const everythingIsText = { disallowedSpecial: new Set<string>() }

/**
 * How much text may pass through the merge cache before it is emptied, in
 * characters (UTF-16 code units).
 *
 * `gpt-tokenizer` keeps the merges of the last 100,000 chunks. That bounds
 * their number, not their size: a key of 13 characters or more is a slice
 * that keeps the whole text it was cut from in memory. `setMergeCacheSize`
 * does not help, since it bounds the number too, and without the cache
 * counting takes twice as long. Emptied like this, it holds on to this much
 * text and the latest one at most, and counting is about as fast.
 */
const cachedCharacters = 1_000_000

const counter = (vocabulary: Vocabulary): Tokens.Count => {
  let cached = 0
  return (text) => {
    let tokens = 0
    let last = ""
    let tokensOfLast = 0
    for (const piece of Pieces.cut(text)) {
      // A text that is one character is one piece again and again.
      if (piece !== last) tokensOfLast = vocabulary.countTokens(piece, everythingIsText)
      last = piece
      tokens += tokensOfLast
    }
    cached += text.length
    if (cached >= cachedCharacters) {
      vocabulary.clearMergeCache()
      cached = 0
    }
    return tokens
  }
}
