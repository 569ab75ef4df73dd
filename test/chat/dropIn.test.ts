import * as SessionChat from "@cutpoint/ai/SessionChat"
import * as Chat from "@effect/ai/Chat"
import * as Prompt from "@effect/ai/Prompt"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as ScriptedModel from "./ScriptedModel.js"
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
  ScriptedModel.make({
    reply: (_, index) =>
      [
        [ScriptedModel.text("Let me see."), ScriptedModel.call("c1", "look", { at: "a.ts" })],
        [ScriptedModel.text("It says 42.")],
        [{ type: "reasoning", text: "More?" } as const, ScriptedModel.text("There is no more.")],
        [ScriptedModel.text('{"verdict":"good"}')]
      ][index] ?? []
  })

const tools = Tools.toLayer({ look: ({ at }) => Effect.succeed({ found: `${at} says 42` }) })

const run = <E, R>(chat: Effect.Effect<Chat.Service, E, R>) => {
  const scripted = model()
  return Effect.flatMap(chat, agent).pipe(
    Effect.provide(Layer.mergeAll(scripted.layer, tools)),
    Effect.map((outcome) => ({ outcome, asked: scripted.asked.map(({ prompt }) => prompt) }))
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
        const scripted = ScriptedModel.make({ reply: () => [ScriptedModel.text("yes")] })
        yield* Ref.update(chat.history, Prompt.merge("by hand"))
        yield* chat.generateText({ prompt: "go on" }).pipe(Effect.provide(scripted.layer))
        yield* Ref.update(chat.history, Prompt.setSystem("be kind"))
        yield* chat.generateText({ prompt: "and on" }).pipe(Effect.provide(scripted.layer))
        const { content } = scripted.asked[1]?.prompt ?? Prompt.empty
        expect(content.map(({ role }) => role)).toEqual(["system", "user", "user", "assistant", "user"])
        expect(content[0]?.content).toBe("be kind")
      })
    )
  )

  it.effect("goes on from what either exported", () =>
    Effect.gen(function* () {
      const { outcome } = yield* run(Chat.fromPrompt(system))
      const scripted = ScriptedModel.make({ reply: () => [ScriptedModel.text("yes")] })
      const chat = yield* SessionChat.fromJson(JSON.stringify(outcome.history))
      expect(yield* chat.export).toEqual(outcome.history)
      yield* chat.generateText({ prompt: "go on" }).pipe(Effect.provide(scripted.layer))
      expect(scripted.asked[0]?.prompt.content.slice(0, -1)).toHaveLength(9)
    }).pipe(Effect.provide(inMemory()))
  )
})
