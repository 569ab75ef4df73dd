import * as SessionStore from "@cutpoint/compaction/SessionStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { describe, expect, it } from "vitest"
import * as SessionStoreContract from "../src/SessionStoreContract.js"

const memory = SessionStore.layerMemory()

describe("SessionStoreContract, in memory", () => {
  it.each(SessionStoreContract.checks)("a store $name", ({ run }) =>
    Effect.runPromise(Effect.provide(run, Layer.fresh(memory)))
  )
})

describe("SessionStoreContract, broken", () => {
  type Break = (store: SessionStore.Service) => Partial<SessionStore.Service>

  const broken = (how: Break) =>
    Layer.effect(
      SessionStore.SessionStore,
      Effect.map(SessionStore.SessionStore, (store) => SessionStore.SessionStore.of({ ...store, ...how(store) }))
    ).pipe(Layer.provide(Layer.fresh(memory)))

  const failures = (how: Break) =>
    Effect.runPromise(
      Effect.map(
        Effect.filter(SessionStoreContract.checks, ({ run }) => Effect.isFailure(Effect.provide(run, broken(how)))),
        (checks) => checks.map(({ name }) => name)
      )
    )

  it("notices a store that forgets what was appended", async () => {
    const found = await failures(() => ({
      append: (session) => Effect.succeed({ session, backup: undefined })
    }))
    expect(found).toContain("has what was appended at the next open, once and in order")
    expect(found).toContain("keeps an entry of an unknown type to the byte")
  })

  it("notices a store that appends to whatever is there", async () => {
    const found = await failures((store) => ({
      append: (session, entries) => Effect.flatMap(store.open(session.key), (now) => store.append(now, entries))
    }))
    expect(found).toEqual([
      "fails as SessionChanged where the session has grown, and appends nothing",
      "lets one of several appends at once through, whole"
    ])
  })

  it("notices a store that appends entry by entry", async () => {
    const found = await failures((store) => ({
      append: (session, [first, ...rest]) =>
        Effect.gen(function* () {
          let appended = yield* store.append(session, [first])
          for (const entry of rest) {
            yield* Effect.yieldNow()
            appended = yield* store.append(appended.session, [entry])
          }
          return appended
        })
    }))
    expect(found).toEqual(["appends all or nothing where it is interrupted"])
  })

  it("notices a store that takes the first of several", async () => {
    const found = await failures((store) => ({
      find: (query) =>
        Effect.catchTag(store.find(query), "AmbiguousSession", ({ candidates }) => Effect.succeed(candidates[0] ?? ""))
    }))
    expect(found).toEqual(["fails as AmbiguousSession where several ids start alike"])
  })
})
