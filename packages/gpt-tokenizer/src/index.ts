/**
 * Cutpoint's `Tokenizer` port over the vocabularies of `gpt-tokenizer`.
 *
 * @since 0.1.0
 */
export * as GptTokenizer from "./GptTokenizer.js"
export * as Pieces from "./Pieces.js"
