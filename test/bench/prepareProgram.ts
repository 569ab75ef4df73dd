/** A program that prepares a session's compaction: `prepareProgram FILE READING TIMES`. */
import * as Compaction from "@cutpoint/compaction/Compaction"
import type { Reading } from "@cutpoint/compaction/CompactionResult"
import * as Settings from "@cutpoint/compaction/Settings"
import * as Summarizer from "@cutpoint/compaction/Summarizer"
import * as Tokenizer from "@cutpoint/compaction/Tokenizer"
import * as SessionFiles from "@cutpoint/session-files/SessionFiles"
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

const [file = "", reading = "context", times = "1"] = process.argv.slice(2)

const compaction = Compaction.layer.pipe(
  Layer.provide(Summarizer.layerOffline),
  Layer.provide(Tokenizer.layerHeuristic),
  Layer.provide(Settings.layerMemory()),
  Layer.provide(SessionFiles.layer({ sessionsDir: "." })),
  Layer.provide(NodeContext.layer)
)

const program = Effect.gen(function* () {
  const { prepare } = yield* Compaction.Compaction
  const taken: Array<number> = []
  for (let run = 0; run < Number(times); run++) {
    const start = performance.now()
    yield* prepare(file, { reading: reading as Reading })
    taken.push(performance.now() - start)
  }
  return taken
})

const taken = await Effect.runPromise(Effect.provide(program, compaction))
console.log(JSON.stringify({ times: taken, peak: process.resourceUsage().maxRSS / 1024 }))
