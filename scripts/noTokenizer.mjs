/**
 * Stands in the bundle for Anthropic's tokenizer, which wants a file of its own
 * beside it. The command counts with other vocabularies and never asks for it.
 */
export const getTokenizer = () => {
  throw new Error("Anthropic's tokenizer is not part of the command.")
}
