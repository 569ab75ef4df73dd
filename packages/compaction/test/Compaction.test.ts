import type * as Entry from "@cutpoint/core/Entry"
import * as SummaryFormat from "@cutpoint/core/SummaryFormat"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import {
  changed,
  bash,
  branchSummary,
  call,
  chain,
  compaction,
  label,
  reply,
  result,
  system,
  tokens,
  user
} from "../../core/test/SessionBuilder.js"
import * as Compaction from "../src/Compaction.js"
import { appendLater, ids, key, open, saying, seen, services } from "./services.js"

const turn = (id: string, size = 500) => [user(`u${id}`, tokens(size)), reply(`a${id}`, tokens(size))]

const threeTurns = chain([...turn("1"), ...turn("2"), ...turn("3")])

const compact = (options: Compaction.Options = { keepRecentTokens: 900 }) =>
  Effect.flatMap(Compaction.Compaction, (compaction) => compaction.compact(key, options))

const compacted = (options?: Compaction.Options) =>
  Effect.flatMap(compact(options), (done) =>
    done._tag === "Compacted" ? Effect.succeed(done) : Effect.dieMessage(done._tag)
  )

describe("a compaction", () => {
  it.effect("puts a summary in place of the older messages, and tells what it did", () => {
    const summarizer = saying("SUMMARY")
    return Effect.gen(function* () {
      const done = yield* compacted()
      expect(done.entry).toMatchObject({
        type: "compaction",
        parentId: "a3",
        summary: "SUMMARY",
        firstKeptEntryId: "u3",
        usage: { totalTokens: 10 }
      })
      expect(done).toMatchObject({ tokensBefore: 3000, tokensAfter: 1002, writer: "test/scripted", requests: 1 })
      const session = yield* open
      expect(ids(session)).toEqual([...threeTurns.map((entry) => entry.id), done.entry.id])
      expect(seen(session)).toEqual([done.entry.id, "u3", "a3"])
      expect(summarizer.requests.map(({ kind, messages }) => [kind, messages.length])).toEqual([["history", 4]])
    }).pipe(Effect.provide(services(threeTurns, summarizer.layer)))
  })

  it.effect("carries the replay of the system messages", () =>
    Effect.gen(function* () {
      const { entry } = yield* compacted()
      expect(entry.systemMessage?.content).toBe("be brief\n\nbe kind")
    }).pipe(
      Effect.provide(
        services(chain([system("s1", "be brief"), ...turn("1"), ...turn("2"), system("s2", "be kind"), ...turn("3")]))
      )
    )
  )

  it.effect("has the focus and the earlier summary in its requests, a split turn's too", () => {
    const summarizer = saying("SUMMARY")
    const path = chain([
      user("u0"),
      compaction("c0", "u0", "EARLIER"),
      ...turn("1"),
      user("u2", tokens(400)),
      reply("a2", tokens(400)),
      reply("a3", tokens(900))
    ])
    return Effect.gen(function* () {
      yield* compact({ keepRecentTokens: 900, customInstructions: "Mind the API" })
      expect(
        summarizer.requests.map(({ customInstructions, kind, previousSummary }) => [
          kind,
          previousSummary,
          customInstructions
        ])
      ).toEqual([
        ["history", "EARLIER", "Mind the API"],
        ["turnPrefix", undefined, "Mind the API"]
      ])
    }).pipe(Effect.provide(services(path, summarizer.layer)))
  })

  it.effect("carries the earlier summary forward where only a split turn's start is new", () => {
    const path = chain([
      ...turn("0"),
      compaction("c0", "u1", "EARLIER FACTS"),
      user("u1", tokens(500)),
      reply("a1", tokens(500)),
      reply("a2", tokens(900))
    ])
    return Effect.gen(function* () {
      const { entry } = yield* compacted({ keepRecentTokens: 800 })
      expect(entry.summary).toContain("EARLIER FACTS")
      expect(entry.summary).not.toContain(SummaryFormat.noHistory)
      expect(entry.summary).toMatch(/EARLIER FACTS[\s\S]*## Turn in Progress[\s\S]*PREFIX/)
    }).pipe(Effect.provide(services(path, saying("PREFIX").layer)))
  })

  it.effect("says that there is no history where the split turn is all there is", () =>
    Effect.gen(function* () {
      const { entry } = yield* compacted({ keepRecentTokens: 800 })
      expect(entry.summary).toContain(SummaryFormat.noHistory)
    }).pipe(
      Effect.provide(services(chain([user("u1", tokens(500)), reply("a1", tokens(500)), reply("a2", tokens(900))])))
    )
  )

  it.effect("never shows the summarizer what the user kept from the model", () => {
    const summarizer = saying("SUMMARY")
    const secret = bash("b", "cat key", `SECRET${tokens(4000)}`, { excludeFromContext: true })
    return Effect.gen(function* () {
      yield* compacted()
      expect(JSON.stringify(summarizer.requests)).not.toContain("SECRET")
    }).pipe(
      Effect.provide(
        services(
          chain([...turn("1"), secret, ...turn("2"), ...turn("3"), changed(secret, { id: "b2" })]),
          summarizer.layer
        )
      )
    )
  })
})

describe("files over many compactions", () => {
  const edits = (id: string, path: string) => [
    user(`u${id}`, tokens(400)),
    reply(`m${id}`, [call(`k${id}`, "edit", { path })]),
    result(`r${id}`, `k${id}`),
    reply(`a${id}`, tokens(400))
  ]

  it.effect("each round adds its files, and the blocks never pile up", () =>
    Effect.gen(function* () {
      for (let round = 0; round < 10; round++) {
        yield* appendLater(
          ...edits(`${round}`, `file${round}.ts`).map((entry) => changed(entry, { id: `${entry.id}x` }))
        )
        const { entry } = yield* compacted({ keepRecentTokens: 350 })
        expect(entry.details).toEqual({
          readFiles: [],
          modifiedFiles: ["base.ts", ...Array.from({ length: round + 1 }, (_, index) => `file${index}.ts`)]
        })
        expect(entry.summary.match(/<modified-files>/g)).toHaveLength(1)
      }
    }).pipe(Effect.provide(services(chain(edits("base", "base.ts")))))
  )

  it.effect("a model that writes blocks of its own does not double them", () =>
    Effect.gen(function* () {
      const { entry } = yield* compacted({ keepRecentTokens: 800 })
      expect(entry.summary).toBe("NOTES\n\n<modified-files>\nreal.ts\n</modified-files>")
    }).pipe(
      Effect.provide(
        services(
          chain([...edits("1", "real.ts"), ...edits("2", "kept.ts")]),
          saying("NOTES\n\n<modified-files>\nwrong.ts\n</modified-files>").layer
        )
      )
    )
  )

  it.effect("those of branch summaries and older compactions in the range are in", () => {
    const details = (file: string) => ({ details: { readFiles: [file], modifiedFiles: [] } })
    const path = [
      ...turn("1"),
      compaction("c1", "u1", "one", details("older.ts")),
      branchSummary("b1", "was there", details("branch.ts")),
      ...turn("2"),
      compaction("c2", "u1", "two", details("previous.ts")),
      ...turn("3"),
      ...turn("4")
    ]
    return Effect.gen(function* () {
      const { entry } = yield* compacted()
      expect(entry.details).toEqual({ readFiles: ["branch.ts", "older.ts", "previous.ts"], modifiedFiles: [] })
    }).pipe(Effect.provide(services(chain(path))))
  })
})

const unchanged = (entries: ReadonlyArray<Entry.Entry>) =>
  Effect.map(open, (session) => expect(session.tree.entries).toEqual(entries))

describe("when there is nothing to do, nothing is written", () => {
  it.effect.each([
    ["an empty session", []],
    ["a session smaller than what is kept", chain(turn("1"))],
    ["a path that ends in a compaction", chain([...turn("1"), compaction("c", "a1")])],
    ["a path that ends in a compaction and a label", chain([...turn("1"), compaction("c", "a1"), label("l", "c")])]
  ] as const)("%s", ([, entries]) => {
    const summarizer = saying("SUMMARY")
    return Effect.gen(function* () {
      expect(yield* compact({ keepRecentTokens: 20_000 })).toMatchObject({ _tag: "NothingToCompact" })
      yield* unchanged(entries)
      expect(summarizer.requests).toEqual([])
    }).pipe(Effect.provide(services(entries, summarizer.layer)))
  })

  it.effect("below the threshold, where it is asked to mind that", () =>
    Effect.gen(function* () {
      expect(yield* compact({ keepRecentTokens: 900, reason: "threshold" })).toMatchObject({ _tag: "BelowThreshold" })
      yield* unchanged(threeTurns)
      expect(
        yield* compact({ keepRecentTokens: 900, reason: "threshold", contextWindow: 3100, reserveTokens: 200 })
      ).toMatchObject({ _tag: "Compacted" })
    }).pipe(Effect.provide(services(threeTurns)))
  )

  it.effect("exactly at the threshold", () =>
    Effect.gen(function* () {
      expect(
        yield* compact({ keepRecentTokens: 900, reason: "threshold", contextWindow: 3100, reserveTokens: 100 })
      ).toMatchObject({ _tag: "BelowThreshold" })
    }).pipe(Effect.provide(services(threeTurns)))
  )

  it.effect.each(["threshold", "overflow"] as const)("turned off: not for %s, but by hand", (reason) =>
    Effect.gen(function* () {
      expect(yield* compact({ keepRecentTokens: 900, reason, contextWindow: 2000, reserveTokens: 100 })).toMatchObject({
        _tag: "Disabled"
      })
      yield* unchanged(threeTurns)
      expect(yield* compact()).toMatchObject({ _tag: "Compacted" })
    }).pipe(Effect.provide(services(threeTurns, undefined, { compaction: { enabled: false } })))
  )

  it.effect("a usage from before the compaction does not trigger the next", () => {
    const used = reply("a3", tokens(50), { usage: { totalTokens: 190_000 } })
    return Effect.gen(function* () {
      expect(yield* compact({ keepRecentTokens: 40, reason: "threshold" })).toMatchObject({ _tag: "Compacted" })
      yield* appendLater(user("hi", "hi"))
      expect(yield* compact({ keepRecentTokens: 40, reason: "threshold" })).toMatchObject({ _tag: "BelowThreshold" })
    }).pipe(Effect.provide(services(chain([...turn("1"), ...turn("2"), user("u3", "go"), used]))))
  })
})

describe("when it cannot be done, nothing is written", () => {
  it.effect("one message larger than what is kept: the error names it, and no summary is asked for", () => {
    const summarizer = saying("SUMMARY")
    const entries = chain([user("huge", tokens(100_000)), reply("a", "ok")])
    return Effect.gen(function* () {
      for (const reason of ["manual", "threshold"] as const) {
        const error = yield* Effect.flip(compact({ contextWindow: 64_000, reason }))
        expect(error).toMatchObject({ _tag: "CannotShrink", entryId: "huge", entryTokens: 100_000 })
        expect(error.message).toContain("huge")
      }
      yield* unchanged(entries)
      expect(summarizer.requests).toEqual([])
    }).pipe(Effect.provide(services(entries, summarizer.layer)))
  })

  it.effect("a summary right behind a compaction that is itself too large", () =>
    Effect.gen(function* () {
      expect(yield* Effect.flip(compact({ contextWindow: 64_000 }))).toMatchObject({
        _tag: "CannotShrink",
        entryId: "c"
      })
    }).pipe(Effect.provide(services(chain([...turn("1"), compaction("c", "a1", tokens(100_000))]))))
  )

  it.effect.each([
    [16_384, 8192],
    [8192, 8192],
    [1, 0]
  ])("a reserve of %i in a window of %i", ([reserveTokens, contextWindow]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(compact({ reserveTokens, contextWindow }))
      expect(error._tag).toBe("SettingsInvalid")
      expect(error.message).toMatch(new RegExp(`${reserveTokens}.*${contextWindow}`))
      yield* unchanged(threeTurns)
    }).pipe(Effect.provide(services(threeTurns)))
  )

  it.effect("a summary that makes the context larger, or no smaller", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(compact())
      expect(error).toMatchObject({ _tag: "SummaryRejected", reason: "grown", usage: { totalTokens: 10 } })
      expect(error.message).toMatch(/13500.*3000/)
      yield* unchanged(threeTurns)
    }).pipe(Effect.provide(services(threeTurns, saying(tokens(12_500)).layer)))
  )

  it.effect.each(["", " \n"])("a blank summary %j", (text) =>
    Effect.gen(function* () {
      expect(yield* Effect.flip(compact())).toMatchObject({ _tag: "SummaryRejected", reason: "blank" })
      yield* unchanged(threeTurns)
    }).pipe(Effect.provide(services(threeTurns, saying(text).layer)))
  )

  it.effect("an unknown session", () =>
    Effect.gen(function* () {
      const service = yield* Compaction.Compaction
      expect(yield* Effect.flip(service.compact("other"))).toMatchObject({ _tag: "SessionNotFound" })
    }).pipe(Effect.provide(services(threeTurns)))
  )
})

describe("without a model", () => {
  it.effect("the same session gets the same summary, within its limit", () => {
    const run = Effect.map(compacted(), ({ entry }) => entry.summary).pipe(Effect.provide(services(threeTurns)))
    return Effect.gen(function* () {
      const [one, other] = [yield* run, yield* run]
      expect(one).toBe(other)
      expect(one).toContain("## Goal")
    })
  })
})
