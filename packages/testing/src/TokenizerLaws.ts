/**
 * What the rest relies on in a tokenizer.
 *
 * @since 0.1.0
 */
import type * as Tokens from "@cutpoint/core/Tokens"
import * as Law from "./Law.js"

/** A count is a whole number that is not negative, the same each time, and 0 for no text. Never throws. */
export const countsWholeTokens = (count: Tokens.Count, text: string): void => {
  const law = "A tokenizer counts whole tokens, the same each time, and none in no text."
  const tokens = count(text)
  Law.hold(law, Number.isSafeInteger(tokens) && tokens >= 0, () => `${Law.shown(text)} counts ${tokens}.`)
  Law.hold(law, count(text) === tokens, () => `${Law.shown(text)} counts ${tokens}, and then ${count(text)}.`)
  Law.hold(law, count("") === 0, () => `The empty text counts ${count("")}.`)
}
