import * as Compaction from "@cutpoint/compaction/Compaction"
import { HookFailed } from "@cutpoint/compaction/CompactionErrors"
import * as CompactionHooks from "@cutpoint/compaction/CompactionHooks"
import * as Navigation from "@cutpoint/compaction/Navigation"
import * as SessionStore from "@cutpoint/compaction/SessionStore"
import * as Settings from "@cutpoint/compaction/Settings"
import * as Summarizer from "@cutpoint/compaction/Summarizer"
import * as Tokenizer from "@cutpoint/compaction/Tokenizer"
import type * as Entry from "@cutpoint/core/Entry"
import * as SummaryFormat from "@cutpoint/core/SummaryFormat"
import { expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Ref from "effect/Ref"
import { describe } from "vitest"

const id = (n: number): string => n.toString(16).padStart(8, "0")

const turn = (n: number, text: string): Entry.Entry => ({
  type: "message",
  id: id(n),
  parentId: n === 1 ? null : id(n - 1),
  timestamp: "2026-01-01T00:00:00.000Z",
  message: n % 2 === 1 ? { role: "user", content: text } : { role: "assistant", content: [{ type: "text", text }] }
})

const header: Entry.Header = { type: "session", version: 3, id: "s", cwd: "/work" }
const entries = Array.from({ length: 12 }, (_, n) => turn(n + 1, `${n} ${"text ".repeat(200)}`))
const keep: Compaction.Options = { keepRecentTokens: 600 }

/** A summarizer that says when it has begun, and goes on when it is let. */
const held = Effect.gen(function* () {
  const begun = yield* Deferred.make<void>()
  const go = yield* Deferred.make<void>()
  const calls = yield* Ref.make(0)
  const interrupted = yield* Deferred.make<void>()
  const layer = Layer.succeed(Summarizer.Summarizer, {
    name: "held/model",
    plan: () => ({ requests: 1, mostRequests: 1, inputTokens: 0 }),
    summarize: () =>
      Effect.gen(function* () {
        yield* Ref.update(calls, (n) => n + 1)
        yield* Deferred.succeed(begun, undefined)
        yield* Deferred.await(go)
        return { text: SummaryFormat.print(SummaryFormat.empty), writer: "held/model", usage: undefined, requests: 1 }
      }).pipe(Effect.onInterrupt(() => Deferred.succeed(interrupted, undefined)))
  })
  return { begun, go, calls, interrupted, layer }
})

const services = (
  summarizer: Layer.Layer<Summarizer.Summarizer>,
  options: { readonly settings?: Settings.Given; readonly hooks?: CompactionHooks.Service } = {}
) => {
  const hooks = Layer.succeed(CompactionHooks.CompactionHooks, options.hooks ?? CompactionHooks.none)
  return Layer.mergeAll(Compaction.layer, Navigation.layer).pipe(
    Layer.provideMerge(
      Layer.mergeAll(
        summarizer,
        SessionStore.layerMemory([{ header, entries }]),
        Tokenizer.layerHeuristic,
        Settings.layerMemory(options.settings),
        hooks
      )
    )
  )
}

const count = Effect.flatMap(SessionStore.SessionStore, (store) =>
  Effect.map(store.open("s"), ({ tree }) => tree.entries.length)
)

describe("two who compact one session", () => {
  it.effect("share a run when they want the same, and only one entry is written", () =>
    Effect.gen(function* () {
      const { begun, calls, go, layer } = yield* held
      yield* Effect.gen(function* () {
        const compaction = yield* Compaction.Compaction
        const first = yield* Effect.fork(compaction.compact("s", { keepRecentTokens: 600, reason: "manual" }))
        yield* Deferred.await(begun)
        const second = yield* Effect.fork(compaction.compact("s", { reason: "manual", keepRecentTokens: 600 }))
        yield* Effect.yieldNow()
        yield* Deferred.succeed(go, undefined)
        const [one, other] = [yield* Fiber.join(first), yield* Fiber.join(second)]
        expect(other).toBe(one)
        // The turn is split: one request for the history, one for its start, and none for the second caller.
        expect(one).toMatchObject({ _tag: "Compacted", requests: 2 })
        expect(yield* Ref.get(calls)).toBe(2)
        expect(yield* count).toBe(13)
      }).pipe(Effect.provide(services(layer)))
    })
  )

  it.effect("who wants something else is told that it is busy, and so is who navigates", () =>
    Effect.gen(function* () {
      const { begun, go, layer } = yield* held
      yield* Effect.gen(function* () {
        const compaction = yield* Compaction.Compaction
        const navigation = yield* Navigation.Navigation
        const first = yield* Effect.fork(compaction.compact("s", keep))
        yield* Deferred.await(begun)
        expect(yield* Effect.flip(compaction.compact("s", { keepRecentTokens: 700 }))).toMatchObject({ _tag: "Busy" })
        const automatic = { ...keep, reason: "threshold" as const }
        expect(yield* Effect.flip(compaction.compact("s", automatic))).toMatchObject({ _tag: "Busy" })
        expect(yield* Effect.flip(navigation.navigate("s", id(4)))).toMatchObject({ _tag: "Busy" })
        yield* Deferred.succeed(go, undefined)
        yield* Fiber.join(first)
        expect((yield* navigation.navigate("s", id(4)))._tag).toBe("Navigated")
      }).pipe(Effect.provide(services(layer)))
    })
  )

  it.effect("the run goes on while one of them waits, and is interrupted when the last leaves", () =>
    Effect.gen(function* () {
      const { begun, go, interrupted, layer } = yield* held
      yield* Effect.gen(function* () {
        const compaction = yield* Compaction.Compaction
        const first = yield* Effect.fork(compaction.compact("s", keep))
        yield* Deferred.await(begun)
        const second = yield* Effect.fork(compaction.compact("s", keep))
        yield* Effect.yieldNow()
        yield* Fiber.interrupt(first)
        expect(yield* Deferred.isDone(interrupted)).toBe(false)
        yield* Fiber.interrupt(second)
        expect(yield* Deferred.isDone(interrupted)).toBe(true)
        expect(yield* count).toBe(12)
        // Nothing is left held: the next one runs.
        yield* Deferred.succeed(go, undefined)
        expect((yield* compaction.compact("s", { keepRecentTokens: 700 }))._tag).toBe("Compacted")
      }).pipe(Effect.provide(services(layer)))
    })
  )
})

describe("hooks", () => {
  const offline = Layer.provide(Summarizer.layerOffline, Tokenizer.layerHeuristic)
  const compact = (hooks: Partial<CompactionHooks.Service>, options: Compaction.Options = keep) =>
    Effect.gen(function* () {
      const compaction = yield* Compaction.Compaction
      const exit = yield* Effect.exit(compaction.compact("s", options))
      return { exit, entries: yield* count }
    }).pipe(Effect.provide(services(offline, { hooks: CompactionHooks.make(hooks) })))

  it.effect("can cancel, and nothing is written", () =>
    Effect.gen(function* () {
      const { entries, exit } = yield* compact({
        beforeCompact: () => Effect.succeed(CompactionHooks.cancel("not now"))
      })
      expect(exit).toMatchObject({ value: { _tag: "Canceled", why: "not now" } })
      expect(entries).toBe(12)
    })
  )

  it.effect("can bring a summary along, which is stored as theirs with its usage", () =>
    Effect.gen(function* () {
      const summary = {
        summary: "mine",
        firstKeptEntryId: id(11),
        tokensBefore: 7,
        details: [1],
        usage: { totalTokens: 9 }
      }
      const { exit } = yield* compact({ beforeCompact: () => Effect.succeed(CompactionHooks.use(summary)) })
      const entry = { summary: "mine", fromHook: true, firstKeptEntryId: id(11), details: [1], tokensBefore: 7 }
      expect(exit).toMatchObject({ value: { _tag: "Compacted", writer: "hook", entry, usage: { totalTokens: 9 } } })
    })
  )

  it.effect("that keep from an entry that is not on the path, or fail, write nothing", () =>
    Effect.gen(function* () {
      const elsewhere = { summary: "mine", firstKeptEntryId: "nowhere", tokensBefore: 7 }
      const first = yield* compact({ beforeCompact: () => Effect.succeed(CompactionHooks.use(elsewhere)) })
      const failing = CompactionHooks.fromPromises({ beforeCompact: () => Promise.reject(new Error("boom")) })
      const second = yield* compact(failing)
      for (const { entries, exit } of [first, second]) {
        expect(exit).toMatchObject({ cause: { error: { _tag: "HookFailed", hook: "beforeCompact" } } })
        expect(entries).toBe(12)
      }
    })
  )

  it.effect("hear of what was done, and of what came to nothing", () =>
    Effect.gen(function* () {
      const heard = yield* Ref.make<ReadonlyArray<string>>([])
      const hear = (what: string) => Ref.update(heard, (before) => [...before, what])
      const hooks = {
        afterCompact: () => hear("done"),
        compactionFailed: ({ aborted, error }: CompactionHooks.Failed) =>
          hear(aborted ? "aborted" : error instanceof HookFailed ? error.hook : "other")
      }
      yield* compact(hooks)
      yield* compact({ ...hooks, beforeCompact: () => Effect.fail(new HookFailed({ hook: "x", problem: "x." })) })
      yield* compact({ ...hooks, beforeCompact: () => Effect.interrupt })
      expect(yield* Ref.get(heard)).toEqual(["done", "x", "aborted"])
    })
  )

  it.effect("that throw, or bring what cannot be stored, are failures of theirs", () =>
    Effect.gen(function* () {
      const supplied = { summary: "mine", firstKeptEntryId: id(11), tokensBefore: 7 }
      const bad: ReadonlyArray<Partial<CompactionHooks.Service>> = [
        {
          beforeCompact: () => {
            throw new Error("thrown")
          }
        },
        { beforeCompact: () => Effect.succeed(CompactionHooks.use({ ...supplied, tokensBefore: Number.NaN })) },
        { beforeCompact: () => Effect.succeed(CompactionHooks.use({ ...supplied, details: { big: 1n } })) }
      ]
      for (const hooks of bad) {
        const { entries, exit } = yield* compact(hooks)
        expect(exit).toMatchObject({ cause: { error: { _tag: "HookFailed" } } })
        expect(entries).toBe(12)
      }
      const late = yield* compact({
        afterCompact: () => {
          throw new Error("too late")
        }
      })
      expect(late).toMatchObject({ entries: 13, exit: { value: { _tag: "Compacted" } } })
    })
  )

  it.effect("several: the first that cancels wins, and the last summary", () =>
    Effect.gen(function* () {
      const use = (summary: string) =>
        CompactionHooks.make({
          beforeCompact: () =>
            Effect.succeed(CompactionHooks.use({ summary, firstKeptEntryId: id(11), tokensBefore: 1 }))
        })
      const no = CompactionHooks.make({ beforeCompact: () => Effect.succeed(CompactionHooks.cancel("no")) })
      const both = yield* compact(CompactionHooks.combine(use("one"), CompactionHooks.none, use("two")))
      expect(both.exit).toMatchObject({ value: { entry: { summary: "two" } } })
      const canceled = yield* compact(CompactionHooks.combine(use("one"), no, use("two")))
      expect(canceled.exit).toMatchObject({ value: { _tag: "Canceled" } })
    })
  )

  it.effect(
    "before a move run whether or not a summary is wanted, and can change what is said and how it is called",
    () =>
      Effect.gen(function* () {
        const asked: Array<CompactionHooks.BeforeTree> = []
        const hooks = CompactionHooks.make({
          beforeTree: (event) => {
            asked.push(event)
            const decision: CompactionHooks.TreeDecision = { _tag: "GoOn", label: "from a hook" }
            return Effect.succeed(decision)
          }
        })
        const { entry, moved } = yield* Effect.gen(function* () {
          const navigation = yield* Navigation.Navigation
          const moved = yield* navigation.navigate("s", id(4))
          const summarized = yield* navigation.navigate("s", id(8), { summarize: true })
          return { moved, entry: summarized.session.tree.entries.findLast((each) => each.type === "label") }
        }).pipe(Effect.provide(services(offline, { hooks })))
        expect(asked.map((event) => event.userWantsSummary)).toEqual([false, true])
        expect(asked[0]).toMatchObject({ targetId: id(4), oldLeafId: id(12), commonAncestorId: id(4) })
        expect(moved.session.tree.entries.some((each) => each.type === "label")).toBe(true)
        expect(entry).toMatchObject({ label: "from a hook" })
      })
  )

  it.effect("written with promises are given a signal that is aborted with the run", () =>
    Effect.gen(function* () {
      const begun = yield* Deferred.make<AbortSignal>()
      const hooks = CompactionHooks.fromPromises({
        beforeCompact: (_, signal) => {
          Effect.runSync(Deferred.succeed(begun, signal))
          return new Promise(() => {})
        }
      })
      yield* Effect.gen(function* () {
        const compaction = yield* Compaction.Compaction
        const fiber = yield* Effect.fork(compaction.compact("s", keep))
        const signal = yield* Deferred.await(begun)
        const exit = yield* Fiber.interrupt(fiber)
        expect(Exit.isInterrupted(exit)).toBe(true)
        expect(signal.aborted).toBe(true)
        expect(yield* count).toBe(12)
      }).pipe(Effect.provide(services(offline, { hooks })))
    })
  )
})

describe("compaction.enabled: false", () => {
  it.effect("stops every automatic path, and none that is asked for", () =>
    Effect.gen(function* () {
      const offline = Layer.provide(Summarizer.layerOffline, Tokenizer.layerHeuristic)
      const settings: Settings.Given = { compaction: { enabled: false, reserveTokens: 0 } }
      yield* Effect.gen(function* () {
        const compaction = yield* Compaction.Compaction
        const small = { ...keep, contextWindow: 1000 }
        expect((yield* compaction.compact("s", { ...small, reason: "threshold" }))._tag).toBe("Disabled")
        expect((yield* compaction.compact("s", { ...small, reason: "overflow" }))._tag).toBe("Disabled")
        expect((yield* compaction.compact("s", small))._tag).toBe("Compacted")
      }).pipe(Effect.provide(services(offline, { settings })))
    })
  )

  it.effect("the window and overrides of the model that goes on hold", () =>
    Effect.gen(function* () {
      const offline = Layer.provide(Summarizer.layerOffline, Tokenizer.layerHeuristic)
      const settings: Settings.Given = {
        compaction: { modelOverrides: { "big/one": { reserveTokens: 10, keepRecentTokens: 5 } } },
        cutpoint: { models: { "big/one": { contextWindow: 300_000 }, "small/one": { contextWindow: 20_000 } } }
      }
      yield* Effect.gen(function* () {
        const compaction = yield* Compaction.Compaction
        expect(yield* compaction.check("s", { model: "big/one" })).toMatchObject({ threshold: 299_990 })
        expect(yield* compaction.check("s", { model: "small/one" })).toMatchObject({ threshold: 20_000 - 16_384 })
        const kept = (yield* compaction.prepare("s", { model: "big/one" })).preparation
        expect(kept).toMatchObject({ value: { settings: { keepRecentTokens: 5 } } })
        // A session that goes on with another model has that model's window.
        const store = yield* SessionStore.SessionStore
        const change = { type: "model_change", provider: "small", modelId: "one" } as const
        yield* store.append(yield* store.open("s"), [{ ...turn(13, ""), ...change }])
        expect(yield* compaction.check("s")).toMatchObject({ contextWindow: 20_000 })
        const prepared = yield* compaction.prepare("s", { model: "unheard/of" })
        expect(prepared.check.contextWindow).toBe(128_000)
        expect(prepared.notices.join()).toContain("unheard/of")
      }).pipe(Effect.provide(services(offline, { settings })))
    })
  )
})

describe("what cannot be written, or leads nowhere", () => {
  it.effect("nothing is asked of a summarizer for a session of a newer version", () =>
    Effect.gen(function* () {
      const { calls, layer } = yield* held
      const newer = SessionStore.layerMemory([{ header: { type: "session", id: "s", version: 9 }, entries }])
      const ports = Layer.mergeAll(layer, newer, Tokenizer.layerHeuristic, Settings.layerMemory())
      yield* Effect.gen(function* () {
        const compaction = yield* Compaction.Compaction
        const navigation = yield* Navigation.Navigation
        expect(yield* Effect.flip(compaction.compact("s", keep))).toMatchObject({ _tag: "SessionReadOnly" })
        const move = navigation.navigate("s", id(4), { summarize: true })
        expect(yield* Effect.flip(move)).toMatchObject({ _tag: "SessionReadOnly" })
        expect(yield* Ref.get(calls)).toBe(0)
      }).pipe(Effect.provide(Layer.provide(Layer.mergeAll(Compaction.layer, Navigation.layer), ports)))
    })
  )

  it.effect("before a message whose parent is missing there is nothing", () =>
    Effect.gen(function* () {
      const orphan = { ...turn(21, "an orphan"), parentId: "gone" }
      const lost = SessionStore.layerMemory([{ header, entries: [orphan, { ...turn(22, "ok"), parentId: id(21) }] }])
      const offline = Layer.provide(Summarizer.layerOffline, Tokenizer.layerHeuristic)
      const ports = Layer.mergeAll(offline, lost, Tokenizer.layerHeuristic, Settings.layerMemory())
      yield* Effect.gen(function* () {
        const navigation = yield* Navigation.Navigation
        const moved = yield* navigation.navigate("s", id(21))
        expect(moved).toMatchObject({ newLeafId: null, prepared: { editText: "an orphan" } })
        const store = yield* SessionStore.SessionStore
        expect((yield* store.open("s")).tree.leafId).toBeNull()
      }).pipe(Effect.provide(Layer.provideMerge(Layer.mergeAll(Compaction.layer, Navigation.layer), ports)))
    })
  )

  it.effect("sizes that are no numbers of tokens are settings errors", () =>
    Effect.gen(function* () {
      const offline = Layer.provide(Summarizer.layerOffline, Tokenizer.layerHeuristic)
      yield* Effect.gen(function* () {
        const compaction = yield* Compaction.Compaction
        for (const odd of [{ contextWindow: Number.NaN }, { reserveTokens: -100 }, { keepRecentTokens: 0.5 }]) {
          expect(yield* Effect.flip(compaction.compact("s", odd))).toMatchObject({ _tag: "SettingsInvalid" })
        }
        expect(yield* count).toBe(12)
      }).pipe(Effect.provide(services(offline)))
    })
  )
})
