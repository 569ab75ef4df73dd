/** A chat whose session others write to as well, whose history is set, or whose helpers fail. */
import * as SessionChat from "@cutpoint/ai/SessionChat"
import * as AutoCompaction from "@cutpoint/compaction/AutoCompaction"
import * as SessionStore from "@cutpoint/compaction/SessionStore"
import * as Summarizer from "@cutpoint/compaction/Summarizer"
import * as Model from "@cutpoint/testing/ScriptedLanguageModel"
import type * as LanguageModel from "@effect/ai/LanguageModel"
import * as Prompt from "@effect/ai/Prompt"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Ref from "effect/Ref"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/TestClock"
import { compactions, onFiles, over, run, said, sizes, stored, turns, wide } from "./services.js"

const { text } = Model

const yes = () => Model.ofReplies([text("Yes.")])

/** The texts of a prompt's messages. */
const textsOf = ({ content }: Prompt.Prompt) =>
  content.map(({ content }) =>
    typeof content === "string"
      ? content
      : content.map((part) => (part.type === "text" ? part.text : part.type)).join("")
  )

const lastOf = (model: Model.ScriptedLanguageModel) => textsOf(model.requests.at(-1)?.prompt ?? Prompt.empty)

describe("another chat of the same session", () => {
  it.effect("is heard by one that has nothing to say", () => {
    const model = yes()
    return run(
      Effect.gen(function* () {
        const chat = yield* SessionChat.fromPrompt("Hello.")
        const other = yield* SessionChat.resume(chat.key)
        yield* other.generateText({ prompt: "By the other." })
        yield* chat.generateText({ prompt: [] })
        expect(lastOf(model)).toEqual(["Hello.", "By the other.", "Yes."])
      }),
      model
    )
  })

  it.effect("is heard before a question that failed is asked again", () => {
    const model = Model.ofReplies(Model.refusal(500, "down"), [text("Yes.")])
    return run(
      Effect.gen(function* () {
        const chat = yield* SessionChat.fromPrompt("Hello.")
        yield* Effect.flip(chat.generateText({ prompt: "Again?" }))
        yield* (yield* SessionChat.resume(chat.key)).generateText({ prompt: "By the other." })
        yield* chat.generateText({ prompt: "Again?" })
        expect(lastOf(model)).toEqual(["Hello.", "Again?", "By the other.", "Yes.", "Again?"])
      }),
      model
    )
  })

  it.effect("has gone elsewhere: the chat goes along, and what it says is said there", () => {
    const model = yes()
    return run(
      Effect.gen(function* () {
        const chat = yield* SessionChat.fromPrompt(turns(2))
        const target = (yield* chat.session).tree.entries[1]?.id ?? ""
        yield* (yield* SessionChat.resume(chat.key)).navigate(target)
        yield* chat.generateText({ prompt: [] })
        expect(model.requests[0]?.prompt.content).toHaveLength(2)
        expect(said(yield* stored(chat.key))).toHaveLength(3)
      }),
      model
    )
  })

  it.effect("has compacted it: what is sent is what is left", () => {
    const model = yes()
    return run(
      Effect.gen(function* () {
        const chat = yield* SessionChat.fromPrompt(turns(6))
        yield* (yield* SessionChat.resume(chat.key)).compact()
        yield* chat.generateText({ prompt: [] })
        expect(model.requests[0]?.tokens).toBeLessThan(6 * 1500)
      }),
      model,
      wide
    )
  })

  it.live("takes turns with it, and nothing of either is lost", () => {
    const model = yes()
    return run(
      Effect.gen(function* () {
        const one = yield* SessionChat.empty
        const chats = [one, yield* SessionChat.resume(one.key), yield* SessionChat.resume(one.key)]
        const talk = (chat: SessionChat.Service, who: number) =>
          Effect.forEach(
            Array.from({ length: 20 }, (_, n) => n),
            (n) => chat.generateText({ prompt: `Question ${n} of ${who}.` })
          )
        yield* Effect.forEach(chats, talk, { concurrency: "unbounded" })
        const after = yield* stored(one.key)
        expect(after.tree.entries).toHaveLength(2 * 3 * 20)
        expect(after.diagnostics).toEqual([])
      }),
      model
    )
  })
})

describe("a history that was set", () => {
  /** Which appends fail, counted from 0. */
  const failing = (isFailing: (append: number) => boolean) => {
    let appends = 0
    return Layer.effect(
      SessionStore.SessionStore,
      Effect.map(SessionStore.SessionStore, (store) =>
        SessionStore.SessionStore.of({
          ...store,
          append: (session, entries) =>
            isFailing(appends++)
              ? Effect.fail(new SessionStore.AppendFailed({ key: session.key, cause: new Error("ENOSPC") }))
              : store.append(session, entries)
        })
      )
    ).pipe(Layer.provide(SessionStore.layerMemory()))
  }

  it.effect.each([0, 1])("is not lost where append %s of it fails", (n) => {
    const model = yes()
    return Effect.gen(function* () {
      const chat = yield* SessionChat.fromPrompt("Old.")
      yield* Ref.set(chat.history, Prompt.make("New."))
      expect(Either.isLeft(yield* Effect.either(chat.generateText({ prompt: "Go on." })))).toBe(true)
      yield* chat.generateText({ prompt: "Go on." })
      expect(lastOf(model)).toEqual(["New.", "Go on."])
    }).pipe(Effect.provide(Layer.merge(model.layer, over(failing((append) => append === n + 1)))))
  })

  it.effect("to nothing is nothing from then on, even where nothing is asked", () => {
    const model = yes()
    return run(
      Effect.gen(function* () {
        const chat = yield* SessionChat.fromPrompt("A secret.")
        yield* Ref.set(chat.history, Prompt.empty)
        yield* chat.generateText({ prompt: [] })
        expect(lastOf(model)).toEqual([])
        yield* (yield* SessionChat.resume(chat.key)).generateText({ prompt: "And now?" })
        expect(lastOf(model)).toEqual(["Yes.", "And now?"])
      }),
      model
    )
  })

  it.effect("is what is compacted, and what one goes away from", () =>
    run(
      Effect.gen(function* () {
        const chat = yield* SessionChat.fromPrompt("Old.")
        const old = (yield* chat.session).tree.leafId ?? ""
        yield* Ref.set(chat.history, Prompt.make(turns(6)))
        expect((yield* chat.compact())._tag).toBe("Compacted")
        expect(textsOf(yield* Ref.get(chat.history)).join(" ")).toContain("Question 5.")
        yield* Ref.set(chat.history, Prompt.make("Another."))
        yield* chat.navigate(old)
        const texts = said(yield* stored(chat.key))
        expect(texts).toHaveLength(0)
        const { entries } = (yield* stored(chat.key)).tree
        expect(JSON.stringify(entries)).toContain("Another.")
      }),
      yes(),
      wide
    )
  )

  it.effect("while a call is under way is not overwritten by its end", () => {
    const model = yes()
    return run(
      Effect.gen(function* () {
        const chat = yield* SessionChat.fromPrompt("Old.")
        yield* Stream.runForEach(chat.streamText({ prompt: "Go on." }), (part) =>
          part.type === "text-start" ? Ref.set(chat.history, Prompt.make("New.")) : Effect.void
        )
        yield* chat.generateText({ prompt: "And now?" })
        expect(lastOf(model)).toEqual(["New.", "And now?"])
      }),
      model
    )
  })
})

describe("a stream that is left at its finish", () => {
  it.effect("is stored as the complete reply that it is", () =>
    run(
      Effect.gen(function* () {
        const chat = yield* SessionChat.empty
        const finished = Stream.takeUntil(chat.streamText({ prompt: "?" }), (part) => part.type === "finish")
        yield* Stream.runDrain(finished)
        expect(said(yield* stored(chat.key))[1]).toMatchObject({
          stopReason: "stop",
          usage: { output: expect.any(Number) }
        })
      }),
      yes()
    )
  )
})

describe("a summarizer that throws", () => {
  const throwing = Layer.succeed(
    Summarizer.Summarizer,
    Summarizer.Summarizer.of({
      name: "test/throwing",
      plan: () => ({ requests: 1, mostRequests: 1, inputTokens: 0 }),
      summarize: () => {
        throw new Error("boom")
      }
    })
  )

  it.effect("does not stand in the chat's way, and is not asked again at once", () => {
    const model = yes()
    const events: Array<string> = []
    return Effect.gen(function* () {
      const auto = yield* AutoCompaction.AutoCompaction
      yield* Effect.forkScoped(Stream.runForEach(auto.events, ({ _tag }) => Effect.sync(() => events.push(_tag))))
      const chat = yield* SessionChat.fromPrompt(turns(9))
      yield* chat.generateText({ prompt: "Do it." })
      yield* chat.generateText({ prompt: "And on." })
      yield* TestClock.adjust("1 second")
      expect(model.requests).toHaveLength(2)
      expect(compactions(yield* stored(chat.key))).toBe(0)
      expect(events.slice(0, 3)).toEqual(["Started", "Failed", "Skipped"])
      expect(events.filter((event) => event === "Started")).toHaveLength(1)
    }).pipe(Effect.scoped, Effect.provide(Layer.merge(model.layer, onFiles(sizes, throwing))))
  })
})

it.effect("a model that is named during a call replies from the next call on", () => {
  const replies = (chat: Ref.Ref<SessionChat.Service | undefined>): Model.ScriptedLanguageModel =>
    Model.make({
      reply: () =>
        Effect.gen(function* () {
          yield* (yield* Ref.get(chat))?.changeModel("maker/new") ?? Effect.void
          return [text("Yes.")]
        })
    })
  return Effect.gen(function* () {
    const held = yield* Ref.make<SessionChat.Service | undefined>(undefined)
    const layer: Layer.Layer<LanguageModel.LanguageModel> = replies(held).layer
    const chat = yield* SessionChat.make({ model: "maker/old" })
    yield* Ref.set(held, chat)
    yield* chat.generateText({ prompt: "One." }).pipe(Effect.provide(layer))
    yield* chat.generateText({ prompt: "Two." }).pipe(Effect.provide(layer))
    const models = said(yield* stored(chat.key)).flatMap((message) =>
      message.role === "assistant" ? [message.model] : []
    )
    expect(models).toEqual(["old", "new"])
  }).pipe(Effect.provide(onFiles()))
})
