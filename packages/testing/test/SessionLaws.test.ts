import * as SessionStore from "@cutpoint/compaction/SessionStore"
import * as Summarizer from "@cutpoint/compaction/Summarizer"
import * as Tokenizer from "@cutpoint/compaction/Tokenizer"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { describe, expect, it } from "vitest"
import * as SessionLaws from "../src/SessionLaws.js"
import type * as Steps from "../src/Steps.js"
import { lawOverServices } from "./laws.js"

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

type Services = SessionStore.SessionStore | Tokenizer.Tokenizer | Summarizer.Summarizer

const run = (life: ReadonlyArray<SessionLaws.Action>, services: Layer.Layer<Services>) =>
  Effect.runPromise(Effect.provide(SessionLaws.nothingIsForgotten(life), services))

describe("SessionLaws", () => {
  const lived = { compactions: 0, moves: 0 }

  lawOverServices("nothing is forgotten", SessionLaws.actions, async (life) => {
    const { compactions, moves } = await run(life, Layer.provideMerge(SessionStore.layerMemory(), terse))
    lived.compactions += compactions
    lived.moves += moves
  })

  it("has compacted and moved often enough to know", () => {
    expect(lived.compactions).toBeGreaterThan(500)
    expect(lived.moves).toBeGreaterThan(500)
  })

  lawOverServices("nothing is forgotten by the offline summarizer", SessionLaws.actions, (life) =>
    run(life, Layer.provideMerge(SessionStore.layerMemory(), offline))
  )
})

describe("SessionLaws, broken", () => {
  const say = (content: string): Steps.Step => ({
    step: "plain",
    body: { type: "message", message: { role: "user", content } }
  })
  const turn = (...texts: ReadonlyArray<string>): SessionLaws.Action => ({ action: "turn", steps: texts.map(say) })
  const long = "a word or two ".repeat(200)
  const life: ReadonlyArray<SessionLaws.Action> = [
    turn(`one ${long}`, "two"),
    { action: "compact", keepRecentTokens: 1 },
    turn(`three ${long}`, "four"),
    { action: "compact", keepRecentTokens: 1 }
  ]

  /** A store that loses something of each compaction. */
  const losing = (lose: (entry: { readonly summary: string; readonly firstKeptEntryId: string }) => object) =>
    Layer.effect(
      SessionStore.SessionStore,
      Effect.map(SessionStore.SessionStore, (store) =>
        SessionStore.SessionStore.of({
          ...store,
          append: (session, [first, ...rest]) =>
            store.append(session, [first.type === "compaction" ? { ...first, ...lose(first) } : first, ...rest])
        })
      )
    ).pipe(Layer.provide(SessionStore.layerMemory()), Layer.provideMerge(terse))

  it("holds of this life", async () => {
    const honest = losing(() => ({}))
    expect(await run(life, honest)).toEqual({ compactions: 2, moves: 0 })
  })

  it("notices what was neither kept nor summarized", async () => {
    const dangling = losing(() => ({ firstKeptEntryId: "gone" }))
    await expect(run(life, dangling)).rejects.toThrow("The entry 00000001 is neither")
  })

  it("notices a summary that did not carry on the one before", async () => {
    // What the next compaction reads is not what was written.
    let number = 0
    const opened = Layer.effect(
      SessionStore.SessionStore,
      Effect.map(SessionStore.SessionStore, (store) =>
        SessionStore.SessionStore.of({
          ...store,
          open: (key) =>
            Effect.map(store.open(key), (session) => {
              const entries = session.tree.entries.map((entry) =>
                entry.type === "compaction" ? { ...entry, summary: `Another summary ${number++}` } : entry
              )
              return { ...session, tree: { ...session.tree, entries } }
            })
        })
      )
    ).pipe(Layer.provide(SessionStore.layerMemory()), Layer.provideMerge(terse))
    await expect(run(life, opened)).rejects.toThrow("The entry 00000000 is neither")
  })
})
