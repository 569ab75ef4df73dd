/**
 * An agent with a tool that keeps its session under the model's window, however
 * long it works. The model is scripted here; any `LanguageModel` of `@effect/ai`
 * will do, `SessionFiles.layer` keeps the session in a file, and
 * `Summarizer.layerLlm` has a model write the summaries.
 */
import * as SessionChat from "@cutpoint/ai/SessionChat"
import {
  AutoCompaction,
  Compaction,
  Navigation,
  SessionStore,
  Settings,
  Summarizer,
  Tokenizer
} from "@cutpoint/compaction"
import * as Model from "@cutpoint/testing/ScriptedLanguageModel"
import { Tool, Toolkit } from "@effect/ai"
import { Console, Effect, Layer, Schema } from "effect"

const window = 8000
const toolkit = Toolkit.make(Tool.make("read", { parameters: { file: Schema.String }, success: Schema.String }))
const tools = toolkit.toLayer({ read: ({ file }) => Effect.succeed(`The text of ${file}. ${"More. ".repeat(300)}`) })
const model = Model.make({
  window,
  reply: (_, n) => (n % 2 === 0 ? [Model.call(`c${n}`, "read", { file: `src/${n}.ts` })] : [Model.text("It is fine.")])
})
const settings = { compaction: { reserveTokens: 2000, keepRecentTokens: 2000 }, cutpoint: { contextWindow: window } }

const services = Layer.mergeAll(AutoCompaction.layer, Navigation.layer).pipe(
  Layer.provideMerge(Compaction.layer),
  Layer.provide(Summarizer.layerOffline),
  Layer.provideMerge(
    Layer.mergeAll(SessionStore.layerMemory(), Settings.layerMemory(settings), Tokenizer.layerHeuristic)
  )
)

const agent = Effect.gen(function* () {
  const chat = yield* SessionChat.empty
  for (let turn = 1; turn <= 40; turn++) {
    let reply = yield* chat.generateText({ prompt: `Review file ${turn}, please.`, toolkit })
    while (reply.toolCalls.length > 0) reply = yield* chat.generateText({ prompt: [], toolkit })
  }
  const { tree } = yield* chat.session
  const largest = Math.max(...model.requests.map(({ tokens }) => tokens))
  yield* Console.log(`${tree.entries.filter(({ type }) => type === "compaction").length} compactions`)
  yield* Console.log(`${model.requests.length} requests, the largest of ${largest} tokens, none refused`)
})

await Effect.runPromise(Effect.provide(agent, Layer.mergeAll(services, model.layer, tools)))
