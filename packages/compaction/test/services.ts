/** The services over one session in memory, for tests. */
import type * as Entry from "@cutpoint/core/Entry"
import * as Projection from "@cutpoint/core/Projection"
import * as SessionTree from "@cutpoint/core/SessionTree"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { header } from "../../core/test/SessionBuilder.js"
import * as Compaction from "../src/Compaction.js"
import type * as Errors from "../src/CompactionErrors.js"
import * as Navigation from "../src/Navigation.js"
import * as NewEntry from "../src/NewEntry.js"
import * as SessionStore from "../src/SessionStore.js"
import * as Settings from "../src/Settings.js"
import * as Summarizer from "../src/Summarizer.js"
import * as Tokenizer from "../src/Tokenizer.js"

export const key = header.id

/** Everything over a session of these entries. */
export const services = (
  entries: ReadonlyArray<Entry.Entry>,
  summarizer: Layer.Layer<Summarizer.Summarizer> = offline,
  given: Settings.Given = {}
) =>
  Layer.mergeAll(Compaction.layer, Navigation.layer).pipe(
    Layer.provideMerge(
      Layer.mergeAll(
        SessionStore.layerMemory([{ header, entries }]),
        Tokenizer.layerHeuristic,
        summarizer,
        Settings.layerMemory(given)
      )
    )
  )

const offline = Layer.provide(Summarizer.layerOffline, Tokenizer.layerHeuristic)

/** A summarizer that writes what the test says, and takes 10 tokens for it. */
export const scripted = (write: (request: Summarizer.Request) => Effect.Effect<string, Errors.SummarizeError>) =>
  Layer.succeed(
    Summarizer.Summarizer,
    Summarizer.Summarizer.of({
      name: "test/scripted",
      plan: () => ({ requests: 1, mostRequests: 1, inputTokens: 0 }),
      summarize: (request) =>
        Effect.map(write(request), (text) => ({
          text,
          writer: "test/scripted",
          usage: { totalTokens: 10 },
          requests: 1
        }))
    })
  )

/** A summarizer that always writes this, and the requests it was given. */
export const saying = (text: string) => {
  const requests: Array<Summarizer.Request> = []
  return { requests, layer: scripted((request) => Effect.sync(() => (requests.push(request), text))) }
}

/** A summarizer that says when it begins, and ends when it is let go. */
export const held = Effect.gen(function* () {
  const begun = yield* Deferred.make<void>()
  const release = yield* Deferred.make<void>()
  const write = () =>
    Deferred.succeed(begun, undefined).pipe(Effect.zipRight(Deferred.await(release)), Effect.as("SUMMARY"))
  return { begun: Deferred.await(begun), release: Deferred.succeed(release, undefined), layer: scripted(write) }
})

export const open = Effect.flatMap(SessionStore.SessionStore, (store) => store.open(key))

/** Appends after the leaf, as another program would. */
export const appendLater = (...entries: ReadonlyArray<Entry.Entry>) =>
  Effect.gen(function* () {
    const store = yield* SessionStore.SessionStore
    for (const entry of entries) {
      const session = yield* store.open(key)
      const { id: _, ...base } = yield* NewEntry.base(session.tree, session.tree.leafId)
      yield* store.append(session, [{ ...entry, ...base }])
    }
  })

/** The ids of a session's entries in file order. */
export const ids = (session: SessionStore.Session) => session.tree.entries.map((entry) => entry.id)

/** The ids of the entries that the model sees. */
export const seen = (session: SessionStore.Session) =>
  Projection.project(SessionTree.leafPath(session.tree))
    .items.filter((item) => item.messages.length > 0)
    .map((item) => item.entry.id)
