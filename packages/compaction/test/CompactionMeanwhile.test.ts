import type * as Entry from "@cutpoint/core/Entry"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { call, chain, compaction, edit, reply, result, system, tokens, user } from "../../core/test/SessionBuilder.js"
import * as Compaction from "../src/Compaction.js"
import { appendLater, held, ids, key, open, seen, services } from "./services.js"

const turn = (id: string, size = 500) => [user(`u${id}`, tokens(size)), reply(`a${id}`, tokens(size))]

const threeTurns = chain([...turn("1"), ...turn("2"), ...turn("3")])

const compact = (options: Compaction.Options = { keepRecentTokens: 900 }) =>
  Effect.flatMap(Compaction.Compaction, (compaction) => compaction.compact(key, options))

const compacted = (options?: Compaction.Options) =>
  Effect.flatMap(compact(options), (done) =>
    done._tag === "Compacted" ? Effect.succeed(done) : Effect.dieMessage(done._tag)
  )

const unchanged = (entries: ReadonlyArray<Entry.Entry>) =>
  Effect.map(open, (session) => expect(session.tree.entries).toEqual(entries))

describe("what happens while the summary is written", () => {
  /** Compacts, does something meanwhile, and lets the summarizer go. */
  const meanwhile = <A, E>(
    entries: ReadonlyArray<Entry.Entry>,
    change: ReadonlyArray<Entry.Entry>,
    then: (exit: Effect.Effect<Compaction.Compacted, Compaction.CompactError>) => Effect.Effect<A, E>
  ) =>
    Effect.gen(function* () {
      const summarizer = yield* held
      return yield* Effect.gen(function* () {
        const context = yield* Effect.context<Effect.Effect.Context<typeof open>>()
        const fiber = yield* Effect.fork(compacted())
        yield* summarizer.begun
        yield* appendLater(...change)
        yield* summarizer.release
        yield* then(Fiber.join(fiber))
        return yield* Effect.provide(open, context)
      }).pipe(Effect.provide(services(entries, summarizer.layer)))
    })

  it.effect("a message is in the context exactly once, and the entry goes after it", () =>
    Effect.gen(function* () {
      const session = yield* meanwhile(threeTurns, [user("new1", "hello"), reply("new2", "hi")], (done) =>
        Effect.map(done, ({ entry, tokensBefore }) => {
          expect(entry.parentId).toBe("new2")
          expect(tokensBefore).toBe(3003)
        })
      )
      expect(seen(session).slice(1)).toEqual(["u3", "a3", "new1", "new2"])
      expect(ids(session).slice(-3, -1)).toEqual(["new1", "new2"])
    })
  )

  it.effect("a late tool result finds its call", () =>
    Effect.gen(function* () {
      const path = chain([
        ...turn("1"),
        ...turn("2"),
        user("u3", tokens(900)),
        reply("a3", [call("k1"), call("k2")]),
        result("r1", "k1", tokens(10))
      ])
      const session = yield* meanwhile(path, [result("r2", "k2", "late")], (done) => done)
      expect(seen(session)).toEqual(expect.arrayContaining(["a3", "r1", "r2"]))
    })
  )

  it.effect("a system message is in the replay", () =>
    Effect.gen(function* () {
      yield* meanwhile(threeTurns, [system("s", "be brief")], (done) =>
        Effect.map(done, ({ entry }) => expect(entry.systemMessage?.content).toBe("be brief"))
      )
    })
  )

  it.effect("an edit of what is kept is no obstacle", () =>
    Effect.gen(function* () {
      const session = yield* meanwhile(threeTurns, [edit("e", "u3", null)], (done) => done)
      expect(seen(session).slice(1)).toEqual(["a3"])
    })
  )

  it.effect.each([
    ["a compaction", compaction("other", "u3")],
    ["an edit that hides what is summarized", edit("e", "u1", null)],
    ["an edit that replaces what is summarized", edit("e", "a2", "new")]
  ] as const)("%s: the run fails, and writes nothing", ([, change]) =>
    Effect.gen(function* () {
      const session = yield* meanwhile(threeTurns, [change], (done) =>
        Effect.map(Effect.flip(done), (error) => expect(error._tag).toBe("SessionChanged"))
      )
      expect(ids(session)).toEqual([...ids({ ...session, tree: { ...session.tree, entries: threeTurns } }), change.id])
    })
  )

  it.effect("interrupting it leaves the session as it was, and free", () =>
    Effect.gen(function* () {
      const summarizer = yield* held
      yield* Effect.gen(function* () {
        const fiber = yield* Effect.fork(compact())
        yield* summarizer.begun
        yield* Fiber.interrupt(fiber)
        yield* unchanged(threeTurns)
        yield* summarizer.release
        yield* unchanged(threeTurns)
        expect(yield* compact()).toMatchObject({ _tag: "Compacted" })
      }).pipe(Effect.provide(services(threeTurns, summarizer.layer)))
    })
  )

  it.effect("a second caller with equal options shares the run, another is told that it is busy", () =>
    Effect.gen(function* () {
      const summarizer = yield* held
      yield* Effect.gen(function* () {
        const first = yield* Effect.fork(compacted({ keepRecentTokens: 900, reason: "manual" }))
        yield* summarizer.begun
        const second = yield* Effect.fork(
          compacted({ reason: "manual", keepRecentTokens: 900, customInstructions: undefined })
        )
        yield* Effect.yieldNow()
        expect(yield* Effect.flip(compact({ keepRecentTokens: 10 }))).toMatchObject({ _tag: "Busy" })
        yield* summarizer.release
        const [one, other] = [yield* Fiber.join(first), yield* Fiber.join(second)]
        expect(one.entry).toEqual(other.entry)
        expect(ids(yield* open)).toHaveLength(7)
      }).pipe(Effect.provide(services(threeTurns, summarizer.layer)))
    })
  )
})
