/**
 * A summarizer of one's own: it says in one line what was asked and which tools
 * ran. Anything that can turn messages into text will do, such as a service of
 * your company.
 */
import { Compaction, SessionStore, Settings, Summarizer, Tokenizer } from "@cutpoint/compaction"
import { type Entry, Message } from "@cutpoint/core"
import { Console, Effect, Layer } from "effect"

const lines = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<string> =>
  messages.flatMap((message) => {
    if (message.role === "user") return [`- asked: ${Message.texts(message.content).join(" ").slice(0, 40)}`]
    return message.role === "assistant" ? Message.toolCalls(message).map(({ name }) => `- ran: ${name}`) : []
  })

const summarizer = Layer.succeed(
  Summarizer.Summarizer,
  Summarizer.Summarizer.of({
    name: "example/one-liners",
    plan: () => ({ requests: 0, mostRequests: 0, inputTokens: 0 }),
    summarize: ({ messages, previousSummary = "" }) =>
      Effect.succeed({
        text: [previousSummary, ...lines(messages)].filter((line) => line !== "").join("\n"),
        writer: "example/one-liners",
        usage: undefined,
        requests: 0
      })
  })
)

const timestamp = "2026-01-01T00:00:00.000Z"
const entries = Array.from({ length: 6 }, (_, n): Entry.Entry => ({
  type: "message",
  id: `e${n}`,
  parentId: n === 0 ? null : `e${n - 1}`,
  timestamp,
  message: { role: "user", content: `Question ${n}. ${"Words. ".repeat(200)}` }
}))
const session = { header: { type: "session", version: 3, id: "example", cwd: "/work" }, entries } as const

const services = Compaction.layer.pipe(
  Layer.provide(summarizer),
  Layer.provide(Layer.mergeAll(SessionStore.layerMemory([session]), Settings.layerMemory(), Tokenizer.layerHeuristic))
)

const program = Effect.gen(function* () {
  const { compact } = yield* Compaction.Compaction
  const result = yield* compact("example", { keepRecentTokens: 500 })
  yield* Console.log(result._tag === "Compacted" ? result.entry.summary : result._tag)
})

await Effect.runPromise(Effect.provide(program, services))
