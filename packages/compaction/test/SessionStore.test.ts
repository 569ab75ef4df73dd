import { describe, expect, it } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/TestClock"
import { changed, chain, header, reply, user } from "../../core/test/SessionBuilder.js"
import * as SessionStore from "../src/SessionStore.js"

const entries = chain([user("u1"), reply("a1", "x", { usage: { totalTokens: 77 } })])

const next = (id: string) => changed(user(id), { parentId: "a1" })

const stored = SessionStore.layerMemory([
  { header, entries },
  { header: changed(header, { id: "session-2", cwd: "/other" }), entries: [] },
  { header: changed(header, { id: "future", version: 9 }), entries },
  { header: changed(header, { id: "odd", version: NaN }), entries }
])

const tags = <A>(effect: Effect.Effect<A, { readonly _tag: string }, SessionStore.SessionStore>) =>
  Effect.map(Effect.flip(effect), (error) => error._tag)

const onStore = <A, E>(test: (store: SessionStore.Service) => Effect.Effect<A, E, SessionStore.SessionStore>) =>
  Effect.provide(Effect.flatMap(SessionStore.SessionStore, test), stored)

describe("SessionStore.layerMemory", () => {
  it.effect("finds by key and by an unambiguous start of it, and nothing by an empty name", () =>
    onStore((store) =>
      Effect.gen(function* () {
        expect(yield* store.find("session-1")).toBe("session-1")
        expect(yield* store.find("fut")).toBe("future")
        expect(yield* Effect.flip(store.find("session"))).toMatchObject({
          _tag: "AmbiguousSession",
          candidates: ["session-1", "session-2"]
        })
        expect(yield* tags(store.find(""))).toBe("SessionNotFound")
        expect(yield* tags(store.find("nope"))).toBe("SessionNotFound")
        expect(yield* tags(store.open("session"))).toBe("SessionNotFound")
      })
    )
  )

  it.effect("appends all entries in order, and the last becomes the leaf", () =>
    onStore((store) =>
      Effect.gen(function* () {
        const session = yield* store.open("session-1")
        yield* store.append(session, [next("n1"), changed(user("n2"), { parentId: "n1" })])
        const again = yield* store.open("session-1")
        expect(again.tree.entries.map((entry) => entry.id)).toEqual(["u1", "a1", "n1", "n2"])
        expect(again.tree.leafId).toBe("n2")
        expect(again.revision).not.toBe(session.revision)
      })
    )
  )

  it.effect("an append to a session that has grown since it was read fails, and writes nothing", () =>
    onStore((store) =>
      Effect.gen(function* () {
        const session = yield* store.open("session-1")
        const { session: grown } = yield* store.append(session, [next("n1")])
        expect(yield* tags(store.append(session, [next("n2")]))).toBe("SessionChanged")
        expect((yield* store.open("session-1")).tree.entries).toHaveLength(3)
        yield* store.append(grown, [next("n3")])
        expect((yield* store.open("session-1")).tree.entries).toHaveLength(4)
      })
    )
  )

  it.effect("of two appends at once to one revision exactly one succeeds", () =>
    onStore((store) =>
      Effect.gen(function* () {
        const session = yield* store.open("session-1")
        const exits = yield* Effect.all(
          [1, 2, 3].map((each) => Effect.exit(store.append(session, [next(`n${each}`)]))),
          { concurrency: "unbounded" }
        )
        expect(exits.filter((exit) => exit._tag === "Success")).toHaveLength(1)
        expect((yield* store.open("session-1")).tree.entries).toHaveLength(3)
      })
    )
  )

  it.effect.each(["future", "odd"])(
    "the session %s, of a version that is not known here, is read and never written",
    (id) =>
      onStore((store) =>
        Effect.gen(function* () {
          const session = yield* store.open(id)
          expect(session.tree.entries).toHaveLength(2)
          expect(yield* tags(store.append(session, [next("n1")]))).toBe("SessionReadOnly")
          expect((yield* store.open(id)).tree.entries).toHaveLength(2)
        })
      )
  )

  it.effect("creates empty sessions with ids of their own", () =>
    onStore((store) =>
      Effect.gen(function* () {
        const one = yield* store.create({ cwd: "/w" })
        const other = yield* store.create({ cwd: "/w", parentSession: one.key })
        expect(one.key).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
        expect(other.key).not.toBe(one.key)
        expect(other.tree.header).toMatchObject({ version: 3, cwd: "/w", parentSession: one.key })
        expect((yield* store.open(one.key)).tree).toMatchObject({ entries: [], leafId: null })
      })
    )
  )

  it.effect("lists the latest changed first, by folder where one is given", () =>
    onStore((store) =>
      Effect.gen(function* () {
        yield* TestClock.adjust("1 minute")
        yield* store.append(yield* store.open("session-1"), [next("n1")])
        const list = (cwd?: string) =>
          Effect.map(Stream.runCollect(store.list(cwd === undefined ? {} : { cwd })), Chunk.toReadonlyArray)
        const all = yield* list()
        expect(all[0]).toMatchObject({ key: "session-1", modified: 60_000, contextTokens: 77 })
        expect(all).toHaveLength(4)
        expect((yield* list("/other")).map((info) => info.key)).toEqual(["session-2"])
        expect(yield* list("/nowhere")).toEqual([])
      })
    )
  )
})
