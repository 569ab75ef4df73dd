import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { afterEach, describe, expect, it, vi } from "vitest"

afterEach(() => {
  vi.doUnmock("gpt-tokenizer/encoding/o200k_base")
  vi.doUnmock("gpt-tokenizer/encoding/cl100k_base")
  vi.doUnmock("gpt-tokenizer/encoding/p50k_base")
  vi.resetModules()
})

describe("GptTokenizer loads a vocabulary", () => {
  it("only when it is asked for, and no other one", async () => {
    const loaded: Array<string> = []
    for (const encoding of ["o200k_base", "cl100k_base", "p50k_base"]) {
      vi.doMock(`gpt-tokenizer/encoding/${encoding}`, () => {
        loaded.push(encoding)
        return { countTokens: (text: string) => text.length, clearMergeCache: () => {} }
      })
    }
    const { GptTokenizer } = await import("@cutpoint/gpt-tokenizer")
    const make = GptTokenizer.make("cl100k_base")
    GptTokenizer.layer("p50k_base")
    expect(loaded).toEqual([])
    expect((await Effect.runPromise(make)).count("four")).toBe(4)
    expect(loaded).toEqual(["cl100k_base"])
  })

  it("and says what to do where that fails", async () => {
    vi.doMock("gpt-tokenizer/encoding/o200k_base", () => {
      throw new Error("no such module")
    })
    const { GptTokenizer } = await import("@cutpoint/gpt-tokenizer")
    const exit = await Effect.runPromiseExit(GptTokenizer.make("o200k_base"))
    const failure = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
    expect(failure).toMatchObject({ _tag: "TokenizerUnavailable", encoding: "o200k_base" })
    expect(failure).toMatchObject({ message: expect.stringContaining('set the tokenizer to "heuristic"') })
  })

  it("and empties its merge cache again and again", async () => {
    let cleared = 0
    vi.doMock("gpt-tokenizer/encoding/o200k_base", () => ({ countTokens: () => 1, clearMergeCache: () => cleared++ }))
    const { GptTokenizer } = await import("@cutpoint/gpt-tokenizer")
    const { count } = await Effect.runPromise(GptTokenizer.make("o200k_base"))
    for (let i = 0; i < 30; i++) count("word ".repeat(20_000))
    expect(cleared).toBe(3)
  })
})
