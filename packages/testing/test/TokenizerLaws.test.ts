import * as Tokens from "@cutpoint/core/Tokens"
import { describe, expect, it } from "vitest"
import * as Sessions from "../src/Sessions.js"
import * as TokenizerLaws from "../src/TokenizerLaws.js"
import { law } from "./laws.js"

describe("TokenizerLaws", () => {
  law("the heuristic counts whole tokens", [Sessions.text], (text) =>
    TokenizerLaws.countsWholeTokens(Tokens.heuristic, text)
  )

  it("notices halves of tokens, and tokens in no text", () => {
    expect(() => TokenizerLaws.countsWholeTokens((text) => text.length / 4, "a")).toThrow('"a" counts 0.25.')
    expect(() => TokenizerLaws.countsWholeTokens((text) => text.length + 1, "a")).toThrow("The empty text counts 1.")
  })
})
