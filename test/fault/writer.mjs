/**
 * A process that writes to a session, for the tests of crashes and of several
 * writers: `writer.mjs FILE NAME OPERATIONS careful|careless`. Runs on the
 * built packages. Prints the id of each entry once it is safely stored.
 *
 * The careful one appends messages, and every few of them compacts without a
 * model. The careless one writes as a program does that knows no lock: it has
 * read the session once, and goes on from what it has in memory.
 */
import { appendFileSync, readFileSync, statSync } from "node:fs"
import * as Compaction from "@cutpoint/compaction/Compaction"
import * as SessionStore from "@cutpoint/compaction/SessionStore"
import * as Settings from "@cutpoint/compaction/Settings"
import * as Summarizer from "@cutpoint/compaction/Summarizer"
import * as Tokenizer from "@cutpoint/compaction/Tokenizer"
import * as SessionFiles from "@cutpoint/session-files/SessionFiles"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

const [file, name, operations, manner] = process.argv.slice(2)

/** Every so many operations there is a compaction. */
const compactEvery = 5

/** On a pipe this returns when the bytes are in it. */
const acknowledge = (id) => process.stdout.write(`${id}\n`)

const message = (n, parentId) => ({
  type: "message",
  id: `${name}-${n}`,
  parentId,
  timestamp: new Date().toISOString(),
  message: { role: "user", content: `This is message ${n} of ${name}. ${"It goes on for a while. ".repeat(20)}` }
})

/** What another writer was quicker with is read, and tried again. */
const append = (store, n) =>
  store.open(file).pipe(
    Effect.flatMap((session) => store.append(session, [message(n, session.tree.leafId)])),
    Effect.retry({ while: (error) => error._tag === "SessionChanged" }),
    Effect.map(({ session }) => session.tree.leafId)
  )

/** The id of the compaction; undefined where there was nothing to compact, or another was quicker. */
const compact = (compaction) =>
  compaction.compact(file, { keepRecentTokens: 200, contextWindow: 1_000_000 }).pipe(
    Effect.map((result) => (result._tag === "Compacted" ? result.entry.id : undefined)),
    Effect.catchTags({
      SessionChanged: () => Effect.succeed(undefined),
      SummaryRejected: () => Effect.succeed(undefined)
    })
  )

const careful = Effect.gen(function* () {
  const store = yield* SessionStore.SessionStore
  const compaction = yield* Compaction.Compaction
  for (let n = 0; n < Number(operations); n++) {
    const compacted = n % compactEvery === compactEvery - 1 ? yield* compact(compaction) : undefined
    acknowledge(compacted ?? (yield* append(store, n)))
  }
})

const careless = () => {
  const seen = readFileSync(file, "utf8")
  const last = JSON.parse(seen.trimEnd().split("\n").at(-1))
  let leafId = last.type === "session" ? null : last.id
  // It goes on once others have written, of which it knows nothing.
  while (statSync(file).size === Buffer.byteLength(seen)) pause()
  for (let n = 0; n < Number(operations); n++) {
    const entry = message(n, leafId)
    appendFileSync(file, `${JSON.stringify(entry)}\n`)
    leafId = entry.id
    acknowledge(leafId)
    pause()
  }
}

/** As fast as others are, and no faster, so that they get between. */
const pauseMillis = 10

const pause = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMillis)

const services = Compaction.layer.pipe(
  Layer.provideMerge(
    Layer.mergeAll(SessionFiles.layer({ sessionsDir: "sessions" }), Settings.layerMemory(), Summarizer.layerOffline)
  ),
  Layer.provide(Layer.mergeAll(NodeFileSystem.layer, NodePath.layer, Tokenizer.layerHeuristic)),
  Layer.provideMerge(Tokenizer.layerHeuristic)
)

if (manner === "careless") careless()
else await Effect.runPromise(Effect.provide(careful, services))
