/** When a chat has its session compacted, and what a compaction finds there. */
import * as SessionChat from "@cutpoint/ai/SessionChat"
import * as AutoCompaction from "@cutpoint/compaction/AutoCompaction"
import * as NewEntry from "@cutpoint/compaction/NewEntry"
import * as SessionStore from "@cutpoint/compaction/SessionStore"
import type * as Settings from "@cutpoint/compaction/Settings"
import * as Model from "@cutpoint/testing/ScriptedLanguageModel"
import * as PromptLaws from "@cutpoint/testing/PromptLaws"
import type * as Prompt from "@effect/ai/Prompt"
import { describe, expect, it } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { compactions, long, run, sizes, stored, Tools, turns, wide } from "./services.js"

const { call, text } = Model

const looking = Tools.toLayer({ look: ({ at }) => Effect.succeed({ found: at }) })

/** The last request. */
const last = ({ requests }: Model.ScriptedLanguageModel): Model.Request => {
  const request = requests.at(-1)
  if (request === undefined) throw new Error("Nothing was asked.")
  return request
}

/** A reply that says how large the context was. */
const sized = (inputTokens: number): Model.Reply => [
  text("Done."),
  { type: "finish", reason: "stop", usage: { inputTokens, outputTokens: 10, totalTokens: inputTokens + 10 } }
]

describe("a call that is not answered yet", () => {
  const results = (id: string): Prompt.RawInput => [
    {
      role: "tool",
      content: [
        {
          type: "tool-result",
          id,
          name: "look",
          isFailure: false,
          result: { found: `${id} ${long(3000)}` },
          providerExecuted: false
        }
      ]
    }
  ]

  const resultEntry = (toolCallId: string): NewEntry.Body => ({
    type: "message",
    message: {
      role: "toolResult",
      toolCallId,
      toolName: "look",
      content: [{ type: "text", text: `${toolCallId} ${long(3000)}` }],
      isError: false
    }
  })

  it.effect("is kept by a compaction, and the late result finds it", () => {
    const model = Model.ofReplies([call("c1", "look", { at: "a" }), call("c2", "look", { at: "b" })], [text("I see.")])
    return run(
      Effect.gen(function* () {
        const chat = yield* SessionChat.fromPrompt(turns(4))
        yield* chat.generateText({ prompt: "Look.", toolkit: Tools, disableToolCallResolution: true })
        const store = yield* SessionStore.SessionStore
        const session = yield* store.open(chat.key)
        const { leafId } = session.tree
        yield* store.append(session, yield* NewEntry.chain(session.tree, leafId, [resultEntry("c1")]))
        yield* chat.compact({ keepRecentTokens: 0 })
        yield* chat.generateText({ prompt: results("c2"), toolkit: Tools, disableToolCallResolution: true })
        expect(compactions(yield* stored(chat.key))).toBe(1)
        const { prompt } = last(model)
        PromptLaws.pairsAreWhole(prompt)
        expect(JSON.stringify(prompt)).toContain("c1 some")
        expect(JSON.stringify(prompt)).toContain("c2 some")
      }).pipe(Effect.provide(looking)),
      model,
      wide
    )
  })
})

describe("what a reply said of the context's size", () => {
  it.effect("before a compaction does not make for another one", () => {
    const model = Model.ofReplies(sized(13_000), sized(4000))
    return run(
      Effect.gen(function* () {
        const chat = yield* SessionChat.fromPrompt(turns(4))
        yield* chat.generateText({ prompt: "Do it." })
        expect(compactions(yield* stored(chat.key))).toBe(1)
        yield* chat.generateText({ prompt: "hi" })
        yield* (yield* SessionChat.resume(chat.key)).generateText({ prompt: "hi again" })
        expect(compactions(yield* stored(chat.key))).toBe(1)
      }),
      model
    )
  })

  it.effect("is not forgotten for a reply that failed", () => {
    const down = Model.refusal(500, "down")
    const model = Model.ofReplies(sized(11_900), down, sized(4000))
    return run(
      Effect.gen(function* () {
        const chat = yield* SessionChat.fromPrompt(turns(4))
        yield* chat.generateText({ prompt: "Do it." })
        expect(yield* Effect.flip(chat.generateText({ prompt: "On." }))).toEqual(down)
        expect(compactions(yield* stored(chat.key))).toBe(0)
        yield* (yield* SessionChat.resume(chat.key)).generateText({ prompt: `More. ${long(200)}` })
        expect(compactions(yield* stored(chat.key))).toBe(1)
      }),
      model
    )
  })
})

describe("another model", () => {
  const settings: Settings.Given = {
    compaction: { ...sizes.compaction, modelOverrides: { "maker/small": { reserveTokens: 3000 } } },
    cutpoint: {
      offlineSummaryTokens: 1000,
      models: { "maker/large": { contextWindow: 100_000 }, "maker/small": { contextWindow: 10_000 } }
    }
  }

  it.effect("is measured by its own window and overrides, before it is asked", () => {
    const model = Model.make({ window: 100_000, reply: () => [text("Done.")] })
    const events: Array<AutoCompaction.Event> = []
    return run(
      Effect.gen(function* () {
        const auto = yield* AutoCompaction.AutoCompaction
        yield* Effect.forkScoped(Stream.runForEach(auto.events, (event) => Effect.sync(() => events.push(event))))
        const chat = yield* SessionChat.fromPrompt(turns(20), { model: "maker/large" })
        yield* chat.generateText({ prompt: "Do it." })
        expect(compactions(yield* stored(chat.key))).toBe(0)
        yield* chat.changeModel("maker/small")
        yield* chat.generateText({ prompt: "And on." })
        expect(compactions(yield* stored(chat.key))).toBe(1)
        expect(model.requests[1]?.tokens).toBeLessThanOrEqual(7000)
        const entries = (yield* stored(chat.key)).tree.entries
        expect(entries.filter(({ type }) => type === "model_change")).toMatchObject([
          { provider: "maker", modelId: "large" },
          { provider: "maker", modelId: "small" }
        ])
        expect(events.map(({ _tag }) => _tag)).toEqual(["Started", "Compacted"])
        expect(events[1]).toMatchObject({
          result: { prepared: { check: { threshold: 7000, contextWindow: 10_000 } } }
        })
      }).pipe(Effect.scoped),
      model,
      settings
    )
  })
})

describe("compaction that is turned off", () => {
  const off = (given: Settings.Given): Settings.Given => ({
    ...given,
    compaction: { ...given.compaction, enabled: false }
  })

  it.effect("is not done after an overflow either; by hand it is", () => {
    const tooLarge = Model.tooLarge(9000, 8000)
    const model = Model.ofReplies(tooLarge, [text("Done.")])
    return run(
      Effect.gen(function* () {
        const chat = yield* SessionChat.fromPrompt(turns(9))
        expect(yield* Effect.flip(chat.generateText({ prompt: "Do it." }))).toEqual(tooLarge)
        expect(model.requests).toHaveLength(1)
        const before = yield* stored(chat.key)
        expect(before.tree.entries.filter(({ type }) => type !== "message")).toEqual([])
        expect((yield* chat.compact())._tag).toBe("Compacted")
        yield* chat.generateText({ prompt: "Do it." })
        expect(model.requests[1]?.tokens).toBeLessThan(9 * 1500)
        expect(JSON.stringify(model.requests[1]?.prompt).split("Do it.")).toHaveLength(2)
      }),
      model,
      off(sizes)
    )
  })
})

describe("a reply that is cut off before it says anything", () => {
  const cut: Model.Reply = [
    { type: "finish", reason: "length", usage: { inputTokens: 7000, outputTokens: 0, totalTokens: 7000 } }
  ]

  const asked = (chat: SessionChat.Service, how: "text" | "stream") =>
    how === "text"
      ? Effect.map(chat.generateText({ prompt: "Do it." }), ({ content }) => content)
      : Effect.map(Stream.runCollect(chat.streamText({ prompt: "Do it." })), Chunk.toReadonlyArray)

  it.effect.each(["text", "stream"] as const)("as a %s is asked for once more, after a compaction", (how) => {
    const model = Model.ofReplies(cut, [text("Done.")])
    return run(
      Effect.gen(function* () {
        const chat = yield* SessionChat.fromPrompt(turns(4))
        const parts = yield* asked(chat, how)
        expect(parts.filter(({ type }) => type === "finish")).toMatchObject([{ reason: "stop" }])
        expect(model.requests).toHaveLength(2)
        const { tree } = yield* stored(chat.key)
        expect(tree.entries.slice(8).map(({ type }) => type)).toEqual([
          "message",
          "message",
          "context_edit",
          "compaction",
          "message"
        ])
      }),
      model,
      wide
    )
  })

  it.effect.each(["text", "stream"] as const)("as a %s again is given as it is", (how) => {
    const model = Model.ofReplies(cut)
    return run(
      Effect.gen(function* () {
        const chat = yield* SessionChat.fromPrompt(turns(4))
        const parts = yield* asked(chat, how)
        expect(parts).toMatchObject([{ type: "finish", reason: "length" }])
        expect(model.requests).toHaveLength(2)
      }),
      model,
      wide
    )
  })
})
