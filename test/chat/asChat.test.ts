/** Where a chat of a session could be told from one of `@effect/ai`, and is not. */
import * as SessionChat from "@cutpoint/ai/SessionChat"
import * as Model from "@cutpoint/testing/ScriptedLanguageModel"
import * as PromptLaws from "@cutpoint/testing/PromptLaws"
import * as Chat from "@effect/ai/Chat"
import type * as LanguageModel from "@effect/ai/LanguageModel"
import * as Prompt from "@effect/ai/Prompt"
import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ParseResult from "effect/ParseResult"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { inMemory } from "./services.js"

const { call, text } = Model

/** Arguments that decoding changes, so that encoding does not bring them back, or cannot. */
const Loud = Schema.transform(Schema.String, Schema.String, {
  strict: true,
  decode: (text) => `${text}!`,
  encode: (text) => text
})
const Length = Schema.transformOrFail(Schema.String, Schema.Number, {
  strict: true,
  decode: (text) => ParseResult.succeed(text.length),
  encode: (number, _, ast) => ParseResult.fail(new ParseResult.Forbidden(ast, number, "there is no way back"))
})

const toolkit = Toolkit.make(
  Tool.make("loud", { parameters: { of: Loud }, success: Schema.String }),
  Tool.make("length", { parameters: { of: Length }, success: Schema.Number }),
  Tool.make("nothing")
)

const handlers = toolkit.toLayer({
  loud: ({ of }) => Effect.succeed(of),
  length: ({ of }) => Effect.succeed(of),
  nothing: () => Effect.void
})

type Step = (chat: Chat.Service) => Effect.Effect<unknown, unknown, LanguageModel.LanguageModel | Handlers>
type Handlers = Layer.Layer.Success<typeof handlers>

const asks =
  (prompt: Prompt.RawInput = []): Step =>
  (chat) =>
    Effect.map(chat.generateText({ prompt, toolkit }), ({ content }) => content)

const streams =
  (prompt: Prompt.RawInput = []): Step =>
  (chat) =>
    Stream.runCollect(chat.streamText({ prompt, toolkit }))

const untilFinish: Step = (chat) =>
  Stream.runDrain(Stream.takeUntil(chat.streamText({ prompt: "Go.", toolkit }), (part) => part.type === "finish"))

const cached = { anthropic: { cacheControl: { type: "ephemeral" } } }
const several: Prompt.RawInput = [
  {
    role: "user",
    content: [
      { type: "text", text: "The file." },
      { type: "text", text: "The question.", options: cached }
    ]
  }
]

/** What the model is to be sent in the end: roles and contents, without empty options. */
const seen = ({ content }: Prompt.Prompt) =>
  content.map(({ content, role }) => [role, typeof content === "string" ? content : content.map(said)])

/** Arguments are left out: a session has them as the model wrote them, a chat as they were decoded. */
const said = (part: Prompt.Part) => [
  part.type,
  "text" in part ? part.text : "id" in part ? part.id : part.mediaType,
  part.options,
  part.type === "tool-result" ? (part.result ?? null) : undefined
]

/** What a model was sent while a chat took these steps, and the history after them. */
const told = (
  make: Effect.Effect<Chat.Service, unknown, SessionChat.Services>,
  replies: readonly [Model.Reply, ...ReadonlyArray<Model.Reply>],
  steps: ReadonlyArray<Step>
) =>
  Effect.suspend(() => {
    const model = Model.ofReplies(...replies)
    return Effect.gen(function* () {
      const chat = yield* make
      for (const step of steps) yield* step(chat)
      for (const { prompt } of model.requests) PromptLaws.pairsAreWhole(prompt)
      return [...model.requests.map(({ prompt }) => prompt), yield* Ref.get(chat.history)].map(seen)
    }).pipe(Effect.provide(Layer.mergeAll(inMemory(), model.layer, handlers)))
  })

const rows: ReadonlyArray<
  readonly [string, readonly [Model.Reply, ...ReadonlyArray<Model.Reply>], ReadonlyArray<Step>]
> = [
  ["several texts, with options", [[text("One."), text("Two.")]], [asks(several), asks("And?")]],
  [
    "one text with options",
    [[text("Yes.")]],
    [asks([{ role: "user", content: [{ type: "text", text: "?", options: cached }] }])]
  ],
  ["arguments that encoding changes", [[call("c1", "loud", { of: "hey" })], [text("Done.")]], [asks("Go."), asks()]],
  ["the same, streamed", [[call("c1", "loud", { of: "hey" })], [text("Done.")]], [streams("Go."), streams()]],
  ["arguments without a way back", [[call("c1", "length", { of: "hey" })], [text("Done.")]], [asks("Go."), streams()]],
  [
    "numbers and nothing as results of several calls",
    [
      [call("c1", "length", { of: "a" }), call("c2", "nothing", {}), call("c3", "length", { of: "b" })],
      [text("Done.")]
    ],
    [asks("Go."), asks()]
  ],
  [
    "a stream that is heard until its finish",
    [[{ type: "reasoning", text: "Hm." }, text("I look."), call("c1", "loud", { of: "hey" })], [text("Done.")]],
    [untilFinish, asks()]
  ],
  [
    "a history that is cleared",
    [[text("Yes.")]],
    [asks("A secret."), ({ history }) => Ref.set(history, Prompt.make("Anew.")), asks("Go on.")]
  ],
  [
    "a history that is set, and toolkits that fail before anything is asked",
    [[text("Yes.")]],
    [
      asks("Old."),
      ({ history }) => Ref.set(history, Prompt.make("New.")),
      (chat) => Effect.ignore(chat.generateText({ prompt: "?", toolkit: Effect.fail("no tools") })),
      asks("Go on.")
    ]
  ],
  [
    "texts that come under an id that was used before",
    [
      [{ type: "text", text: "First." }, call("c1", "loud", { of: "hey" }), { type: "text", text: "Second." }],
      [text("Done.")]
    ],
    [streams("Go."), asks()]
  ]
]

describe("the same is sent and remembered by both chats:", () => {
  it.effect.each(rows)("%s", ([, replies, steps]) =>
    Effect.gen(function* () {
      expect(yield* told(SessionChat.empty, replies, steps)).toEqual(yield* told(Chat.empty, replies, steps))
    })
  )
})

describe("a chat of a session", () => {
  const run = <A, E>(
    model: Model.ScriptedLanguageModel,
    effect: Effect.Effect<A, E, SessionChat.Services | LanguageModel.LanguageModel | Handlers>
  ) => Effect.provide(effect, Layer.mergeAll(inMemory(), model.layer, handlers))

  it.effect("keeps arguments as the model wrote them", () => {
    const model = Model.ofReplies([call("c1", "loud", { of: "hey", more: 1 })], [text("Done.")])
    return run(
      model,
      Effect.gen(function* () {
        const chat = yield* SessionChat.empty
        const { toolCalls, toolResults } = yield* chat.generateText({ prompt: "Go.", toolkit })
        expect(toolCalls).toMatchObject([{ params: { of: "hey!" } }])
        expect(toolResults).toMatchObject([{ result: "hey!" }])
        yield* chat.generateText({ prompt: [], toolkit })
        expect(model.requests[1]?.prompt.content[1]?.content).toMatchObject([{ params: { of: "hey", more: 1 } }])
      })
    )
  })

  it.effect.each([
    ["a tool that is not offered", call("c1", "other", {}), /'other'.*loud, length, nothing/],
    ["other arguments", call("c1", "loud", { off: 1 }), /'loud'.*\{"off":1\}/]
  ] as const)("says which call it is that asks for %s", ([, asked, description]) =>
    run(
      Model.ofReplies([asked]),
      Effect.gen(function* () {
        const chat = yield* SessionChat.empty
        const error = yield* Effect.flip(chat.generateText({ prompt: "Go.", toolkit }))
        expect(error).toMatchObject({ _tag: "MalformedOutput", description: expect.stringMatching(description) })
      })
    )
  )

  it.effect("makes its tools once for a call", () =>
    run(
      Model.ofReplies([text("Yes.")]),
      Effect.gen(function* () {
        let made = 0
        const chat = yield* SessionChat.empty
        yield* chat.generateText({ prompt: "Go.", toolkit: Effect.tap(toolkit, () => Effect.sync(() => made++)) })
        expect(made).toBe(1)
      })
    )
  )

  it.effect("takes a result that comes by its history for one of its own", () => {
    const model = Model.ofReplies([call("c1", "loud", { of: "hey" })], [text("Done.")])
    const result = { type: "tool-result", id: "c1", name: "loud", isFailure: false, result: "REAL" } as const
    return run(
      model,
      Effect.gen(function* () {
        const chat = yield* SessionChat.empty
        yield* chat.generateText({ prompt: "Go.", toolkit, disableToolCallResolution: true })
        yield* Ref.update(
          chat.history,
          Prompt.merge([{ role: "tool", content: [{ ...result, providerExecuted: false }] }])
        )
        yield* chat.generateText({ prompt: [], toolkit })
        const results = model.requests[1]?.prompt.content.filter(({ role }) => role === "tool")
        expect(results).toMatchObject([{ content: [{ id: "c1", result: "REAL", isFailure: false }] }])
      })
    )
  })

  it.effect("exports what it was given, and goes on from that", () =>
    run(
      Model.ofReplies([text("Yes.")]),
      Effect.gen(function* () {
        const chat = yield* SessionChat.fromPrompt(several)
        const other = yield* SessionChat.fromExport(yield* chat.export)
        expect(yield* Ref.get(other.history)).toEqual(yield* Ref.get(chat.history))
        expect(yield* other.exportJson).toBe(yield* chat.exportJson)
        expect(yield* chat.exportJson).toContain("The question.")
      })
    )
  )
})
