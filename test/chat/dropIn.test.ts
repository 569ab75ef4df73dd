import * as SessionChat from "@cutpoint/ai/SessionChat"
import * as Chat from "@effect/ai/Chat"
import type * as LanguageModel from "@effect/ai/LanguageModel"
import * as Prompt from "@effect/ai/Prompt"
import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Model from "@cutpoint/testing/ScriptedLanguageModel"
import { inMemory, Tools } from "./services.js"

const Verdict = Schema.Struct({ verdict: Schema.String })

/** An agent as it is written against `Chat`: it asks, lets tools run, streams, and wants an object at the end. */
const agent = (chat: Chat.Service) =>
  Effect.gen(function* () {
    const first = yield* chat.generateText({ prompt: "look it up", toolkit: Tools })
    const second = yield* chat.generateText({ prompt: Prompt.empty, toolkit: Tools })
    const streamed = yield* Stream.runCollect(chat.streamText({ prompt: "tell me more" }))
    const object = yield* chat.generateObject({ prompt: "your verdict", schema: Verdict })
    return {
      results: first.toolResults.map(({ id, isFailure, name, result }) => ({ id, isFailure, name, result })),
      finish: [first.finishReason, second.finishReason],
      text: second.text,
      usage: second.usage.totalTokens,
      deltas: [...streamed].flatMap((part) => (part.type === "text-delta" ? [part.delta] : [])),
      verdict: object.value.verdict,
      history: yield* chat.export,
      json: JSON.parse(yield* chat.exportJson)
    }
  })

const model = () =>
  Model.make({
    reply: (_, index) =>
      [
        [Model.text("Let me see."), Model.call("c1", "look", { at: "a.ts" })],
        [Model.text("It says 42.")],
        [{ type: "reasoning", text: "More?" } as const, Model.text("There is no more.")],
        [Model.text('{"verdict":"good"}')]
      ][index] ?? []
  })

const tools = Tools.toLayer({ look: ({ at }) => Effect.succeed({ found: `${at} says 42` }) })

const run = <E, R>(chat: Effect.Effect<Chat.Service, E, R>) => {
  const scripted = model()
  return Effect.flatMap(chat, agent).pipe(
    Effect.provide(Layer.mergeAll(scripted.layer, tools)),
    Effect.map((outcome) => ({ outcome, asked: scripted.requests.map(({ prompt }) => prompt) }))
  )
}

const system = [{ role: "system" as const, content: "be brief" }]

describe("an agent written against Chat", () => {
  it.effect.each([
    ["Chat", Chat.empty],
    ["SessionChat", Effect.provide(SessionChat.empty, inMemory())]
  ] as const)("works with %s", ([, chat]) =>
    Effect.gen(function* () {
      const { asked, outcome } = yield* run(Effect.orDie(chat))
      expect(outcome).toMatchObject({
        results: [{ id: "c1", isFailure: false, name: "look", result: { found: "a.ts says 42" } }],
        finish: ["tool-calls", "stop"],
        text: "It says 42.",
        deltas: ["There ", "is ", "no ", "more."],
        verdict: "good"
      })
      expect(asked.map(({ content }) => content.map(({ role }) => role))).toEqual([
        ["user"],
        ["user", "assistant", "tool"],
        ["user", "assistant", "tool", "assistant", "user"],
        ["user", "assistant", "tool", "assistant", "user", "assistant", "user"]
      ])
      expect(outcome.json).toEqual(outcome.history)
    })
  )

  it.effect("sends the same prompts and has the same history with both", () =>
    Effect.gen(function* () {
      const before = yield* run(Chat.fromPrompt(system))
      const after = yield* run(Effect.provide(SessionChat.fromPrompt(system), inMemory()))
      expect(after).toEqual(before)
    })
  )

  it.effect("reads and sets the history of both", () =>
    Effect.forEach(
      [Chat.fromPrompt(system), Effect.provide(SessionChat.fromPrompt(system), inMemory())],
      Effect.fnUntraced(function* (make) {
        const chat = yield* Effect.orDie(make)
        const scripted = Model.make({ reply: () => [Model.text("yes")] })
        yield* Ref.update(chat.history, Prompt.merge("by hand"))
        yield* chat.generateText({ prompt: "go on" }).pipe(Effect.provide(scripted.layer))
        yield* Ref.update(chat.history, Prompt.setSystem("be kind"))
        yield* chat.generateText({ prompt: "and on" }).pipe(Effect.provide(scripted.layer))
        const { content } = scripted.requests[1]?.prompt ?? Prompt.empty
        expect(content.map(({ role }) => role)).toEqual(["system", "user", "user", "assistant", "user"])
        expect(content[0]?.content).toBe("be kind")
      })
    )
  )

  it.effect("goes on from what either exported", () =>
    Effect.gen(function* () {
      const { outcome } = yield* run(Chat.fromPrompt(system))
      const scripted = Model.make({ reply: () => [Model.text("yes")] })
      const chat = yield* SessionChat.fromJson(JSON.stringify(outcome.history))
      expect(yield* chat.export).toEqual(outcome.history)
      yield* chat.generateText({ prompt: "go on" }).pipe(Effect.provide(scripted.layer))
      expect(scripted.requests[0]?.prompt.content.slice(0, -1)).toHaveLength(9)
    }).pipe(Effect.provide(inMemory()))
  )
})

// -----------------------------------------------------------------------------
// One test, either constructor
// -----------------------------------------------------------------------------

const Weather = Tool.make("weather", {
  parameters: { city: Schema.String, on: Schema.optional(Schema.DateFromString) },
  success: Schema.Struct({ degrees: Schema.NumberFromString })
})

const Fails = Tool.make("fails", { failure: Schema.String, failureMode: "return" })

const Silent = Tool.make("silent")

const toolkit = Toolkit.make(Weather, Fails, Silent)

const handlers = toolkit.toLayer({
  weather: ({ city, on }) => Effect.succeed({ degrees: city.length + (on?.getUTCDate() ?? 0) }),
  fails: () => Effect.fail("no luck"),
  silent: () => Effect.void
})

/** Asks until the model calls no more tools. */
const untilDone = (chat: Chat.Service, prompt: string) =>
  Effect.gen(function* () {
    let response = yield* chat.generateText({ prompt, toolkit })
    for (let step = 0; step < 10 && response.toolCalls.length > 0; step++) {
      response = yield* chat.generateText({ prompt: [], toolkit })
    }
    return response.text
  })

const services = inMemory()

type Make = Effect.Effect<Chat.Service, unknown, Layer.Layer.Success<typeof services>>

const constructors: ReadonlyArray<readonly [string, Make, (prompt: Prompt.RawInput) => Make]> = [
  ["Chat", Chat.empty, Chat.fromPrompt],
  ["SessionChat", SessionChat.empty, SessionChat.fromPrompt]
]

const given = <A, E>(
  model: Model.ScriptedLanguageModel,
  effect: Effect.Effect<
    A,
    E,
    Layer.Layer.Success<typeof services> | LanguageModel.LanguageModel | Layer.Layer.Success<typeof handlers>
  >
) => Effect.provide(effect, Layer.mergeAll(services, model.layer, handlers))

const seen = (request: Model.Request | undefined) => request?.prompt.content.map(({ role }) => role)

describe.each(constructors)("%s", (_, empty, fromPrompt) => {
  it.effect("runs tools until the model is done, and remembers all of it", () => {
    const call = Model.call("c1", "weather", { city: "Oslo", on: "2026-01-02T00:00:00.000Z" })
    const model = Model.ofReplies([call], [Model.text("It is 6 degrees.")], [Model.text("In Oslo.")])
    return given(
      model,
      Effect.gen(function* () {
        const chat = yield* empty
        expect(yield* untilDone(chat, "How warm is it?")).toBe("It is 6 degrees.")
        expect(yield* untilDone(chat, "Where?")).toBe("In Oslo.")
        expect(model.requests.map(seen)).toEqual([
          ["user"],
          ["user", "assistant", "tool"],
          ["user", "assistant", "tool", "assistant", "user"]
        ])
        const [, , third] = model.requests[1]?.prompt.content ?? []
        expect(third?.role === "tool" && third.content[0]?.result).toEqual({ degrees: "6" })
        const history = yield* Ref.get(chat.history)
        expect(history.content).toHaveLength(6)
      })
    )
  })

  it.effect("gives a failure that is a result to the model", () => {
    const model = Model.ofReplies([Model.call("c1", "fails", {})], [Model.text("A pity.")])
    return given(
      model,
      Effect.gen(function* () {
        expect(yield* untilDone(yield* empty, "Try.")).toBe("A pity.")
        const result = model.requests[1]?.prompt.content[2]
        expect(result?.role === "tool" && result.content[0]).toMatchObject({ isFailure: true, result: "no luck" })
      })
    )
  })

  it.effect("streams", () => {
    const call = Model.call("c1", "weather", { city: "Rome" })
    const model = Model.ofReplies([Model.text("Let me see."), call], [Model.text("Four.")])
    return given(
      model,
      Effect.gen(function* () {
        const chat = yield* empty
        const parts = [...(yield* Stream.runCollect(chat.streamText({ prompt: "How warm?", toolkit })))]
        const text = parts.flatMap((part) => (part.type === "text-delta" ? [part.delta] : [])).join("")
        expect(text).toBe("Let me see.")
        const result = parts.find((part) => part.type === "tool-result")
        expect(result).toMatchObject({ id: "c1", result: { degrees: 4 }, encodedResult: { degrees: "4" } })
        expect(parts.filter((part) => part.type === "finish")).toHaveLength(1)
        yield* Stream.runDrain(chat.streamText({ prompt: [], toolkit }))
        expect(seen(model.requests[1])).toEqual(["user", "assistant", "tool"])
        expect((yield* chat.history).content.map(({ role }) => role)).toEqual([
          "user",
          "assistant",
          "tool",
          "assistant"
        ])
      })
    )
  })

  it.effect("gives objects", () => {
    const model = Model.ofReplies([Model.text('{"name":"Ann"}')])
    return given(
      model,
      Effect.gen(function* () {
        const chat = yield* empty
        const person = yield* chat.generateObject({ prompt: "Who?", schema: Schema.Struct({ name: Schema.String }) })
        expect(person.value).toEqual({ name: "Ann" })
        expect((yield* chat.history).content.map(({ role }) => role)).toEqual(["user", "assistant"])
      })
    )
  })

  it.effect("begins with a prompt, and lets its history be changed", () => {
    const model = Model.ofReplies([Model.text("Ja.")])
    return given(
      model,
      Effect.gen(function* () {
        const chat = yield* fromPrompt([
          { role: "system", content: "Be brief." },
          { role: "user", content: [{ type: "text", text: "Hello" }] }
        ])
        yield* chat.generateText({ prompt: [] })
        yield* Ref.update(chat.history, Prompt.setSystem("Speak German."))
        yield* chat.generateText({ prompt: "And now?" })
        const [system, ...others] = model.requests[1]?.prompt.content ?? []
        expect(system).toMatchObject({ role: "system", content: "Speak German." })
        expect(others.map(({ role }) => role)).toEqual(["user", "assistant", "user"])
      })
    )
  })

  it.effect("exports what `Chat` can go on with", () => {
    const model = Model.ofReplies([Model.text("Hello.")])
    return given(
      model,
      Effect.gen(function* () {
        const chat = yield* empty
        yield* chat.generateText({ prompt: "Hello" })
        const other = yield* Chat.fromJson(yield* chat.exportJson)
        expect(yield* other.export).toEqual(yield* chat.export)
        yield* other.generateText({ prompt: "Again" })
        expect(seen(model.requests[1])).toEqual(["user", "assistant", "user"])
      })
    )
  })

  it.effect("takes one turn at a time", () => {
    const model = Model.ofReplies([Model.text("Yes.")])
    return given(
      model,
      Effect.gen(function* () {
        const chat = yield* empty
        const ask = (prompt: string) => chat.generateText({ prompt })
        yield* Effect.all([ask("one"), ask("two"), ask("three")], { concurrency: "unbounded" })
        expect(model.requests.map((request) => request.prompt.content.length)).toEqual([1, 3, 5])
      })
    )
  })

  it.effect("fails as the model fails", () => {
    const model = Model.ofReplies(Model.refusal(500, "down"), [Model.text("Up.")])
    return given(
      model,
      Effect.gen(function* () {
        const chat = yield* empty
        const error = yield* Effect.flip(chat.generateText({ prompt: "Hello" }))
        expect(error._tag).toBe("HttpResponseError")
        yield* chat.generateText({ prompt: "Hello" })
        expect(seen(model.requests[1])).toEqual(["user"])
      })
    )
  })

  it.effect("takes null from a tool that gives nothing", () => {
    const model = Model.ofReplies([Model.call("c1", "silent", {})], [Model.text("Done.")])
    return given(
      model,
      Effect.gen(function* () {
        expect(yield* untilDone(yield* empty, "Try.")).toBe("Done.")
        expect(seen(model.requests[1])).toEqual(["user", "assistant", "tool"])
      })
    )
  })

  it.effect("asks once, however often it has to be tried", () => {
    const down = Model.refusal(500, "down")
    const model = Model.ofReplies(down, down, [Model.text("Up.")])
    return given(
      model,
      Effect.gen(function* () {
        const chat = yield* empty
        yield* Effect.retry(chat.generateText({ prompt: "Hello" }), { times: 2 })
        expect(model.requests.map(seen)).toEqual([["user"], ["user"], ["user"]])
        expect((yield* chat.history).content.map(({ role }) => role)).toEqual(["user", "assistant"])
      })
    )
  })
})
