import { describe, expect, it } from "vitest"
import * as SessionTotals from "../src/SessionTotals.js"
import { branchSummary, compaction, reply, result, usageEntry, user } from "./SessionBuilder.js"

const usage = (totalTokens: number, total: number) => ({ totalTokens, cost: { total } })

describe("SessionTotals.of", () => {
  it("adds replies, results that carry usage, usage entries, and what summarizing cost", () => {
    expect(
      SessionTotals.of([
        user("u"),
        reply("a", "x", { usage: usage(1, 0.5) }),
        reply("b", "x", { usage: usage(20, 0.25), stopReason: "error" }),
        result("r", "c", "x", { usage: usage(300, 1) }),
        result("r2", "c"),
        usageEntry("e", usage(4000, 2)),
        compaction("c", "u", "s", { usage: usage(50_000, 4) }),
        branchSummary("s", "s", { usage: usage(600_000, 8), fromHook: true })
      ])
    ).toEqual({ tokens: 654_321, cost: 15.75 })
  })

  it("is 0 for nothing, and never NaN", () => {
    expect(SessionTotals.of([])).toEqual({ tokens: 0, cost: 0 })
    expect(
      SessionTotals.of([reply("a", "x", { usage: { totalTokens: NaN, input: 5, cost: { total: NaN } } })])
    ).toEqual({ tokens: 5, cost: 0 })
  })
})
