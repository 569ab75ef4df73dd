import { describe, expect, it } from "vitest"
import * as Branch from "../src/Branch.js"
import type * as Entry from "../src/Entry.js"
import * as FileOps from "../src/FileOps.js"
import * as Rules from "../src/Rules.js"
import * as SessionTree from "../src/SessionTree.js"
import {
  bash,
  branchSummary,
  call,
  chain,
  compaction,
  count,
  custom,
  edit,
  header,
  label,
  reply,
  result,
  system,
  text,
  tokens,
  user
} from "./SessionBuilder.js"

const prepare = (entries: ReadonlyArray<Entry.Entry>, settings: Partial<Branch.Settings> = {}) =>
  Branch.prepare(chain(entries), count, {
    tokenBudget: 100,
    dropOldest: true,
    cwd: "/w",
    rules: Rules.standard,
    ...settings
  })

/** The first letter of what each message says. */
const letters = (prepared: Branch.Prepared) =>
  prepared.messages
    .map((message) =>
      ("summary" in message
        ? message.summary
        : "content" in message && typeof message.content === "string"
          ? message.content
          : message.role
      ).charAt(0)
    )
    .join("")

const sized = (id: string, size: number) => user(id, tokens(size, id.charAt(0)))

describe("Branch.collect", () => {
  const tree = SessionTree.make(header, [
    ...chain([user("r1"), reply("a1"), user("u2"), compaction("c", "u2"), reply("a2")]),
    ...chain([user("u3")], "a1"),
    ...chain([user("r2")])
  ])
  const collect = (from: string | null, to: string | null) => {
    const { commonAncestorId, entries } = Branch.collect(tree, from, to)
    return [entries.map((entry) => entry.id).join(" "), commonAncestorId]
  }

  it.each([
    ["a sibling branch, compactions included", "a2", "u3", "u2 c a2", "a1"],
    ["an ancestor", "a2", "a1", "u2 c a2", "a1"],
    ["a descendant: nothing", "a1", "a2", "", "a1"],
    ["the same place: nothing", "a2", "a2", "", "a2"],
    ["another root: the whole path", "a2", "r2", "r1 a1 u2 c a2", null],
    ["an unknown target: the whole path", "u3", "gone", "r1 a1 u3", null],
    ["no old leaf: nothing", null, "a2", "", null]
  ])("to %s", (_, from, to, ids, ancestor) => expect(collect(from, to)).toEqual([ids, ancestor]))
})

describe("what fits the budget", () => {
  it("newest first, in order, up to the budget exactly", () => {
    const entries = [sized("a", 40), sized("b", 40), sized("c", 60)]
    expect(letters(prepare(entries))).toBe("bc")
    expect(prepare(entries).totalTokens).toBe(100)
    expect(letters(prepare(entries, { tokenBudget: 99 }))).toBe("c")
  })

  it("0 is no limit, and so is folding", () => {
    const entries = [sized("a", 400), sized("b", 400)]
    expect(letters(prepare(entries, { tokenBudget: 0 }))).toBe("ab")
    expect(letters(prepare(entries, { dropOldest: false }))).toBe("ab")
  })

  it.each([
    [89, "sx"],
    [90, "x"],
    [91, "x"]
  ])("a summary that does not fit is taken when less than 90 % is used: %i used", (used, taken) => {
    const entries = (summary: Entry.Entry) => [sized("o", 1), summary, sized("x", used)]
    expect(letters(prepare(entries(compaction("s", "o", tokens(500, "s")))))).toBe(taken)
    expect(letters(prepare(entries(branchSummary("s", tokens(500, "s")))))).toBe(taken)
    expect(letters(prepare(entries(sized("s", 500))))).toBe("x")
  })

  it("after such a summary it ends, even where more would fit", () => {
    expect(letters(prepare([sized("o", 1), compaction("s", "o", tokens(90, "s")), sized("x", 50)]))).toBe("sx")
  })

  it("after the first message that does not fit it ends, even where an older one would", () => {
    expect(letters(prepare([sized("o", 1), sized("b", 200), sized("x", 50)]))).toBe("x")
  })

  it("a system message counts its tokens", () => {
    expect(letters(prepare([sized("o", 60), system("s", tokens(50)), sized("x", 10)]))).toBe("xx")
  })

  it("secret shell output counts nothing and is not there", () => {
    const secret = bash("b", "cat", tokens(500), { excludeFromContext: true })
    expect(letters(prepare([sized("o", 60), secret, sized("x", 40)]))).toBe("ox")
  })
})

describe("a newest message that alone is too large", () => {
  const emoji = "\u{1F600}"

  it.each([
    ["a user's", user("x", tokens(5000))],
    ["a user's in blocks", user("x", [text(tokens(2000)), text(tokens(2000)), { type: "image" }])],
    ["a user's of emoji", user("x", emoji.repeat(5001))],
    [
      "a reply",
      reply("x", [
        { type: "thinking", thinking: tokens(900) },
        text(tokens(900)),
        call("c", "write", { content: tokens(900) })
      ])
    ],
    ["a tool result", result("x", "c", tokens(5000))],
    ["a custom message", custom("x", tokens(5000))],
    ["a shell command's output", bash("x", "make", tokens(5000))],
    ["a shell command itself", bash("x", tokens(5000), "ok")]
  ])("%s is cut to fit", (_, entry) => {
    const prepared = prepare([sized("o", 10), entry])
    expect(prepared.messages).toHaveLength(1)
    expect(prepared.totalTokens).toBeLessThanOrEqual(100)
    expect(JSON.stringify(prepared.messages).isWellFormed()).toBe(true)
    expect(JSON.stringify(prepared.messages)).not.toMatch(/\\ud[89a-f]/)
  })

  it("keeps head and tail of it", () => {
    const [message] = prepare([user("x", `HEAD${tokens(5000)}TAIL`)]).messages
    expect(JSON.stringify(message)).toMatch(/HEADx+.*xTAIL/)
  })

  it("is dropped with the parity rules", () => {
    expect(prepare([user("x", tokens(5000))], { rules: Rules.parity }).messages).toEqual([])
  })
})

describe("what a branch says", () => {
  it("a fact that only a tool result has is in it", () => {
    const branch = [user("u1"), reply("a1", [call("c", "grep", {})]), result("r", "c", "config.ts:7: PORT=4711")]
    expect(JSON.stringify(prepare(branch).messages)).toContain("PORT=4711")
    expect(JSON.stringify(prepare(branch, { rules: Rules.parity }).messages)).not.toContain("PORT=4711")
  })

  it("a compaction yields its summary only, an edit on the branch applies", () => {
    const head = compaction("c", "u0", "summary", { systemMessage: { role: "system", content: "prompt" } })
    const { messages } = prepare([head, user("u1", "old"), edit("e1", "u1", "new"), user("u2"), edit("e2", "u2", null)])
    expect(messages).toMatchObject([
      { role: "compactionSummary", summary: "summary" },
      { role: "user", content: "new" }
    ])
  })

  it("nothing where nobody said anything", () => {
    expect(prepare([label("l", "x"), branchSummary("b", "")])).toMatchObject({ messages: [], totalTokens: 0 })
    expect(prepare([])).toMatchObject({ messages: [], totalTokens: 0 })
  })
})

describe("files of a branch", () => {
  const reads = (id: string, path: string) =>
    reply(id, [call(`c${id}`, "read", { path }), call(`d${id}`, "edit", { path: `${path}x` })])
  const branch = [
    reads("a1", "oldest"),
    compaction("c", "a1", "s", { details: { readFiles: ["compacted"], modifiedFiles: [] } }),
    branchSummary("b", "s", { details: { readFiles: ["branch"], modifiedFiles: ["changed"] } }),
    branchSummary("h", "s", { details: { readFiles: ["hook"] }, fromHook: true }),
    user("u", tokens(90)),
    reads("a2", "newest")
  ]

  it("are those of all entries, however small the budget", () => {
    for (const tokenBudget of [1, 100, 0]) {
      expect(FileOps.lists(prepare(branch, { tokenBudget }).fileOps)).toEqual({
        readFiles: ["branch", "compacted", "newest", "oldest"],
        modifiedFiles: ["changed", "newestx", "oldestx"]
      })
    }
  })

  it("with the parity rules those of what fits, the first that does not, and branch summaries", () => {
    const { modifiedFiles, readFiles } = FileOps.lists(prepare(branch, { rules: Rules.parity }).fileOps)
    expect([readFiles, modifiedFiles]).toEqual([
      ["branch", "newest"],
      ["changed", "newestx"]
    ])
  })
})
