/** What happens to a chat while its session is compacted, by others and by those who have enough. */
import * as SessionChat from "@cutpoint/ai/SessionChat"
import * as AutoCompaction from "@cutpoint/compaction/AutoCompaction"
import * as Compaction from "@cutpoint/compaction/Compaction"
import * as Llm from "@cutpoint/compaction/Llm"
import type * as NewEntry from "@cutpoint/compaction/NewEntry"
import * as Summarizer from "@cutpoint/compaction/Summarizer"
import type * as Message from "@cutpoint/core/Message"
import * as Model from "@cutpoint/testing/ScriptedLanguageModel"
import * as ScriptedLlm from "@cutpoint/testing/ScriptedLlm"
import { describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/TestClock"
import { compactions, context, run, said, sizes, stored, Tools, turns, wide } from "./services.js"

const { call, text } = Model

/** Runs to the end as the clock goes on. */
const asTimePasses = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const running = yield* Effect.fork(effect)
    while (Option.isNone(yield* Fiber.poll(running))) {
      yield* TestClock.adjust("10 seconds")
      yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
    }
    return yield* Fiber.join(running)
  })

/** A summarizer that says when it begins, and goes on when it is let. */
const held = Effect.gen(function* () {
  const begun = yield* Deferred.make<void>()
  const release = yield* Deferred.make<void>()
  const layer = Layer.effect(
    Summarizer.Summarizer,
    Effect.map(Summarizer.Summarizer, (offline) =>
      Summarizer.Summarizer.of({
        ...offline,
        summarize: (request) =>
          Deferred.succeed(begun, undefined).pipe(
            Effect.zipRight(Deferred.await(release)),
            Effect.zipRight(offline.summarize(request))
          )
      })
    )
  ).pipe(Layer.provide(Summarizer.layerOffline))
  return { begun: Deferred.await(begun), release: Deferred.succeed(release, undefined), layer }
})

describe("a call that is interrupted while the session is compacted", () => {
  it.effect("ends the request for the summary, and leaves the session as it was but for the question", () =>
    Effect.gen(function* () {
      const summaries = yield* ScriptedLlm.make({ reply: () => ScriptedLlm.hangs("It was") })
      const begun = yield* Deferred.make<void>()
      const model = Model.ofReplies([text("Done.")])
      yield* run(
        Effect.gen(function* () {
          const auto = yield* AutoCompaction.AutoCompaction
          const events: Array<string> = []
          yield* Effect.forkScoped(
            Stream.runForEach(auto.events, ({ _tag }) => {
              events.push(_tag)
              return _tag === "Request" ? Deferred.succeed(begun, undefined) : Effect.void
            })
          )
          const chat = yield* SessionChat.fromPrompt(turns(9))
          const asking = yield* Effect.fork(chat.generateText({ prompt: "Do it." }))
          yield* Deferred.await(begun)
          expect(Exit.isInterrupted(yield* Fiber.interrupt(asking))).toBe(true)
          expect(yield* summaries.abandoned).toBe(1)
          expect(model.requests).toEqual([])
          const after = yield* stored(chat.key)
          expect(after.tree.entries.map(({ type }) => type)).toEqual(Array.from({ length: 19 }, () => "message"))
          expect(events).toEqual(["Started", "Request", "Canceled"])
        }).pipe(Effect.scoped),
        model,
        sizes,
        Layer.provide(Summarizer.layerLlm, summaries.layer)
      )
    })
  )

  it.effect("a summary that stalls does not hold the chat up for ever", () =>
    Effect.gen(function* () {
      const summaries = yield* ScriptedLlm.make({ reply: () => ScriptedLlm.hangs("It was") })
      const model = Model.ofReplies([text("Done.")])
      yield* run(
        Effect.gen(function* () {
          const chat = yield* SessionChat.fromPrompt(turns(9))
          const { text } = yield* asTimePasses(chat.generateText({ prompt: "Do it." }))
          expect(text).toBe("Done.")
          expect(compactions(yield* stored(chat.key))).toBe(0)
        }),
        model,
        sizes,
        Layer.provide(Summarizer.layerLlm, summaries.layer)
      )
    })
  )
})

describe("a provider that is busy", () => {
  it.effect.each([
    ["429 without a body", Model.refusal(429, "")],
    [
      "429 that speaks of tokens",
      Model.refusal(429, "This request would exceed your limit of 30000 input tokens per minute.")
    ],
    ["529", Model.refusal(529, "overloaded")],
    ["503", Model.refusal(503, "try again")]
  ] as const)("%s is no overflow: nothing is compacted, and who asks again has asked once", ([, busy]) => {
    const model = Model.ofReplies(busy, busy, [text("Done.")])
    return run(
      Effect.gen(function* () {
        const chat = yield* SessionChat.fromPrompt(turns(3))
        const before = (yield* stored(chat.key)).tree.entries
        expect(yield* Effect.flip(chat.generateText({ prompt: "Do it." }))).toEqual(busy)
        expect(yield* Effect.flip(Stream.runDrain(chat.streamText({ prompt: "Do it." })))).toEqual(busy)
        const failed = yield* stored(chat.key)
        expect(compactions(failed)).toBe(0)
        expect(failed.tree.entries.slice(0, before.length)).toEqual(before)
        yield* chat.generateText({ prompt: "Do it." })
        const { prompt } = model.requests[2] ?? { prompt: undefined }
        expect(prompt?.content.map(({ role }) => role)).toEqual([...turns(3).map(({ role }) => role), "user"])
      }),
      model,
      wide
    )
  })

  it.effect("when a summary is asked for does not hold the chat up, and is not asked at every turn", () =>
    Effect.gen(function* () {
      const error = new Llm.LlmBadRequest({ model: "scripted/model", detail: "not now" })
      const summaries = yield* ScriptedLlm.make({ reply: () => ScriptedLlm.fails(error) })
      const model = Model.ofReplies([text("Done.")])
      yield* run(
        Effect.gen(function* () {
          const chat = yield* SessionChat.fromPrompt(turns(9))
          yield* chat.generateText({ prompt: "Do it." })
          const asked = (yield* summaries.requests).length
          expect(asked).toBeGreaterThan(0)
          yield* chat.generateText({ prompt: "And on." })
          expect(yield* summaries.requests).toHaveLength(asked)
          const after = yield* stored(chat.key)
          expect(after.tree.entries.map(({ type }) => type)).toEqual(Array.from({ length: 22 }, () => "message"))
        }),
        model,
        sizes,
        Layer.provide(Summarizer.layerLlm, summaries.layer)
      )
    })
  )
})

describe("two compactions at once", () => {
  it.effect("by hand and by itself write one", () =>
    Effect.gen(function* () {
      const { begun, layer, release } = yield* held
      const model = Model.ofReplies([text("Done.")])
      yield* run(
        Effect.gen(function* () {
          const chat = yield* SessionChat.fromPrompt(turns(9))
          const { compact } = yield* Compaction.Compaction
          const byHand = yield* Effect.fork(compact(chat.key))
          yield* begun
          const asking = yield* Effect.fork(chat.generateText({ prompt: "Do it." }))
          yield* Effect.yieldNow()
          yield* release
          expect((yield* Fiber.join(byHand))._tag).toBe("Compacted")
          yield* Fiber.join(asking)
          const after = yield* stored(chat.key)
          expect(compactions(after)).toBe(1)
          expect(said(after).filter((message) => isQuestion(message, "Do it."))).toHaveLength(1)
        }),
        model,
        sizes,
        layer
      )
    })
  )
})

const isQuestion = (message: Message.Message, question: string): boolean =>
  message.role === "user" && JSON.stringify(message.content).includes(question)

describe("what is said while the session is compacted", () => {
  it.effect("by another chat of it is in the context once", () =>
    Effect.gen(function* () {
      const { begun, layer, release } = yield* held
      const model = Model.ofReplies([text("Done.")])
      yield* run(
        Effect.gen(function* () {
          const chat = yield* SessionChat.fromPrompt(turns(5))
          const other = yield* SessionChat.resume(chat.key)
          const compacting = yield* Effect.fork(chat.compact())
          yield* begun
          yield* other.generateText({ prompt: "Meanwhile." })
          yield* release
          expect((yield* Fiber.join(compacting))._tag).toBe("Compacted")
          yield* chat.generateText({ prompt: "And then?" })
          const seen = context(yield* stored(chat.key))
          expect(seen.filter((message) => isQuestion(message, "Meanwhile."))).toHaveLength(1)
          expect(JSON.stringify(model.requests.at(-1)?.prompt).split("Meanwhile.")).toHaveLength(2)
        }),
        model,
        sizes,
        layer
      )
    })
  )
})

describe("somebody who goes to another branch", () => {
  it.effect("while a call is under way is told that it is; the result stays with its call", () =>
    Effect.gen(function* () {
      const begun = yield* Deferred.make<void>()
      const release = yield* Deferred.make<void>()
      const tools = Tools.toLayer({
        look: () =>
          Deferred.succeed(begun, undefined).pipe(Effect.zipRight(Deferred.await(release)), Effect.as({ found: "42" }))
      })
      const model = Model.ofReplies([call("c1", "look", { at: "a" })], [text("Done.")])
      yield* run(
        Effect.gen(function* () {
          const chat = yield* SessionChat.fromPrompt(turns(2))
          const target = (yield* chat.session).tree.entries[1]?.id ?? ""
          const asking = yield* Effect.fork(chat.generateText({ prompt: "Look.", toolkit: Tools }))
          yield* Deferred.await(begun)
          expect((yield* Effect.flip(chat.navigate(target)))._tag).toBe("Busy")
          yield* (yield* SessionChat.resume(chat.key)).navigate(target)
          yield* Deferred.succeed(release, undefined)
          yield* Fiber.join(asking)
          const { tree } = yield* stored(chat.key)
          const result = tree.entries.find((entry) => entry.type === "message" && entry.message.role === "toolResult")
          const parent = tree.entries.find(({ id }) => id === result?.parentId)
          expect(parent).toMatchObject({ message: { role: "assistant", content: [{ id: "c1" }] } })
        }).pipe(Effect.provide(tools)),
        model,
        wide
      )
    })
  )

  it.effect("after a compaction, of which only the context was read, does not take a reply along", () =>
    run(
      Effect.gen(function* () {
        // Smaller files are read whole.
        const large = { role: "user" as const, content: [{ type: "text" as const, text: "word ".repeat(600_000) }] }
        const chat = yield* SessionChat.fromPrompt([large, ...turns(5)], { model: "maker/large" })
        yield* chat.generateText({ prompt: "Begin." })
        yield* chat.compact({ keepRecentTokens: 100 })
        const compaction = (yield* chat.session).tree.leafId ?? ""
        yield* chat.generateText({ prompt: "Do it." })
        const auto = yield* AutoCompaction.AutoCompaction
        const session = yield* auto.open(chat.key)
        const { leafId } = session.session().tree
        yield* (yield* SessionChat.resume(chat.key)).navigate(compaction)
        yield* session.refresh
        expect(session.session().tree.isPart).toBe(true)
        const late: NewEntry.Body = { type: "message", message: { role: "user", content: "Late." } }
        const [entry] = yield* session.append([late], { onBranchOf: leafId ?? "" })
        expect(entry?.parentId).toBe(leafId)
        const [next] = yield* session.append([late], { onBranchOf: leafId ?? "" })
        expect(next?.parentId).toBe(entry?.id)
      }),
      Model.ofReplies([text("Done.")]),
      wide
    )
  )

  it.effect("while the session is compacted is told that it is", () =>
    Effect.gen(function* () {
      const { begun, layer, release } = yield* held
      yield* run(
        Effect.gen(function* () {
          const chat = yield* SessionChat.fromPrompt(turns(5))
          const target = (yield* chat.session).tree.entries[1]?.id ?? ""
          const compacting = yield* Effect.fork(chat.compact())
          yield* begun
          expect((yield* Effect.flip(chat.navigate(target)))._tag).toBe("Busy")
          expect((yield* Effect.flip((yield* SessionChat.resume(chat.key)).navigate(target)))._tag).toBe("Busy")
          yield* release
          expect((yield* Fiber.join(compacting))._tag).toBe("Compacted")
          yield* chat.navigate(target)
          expect(yield* Ref.get(chat.history)).toMatchObject({ content: [{ role: "user" }, { role: "assistant" }] })
        }),
        Model.ofReplies([text("Done.")]),
        sizes,
        layer
      )
    })
  )
})
