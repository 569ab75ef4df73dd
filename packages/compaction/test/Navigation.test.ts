import type * as Entry from "@cutpoint/core/Entry"
import * as SessionTree from "@cutpoint/core/SessionTree"
import * as SummaryPrompt from "@cutpoint/core/SummaryPrompt"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import {
  branchSummary,
  call,
  chain,
  compaction,
  custom,
  label,
  modelChange,
  reply,
  result,
  text,
  tokens,
  user
} from "../../core/test/SessionBuilder.js"
import * as Compaction from "../src/Compaction.js"
import * as Navigation from "../src/Navigation.js"
import { appendLater, held, ids, key, open, saying, seen, services } from "./services.js"

/** Two roots; under the first a branch at `a1` of which `a3` is one end and `a2`, the leaf, the other. */
const entries: ReadonlyArray<Entry.Entry> = [
  ...chain([user("other", "another start"), reply("b1")]),
  ...chain([user("root", [text("first "), text("words"), { type: "image" }]), reply("a1")]),
  ...chain([user("u3"), reply("a3")], "a1"),
  ...chain([user("u2"), custom("x2", "from an extension"), reply("a2", tokens(9))], "a1")
]

const navigate = (targetId: string, options?: Navigation.Options) =>
  Effect.flatMap(Navigation.Navigation, (navigation) => navigation.navigate(key, targetId, options))

const added = Effect.map(open, (session) => session.tree.entries.slice(entries.length))

const isUnchanged = Effect.map(open, (session) => {
  expect(session.tree.entries).toEqual(entries)
  expect(session.tree.leafId).toBe("a2")
})

describe("where one goes", () => {
  it.effect.each([
    ["a user's message at a root: before it, and its text comes back", "root", null, "first words"],
    ["a user's message: before it", "u3", "a1", "u3"],
    ["an extension's message: before it", "x2", "u2", "from an extension"],
    ["an ancestor", "a1", "a1", undefined],
    ["the end of a sibling branch", "a3", "a3", undefined],
    ["another root's reply", "b1", "b1", undefined],
    ["another root", "other", null, "another start"]
  ] as const)("%s", ([, target, leaf, editText]) =>
    Effect.gen(function* () {
      const done = yield* navigate(target)
      expect(done).toMatchObject({ _tag: "Navigated", newLeafId: leaf, summaryEntry: undefined })
      expect(done.prepared.editText).toBe(editText)
      const session = yield* open
      expect(session.tree.leafId).toBe(leaf)
      expect(session.tree.entries).toHaveLength(entries.length + 1)
      expect(SessionTree.make(session.tree.header, session.tree.entries).leafId).toBe(leaf)
    }).pipe(Effect.provide(services(entries)))
  )

  it.effect("the leaf: nothing happens, whatever is asked for", () =>
    Effect.gen(function* () {
      expect(yield* navigate("a2", { summarize: true, label: "here" })).toMatchObject({
        _tag: "Unchanged",
        newLeafId: "a2"
      })
      yield* isUnchanged
    }).pipe(Effect.provide(services(entries)))
  )

  it.effect("an unknown entry: an error that names it", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(navigate("gone"))
      expect(error).toMatchObject({ _tag: "EntryNotFound", entryId: "gone" })
      yield* isUnchanged
    }).pipe(Effect.provide(services(entries)))
  )

  it.effect("a descendant: nothing is left behind, so no summary is written", () => {
    const summarizer = saying("SUMMARY")
    return Effect.gen(function* () {
      yield* navigate("a1")
      expect(yield* navigate("a3", { summarize: true })).toMatchObject({ newLeafId: "a3", summaryEntry: undefined })
      expect(summarizer.requests).toEqual([])
    }).pipe(Effect.provide(services(entries, summarizer.layer)))
  })

  it.effect("and goes on from there: the next message follows the new place", () =>
    Effect.gen(function* () {
      yield* navigate("a1")
      yield* appendLater(user("next"))
      const session = yield* open
      expect(seen(session)).toEqual(["root", "a1", "next"])
      yield* navigate("root")
      yield* appendLater(user("fresh"))
      expect(seen(yield* open)).toEqual(["fresh"])
    }).pipe(Effect.provide(services(entries)))
  )
})

describe("with a summary", () => {
  it.effect("it stands under the new leaf, becomes the leaf, and says where it is from", () => {
    const summarizer = saying("FOUND IT")
    return Effect.gen(function* () {
      const { summaryEntry } = yield* navigate("a3", {
        summarize: true,
        customInstructions: "Mind the API",
        replaceInstructions: true
      })
      expect(summaryEntry).toMatchObject({ parentId: "a3", fromId: "a2", usage: { totalTokens: 10 } })
      expect(summaryEntry?.summary).toBe(`${SummaryPrompt.branchPreamble}\n\nFOUND IT`)
      const session = yield* open
      expect(session.tree.leafId).toBe(summaryEntry?.id)
      expect(seen(session)).toEqual(["root", "a1", "u3", "a3", summaryEntry?.id])
      expect(summarizer.requests).toMatchObject([
        { kind: "branch", customInstructions: "Mind the API", replaceInstructions: true }
      ])
      expect(summarizer.requests[0]?.messages).toHaveLength(3)
    }).pipe(Effect.provide(services(entries, summarizer.layer)))
  })

  it.effect.each([
    ["before a root's message", "root"],
    ["before another root's message", "other"]
  ] as const)("%s it is a root itself", ([, target]) =>
    Effect.gen(function* () {
      const { summaryEntry } = yield* navigate(target, { summarize: true })
      expect(summaryEntry).toMatchObject({ parentId: null, fromId: "a2" })
      expect(seen(yield* open)).toEqual([summaryEntry?.id])
    }).pipe(Effect.provide(services(entries, saying("S").layer)))
  )

  it.effect("of a branch on which nobody said anything: none, and the move is made all the same", () => {
    const summarizer = saying("SUMMARY")
    const silent = [...entries, ...chain([label("l", "a2"), modelChange("m"), branchSummary("e", "")], "a2")]
    return Effect.gen(function* () {
      expect(yield* navigate("a2", { summarize: true })).toMatchObject({
        _tag: "Navigated",
        newLeafId: "a2",
        summaryEntry: undefined
      })
      expect(summarizer.requests).toEqual([])
      expect((yield* open).tree.leafId).toBe("a2")
    }).pipe(Effect.provide(services(silent, summarizer.layer)))
  })

  it.effect("it tells of what only a tool result says", () => {
    const summarizer = saying("SUMMARY")
    const branch = [
      ...entries,
      ...chain([reply("k", [call("c", "grep")]), result("r", "c", "config.ts:7: PORT=4711")], "a2")
    ]
    return Effect.gen(function* () {
      yield* navigate("a1", { summarize: true })
      expect(JSON.stringify(summarizer.requests)).toContain("PORT=4711")
    }).pipe(Effect.provide(services(branch, summarizer.layer)))
  })

  it.effect(
    "it lists the files of the whole branch, of compactions and summaries on it too, however small the budget",
    () => {
      const details = (file: string) => ({ details: { readFiles: [file], modifiedFiles: [] } })
      const edits = reply("k", [call("c", "edit", { path: "edited.ts" })])
      const branch = [
        ...entries,
        ...chain(
          [
            edits,
            compaction("c1", "k", "s", details("compacted.ts")),
            branchSummary("b", "s", details("branch.ts")),
            user("u9", tokens(90))
          ],
          "a2"
        )
      ]
      return Effect.gen(function* () {
        const { summaryEntry } = yield* navigate("a1", { summarize: true, tokenBudget: 50, dropOldest: true })
        expect(summaryEntry?.details).toEqual({
          readFiles: ["branch.ts", "compacted.ts"],
          modifiedFiles: ["edited.ts"]
        })
        expect(summaryEntry?.summary).toMatch(/<read-files>\nbranch\.ts\ncompacted\.ts\n<\/read-files>/)
      }).pipe(Effect.provide(services(branch, saying("S\n\n<read-files>\nwrong.ts\n</read-files>").layer)))
    }
  )

  it.effect("its findings outlive compactions that follow it", () =>
    Effect.gen(function* () {
      const compaction = yield* Compaction.Compaction
      yield* navigate("a3", { summarize: true })
      for (let round = 0; round < 3; round++) {
        yield* appendLater(
          user(`n${round}`, `Step ${round} of it. ${tokens(600, "word ")}`),
          reply(`m${round}`, tokens(600))
        )
        yield* compaction.compact(key, { keepRecentTokens: 500 })
        expect(JSON.stringify((yield* open).tree.entries.at(-1))).toContain("cache.ts:88")
      }
    }).pipe(
      Effect.provide(
        services([...entries, ...chain([user("f", "Remember: the bug is in cache.ts:88, never touch it!")], "a2")])
      )
    )
  )

  it.effect.each(["", " \n"])("a blank one %j is turned down, and nothing is written", (blank) =>
    Effect.gen(function* () {
      expect(yield* Effect.flip(navigate("a3", { summarize: true }))).toMatchObject({
        _tag: "SummaryRejected",
        reason: "blank"
      })
      yield* isUnchanged
    }).pipe(Effect.provide(services(entries, saying(blank).layer)))
  )
})

describe("labels", () => {
  it.effect("without a summary on the target", () =>
    Effect.gen(function* () {
      yield* navigate("u3", { label: "second try" })
      const { tree } = yield* open
      expect([...SessionTree.labels(tree)]).toEqual([["u3", "second try"]])
      expect(tree.leafId).toBe("a1")
    }).pipe(Effect.provide(services(entries)))
  )

  it.effect("with one on the summary, which is the leaf", () =>
    Effect.gen(function* () {
      const { summaryEntry } = yield* navigate("root", { label: "left", summarize: true })
      const { tree } = yield* open
      expect([...SessionTree.labels(tree)]).toEqual([[summaryEntry?.id, "left"]])
      expect(tree.leafId).toBe(summaryEntry?.id)
    }).pipe(Effect.provide(services(entries, saying("S").layer)))
  )

  it.effect("an empty one is none", () =>
    Effect.gen(function* () {
      yield* navigate("a1", { label: "" })
      expect((yield* added).map((entry) => entry.type)).toEqual(["custom"])
    }).pipe(Effect.provide(services(entries)))
  )
})

describe("what does not fit", () => {
  it.effect.each([
    [16_384, 8192],
    [8192, 8192]
  ])("a reserve of %i in a window of %i is an error, not no limit", ([reserveTokens, contextWindow]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(navigate("a1", { summarize: true, reserveTokens, contextWindow }))
      expect(error).toMatchObject({ _tag: "SettingsInvalid", setting: "branchSummary.reserveTokens" })
      yield* isUnchanged
    }).pipe(Effect.provide(services(entries)))
  )

  it.effect.each([-1, -16_384, NaN])("a budget of %i is an error, not no limit", (tokenBudget) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(navigate("a1", { summarize: true, tokenBudget, dropOldest: true }))
      expect(error).toMatchObject({ _tag: "SettingsInvalid" })
      expect(error.message).toContain(String(tokenBudget))
      yield* isUnchanged
    }).pipe(Effect.provide(services(entries)))
  )

  it.effect.each([
    [0, 3],
    [14, 2],
    [9, 1]
  ] as const)("a budget of %i takes %i messages", ([tokenBudget, taken]) => {
    const summarizer = saying("S")
    return Effect.gen(function* () {
      yield* navigate("a1", { summarize: true, tokenBudget, dropOldest: true })
      expect(summarizer.requests[0]?.messages).toHaveLength(taken)
    }).pipe(Effect.provide(services(entries, summarizer.layer)))
  })
})

describe("what happens while the summary is written", () => {
  it.effect("interrupting it leaves leaf and session as they were, and free", () =>
    Effect.gen(function* () {
      const summarizer = yield* held
      yield* Effect.gen(function* () {
        const fiber = yield* Effect.fork(navigate("a3", { summarize: true }))
        yield* summarizer.begun
        yield* Fiber.interrupt(fiber)
        yield* summarizer.release
        yield* isUnchanged
        expect(yield* navigate("a3")).toMatchObject({ _tag: "Navigated" })
      }).pipe(Effect.provide(services(entries, summarizer.layer)))
    })
  )

  it.effect("a message appended meanwhile is not overtaken: the move fails, and writes nothing", () =>
    Effect.gen(function* () {
      const summarizer = yield* held
      yield* Effect.gen(function* () {
        const fiber = yield* Effect.fork(navigate("a3", { summarize: true }))
        yield* summarizer.begun
        yield* appendLater(user("new"))
        yield* summarizer.release
        expect(yield* Effect.flip(Fiber.join(fiber))).toMatchObject({ _tag: "SessionChanged" })
        expect(ids(yield* open)).toEqual([...entries.map((entry) => entry.id), "new"])
      }).pipe(Effect.provide(services(entries, summarizer.layer)))
    })
  )

  it.effect("while a compaction runs one cannot go anywhere, afterwards one can", () =>
    Effect.gen(function* () {
      const summarizer = yield* held
      yield* Effect.gen(function* () {
        const compaction = yield* Compaction.Compaction
        const fiber = yield* Effect.fork(compaction.compact(key, { keepRecentTokens: 5 }))
        yield* summarizer.begun
        expect(yield* Effect.flip(navigate("a3"))).toMatchObject({ _tag: "Busy" })
        yield* isUnchanged
        yield* Fiber.interrupt(fiber)
        expect(yield* navigate("a3")).toMatchObject({ _tag: "Navigated", newLeafId: "a3" })
      }).pipe(Effect.provide(services(entries, summarizer.layer)))
    })
  )
})

describe("Navigation.summarize", () => {
  it.effect("writes nothing, and gives nothing where nothing is left behind", () =>
    Effect.gen(function* () {
      const navigation = yield* Navigation.Navigation
      expect(yield* navigation.summarize(key, "a3")).toMatchObject({
        text: expect.stringContaining("SUMMARY"),
        requests: 1
      })
      expect(yield* navigation.summarize(key, "a2")).toBeUndefined()
      expect(yield* navigation.summarize(key, "a3", { fromId: "a1" })).toBeUndefined()
      yield* isUnchanged
    }).pipe(Effect.provide(services(entries, saying("SUMMARY").layer)))
  )
})
