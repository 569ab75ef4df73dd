/**
 * Works on damaged files of sessions: `fuzzer.mjs FOLDER SEED COUNT`. Runs on
 * the built packages. Prints the seed of each file before it works on it, so
 * that whoever started it knows where it stands; says what went wrong and
 * ends with 1 where something does.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Compaction from "@cutpoint/compaction/Compaction"
import * as SessionStore from "@cutpoint/compaction/SessionStore"
import * as Settings from "@cutpoint/compaction/Settings"
import * as Summarizer from "@cutpoint/compaction/Summarizer"
import * as Tokenizer from "@cutpoint/compaction/Tokenizer"
import * as Diagnostic from "@cutpoint/core/Diagnostic"
import * as Pins from "@cutpoint/core/Pins"
import * as Projection from "@cutpoint/core/Projection"
import * as SessionTotals from "@cutpoint/core/SessionTotals"
import * as SessionTree from "@cutpoint/core/SessionTree"
import * as Transcript from "@cutpoint/core/Transcript"
import * as SessionDoctor from "@cutpoint/session-files/SessionDoctor"
import * as SessionFiles from "@cutpoint/session-files/SessionFiles"
import * as DamagedFiles from "@cutpoint/testing/DamagedFiles"
import * as RepairLaws from "@cutpoint/testing/RepairLaws"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"

const [folder, seed, count] = process.argv.slice(2)
const file = join(folder, "x.jsonl")
const copy = join(folder, "copy.jsonl")

/** The most things that are wrong with a file. */
const mostDamages = 6

const files = DamagedFiles.make(mostDamages)

/** All that is ever computed from a session without writing. */
const look = (session) => {
  const { tree } = session
  SessionTree.children(tree)
  SessionTree.labels(tree)
  SessionTotals.of(tree.entries)
  const path = SessionTree.leafPath(tree)
  Pins.live(path)
  const repaired = Projection.repairToolPairs(Projection.convertToLlm(Projection.messages(Projection.project(path))))
  Transcript.serialize(repaired.messages, Transcript.forModel)
}

const expect = (isTrue, what) => (isTrue ? Effect.void : Effect.fail({ _tag: "Wrong", message: what }))

/** The failures that are answers. */
const answers = new Set(["NotASession", "SessionReadOnly", "SettingsInvalid", "CannotShrink", "SummaryRejected"])

const orAnswer = (effect) =>
  Effect.catchIf(
    effect,
    (error) => answers.has(error._tag),
    () => Effect.succeed(undefined)
  )

const work = Effect.fnUntraced(function* (bytes) {
  writeFileSync(file, bytes)
  const store = yield* SessionStore.SessionStore
  const compaction = yield* Compaction.Compaction
  const session = yield* orAnswer(store.open(file))
  if (session !== undefined) look(session)
  yield* orAnswer(compaction.prepare(file, { keepRecentTokens: 100, contextWindow: 100_000 }))
  yield* orAnswer(store.header(file))
  yield* Stream.runDrain(store.list())
  yield* Effect.ignore(store.find("5e551011"))
  yield* orAnswer(SessionDoctor.examine(file))
  const faults = yield* orAnswer(SessionDoctor.repair(file, copy))
  if (faults !== undefined) {
    const left = (yield* SessionDoctor.examine(copy)).filter(Diagnostic.isFault)
    yield* expect(left.length === 0, `The repaired copy has faults: ${JSON.stringify(left).slice(0, 500)}`)
  }
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes)
  for (const law of Object.values(RepairLaws)) law(text)
  yield* expect(readFileSync(file).equals(Buffer.from(bytes)), "Reading changed the file.")
  if (session !== undefined) yield* orAnswer(write(store, compaction, session))
})

/** A message, then a compaction; what was there before is still there. */
const write = Effect.fnUntraced(function* (store, compaction, session) {
  const message = {
    type: "message",
    id: "fuzzed",
    parentId: session.tree.leafId,
    timestamp: "",
    message: { role: "user", content: "On." }
  }
  const appended = yield* store.append(session, [message])
  const compacted = yield* orAnswer(compaction.compact(file, { keepRecentTokens: 100, contextWindow: 100_000 }))
  const { tree } = yield* store.open(file)
  const ids = session.tree.entries.map(({ id }) => id)
  yield* expect(
    ids.every((id, index) => tree.entries[index]?.id === id),
    "An append changed what was there."
  )
  yield* expect(appended.session.tree.leafId === "fuzzed", "An append did not become the leaf.")
  const leafId = compacted?._tag === "Compacted" ? compacted.entry.id : "fuzzed"
  yield* expect(tree.leafId === leafId, "What was appended is not the leaf.")
})

const clean = () => {
  for (const name of [file, copy, `${file}.v1.bak`, `${file}.v2.bak`]) rmSync(name, { force: true })
}

const all = Effect.gen(function* () {
  for (let n = 0; n < Number(count); n++) {
    const own = (Number(seed) + n) % 2 ** 31
    console.log(own)
    const [bytes] = FastCheck.sample(files, { seed: own, numRuns: 1 })
    yield* work(bytes)
    clean()
  }
})

const adapters = Layer.merge(NodeFileSystem.layer, NodePath.layer)

const services = Compaction.layer.pipe(
  Layer.provideMerge(
    Layer.mergeAll(SessionFiles.layer({ sessionsDir: folder }), Settings.layerMemory(), Summarizer.layerOffline)
  ),
  Layer.provideMerge(Layer.merge(adapters, Tokenizer.layerHeuristic))
)

await Effect.runPromise(Effect.provide(all, services))
