/** What a chat is held with, for tests: in memory, or on files. */
import * as AutoCompaction from "@cutpoint/compaction/AutoCompaction"
import * as Compaction from "@cutpoint/compaction/Compaction"
import * as Navigation from "@cutpoint/compaction/Navigation"
import * as SessionStore from "@cutpoint/compaction/SessionStore"
import * as Settings from "@cutpoint/compaction/Settings"
import * as Summarizer from "@cutpoint/compaction/Summarizer"
import * as Tokenizer from "@cutpoint/compaction/Tokenizer"
import * as Projection from "@cutpoint/core/Projection"
import * as SessionTree from "@cutpoint/core/SessionTree"
import * as SessionFiles from "@cutpoint/session-files/SessionFiles"
import type * as Model from "@cutpoint/testing/ScriptedLanguageModel"
import type * as Prompt from "@effect/ai/Prompt"
import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import { NodeContext } from "@effect/platform-node"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

/** A window of 16,000 tokens, of which 4,000 are kept free. */
export const sizes: Settings.Given = {
  compaction: { reserveTokens: 4000, keepRecentTokens: 4000 },
  branchSummary: { reserveTokens: 4000 },
  cutpoint: { contextWindow: 16_000, offlineSummaryTokens: 1000 }
}

const offline = Summarizer.layerOffline

export const over = <E, R>(
  store: Layer.Layer<SessionStore.SessionStore, E, R>,
  settings: Settings.Given = sizes,
  summarizer: Layer.Layer<Summarizer.Summarizer, never, Tokenizer.Tokenizer> = offline
) =>
  Layer.mergeAll(AutoCompaction.layer, Navigation.layer).pipe(
    Layer.provideMerge(Compaction.layer),
    Layer.provideMerge(summarizer),
    Layer.provideMerge(Layer.mergeAll(store, Settings.layerMemory(settings), Tokenizer.layerHeuristic))
  )

export const inMemory = (
  settings?: Settings.Given,
  summarizer?: Layer.Layer<Summarizer.Summarizer, never, Tokenizer.Tokenizer>
) => over(SessionStore.layerMemory(), settings, summarizer)

/** On real files in a folder of their own, which is gone at the end. */
export const onFiles = (
  settings?: Settings.Given,
  summarizer?: Layer.Layer<Summarizer.Summarizer, never, Tokenizer.Tokenizer>
) => over(files, settings, summarizer)

const files = Layer.unwrapScoped(
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.realPath(yield* fs.makeTempDirectoryScoped())
    return SessionFiles.layer({ sessionsDir: folder })
  })
).pipe(Layer.provide(NodeContext.layer), Layer.orDie)

/** Looks a text up. */
export const Look = Tool.make("look", {
  parameters: { at: Schema.String, since: Schema.optional(Schema.DateFromString) },
  success: Schema.Struct({ found: Schema.String }),
  failure: Schema.String
})

export const Tools = Toolkit.make(Look)

/** The entries of a session as its store has them now. */
export const stored = Effect.fnUntraced(function* (key: string) {
  const store = yield* SessionStore.SessionStore
  return yield* store.open(key)
})

/** The messages on the path to the leaf. */
export const said = (session: SessionStore.Session) =>
  SessionTree.leafPath(session.tree).flatMap((entry) => (entry.type === "message" ? [entry.message] : []))

/** What the model sees. */
export const context = (session: SessionStore.Session) =>
  Projection.messages(Projection.project(SessionTree.leafPath(session.tree)))

/** Of so many tokens, by heuristic. */
export const long = (tokens: number): string => "some".repeat(tokens)

/** A window that nothing here fills. */
export const wide: Settings.Given = { ...sizes, cutpoint: { ...sizes.cutpoint, contextWindow: 200_000 } }

/** A turn of a conversation that was had before. */
const turn = (n: number, tokens = 1500): ReadonlyArray<Prompt.MessageEncoded> => [
  { role: "user", content: [{ type: "text", text: `Question ${n}. ${long(tokens)}` }] },
  { role: "assistant", content: [{ type: "text", text: `Answer ${n}.` }] }
]

export const turns = (count: number) => Array.from({ length: count }, (_, n) => turn(n)).flat()

/** How often a session was compacted. */
export const compactions = ({ tree }: SessionStore.Session): number =>
  tree.entries.filter(({ type }) => type === "compaction").length

/** Runs on real files, against a model. */
export const run = <A, E, R>(
  test: Effect.Effect<A, E, R>,
  model: Model.ScriptedLanguageModel,
  settings?: Settings.Given,
  summarizer?: Parameters<typeof onFiles>[1]
) => Effect.provide(test, Layer.merge(model.layer, onFiles(settings, summarizer)))
