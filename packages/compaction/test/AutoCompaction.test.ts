import type * as Entry from "@cutpoint/core/Entry"
import * as Attempts from "@cutpoint/core/Attempts"
import { describe, expect, it } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Ref from "effect/Ref"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/TestClock"
import { answered, chain, header, reply, said, tokens, user } from "../../core/test/SessionBuilder.js"
import * as AutoCompaction from "../src/AutoCompaction.js"
import * as Compaction from "../src/Compaction.js"
import { SummarizerFailed } from "../src/CompactionErrors.js"
import * as CompactionMetrics from "../src/CompactionMetrics.js"
import type * as OpenSession from "../src/OpenSession.js"
import * as SessionStore from "../src/SessionStore.js"
import * as Settings from "../src/Settings.js"
import * as SettingsValues from "../src/SettingsValues.js"
import type * as Summarizer from "../src/Summarizer.js"
import * as SummaryProgress from "../src/SummaryProgress.js"
import * as Tokenizer from "../src/Tokenizer.js"
import { appendLater, held, key, saying, scripted, seen } from "./services.js"

/** A window of 3,000 tokens of which 1,000 are kept free: the threshold is 2,000. */
const sizes: Settings.Given = {
  compaction: { reserveTokens: 1000, keepRecentTokens: 900 },
  cutpoint: { contextWindow: 3000 }
}

interface Given {
  readonly entries: ReadonlyArray<Entry.Entry>
  readonly summarizer?: Layer.Layer<Summarizer.Summarizer>
  readonly settings?: Settings.Given
}

/** Everything over one session, with how often the store was read and settings that can change. */
const over = <A, E>(
  { entries, settings = sizes, summarizer = saying("SUMMARY").layer }: Given,
  test: (given: {
    readonly auto: AutoCompaction.Service
    readonly session: OpenSession.OpenSession
    readonly reads: Ref.Ref<number>
    readonly change: (settings: Settings.Given) => Effect.Effect<void>
  }) => Effect.Effect<A, E, SessionStore.SessionStore | Compaction.Compaction>
) =>
  Effect.gen(function* () {
    const reads = yield* Ref.make(0)
    const current = yield* Ref.make(valuesOf(settings))
    const counting = Layer.effect(
      SessionStore.SessionStore,
      Effect.map(SessionStore.SessionStore, (store) =>
        SessionStore.SessionStore.of({
          ...store,
          open: (...args) =>
            Effect.zipRight(
              Ref.update(reads, (n) => n + 1),
              store.open(...args)
            )
        })
      )
    ).pipe(Layer.provide(SessionStore.layerMemory([{ header, entries }])))
    const changing = Layer.succeed(
      Settings.Settings,
      Settings.Settings.of({ load: () => Effect.map(Ref.get(current), (values) => ({ values, notices: [] })) })
    )
    const layer = AutoCompaction.layer.pipe(
      Layer.provideMerge(Compaction.layer),
      Layer.provideMerge(Layer.mergeAll(counting, changing, Tokenizer.layerHeuristic, summarizer))
    )
    return yield* Effect.gen(function* () {
      const auto = yield* AutoCompaction.AutoCompaction
      const session = yield* auto.open(key)
      return yield* test({ auto, session, reads, change: (given) => Ref.set(current, valuesOf(given)) })
    }).pipe(Effect.provide(layer))
  })

const valuesOf = (given: Settings.Given): SettingsValues.Values => ({
  compaction: { ...SettingsValues.defaults.compaction, ...given.compaction },
  branchSummary: { ...SettingsValues.defaults.branchSummary, ...given.branchSummary },
  cutpoint: { ...SettingsValues.defaults.cutpoint, ...given.cutpoint }
})

const turn = (id: string, size = 500) => [user(`u${id}`, tokens(size)), reply(`a${id}`, tokens(size))]
const twoTurns = chain([...turn("1"), ...turn("2")])
const threeTurns = chain([...turn("1"), ...turn("2"), ...turn("3")])

const says = (session: OpenSession.OpenSession, amount: number) =>
  session.append([{ type: "message", message: said(tokens(amount)) }])

/** Lets the other fibers go on until they wait for something. */
const settle = Effect.repeatN(Effect.yieldNow(), 50)

/** What is told while an effect runs. */
const toldWhile = <A, E, R>(auto: AutoCompaction.Service, run: Effect.Effect<A, E, R>) =>
  Effect.scoped(
    Effect.gen(function* () {
      const events: Array<AutoCompaction.Event> = []
      const listening = yield* Effect.forkScoped(
        Stream.runForEach(auto.events, (event) => Effect.sync(() => events.push(event)))
      )
      yield* settle
      yield* Effect.exit(run)
      yield* settle
      yield* Fiber.interrupt(listening)
      return events
    })
  )

describe("over the threshold", () => {
  it.effect("nothing is done at the threshold itself, and a compaction one token over it", () =>
    over({ entries: twoTurns }, ({ auto, session }) =>
      Effect.gen(function* () {
        expect((yield* auto.ifDue(session))._tag).toBe("NotDue")
        yield* says(session, 1)
        const outcome = yield* auto.ifDue(session)
        expect(outcome._tag).toBe("Compacted")
        expect(session.context().contextTokens()).toBeLessThan(2000)
        expect(seen(session.session()).slice(1, 3)).toEqual(["u2", "a2"])
      })
    )
  )

  it.effect("a check reads nothing, however often it is made and whatever was appended", () =>
    over({ entries: [] }, ({ auto, reads, session }) =>
      Effect.gen(function* () {
        const before = yield* Ref.get(reads)
        for (let turn = 0; turn < 100; turn++) {
          yield* says(session, 10)
          expect((yield* auto.ifDue(session))._tag).toBe("NotDue")
        }
        expect((yield* Ref.get(reads)) - before).toBe(0)
        expect(session.context().contextTokens()).toBe(1000)
      })
    )
  )

  it.effect("what somebody else appended counts from the next append on", () =>
    over({ entries: twoTurns }, ({ auto, session }) =>
      Effect.gen(function* () {
        yield* appendLater(user("other", tokens(300)))
        yield* says(session, 1)
        expect(session.context().contextTokens()).toBe(2301)
        expect((yield* auto.ifDue(session))._tag).toBe("Compacted")
      })
    )
  )

  it.effect("a smaller model is measured by its own window at once", () =>
    over(
      {
        entries: twoTurns,
        settings: {
          compaction: sizes.compaction ?? {},
          cutpoint: { models: { "a/large": { contextWindow: 9000 }, "a/small": { contextWindow: 2500 } } }
        }
      },
      ({ auto, session }) =>
        Effect.gen(function* () {
          expect((yield* auto.ifDue(session, { model: "a/large" }))._tag).toBe("NotDue")
          expect((yield* auto.ifDue(session, { model: "a/small" }))._tag).toBe("Compacted")
        })
    )
  )
})

describe("a provider that finds the context too large", () => {
  it.effect("is answered by a compaction below the threshold, and the failed attempt is hidden", () =>
    over({ entries: twoTurns }, ({ auto, session }) =>
      Effect.gen(function* () {
        const failed = answered("", { stopReason: "error", errorMessage: "too large" })
        const [entry] = yield* session.append([{ type: "message", message: failed }])
        const outcome = yield* auto.onOverflow(session, { failedEntryIds: [entry?.id ?? ""] })
        expect(outcome._tag).toBe("Compacted")
        const { entries } = session.session().tree
        expect(entries).toContainEqual(
          expect.objectContaining({ type: "context_edit", targetId: entry?.id, replacement: null })
        )
        expect(seen(session.session())).not.toContain(entry?.id)
      })
    )
  )

  it.effect("and finds it so again is not asked a third time", () =>
    over({ entries: twoTurns }, ({ auto, session }) =>
      Effect.gen(function* () {
        yield* auto.onOverflow(session)
        expect(yield* auto.onOverflow(session, { isRetry: true })).toMatchObject({ obstacle: "stuck" })
        yield* says(session, 100)
        expect(yield* auto.onOverflow(session)).toMatchObject({ obstacle: "paused" })
      })
    )
  )
})

describe("turned off", () => {
  const off: Settings.Given = { ...sizes, compaction: { ...sizes.compaction, enabled: false } }

  it.effect("neither the threshold nor an overflow compacts or hides anything; by hand it works", () =>
    over({ entries: threeTurns, settings: off }, ({ auto, session }) =>
      Effect.gen(function* () {
        const { revision } = session.session()
        expect(yield* auto.ifDue(session)).toMatchObject({ obstacle: "disabled" })
        expect(yield* auto.onOverflow(session, { failedEntryIds: ["a3"] })).toMatchObject({ obstacle: "disabled" })
        const compaction = yield* Compaction.Compaction
        const store = yield* SessionStore.SessionStore
        expect((yield* store.open(key)).revision).toBe(revision)
        expect((yield* compaction.compact(key))._tag).toBe("Compacted")
      })
    )
  )
})

describe("what cannot get under the threshold", () => {
  it.effect("a single message over it: nothing is read or asked again until there is something to summarize", () => {
    const summarizer = saying("SUMMARY")
    return over({ entries: [user("u1", tokens(2500))], summarizer: summarizer.layer }, ({ auto, reads, session }) =>
      Effect.gen(function* () {
        expect(yield* auto.ifDue(session)).toMatchObject({
          obstacle: "stuck",
          why: expect.stringContaining("u1 alone has 2500")
        })
        const before = yield* Ref.get(reads)
        for (let turn = 0; turn < 5; turn++) {
          expect(yield* auto.ifDue(session)).toMatchObject({ obstacle: "stuck" })
        }
        expect(yield* Ref.get(reads)).toBe(before)
        yield* says(session, 1000)
        expect((yield* auto.ifDue(session))._tag).toBe("Compacted")
        expect(summarizer.requests).toHaveLength(1)
      })
    )
  })

  it.effect("a summary that leaves it over: no other is paid for at each turn, but with other settings", () => {
    const long = saying(tokens(1300))
    return over({ entries: threeTurns, summarizer: long.layer }, ({ auto, change, session }) =>
      Effect.gen(function* () {
        expect((yield* auto.ifDue(session))._tag).toBe("Compacted")
        expect(session.context().contextTokens()).toBeGreaterThan(2000)
        for (let turn = 0; turn < 5; turn++) {
          yield* says(session, 10)
          expect(yield* auto.ifDue(session)).toMatchObject({ obstacle: "stuck" })
        }
        expect(long.requests).toHaveLength(1)
        yield* change({ ...sizes, compaction: { reserveTokens: 1000, keepRecentTokens: 100 } })
        yield* auto.ifDue(session)
        expect(long.requests).toHaveLength(2)
      })
    )
  })
})

describe("an attempt that fails", () => {
  const failing = (asked: Array<number>) =>
    scripted(() =>
      Effect.suspend(() => {
        asked.push(1)
        return new SummarizerFailed({ reason: "LlmUnavailable", problem: "No answer.", requests: 1 })
      })
    )

  it.effect("is not made again until it has cooled down, longer each time", () => {
    const asked: Array<number> = []
    return over({ entries: threeTurns, summarizer: failing(asked) }, ({ auto, session }) =>
      Effect.gen(function* () {
        expect((yield* auto.ifDue(session))._tag).toBe("Failed")
        expect(yield* auto.ifDue(session)).toMatchObject({ obstacle: "paused" })
        yield* TestClock.adjust(Attempts.firstPauseMs)
        expect((yield* auto.ifDue(session))._tag).toBe("Failed")
        yield* TestClock.adjust(Attempts.firstPauseMs)
        expect(yield* auto.ifDue(session)).toMatchObject({ obstacle: "paused" })
        yield* TestClock.adjust(Attempts.firstPauseMs)
        expect((yield* auto.ifDue(session))._tag).toBe("Failed")
        expect(asked).toHaveLength(3)
      })
    )
  })

  it.effect("is counted by its reason, and a compaction by its tokens and requests", () =>
    Effect.gen(function* () {
      const failures = Metric.tagged(
        Metric.tagged(CompactionMetrics.failures, "reason", "threshold"),
        "error",
        "LlmUnavailable"
      )
      const before = yield* Metric.value(failures)
      yield* over({ entries: threeTurns, summarizer: failing([]) }, ({ auto, session }) => auto.ifDue(session))
      expect((yield* Metric.value(failures)).count - before.count).toBe(1)
      const [made, left] = [
        yield* Metric.value(CompactionMetrics.tokensBefore),
        yield* Metric.value(CompactionMetrics.tokensAfter)
      ]
      const requests = yield* Metric.value(CompactionMetrics.requests)
      yield* over({ entries: threeTurns }, ({ auto, session }) => auto.ifDue(session))
      expect((yield* Metric.value(CompactionMetrics.tokensBefore)).sum - made.sum).toBe(3000)
      expect((yield* Metric.value(CompactionMetrics.tokensAfter)).sum - left.sum).toBe(1002)
      expect((yield* Metric.value(CompactionMetrics.requests)).count - requests.count).toBe(1)
    })
  )
})

describe("events", () => {
  const reporting = scripted(() =>
    Effect.flatMap(SummaryProgress.SummaryProgress, ({ report }) =>
      Effect.as(report({ _tag: "Request", kind: "history", request: 1, of: 2 }), "SUMMARY")
    )
  )

  it.effect("say what happens in order, the requests with how many there will be", () =>
    over({ entries: threeTurns, summarizer: reporting }, ({ auto, session }) =>
      Effect.gen(function* () {
        const told = yield* toldWhile(auto, auto.ifDue(session))
        expect(told.map((event) => event._tag)).toEqual(["Started", "Request", "Compacted"])
        expect(told[1]).toMatchObject({ request: 1, of: 2 })
        expect(told).toEqual(told.map((event) => expect.objectContaining({ session: key, reason: event.reason })))
      })
    )
  )

  it.effect("none is missed by those who listen slowly", () =>
    over({ entries: [user("u1", tokens(2500))] }, ({ auto, session }) =>
      Effect.gen(function* () {
        const times = 3000
        const slow = yield* Effect.fork(Stream.runCollect(Stream.take(auto.events, times)))
        yield* settle
        yield* Effect.replicateEffect(auto.ifDue(session), times, { discard: true })
        expect(Chunk.size(yield* Fiber.join(slow))).toBe(times)
      })
    )
  )

  it.effect("an interruption is told as one, and leaves the session as it was", () =>
    Effect.flatMap(held, ({ begun, layer }) =>
      over({ entries: threeTurns, summarizer: layer }, ({ auto, session }) =>
        Effect.gen(function* () {
          const told = yield* toldWhile(
            auto,
            Effect.gen(function* () {
              const running = yield* Effect.fork(auto.ifDue(session))
              yield* begun
              yield* Fiber.interrupt(running)
            })
          )
          expect(told.map((event) => event._tag)).toEqual(["Started", "Canceled"])
          const store = yield* SessionStore.SessionStore
          expect((yield* store.open(key)).revision).toBe(session.session().revision)
        })
      )
    )
  )
})
