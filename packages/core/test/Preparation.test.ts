import * as Option from "effect/Option"
import { describe, expect, it } from "vitest"
import type * as Entry from "../src/Entry.js"
import * as FileOps from "../src/FileOps.js"
import type * as Message from "../src/Message.js"
import * as Preparation from "../src/Preparation.js"
import * as Projection from "../src/Projection.js"
import * as Rules from "../src/Rules.js"
import * as Transcript from "../src/Transcript.js"
import {
  changed,
  entryOf,
  bash,
  branchSummary,
  call,
  chain,
  compaction,
  count,
  edit,
  label,
  modelChange,
  note,
  reply,
  result,
  system,
  tokens,
  user
} from "./SessionBuilder.js"

const prepare = (entries: ReadonlyArray<Entry.Entry>, keepRecentTokens: number, rules = Rules.standard) =>
  Option.getOrUndefined(Preparation.prepare(chain(entries), count, { keepRecentTokens, cwd: "/w", rules }))

const prepared = (entries: ReadonlyArray<Entry.Entry>, keep: number): Preparation.Preparation => {
  const preparation = prepare(entries, keep)
  if (preparation === undefined) throw new Error("nothing to prepare")
  return preparation
}

/** What users and replies said, without padding. */
const said = (messages: ReadonlyArray<Message.Message>) =>
  messages.map((message) =>
    "content" in message && typeof message.content === "string" ? message.content.replace(/x+$/, "") : message.role
  )

const turn = (id: string, size = 50) => [user(`u${id}`, `u${id}${tokens(size)}`), reply(`a${id}`, tokens(size))]

describe("compacting again", () => {
  const first = [...turn("1"), ...turn("2"), ...turn("3"), compaction("c1", "u2", "first summary"), ...turn("4")]

  it("messages that the first compaction kept are summarized or kept by the second, none lost", () => {
    for (const keep of [1, 60, 110, 160, 210, 250]) {
      const { keptMessages, messagesToSummarize, previousSummary, turnPrefixMessages } = prepared(first, keep)
      const all = [...messagesToSummarize, ...turnPrefixMessages, ...keptMessages]
      expect(said(all).filter((text) => text.startsWith("u"))).toEqual(["u2", "u3", "u4"])
      expect(all).toHaveLength(6)
      expect(previousSummary).toBe("first summary")
    }
  })

  it.each(["gone", "c1", "u4", ""])(
    "the range starts after the old compaction where its boundary is %j",
    (boundary) => {
      const path = [...turn("1"), compaction("c1", boundary), ...turn("4"), ...turn("5")]
      expect(said(prepared(path, 60).messagesToSummarize)).toEqual(["u4", "assistant"])
    }
  )

  it("right after a compaction there is nothing, and neither when only asides follow it", () => {
    const path = [...turn("1"), ...turn("2"), compaction("c1", "u2")]
    expect(prepare(path, 10)).toBeUndefined()
    expect(prepare([...path, label("l", "u2"), modelChange("m"), note("n")], 10)).toBeUndefined()
    expect(prepare([...path, user("u3", tokens(50))], 10)).toBeDefined()
  })

  it("only the start of a split turn is new: the earlier summary is carried along", () => {
    const path = [
      ...turn("1"),
      compaction("c1", "u2"),
      user("u2", tokens(9)),
      reply("a2", tokens(99)),
      reply("a3", tokens(99))
    ]
    const { isSplitTurn, messagesToSummarize, previousSummary, turnPrefixMessages } = prepared(path, 50)
    expect([isSplitTurn, messagesToSummarize.length, turnPrefixMessages.length, previousSummary]).toEqual([
      true,
      0,
      2,
      "old summary"
    ])
  })

  it("older compactions inside the kept range are no messages", () => {
    const path = [
      ...turn("1"),
      compaction("c1", "u1", "one"),
      ...turn("2"),
      compaction("c2", "u1", "two"),
      ...turn("3")
    ]
    const { messagesToSummarize, previousSummary } = prepared(path, 60)
    expect(said(messagesToSummarize)).toEqual(["u1", "assistant", "u2", "assistant"])
    expect(previousSummary).toBe("two")
  })
})

describe("nothing to prepare", () => {
  it.each([
    ["an empty session", []],
    ["a session below the budget", [...turn("1")]],
    ["one message larger than the budget, and a short reply", [user("u", tokens(100_000)), reply("a", "ok")]],
    ["system messages only before the cut", [system("s", tokens(99)), user("u", tokens(99))]],
    ["hidden messages only before the cut", [user("u0"), edit("e", "u0", null), user("u", tokens(99))]],
    ["unknown roles only before the cut", [entryOf("u0", { role: "unknown", original: {} }), user("u", tokens(99))]],
    [
      "secret shell output only before the cut",
      [bash("b", "ls", tokens(500), { excludeFromContext: true }), user("u", tokens(99))]
    ]
  ])("%s", (_, entries) => {
    const keep = entries.length === 2 && entries[0]?.id === "u1" ? 20_000 : 50
    expect(prepare(entries, keep)).toBeUndefined()
  })
})

describe("what is summarized", () => {
  it("shell output kept from the model is in no list and no prompt", () => {
    const secret = bash("b", "cat key", `SECRET${tokens(1000)}`, { excludeFromContext: true })
    const { keptMessages, messagesToSummarize } = prepared(
      [...turn("1"), secret, ...turn("2"), changed(secret, { id: "b2" })],
      100
    )
    const all = [...messagesToSummarize, ...keptMessages]
    expect(Transcript.serialize(Projection.convertToLlm(all), Transcript.forModel)).not.toContain("SECRET")
  })

  it("replies that failed stay, hidden ones go, edited ones say what they say now", () => {
    const path = [
      user("u1", "old"),
      reply("bad", "half", { stopReason: "error" }),
      reply("gone", "hidden"),
      edit("e1", "gone", null),
      edit("e2", "u1", "new"),
      ...turn("2")
    ]
    expect(prepared(path, 100).messagesToSummarize).toMatchObject([{ content: "new" }, { content: [{ text: "half" }] }])
  })

  it("system messages are never among it, and what the entry must carry is their replay", () => {
    const path = [system("s1", "be brief"), ...turn("1"), system("s2", "be kind"), ...turn("2")]
    const { keptMessages, messagesToSummarize, systemMessage } = prepared(path, 100)
    expect([...messagesToSummarize, ...keptMessages].some((message) => message.role === "system")).toBe(false)
    expect(systemMessage?.content).toBe("be brief\n\nbe kind")
  })

  it("preparing twice gives the same", () => {
    const path = [...turn("1"), ...turn("2")]
    expect(prepare(path, 60)).toEqual(prepare(path, 60))
  })
})

describe("files of what is summarized", () => {
  const details = (readFiles: ReadonlyArray<string>, modifiedFiles: ReadonlyArray<string>) => ({
    details: { readFiles, modifiedFiles }
  })
  const reads = (id: string, path: string) => [
    reply(id, [call(`c${id}`, "read", { path })]),
    result(`r${id}`, `c${id}`)
  ]

  it("is the union over messages, the previous compaction, older ones in the range, and branch summaries", () => {
    const path = [
      user("u0"),
      ...reads("m1", "message.ts"),
      compaction("c1", "u0", "s", details(["older.ts"], [])),
      branchSummary("b1", "was there", details(["branch.ts"], ["changed.ts"])),
      user("u1"),
      compaction("c2", "u0", "s", details([], ["previous.ts"])),
      ...turn("2")
    ]
    expect(FileOps.lists(prepared(path, 60).fileOps)).toEqual({
      readFiles: ["branch.ts", "message.ts", "older.ts"],
      modifiedFiles: ["changed.ts", "previous.ts"]
    })
  })

  it("includes the start of a split turn and calls that tools made, not what is kept", () => {
    const nested = { nestedCalls: { complete: true, calls: [{ name: "write", arguments: { path: "nested.ts" } }] } }
    const path = [
      user("u1"),
      ...reads("m1", "prefix.ts"),
      reply("m2", [call("c2", "task")]),
      result("r2", "c2", "ok", nested),
      ...reads("m3", "kept.ts"),
      reply("a", tokens(99))
    ]
    expect(FileOps.lists(prepared(path, 105).fileOps)).toEqual({
      readFiles: ["prefix.ts"],
      modifiedFiles: ["nested.ts"]
    })
  })

  it("never what a hook wrote, whatever its details are", () => {
    for (const odd of [null, "text", 7, [], { readFiles: "a", modifiedFiles: [1, null, "b"] }]) {
      const path = [
        user("u0"),
        compaction("c1", "u0", "s", { fromHook: true, ...details(["hook.ts"], []) }),
        branchSummary("b", "s", { details: odd }),
        ...turn("2")
      ]
      const { modifiedFiles, readFiles } = FileOps.lists(prepared(path, 60).fileOps)
      expect(readFiles).toEqual([])
      expect(modifiedFiles).toEqual(Array.isArray(odd) || odd === null || typeof odd !== "object" ? [] : ["b"])
    }
  })
})

describe("Preparation.shouldCompact", () => {
  it("is over, not at, the window less the reserve", () => {
    expect(Preparation.shouldCompact(101, 200, { reserveTokens: 100 })).toBe(true)
    expect(Preparation.shouldCompact(100, 200, { reserveTokens: 100 })).toBe(false)
  })
})
