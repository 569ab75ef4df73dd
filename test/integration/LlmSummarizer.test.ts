import * as Llm from "@cutpoint/compaction/Llm"
import * as Summarizer from "@cutpoint/compaction/Summarizer"
import * as Tokenizer from "@cutpoint/compaction/Tokenizer"
import type * as Message from "@cutpoint/core/Message"
import * as ScriptedLlm from "@cutpoint/testing/ScriptedLlm"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/TestClock"
import { describe } from "vitest"

const user = (text: string): Message.Message => ({ role: "user", content: text })

const request = (messages: ReadonlyArray<Message.Message>, more: Partial<Summarizer.Request> = {}) => ({
  kind: "history" as const,
  messages,
  maxTokens: 2000,
  ...more
})

const summarize = (llm: ScriptedLlm.ScriptedLlm, asked: Summarizer.Request) =>
  Effect.flatMap(Summarizer.Summarizer, (summarizer) => summarizer.summarize(asked)).pipe(
    Effect.provide(Layer.provide(Summarizer.layerLlm, Layer.merge(llm.layer, Tokenizer.layerHeuristic)))
  )

const plan = (llm: ScriptedLlm.ScriptedLlm, asked: Summarizer.Request) =>
  Effect.map(Summarizer.Summarizer, (summarizer) => summarizer.plan(asked)).pipe(
    Effect.provide(Layer.provide(Summarizer.layerLlm, Layer.merge(llm.layer, Tokenizer.layerHeuristic)))
  )

const unavailable = new Llm.LlmUnavailable({ model: "scripted/model", detail: "overloaded." })
const usage = { input: 10, output: 5, totalTokens: 15 }

describe("a summary by a model", () => {
  it.effect("is one request where the transcript fits, with a fresh routing id", () =>
    Effect.gen(function* () {
      const llm = yield* ScriptedLlm.make({ reply: ScriptedLlm.carriesOver(/FACT-\d+/g) })
      const one = yield* summarize(llm, request([user("remember FACT-1")], { customInstructions: "mind the ports" }))
      yield* summarize(llm, request([user("remember FACT-2")]))
      const [first, second] = yield* llm.requests
      expect(one.text).toContain("FACT-1")
      expect(one.requests).toBe(1)
      expect(first?.prompt).toContain("mind the ports")
      expect(first?.routingId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      expect(second?.routingId).not.toBe(first?.routingId)
    })
  )

  it.effect("of 1.2 million characters folds within the requests announced, and loses no fact", () =>
    Effect.gen(function* () {
      const llm = yield* ScriptedLlm.make({
        contextWindow: 60_000,
        refuseOver: 50_000,
        reply: ScriptedLlm.carriesOver(/FACT-\d+/g)
      })
      const messages = Array.from({ length: 400 }, (_, n) => user(`FACT-${n} ${"words of no weight ".repeat(158)}`))
      const asked = request(messages)
      const announced = yield* plan(llm, asked)
      const summary = yield* summarize(llm, asked)
      expect(messages.map((message) => JSON.stringify(message).length).reduce((a, b) => a + b)).toBeGreaterThan(
        1_200_000
      )
      expect(summary.requests).toBeLessThanOrEqual(announced.requests + 4)
      expect(summary.text).toContain("FACT-0")
      expect(summary.text).toContain("FACT-399")
    })
  )

  it.effect("halves the chunks when the provider's window is smaller than it says", () =>
    Effect.gen(function* () {
      const llm = yield* ScriptedLlm.make({
        contextWindow: 200_000,
        refuseOver: 50_000,
        reply: ScriptedLlm.carriesOver(/FACT-\d+/g)
      })
      const messages = Array.from({ length: 40 }, (_, n) => user(`FACT-${n} ${"x".repeat(30_000)}`))
      const announced = yield* plan(llm, request(messages))
      const summary = yield* summarize(llm, request(messages))
      expect(summary.text).toContain("FACT-0")
      expect(summary.text).toContain("FACT-39")
      expect(summary.requests).toBeLessThanOrEqual(announced.mostRequests)
    })
  )

  it.effect("has the focus in every request: of each chunk, and of the correction", () =>
    Effect.gen(function* () {
      const llm = yield* ScriptedLlm.make({
        contextWindow: 40_000,
        reply: (asked, index) => ScriptedLlm.says(index === 1 ? "no form" : ScriptedLlm.summaryFor(asked))
      })
      const messages = Array.from({ length: 20 }, () => user("x".repeat(20_000)))
      yield* summarize(llm, request(messages, { customInstructions: "mind the ports" }))
      const prompts = (yield* llm.requests).map(({ prompt }) => prompt)
      expect(prompts.length).toBeGreaterThan(4)
      expect(prompts.filter((prompt) => !prompt.includes("mind the ports"))).toEqual([])
    })
  )

  it.effect("tries again where too many requests were made, also when nobody says for how long to wait", () =>
    Effect.gen(function* () {
      const limited = new Llm.LlmRateLimited({ model: "scripted/model", detail: "429" })
      const llm = yield* ScriptedLlm.make({
        reply: (asked, index) =>
          index === 0 ? ScriptedLlm.fails(limited) : ScriptedLlm.says(ScriptedLlm.summaryFor(asked))
      })
      const fiber = yield* Effect.fork(summarize(llm, request([user("hello")])))
      yield* TestClock.adjust("10 seconds")
      expect(yield* Fiber.join(fiber)).toMatchObject({ writer: "scripted/model", requests: 2 })
    })
  )

  it.effect("stops a reply that does not stop, and takes it for cut off", () =>
    Effect.gen(function* () {
      const llm = yield* ScriptedLlm.make({
        maxOutputTokens: 10,
        reply: (asked) => ScriptedLlm.says(`${ScriptedLlm.summaryFor(asked)}${" on and on".repeat(1000)}`)
      })
      const error = yield* Effect.flip(summarize(llm, request([user("hello")])))
      expect(error).toMatchObject({ _tag: "SummaryRejected", reason: "cut-off" })
    })
  )

  it.effect("gives up on overflows after four halvings", () =>
    Effect.gen(function* () {
      const llm = yield* ScriptedLlm.ofReplies([
        ScriptedLlm.fails(new Llm.LlmOverflow({ model: "scripted/model", detail: "too large." }))
      ])
      const error = yield* Effect.flip(summarize(llm, request([user("x".repeat(100_000))])))
      expect(error._tag).toBe("SummarizerFailed")
      expect(yield* llm.requests).toHaveLength(5)
    })
  )

  it.effect.each([
    ["blank", ScriptedLlm.says(" \n", { usage })],
    ["blank", ScriptedLlm.says("", { thinking: "hm", usage })],
    ["cut-off", ScriptedLlm.says("## Goal\n- x", { stopReason: "length", usage })],
    ["tool-call", ScriptedLlm.says("", { stopReason: "toolUse", usage })],
    ["refusal", ScriptedLlm.says("no", { stopReason: "refusal", usage })],
    ["missing-section", ScriptedLlm.says("I can't help with that.", { usage })]
  ] as const)("that is %s is asked for once more, then turned down with its usage", ([reason, reply]) =>
    Effect.gen(function* () {
      const llm = yield* ScriptedLlm.ofReplies([reply])
      const error = yield* Effect.flip(summarize(llm, request([user("hello")])))
      expect(error).toMatchObject({ _tag: "SummaryRejected", reason, requests: 2, usage: { totalTokens: 30 } })
      const asked = yield* llm.requests
      expect(asked[1]?.prompt).toContain("cannot be used")
    })
  )

  it.effect("turned down is written offline where the policy says so", () =>
    Effect.gen(function* () {
      const llm = yield* ScriptedLlm.ofReplies([ScriptedLlm.says("nope", { usage })])
      const asked = request([user("keep the port at 8080, always")], { onRejected: "offline" })
      const summary = yield* summarize(llm, asked)
      expect(summary).toMatchObject({ writer: "offline", requests: 2, usage: { totalTokens: 30 } })
      expect(summary.text).toContain("keep the port at 8080")
    })
  )

  it.effect("survives passing failures, and waits as long as it is told to", () =>
    Effect.gen(function* () {
      const limited = new Llm.LlmRateLimited({ model: "scripted/model", detail: "slow down.", retryAfter: 30_000 })
      const llm = yield* ScriptedLlm.make({
        reply: (asked, index) =>
          [ScriptedLlm.fails(limited), ScriptedLlm.breaksOff("## Go")][index] ??
          ScriptedLlm.says(ScriptedLlm.summaryFor(asked))
      })
      const fiber = yield* Effect.fork(summarize(llm, request([user("hello")])))
      yield* TestClock.adjust(29_000)
      expect(yield* llm.requests).toHaveLength(1)
      yield* TestClock.adjust(31_000)
      const summary = yield* Fiber.join(fiber)
      expect(summary.requests).toBe(3)
    })
  )

  it.effect("fails after four retries, and at once where retrying cannot help", () =>
    Effect.gen(function* () {
      const down = yield* ScriptedLlm.ofReplies([ScriptedLlm.fails(unavailable)])
      const fiber = yield* Effect.fork(Effect.flip(summarize(down, request([user("hello")]))))
      yield* TestClock.adjust("5 minutes")
      expect(yield* Fiber.join(fiber)).toMatchObject({
        _tag: "SummarizerFailed",
        reason: "LlmUnavailable",
        requests: 5
      })
      for (const error of [
        new Llm.LlmAuth({ model: "m/m", detail: "no." }),
        new Llm.LlmBadRequest({ model: "m/m", detail: "no." }),
        new Llm.LlmRefused({ model: "m/m", detail: "no." }),
        new Llm.LlmMalformed({ model: "m/m", detail: "no." })
      ]) {
        const llm = yield* ScriptedLlm.ofReplies([ScriptedLlm.fails(error)])
        expect(yield* Effect.flip(summarize(llm, request([user("hello")])))).toMatchObject({ reason: error._tag })
        expect(yield* llm.requests).toHaveLength(1)
      }
    })
  )

  it.effect("fails as a timeout when nothing comes any more", () =>
    Effect.gen(function* () {
      const llm = yield* ScriptedLlm.ofReplies([ScriptedLlm.hangs("## Goal")])
      const fiber = yield* Effect.fork(Effect.flip(summarize(llm, request([user("hello")], { stallTimeout: 5000 }))))
      yield* TestClock.adjust(5001)
      expect(yield* Fiber.join(fiber)).toMatchObject({ _tag: "SummarizerFailed", reason: "LlmTimeout" })
      expect(yield* llm.abandoned).toBe(1)
    })
  )

  it.effect("ends its request when it is interrupted", () =>
    Effect.gen(function* () {
      const llm = yield* ScriptedLlm.ofReplies([ScriptedLlm.hangs("## Goal")])
      const fiber = yield* Effect.fork(summarize(llm, request([user("hello")])))
      yield* TestClock.adjust(10)
      const exit = yield* Fiber.interrupt(fiber)
      expect(Exit.isInterrupted(exit)).toBe(true)
      expect(yield* llm.abandoned).toBe(1)
    })
  )

  it.effect("too long for the context to shrink is turned down as grown", () =>
    Effect.gen(function* () {
      const llm = yield* ScriptedLlm.make({
        reply: (asked) => ScriptedLlm.says(ScriptedLlm.summaryFor(asked, ["x".repeat(50_000)]))
      })
      const error = yield* Effect.flip(summarize(llm, request([user("hello")], { limitTokens: 500 })))
      expect(error).toMatchObject({ _tag: "SummaryRejected", reason: "grown" })
    })
  )
})
