/**
 * The laws of a tokenizer of one's own, run on arbitrary texts and sessions.
 * Put your `count` in place of this one, which counts words.
 */
import { CutPointLaws, Sessions, TokenizerLaws } from "@cutpoint/testing"
import { Console, Effect, FastCheck } from "effect"

const count = (text: string): number => text.split(/\s+/).filter((word) => word !== "").length

const laws = Effect.try(() => {
  FastCheck.assert(FastCheck.property(Sessions.text, (text) => TokenizerLaws.countsWholeTokens(count, text)))
  FastCheck.assert(
    FastCheck.property(Sessions.path, Sessions.preparation, (path, settings) =>
      CutPointLaws.resultsStayWithCalls(path, count, settings)
    )
  )
})

await Effect.runPromise(Effect.zipRight(laws, Console.log("The laws hold.")))
