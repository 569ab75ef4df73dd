/** Sessions far larger than the window of the model that summarizes them. */
import * as Compaction from "@cutpoint/compaction/Compaction"
import type * as Llm from "@cutpoint/compaction/Llm"
import * as Navigation from "@cutpoint/compaction/Navigation"
import * as SessionStore from "@cutpoint/compaction/SessionStore"
import * as Settings from "@cutpoint/compaction/Settings"
import * as Summarizer from "@cutpoint/compaction/Summarizer"
import * as Tokenizer from "@cutpoint/compaction/Tokenizer"
import type * as Entry from "@cutpoint/core/Entry"
import * as Tokens from "@cutpoint/core/Tokens"
import * as ScriptedLlm from "@cutpoint/testing/ScriptedLlm"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { describe } from "vitest"

const key = "large"
const header: Entry.Header = { type: "session", version: 3, id: key, cwd: "/work/app" }

const said = (id: string, parentId: string | null, role: "user" | "assistant", text: string): Entry.MessageEntry => ({
  type: "message",
  id,
  parentId,
  timestamp: "2026-01-01T00:00:00.000Z",
  message: role === "user" ? { role, content: text } : { role, content: [{ type: "text", text }] }
})

/** A chain of questions and answers, each with a fact of its own in it. */
const talk = (count: number, parentId: string | null): ReadonlyArray<Entry.MessageEntry> =>
  Array.from({ length: count }, (_, n) =>
    said(
      `m${n}`,
      n === 0 ? parentId : `m${n - 1}`,
      n % 2 === 0 ? "user" : "assistant",
      `FACT-${n} ${"words of no weight ".repeat(160)}`
    )
  )

const charactersOf = (entries: ReadonlyArray<Entry.Entry>): number =>
  entries.reduce((sum, entry) => sum + JSON.stringify(entry).length, 0)

/** The provider takes as many tokens a request, whatever the model says of its window. */
const refuseOver = 50_000

/** Carries on a few facts, so that a summary stays short however much it is told. */
const modelOf = (contextWindow: number, facts: RegExp) =>
  ScriptedLlm.make({ contextWindow, refuseOver, reply: ScriptedLlm.carriesOver(facts) })

/** How many of a model's requests it refused as too large. */
const refusedOf = (requests: ReadonlyArray<Llm.Request>): number =>
  requests.filter(({ prompt, system }) => Tokens.heuristic(system + prompt) > refuseOver).length

const servicesOf = (entries: ReadonlyArray<Entry.Entry>, llm: ScriptedLlm.ScriptedLlm) =>
  Layer.mergeAll(Compaction.layer, Navigation.layer).pipe(
    Layer.provideMerge(
      Layer.mergeAll(
        SessionStore.layerMemory([{ header, entries }]),
        Layer.provide(Summarizer.layerLlm, llm.layer),
        Settings.layerMemory()
      )
    ),
    Layer.provideMerge(Tokenizer.layerHeuristic)
  )

const storedEntries = Effect.flatMap(SessionStore.SessionStore, (store) =>
  Effect.map(store.open(key), ({ tree }) => tree.entries)
)

/** What was asked of a model, against what had been announced. */
const expectWithin = (requests: ReadonlyArray<Llm.Request>, plan: Summarizer.Plan, isHonest: boolean) => {
  const refused = refusedOf(requests)
  // It takes several requests, so that summaries are carried from one to the next.
  expect(plan.requests).toBeGreaterThan(1)
  expect(requests.length).toBeGreaterThan(1)
  expect(requests.length).toBeLessThanOrEqual(plan.mostRequests)
  if (isHonest) {
    expect(refused).toBe(0)
    expect(requests.length).toBeLessThanOrEqual(plan.requests)
  } else {
    // Each refusal halves the chunks, at most four times.
    expect(refused).toBeGreaterThan(0)
    expect(refused).toBeLessThanOrEqual(4)
    expect(requests.length - refused).toBeLessThanOrEqual(plan.requests * 2 ** refused)
  }
}

const windows = [
  ["an honest window", 60_000, true],
  ["a window that is a lie", 200_000, false]
] as const

describe("a session of 1.2 million characters", () => {
  const entries = talk(400, null)

  it("is as large as that", () => {
    expect(charactersOf(entries)).toBeGreaterThan(1_200_000)
  })

  it.effect.each(windows)("is compacted by a model with %s", ([, contextWindow, isHonest]) =>
    Effect.gen(function* () {
      // The first and the last that are summarized, and the start of the turn that is split.
      const llm = yield* modelOf(contextWindow, /FACT-(?:0|371|372)\b/g)
      yield* Effect.gen(function* () {
        const compaction = yield* Compaction.Compaction
        const { plan } = yield* compaction.prepare(key)
        // Reading and planning ask nobody.
        expect(yield* llm.requests).toEqual([])
        const done = yield* compaction.compact(key, { reason: "threshold" })
        if (done._tag !== "Compacted") return expect.fail(`It ended as ${done._tag}.`)
        expect(done.prepared.plan).toEqual(plan)
        const requests = yield* llm.requests
        expectWithin(requests, plan, isHonest)
        expect(done.requests).toBe(requests.length)
        // A summary and the newest 20,000 tokens are left of 305,000.
        expect(done.tokensBefore).toBeGreaterThan(300_000)
        expect(done.tokensAfter).toBeLessThan(21_000)
        const stored = (yield* storedEntries).at(-1)
        if (stored?.type !== "compaction") return expect.fail("The last entry is no compaction.")
        expect(stored.firstKeptEntryId).toBe("m373")
        for (const fact of ["FACT-0", "FACT-371", "FACT-372"]) expect(stored.summary).toMatch(new RegExp(`${fact}\\b`))
      }).pipe(Effect.provide(servicesOf(entries, llm)))
    })
  )
})

describe("a branch of 1.2 million characters", () => {
  const trunk = [said("root", null, "user", "start"), said("fork", "root", "assistant", "fork here")]
  const branch = talk(400, "fork")
  const entries = [...trunk, ...branch]

  it("is as large as that", () => {
    expect(charactersOf(branch)).toBeGreaterThan(1_200_000)
  })

  it.effect.each(windows)("is summarized on leaving it by a model with %s", ([, contextWindow, isHonest]) =>
    Effect.gen(function* () {
      const llm = yield* modelOf(contextWindow, /FACT-(?:0|399)\b/g)
      yield* Effect.gen(function* () {
        const navigation = yield* Navigation.Navigation
        const { plan } = yield* navigation.prepare(key, "fork")
        expect(yield* llm.requests).toEqual([])
        const done = yield* navigation.navigate(key, "fork", { summarize: true })
        expect(done._tag).toBe("Navigated")
        expect(done.prepared.plan).toEqual(plan)
        expectWithin(yield* llm.requests, plan, isHonest)
        const stored = (yield* storedEntries).at(-1)
        if (stored?.type !== "branch_summary") return expect.fail("The last entry is no branch summary.")
        expect(stored).toMatchObject({ id: done.newLeafId, parentId: "fork", fromId: "m399" })
        for (const fact of ["FACT-0", "FACT-399"]) expect(stored.summary).toMatch(new RegExp(`${fact}\\b`))
      }).pipe(Effect.provide(servicesOf(entries, llm)))
    })
  )
})

describe("one message of 400,000 characters, and nothing else", () => {
  const entries = [said("huge", null, "user", "x".repeat(400_000))]

  it.effect("cannot be made smaller: no request is made, however often it is tried", () =>
    Effect.gen(function* () {
      const llm = yield* modelOf(60_000, /FACT-0/g)
      yield* Effect.gen(function* () {
        const compaction = yield* Compaction.Compaction
        const options: Compaction.Options = { reason: "threshold", contextWindow: 60_000 }
        for (let round = 0; round < 2; round++) {
          const error = yield* Effect.flip(compaction.compact(key, options))
          expect(error).toMatchObject({
            _tag: "CannotShrink",
            entryId: "huge",
            entryTokens: 100_000,
            contextTokens: 100_000,
            threshold: 43_616
          })
          expect(error.message).toContain("the entry huge alone has 100000")
          expect(yield* llm.requests).toEqual([])
          expect(yield* storedEntries).toEqual(entries)
        }
      }).pipe(Effect.provide(servicesOf(entries, llm)))
    })
  )
})
