import * as SessionChat from "@cutpoint/ai/SessionChat"
import * as SessionStore from "@cutpoint/compaction/SessionStore"
import * as SessionTree from "@cutpoint/core/SessionTree"
import * as Model from "@cutpoint/testing/ScriptedLanguageModel"
import { ProviderName } from "@effect/ai/Model"
import * as Prompt from "@effect/ai/Prompt"
import { describe, expect, it } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Ref from "effect/Ref"
import * as Stream from "effect/Stream"
import { context, inMemory, onFiles, over, said, sizes, stored, Tools } from "./services.js"

const { call, text } = Model
const tooLarge = Model.tooLarge(9000, 8000)

const looking = Tools.toLayer({ look: ({ at }) => Effect.succeed({ found: `${at} says 42` }) })

/** Replies in turn, and the last one from then on. */
const replying = (...replies: ReadonlyArray<ReturnType<Model.Options["reply"]>>) =>
  Model.make({ reply: (_, index) => replies[Math.min(index, replies.length - 1)] ?? [] })

describe("what is stored", () => {
  it.effect("is what was said, as other programs of sessions expect it, once and in order", () => {
    const model = replying(
      [
        { type: "response-metadata", modelId: "large-1" },
        { type: "reasoning", text: "Hm." },
        text("I look."),
        call("c1", "look", { at: "a.ts", since: "2026-01-01T00:00:00.000Z" })
      ],
      [text("42.")]
    )
    return Effect.gen(function* () {
      const chat = yield* SessionChat.fromPrompt([{ role: "system", content: "be brief" }], { cwd: "/w" })
      yield* chat.generateText({ prompt: "what does it say?", toolkit: Tools })
      yield* chat.generateText({ prompt: Prompt.empty, toolkit: Tools })
      const session = yield* stored(chat.key)
      expect(session.tree.header).toMatchObject({ type: "session", version: 3, cwd: "/w" })
      expect(said(session)).toMatchObject([
        { role: "system", content: "be brief" },
        { role: "user", content: "what does it say?" },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "Hm." },
            { type: "text", text: "I look." },
            { type: "toolCall", id: "c1", name: "look", arguments: { at: "a.ts", since: "2026-01-01T00:00:00.000Z" } }
          ],
          provider: "acme",
          model: "large-1",
          stopReason: "toolUse",
          usage: { totalTokens: expect.any(Number) }
        },
        {
          role: "toolResult",
          toolCallId: "c1",
          toolName: "look",
          content: [{ type: "text", text: '{"found":"a.ts says 42"}' }],
          isError: false
        },
        { role: "assistant", content: [{ type: "text", text: "42." }], stopReason: "stop" }
      ])
      expect(session.diagnostics).toEqual([])
    }).pipe(Effect.provide(Layer.mergeAll(model.layer, looking, Layer.succeed(ProviderName, "acme"), onFiles())))
  })

  it.effect("comes back to the provider as it was, after a restart too: signatures, options, files, results", () => {
    const bytes = new Uint8Array([1, 2, 254, 255])
    const model = replying([
      { type: "reasoning", text: "Hm.", metadata: { acme: { signature: "s1g" } } },
      { type: "file", mediaType: "application/pdf", data: "AQL+/w==" },
      text("Seen.")
    ])
    const prompt = Prompt.make([
      {
        role: "user",
        options: { acme: { cache: true } },
        content: [
          { type: "text", text: "look at these", options: { acme: { cache: "short" } } },
          { type: "file", mediaType: "image/png", data: bytes },
          { type: "file", mediaType: "application/pdf", fileName: "a.pdf", data: bytes },
          { type: "file", mediaType: "image/png", data: "file-1234" },
          { type: "file", mediaType: "image/png", data: new URL("https://x.test/a.png") }
        ]
      }
    ])
    return Effect.gen(function* () {
      const chat = yield* SessionChat.empty
      yield* Stream.runDrain(chat.streamText({ prompt }))
      yield* (yield* SessionChat.resume(chat.key)).generateText({ prompt: "and?" })
      const [user, assistant] = model.requests[1]?.prompt.content ?? []
      expect(user).toEqual(prompt.content[0])
      expect(assistant?.content).toMatchObject([
        { type: "reasoning", text: "Hm.", options: { acme: { signature: "s1g" } } },
        { type: "file", mediaType: "application/pdf", data: bytes },
        { type: "text", text: "Seen." }
      ])
      const image = said(yield* stored(chat.key))[0]?.role === "user" ? said(yield* stored(chat.key))[0] : undefined
      expect(image).toMatchObject({
        content: expect.arrayContaining([{ type: "image", mimeType: "image/png", data: "AQL+/w==" }])
      })
    }).pipe(Effect.provide(Layer.merge(model.layer, onFiles())))
  })

  it.effect("keeps a tool's failure as a result that failed, without what its error says", () => {
    const model = replying([call("c1", "look", { at: "a.ts" })], [text("So be it.")])
    const failing = Tools.toLayer({ look: () => Effect.fail("the secret of the program") })
    return Effect.gen(function* () {
      const chat = yield* SessionChat.empty
      const exit = yield* Effect.exit(chat.generateText({ prompt: "look", toolkit: Tools }))
      expect(exit).toEqual(Exit.fail("the secret of the program"))
      yield* chat.generateText({ prompt: "go on", toolkit: Tools })
      const session = yield* stored(chat.key)
      expect(said(session)[2]).toMatchObject({ role: "toolResult", toolCallId: "c1", isError: true })
      expect(JSON.stringify(session.tree.entries)).not.toContain("secret")
    }).pipe(Effect.provide(Layer.mergeAll(model.layer, failing, onFiles())))
  })

  it.effect("leaves results to those who want to give them themselves", () => {
    const model = replying([call("c1", "look", { at: "a.ts" })], [text("I see.")])
    return Effect.gen(function* () {
      const chat = yield* SessionChat.empty
      yield* chat.generateText({ prompt: "look", toolkit: Tools, disableToolCallResolution: true })
      const result = { type: "tool-result", id: "c1", name: "look", isFailure: false, result: "by hand" } as const
      yield* chat.generateText({ prompt: [{ role: "tool", content: [{ ...result, providerExecuted: false }] }] })
      expect(said(yield* stored(chat.key)).map(({ role }) => role)).toEqual([
        "user",
        "assistant",
        "toolResult",
        "assistant"
      ])
      expect(model.requests[1]?.prompt.content[2]?.content).toMatchObject([{ id: "c1", result: "by hand" }])
    }).pipe(Effect.provide(Layer.mergeAll(model.layer, looking, inMemory())))
  })
})

describe("a request that fails", () => {
  it.effect("keeps the question, tells the error as it came, and no key of it is stored", () => {
    const refused = Model.refusal(401, "wrong key sk-KEYMARKER-1234567890")
    const model = replying(refused, [text("yes")])
    return Effect.gen(function* () {
      const chat = yield* SessionChat.empty
      expect(yield* Effect.flip(chat.generateText({ prompt: "you there?" }))).toEqual(refused)
      yield* chat.generateText({ prompt: "and now?" })
      expect(model.requests[1]?.prompt.content.map(({ role }) => role)).toEqual(["user", "user"])
      const session = yield* stored(chat.key)
      expect(said(session)[1]).toMatchObject({ role: "assistant", stopReason: "error", content: [] })
      expect(JSON.stringify(session.tree.entries)).not.toContain("KEYMARKER")
    }).pipe(Effect.provide(Layer.merge(model.layer, onFiles())))
  })

  it.effect("in the session is an error of the model's kind, with its own as the cause", () => {
    const model = replying([text("yes")])
    return Effect.gen(function* () {
      const store = yield* SessionStore.SessionStore
      const isFull = yield* Ref.make(false)
      const full = SessionStore.SessionStore.of({
        ...store,
        append: (session, entries) =>
          Effect.flatMap(Ref.get(isFull), (full) =>
            full
              ? Effect.fail(new SessionStore.AppendFailed({ key: session.key, cause: new Error("ENOSPC") }))
              : store.append(session, entries)
          )
      })
      yield* Effect.gen(function* () {
        const chat = yield* SessionChat.empty
        yield* Ref.set(isFull, true)
        const error = yield* Effect.flip(chat.generateText({ prompt: "you there?" }))
        expect(error).toMatchObject({ _tag: "UnknownError", module: "SessionChat", cause: { _tag: "AppendFailed" } })
        expect(model.requests).toEqual([])
        yield* Ref.set(isFull, false)
        yield* chat.generateText({ prompt: "and now?" })
        expect(said(yield* stored(chat.key)).map(({ role }) => role)).toEqual(["user", "assistant"])
      }).pipe(Effect.provide(Layer.fresh(inMemoryOver(full))))
    }).pipe(Effect.provide(Layer.merge(model.layer, SessionStore.layerMemory())))
  })
})

describe("an interruption", () => {
  it.effect("in the middle of a stream keeps what was said, as aborted", () =>
    Effect.gen(function* () {
      const reached = yield* Deferred.make<void>()
      const model = Model.make({
        reply: () => [text("one two three four")],
        before: (part) =>
          part.type === "text-delta" && part.delta.includes("three")
            ? Effect.zipRight(Deferred.succeed(reached, undefined), Effect.never)
            : Effect.void
      })
      yield* Effect.gen(function* () {
        const chat = yield* SessionChat.empty
        const running = yield* Effect.fork(Stream.runDrain(chat.streamText({ prompt: "count" })))
        yield* Deferred.await(reached)
        yield* Fiber.interrupt(running)
        expect(said(yield* stored(chat.key))).toMatchObject([
          { role: "user" },
          { role: "assistant", stopReason: "aborted", content: [{ type: "text", text: "one two " }] }
        ])
        expect((yield* Ref.get(chat.history)).content).toHaveLength(2)
      }).pipe(Effect.provide(Layer.merge(model.layer, onFiles())))
    })
  )

  it.effect("by one who has heard enough of a stream does the same", () => {
    const model = replying([text("one two three four")])
    return Effect.gen(function* () {
      const chat = yield* SessionChat.empty
      yield* Stream.runDrain(Stream.take(chat.streamText({ prompt: "count" }), 2))
      expect(said(yield* stored(chat.key))[1]).toMatchObject({ stopReason: "aborted" })
      yield* chat.generateText({ prompt: "go on" })
      expect(model.requests).toHaveLength(2)
    }).pipe(Effect.provide(Layer.merge(model.layer, inMemory())))
  })

  it.effect("while tools run keeps the calls and the results that were there; the others are said to be missing", () =>
    Effect.gen(function* () {
      const begun = yield* Deferred.make<void>()
      const tools = Tools.toLayer({
        look: ({ at }) =>
          at === "b" ? Effect.zipRight(Deferred.succeed(begun, undefined), Effect.never) : Effect.succeed({ found: at })
      })
      const model = replying([call("c1", "look", { at: "a" }), call("c2", "look", { at: "b" })], [text("I see.")])
      yield* Effect.gen(function* () {
        const chat = yield* SessionChat.empty
        const running = yield* Effect.fork(chat.generateText({ prompt: "look", toolkit: Tools }))
        yield* Deferred.await(begun)
        yield* Fiber.interrupt(running)
        expect(said(yield* stored(chat.key)).map(({ role }) => role)).toEqual(["user", "assistant", "toolResult"])
        yield* (yield* SessionChat.resume(chat.key)).generateText({ prompt: "go on", toolkit: Tools })
        const results = model.requests[1]?.prompt.content.flatMap(({ content, role }) =>
          role === "tool" ? [...content] : []
        )
        expect(results).toMatchObject([
          { id: "c1", result: { found: "a" }, isFailure: false },
          { id: "c2", result: "This call got no result.", isFailure: true }
        ])
      }).pipe(Effect.provide(Layer.mergeAll(model.layer, tools, onFiles())))
    })
  )

  it.effect("of one who waits for another call ends the waiting, and holds nobody up", () =>
    Effect.gen(function* () {
      const begun = yield* Deferred.make<void>()
      const model = replying(Effect.zipRight(Deferred.succeed(begun, undefined), Effect.never), [text("yes")])
      yield* Effect.gen(function* () {
        const chat = yield* SessionChat.empty
        const first = yield* Effect.fork(chat.generateText({ prompt: "one" }))
        yield* Deferred.await(begun)
        const second = yield* Effect.fork(Stream.runDrain(chat.streamText({ prompt: "two" })))
        yield* Effect.yieldNow()
        expect(Exit.isInterrupted(yield* Fiber.interrupt(second))).toBe(true)
        yield* Fiber.interrupt(first)
        yield* chat.generateText({ prompt: "three" })
        expect(said(yield* stored(chat.key)).filter(({ role }) => role === "user")).toHaveLength(2)
      }).pipe(Effect.provide(Layer.merge(model.layer, inMemory())))
    })
  )
})

describe("several at once", () => {
  it.effect("are answered one after the other, each with its own question before it", () => {
    const model = replying([text("yes")])
    return Effect.gen(function* () {
      const chat = yield* SessionChat.empty
      const ask = (n: number) =>
        n % 2 === 0
          ? Effect.asVoid(chat.generateText({ prompt: `question ${n}` }))
          : Stream.runDrain(chat.streamText({ prompt: `question ${n}` }))
      yield* Effect.forEach(
        Array.from({ length: 10 }, (_, n) => n),
        ask,
        { concurrency: "unbounded" }
      )
      const roles = said(yield* stored(chat.key)).map(({ role }) => role)
      expect(roles).toEqual(Array.from({ length: 10 }, () => ["user", "assistant"]).flat())
    }).pipe(Effect.provide(Layer.merge(model.layer, onFiles())))
  })

  it.effect("tools that run side by side all have their results stored", () => {
    const calls = Array.from({ length: 8 }, (_, n) => call(`c${n}`, "look", { at: `${n}` }))
    const model = replying(calls)
    return Effect.gen(function* () {
      const chat = yield* SessionChat.empty
      yield* chat.generateText({ prompt: "look", toolkit: Tools, concurrency: "unbounded" })
      expect(said(yield* stored(chat.key)).filter(({ role }) => role === "toolResult")).toHaveLength(8)
    }).pipe(Effect.provide(Layer.mergeAll(model.layer, looking, onFiles())))
  })
})

describe("a request that the provider finds too large", () => {
  const long = "word ".repeat(2000)
  const small = { ...sizes, cutpoint: { ...sizes.cutpoint, contextWindow: 100_000 } }

  it.effect.each(["text", "stream"] as const)(
    "as a %s is made once more after a compaction, and nothing of it is seen",
    (how) => {
      const model = Model.make({ window: 6000, reply: () => [text("yes")] })
      return Effect.gen(function* () {
        const chat = yield* SessionChat.empty
        const ask = (prompt: string) =>
          how === "text"
            ? Effect.asVoid(chat.generateText({ prompt }))
            : Effect.map(Stream.runCollect(chat.streamText({ prompt })), (parts) =>
                expect(Chunk.toReadonlyArray(parts).at(-1)?.type).toBe("finish")
              )
        yield* Effect.forEach([1, 2, 3], (n) => ask(`${n} ${long}`))
        expect(model.requests.map(({ isRefused }) => isRefused)).toEqual([false, false, true, false])
        const session = yield* stored(chat.key)
        const types = session.tree.entries.map(({ type }) => type)
        expect(types.filter((type) => type === "context_edit" || type === "compaction")).toEqual([
          "context_edit",
          "compaction"
        ])
        expect(
          context(session).filter((message) => message.role === "assistant" && message.stopReason === "error")
        ).toEqual([])
      }).pipe(Effect.provide(Layer.merge(model.layer, onFiles(small))))
    }
  )

  it.effect("again after the compaction is not made a third time", () => {
    const model = Model.make({ reply: () => tooLarge })
    return Effect.gen(function* () {
      const turns = ["1", "2", "3"].map((n) => ({
        role: "user" as const,
        content: [{ type: "text" as const, text: n + long }]
      }))
      const chat = yield* SessionChat.fromPrompt(turns)
      for (let round = 1; round <= 3; round++) {
        expect(yield* Effect.flip(chat.generateText({ prompt: "?" }))).toEqual(tooLarge)
      }
      expect(model.requests).toHaveLength(4)
    }).pipe(Effect.provide(Layer.merge(model.layer, inMemory(small))))
  })
})

describe("a branch", () => {
  it.effect("is gone to by navigate, and what follows goes there", () => {
    const model = replying([text("yes")])
    return Effect.gen(function* () {
      const chat = yield* SessionChat.empty
      yield* chat.generateText({ prompt: "one" })
      const before = (yield* chat.session).tree.leafId ?? ""
      yield* chat.generateText({ prompt: "two" })
      yield* chat.navigate(before)
      expect((yield* Ref.get(chat.history)).content).toHaveLength(2)
      yield* chat.generateText({ prompt: "three" })
      expect(said(yield* stored(chat.key)).filter(({ role }) => role === "user")).toMatchObject([
        { content: "one" },
        { content: "three" }
      ])
    }).pipe(Effect.provide(Layer.merge(model.layer, onFiles())))
  })

  it.effect("that history is set to leaves what was before where it was", () => {
    const model = replying([text("yes")])
    return Effect.gen(function* () {
      const chat = yield* SessionChat.empty
      yield* chat.generateText({ prompt: "one" })
      const before = (yield* chat.session).tree.leafId
      yield* Ref.set(chat.history, Prompt.make("another beginning"))
      yield* chat.generateText({ prompt: "two" })
      const session = yield* stored(chat.key)
      expect(said(session)).toHaveLength(3)
      expect(SessionTree.path(session.tree, before)).toHaveLength(2)
    }).pipe(Effect.provide(Layer.merge(model.layer, onFiles())))
  })
})

const inMemoryOver = (store: SessionStore.Service) => over(Layer.succeed(SessionStore.SessionStore, store))
