import * as LanguageModelLlm from "@cutpoint/ai/LanguageModelLlm"
import * as Llm from "@cutpoint/compaction/Llm"
import * as AiError from "@effect/ai/AiError"
import * as LanguageModel from "@effect/ai/LanguageModel"
import type * as Response from "@effect/ai/Response"
import { it } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/TestClock"
import { describe, expect } from "vitest"

const request: Llm.Request = {
  system: "be brief",
  prompt: "TALKMARKER-9c3e7a1d and what was said besides",
  maxOutputTokens: 100,
  routingId: "r"
}

/** What the port makes of what an application's model streams. */
const asked = (streamed: Stream.Stream<Response.StreamPartEncoded, AiError.AiError>) => {
  const seen: Array<LanguageModel.ProviderOptions> = []
  const languageModel = Layer.effect(
    LanguageModel.LanguageModel,
    LanguageModel.make({
      generateText: () => Effect.die("It is streamed."),
      streamText: (options) => {
        seen.push(options)
        return streamed
      }
    })
  )
  const layer = LanguageModelLlm.layer({ name: "own/model", contextWindow: 10, maxOutputTokens: 5 })
  return Effect.flatMap(Llm.Llm, (llm) => Stream.runCollect(llm.stream(request))).pipe(
    Effect.map(Chunk.toReadonlyArray),
    Effect.provide(Layer.provide(layer, languageModel)),
    Effect.either,
    Effect.map((outcome) => ({ outcome, seen }))
  )
}

const finish = (reason: Response.FinishReason): Response.StreamPartEncoded => ({
  type: "finish",
  reason,
  usage: { inputTokens: 100, outputTokens: 7, totalTokens: 107, cachedInputTokens: 40 }
})

describe("an application's own language model", () => {
  it.effect("is asked with both prompts and no tools, and its reply comes in parts", () =>
    Effect.gen(function* () {
      const { outcome, seen } = yield* asked(
        Stream.make<Array<Response.StreamPartEncoded>>(
          { type: "reasoning-start", id: "1" },
          { type: "reasoning-delta", id: "1", delta: "Hm." },
          { type: "reasoning-end", id: "1" },
          { type: "text-start", id: "2" },
          { type: "text-delta", id: "2", delta: "## " },
          { type: "text-delta", id: "2", delta: "Goal" },
          { type: "text-end", id: "2" },
          finish("stop")
        )
      )
      const usage = { input: 60, output: 7, cacheRead: 40, totalTokens: 107 }
      expect(outcome).toMatchObject({
        right: [
          { _tag: "Thinking", text: "Hm." },
          { _tag: "Text", text: "## " },
          { _tag: "Text", text: "Goal" },
          { _tag: "Finish", stopReason: "stop", usage }
        ]
      })
      expect(seen[0]?.tools).toEqual([])
      expect(JSON.stringify(seen[0]?.prompt)).toContain("be brief")
      expect(JSON.stringify(seen[0]?.prompt)).toContain("TALKMARKER")
    })
  )

  it.effect.each([
    ["stop", "stop"],
    ["length", "length"],
    ["tool-calls", "toolUse"],
    ["content-filter", "refusal"],
    ["unknown", "stop"],
    ["other", "stop"]
  ] as const)("that ends by %s is said to end by %s", ([reason, stopReason]) =>
    Effect.gen(function* () {
      const { outcome } = yield* asked(Stream.make(finish(reason)))
      expect(outcome).toMatchObject({ right: [{ _tag: "Finish", stopReason }] })
    })
  )

  const details = {
    url: "http://x",
    urlParams: [],
    hash: Option.none(),
    method: "POST",
    headers: { authorization: "Bearer sk-KEYMARKER-8Qz7Xw5Vu3" }
  } as const
  const answered = (status: number, body: string, headers: Record<string, string> = {}) =>
    new AiError.HttpResponseError({
      module: "Own",
      method: "streamText",
      reason: "StatusCode",
      request: details,
      response: { status, headers },
      body
    })

  it.effect.each([
    [
      answered(401, '{"error":{"message":"wrong: sk-KEYMARKER-8Qz7Xw5Vu3 for TALKMARKER-9c3e7a1d"}}'),
      { _tag: "LlmAuth" }
    ],
    [answered(400, "prompt is too long: 208310 tokens > 200000 maximum"), { _tag: "LlmOverflow" }],
    [
      answered(429, "", { "retry-after": "Thu, 01 Jan 1970 00:01:30 GMT" }),
      { _tag: "LlmRateLimited", retryAfter: 60_000 }
    ],
    [answered(529, ""), { _tag: "LlmUnavailable" }],
    [
      new AiError.HttpRequestError({ module: "Own", method: "streamText", reason: "Transport", request: details }),
      { _tag: "LlmUnavailable" }
    ],
    [
      new AiError.HttpRequestError({ module: "Own", method: "streamText", reason: "InvalidUrl", request: details }),
      { _tag: "LlmBadRequest" }
    ],
    [
      new AiError.MalformedOutput({ module: "Own", method: "streamText", description: "TALKMARKER-9c3e7a1d" }),
      { _tag: "LlmMalformed" }
    ],
    [
      new AiError.MalformedInput({ module: "Own", method: "streamText", description: "TALKMARKER-9c3e7a1d" }),
      { _tag: "LlmBadRequest" }
    ],
    [new AiError.UnknownError({ module: "Own", method: "streamText" }), { _tag: "LlmMalformed" }]
  ] as const)("that fails with %s", ([error, expected]) =>
    Effect.gen(function* () {
      yield* TestClock.setTime(30_000)
      const { outcome } = yield* asked(Stream.fail(error))
      expect(outcome).toMatchObject({ left: expected })
      for (const marker of ["KEYMARKER", "TALKMARKER"]) expect(JSON.stringify(outcome)).not.toContain(marker)
    })
  )

  it.effect("that says in mid-stream that something went wrong has failed", () =>
    Effect.gen(function* () {
      const error = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } } as const
      const { outcome } = yield* asked(Stream.make<Array<Response.StreamPartEncoded>>(error, finish("stop")))
      expect(outcome).toMatchObject({ left: { _tag: "LlmUnavailable" } })
    })
  )
})
