/** What any store of sessions must do, of the one over files. */
import * as SessionStore from "@cutpoint/compaction/SessionStore"
import * as Summarizer from "@cutpoint/compaction/Summarizer"
import * as Tokenizer from "@cutpoint/compaction/Tokenizer"
import * as SessionFiles from "@cutpoint/session-files/SessionFiles"
import * as SessionLaws from "@cutpoint/testing/SessionLaws"
import * as SessionStoreContract from "@cutpoint/testing/SessionStoreContract"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Layer from "effect/Layer"
import { describe, expect, it } from "vitest"

/** A store over a folder of its own, which goes with it. */
const files: Layer.Layer<SessionStore.SessionStore, unknown> = Layer.unwrapScoped(
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const sessionsDir = yield* fs.makeTempDirectoryScoped({ prefix: "cutpoint-contract-" })
    return SessionFiles.layer({ sessionsDir })
  })
).pipe(Layer.provide(NodeContext.layer), Layer.fresh)

describe("the store over files", () => {
  it.each(SessionStoreContract.checks)("$name", ({ run }) => Effect.runPromise(Effect.provide(run, files)))

  it("is checked by all there is to check", () => {
    expect(SessionStoreContract.checks.length).toBeGreaterThanOrEqual(16)
  })

  it("is another one in each check", async () => {
    const made = Effect.flatMap(SessionStore.SessionStore, (store) => store.create({ cwd: "/work/app" }))
    const { key } = await Effect.runPromise(Effect.provide(made, files))
    const opened = Effect.flatMap(SessionStore.SessionStore, (store) => Effect.either(store.open(key)))
    expect(await Effect.runPromise(Effect.provide(opened, files))).toMatchObject({ left: { _tag: "SessionNotFound" } })
  })
})

describe("a session's life in files", () => {
  /** The same for the whole file; `CUTPOINT_SEED` fixes it. */
  const seed = Number(process.env.CUTPOINT_SEED ?? FastCheck.sample(FastCheck.noBias(FastCheck.nat()), 1)[0])
  console.log(`CUTPOINT_SEED=${seed}`)

  const numRuns = 200
  const offline = Summarizer.layerOffline.pipe(Layer.provideMerge(Tokenizer.layerHeuristic))

  /** Says next to nothing, so that nearly every compaction comes about. */
  const terse = Layer.effect(
    Summarizer.Summarizer,
    Effect.map(Summarizer.Summarizer, (summarizer) =>
      Summarizer.Summarizer.of({
        ...summarizer,
        summarize: (request) =>
          Effect.map(summarizer.summarize({ ...request, messages: [] }), (summary) => ({ ...summary, text: "Said." }))
      })
    )
  ).pipe(Layer.provideMerge(offline))

  it("forgets nothing", async () => {
    const lived = { compactions: 0, moves: 0 }
    await FastCheck.assert(
      FastCheck.asyncProperty(SessionLaws.actions, async (life) => {
        const services = Layer.merge(files, terse)
        const { compactions, moves } = await Effect.runPromise(
          Effect.provide(SessionLaws.nothingIsForgotten(life), services)
        )
        lived.compactions += compactions
        lived.moves += moves
      }),
      { numRuns, seed }
    )
    // Lives in which nothing happens would prove nothing.
    expect(lived.compactions).toBeGreaterThan(numRuns / 2)
    expect(lived.moves).toBeGreaterThan(numRuns / 2)
  })
})
