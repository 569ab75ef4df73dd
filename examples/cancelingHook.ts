/**
 * A hook that cancels: what a user has labelled as running is not compacted
 * away. The run ends as `Canceled`, with the reason, and nothing is written.
 */
import { Compaction, CompactionHooks, SessionStore, Settings, Summarizer, Tokenizer } from "@cutpoint/compaction"
import type { Entry } from "@cutpoint/core"
import { Console, Effect, Layer } from "effect"

const hooks = CompactionHooks.make({
  beforeCompact: ({ branchEntries }) =>
    Effect.succeed(
      branchEntries.some((entry) => entry.type === "label" && entry.label === "running")
        ? CompactionHooks.cancel("A migration is running.")
        : CompactionHooks.goOn
    )
})

const timestamp = "2026-01-01T00:00:00.000Z"
const entries: ReadonlyArray<Entry.Entry> = [
  { type: "message", id: "a", parentId: null, timestamp, message: { role: "user", content: "Migrate. ".repeat(300) } },
  { type: "label", id: "b", parentId: "a", timestamp, targetId: "a", label: "running" },
  { type: "message", id: "c", parentId: "b", timestamp, message: { role: "user", content: "Well? ".repeat(300) } }
]
const session = { header: { type: "session", version: 3, id: "example", cwd: "/work" }, entries } as const

const services = Compaction.layer.pipe(
  // Hooks are taken when the use case is built, so they go to its layer.
  Layer.provide(Layer.succeed(CompactionHooks.CompactionHooks, hooks)),
  Layer.provide(Summarizer.layerOffline),
  Layer.provideMerge(SessionStore.layerMemory([session])),
  Layer.provide(Layer.merge(Settings.layerMemory(), Tokenizer.layerHeuristic))
)

const program = Effect.gen(function* () {
  const { compact } = yield* Compaction.Compaction
  const store = yield* SessionStore.SessionStore
  const result = yield* compact("example", { keepRecentTokens: 100 })
  yield* Console.log(result._tag === "Canceled" ? `Canceled: ${result.why}` : result._tag)
  const { tree } = yield* store.open("example")
  yield* Console.log(`${tree.entries.length} entries, as before`)
})

await Effect.runPromise(Effect.provide(program, services))
