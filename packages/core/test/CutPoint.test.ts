import * as Option from "effect/Option"
import { describe, expect, it } from "vitest"
import * as CutPoint from "../src/CutPoint.js"
import type * as Entry from "../src/Entry.js"
import * as Projection from "../src/Projection.js"
import * as Rules from "../src/Rules.js"
import * as Tokens from "../src/Tokens.js"
import {
  changed,
  bash,
  call,
  chain,
  compaction,
  count,
  custom,
  edit,
  label,
  modelChange,
  reply,
  result,
  system,
  tokens,
  user
} from "./SessionBuilder.js"

interface Found {
  readonly first: string
  readonly split: boolean
  readonly turn: string
}

const find = (entries: ReadonlyArray<Entry.Entry>, keep: number, rules = Rules.standard): Found | undefined => {
  const items = Projection.range(Projection.project(chain(entries)))
  const counter = rules === Rules.standard ? count : Tokens.counter(Tokens.heuristic, rules)
  const idAt = (index: number) => items[index]?.entry.id ?? ""
  return Option.getOrUndefined(
    Option.map(CutPoint.find(CutPoint.range(items, counter), keep, rules), ({ index, isSplitTurn, turnStart }) => ({
      first: idAt(index),
      split: isSplitTurn,
      turn: idAt(turnStart)
    }))
  )
}

const firstKept = (entries: ReadonlyArray<Entry.Entry>, keep: number, rules?: Rules.Rules) =>
  find(entries, keep, rules)?.first

const calls = (id: string, ...callIds: ReadonlyArray<string>) =>
  reply(
    id,
    callIds.map((each) => call(each))
  )

const oldTurns = [user("u1", tokens(500)), reply("a1", tokens(500)), user("u2", tokens(500)), reply("a2", tokens(500))]

describe("tool results that fill the budget by themselves", () => {
  it("four results of 6k tokens: the cut falls on their reply, and what is older can be summarized", () => {
    const results = [1, 2, 3, 4].map((each) => result(`r${each}`, `c${each}`, tokens(6000)))
    expect(find([...oldTurns, calls("a3", "c1", "c2", "c3", "c4"), ...results], 20_000)).toEqual({
      first: "a3",
      split: true,
      turn: "u2"
    })
  })

  it.each([1, 10, 100, 5999, 6000, 6001, 12_000])("whatever part of them a budget of %i reaches", (keep) => {
    const results = [1, 2].map((each) => result(`r${each}`, `c${each}`, tokens(6000)))
    expect(firstKept([...oldTurns, user("u3"), calls("a3", "c1", "c2"), ...results], keep)).toBe("a3")
  })

  it("one result larger than the budget", () => {
    expect(firstKept([...oldTurns, calls("a3", "c1"), result("r1", "c1", tokens(50_000))], 100)).toBe("a3")
  })

  it("with entries without a message among them", () => {
    const entries = [
      ...oldTurns,
      calls("a3", "c1", "c2"),
      result("r1", "c1", tokens(900)),
      label("l1", "r1"),
      result("r2", "c2", tokens(900))
    ]
    expect(firstKept(entries, 1000)).toBe("a3")
  })

  it("with nothing before them there is nothing to cut but at the reply", () => {
    expect(firstKept([result("r0", "gone", tokens(900)), result("r1", "gone", tokens(900))], 100)).toBeUndefined()
  })
})

describe("parallel calls", () => {
  const resultsAround = (between: Entry.Entry) => [
    ...oldTurns,
    user("u3", tokens(10)),
    calls("a3", "A", "B"),
    result("rA", "A", tokens(300)),
    between,
    result("rB", "B", tokens(300)),
    reply("a4", tokens(10))
  ]

  it("the budget crosses between the two results", () => {
    const entries = [
      ...oldTurns,
      calls("a3", "A", "B"),
      result("rA", "A", tokens(300)),
      result("rB", "B", tokens(300)),
      reply("a4", tokens(10))
    ]
    for (const keep of [11, 200, 310]) expect(firstKept(entries, keep)).toBe("a4")
    expect(firstKept(entries.slice(0, -1), 350)).toBe("a3")
  })

  it.each([
    ["a user's message", user("x", tokens(50))],
    ["a custom message", custom("x", tokens(50))],
    ["a shell command of the user", bash("x", "ls", tokens(50))],
    ["another reply", reply("x", tokens(50))]
  ])("%s between call and result is no place to cut", (_, between) => {
    const entries = resultsAround(between).slice(0, -1)
    for (const keep of [1, 250, 320, 355]) expect(firstKept(entries, keep)).toBe("a3")
    expect(firstKept(entries, 330, Rules.parity)).toBe("x")
  })

  it("a result that comes many entries later binds them all", () => {
    const late = [
      calls("a3", "A"),
      user("u4", tokens(100)),
      reply("a4", tokens(100)),
      user("u5", tokens(100)),
      result("rA", "A", tokens(5))
    ]
    for (const keep of [1, 50, 150, 250]) expect(firstKept([...oldTurns, ...late], keep)).toBe("a3")
  })

  it("a call id that is used again belongs to the later call", () => {
    const entries = [
      user("u1", tokens(10)),
      calls("a1", "A"),
      result("r1", "A", tokens(10)),
      user("u2", tokens(10)),
      calls("a2", "A"),
      result("r2", "A", tokens(10))
    ]
    expect(firstKept(entries, 25)).toBe("u2")
  })

  it("a hidden call binds nothing, since its result has lost it anyway", () => {
    const entries = [
      ...oldTurns,
      calls("a3", "A"),
      reply("a4"),
      user("u3", tokens(50)),
      result("rA", "A", tokens(50)),
      edit("e", "a3", null)
    ]
    expect(firstKept(entries, 60)).toBe("u3")
  })
})

describe("calls that are still unanswered", () => {
  it("one of two results is there: the reply stays, so that the late one finds its call", () => {
    const entries = [...oldTurns, calls("a3", "c1", "c2"), result("r1", "c1", tokens(500))]
    for (const keep of [0, 1, 100, 499]) expect(firstKept(entries, keep)).toBe("a3")
  })

  it("no result is there and the user has gone on", () => {
    const entries = [...oldTurns, calls("a3", "c1"), user("u3", tokens(500))]
    for (const keep of [0, 1, 100]) expect(firstKept(entries, keep)).toBe("a3")
  })

  it("a reply that was aborted or failed never gets its results, and binds nothing", () => {
    for (const stopReason of ["aborted", "error"]) {
      const broken = reply("a3", [call("c1")], { stopReason })
      expect(firstKept([...oldTurns, broken, user("u3", tokens(500))], 100)).toBe("u3")
    }
  })

  it("an older unanswered call is given up once another reply has come", () => {
    const entries = [...oldTurns, calls("a3", "c1"), user("u3", tokens(50)), reply("a4", tokens(50))]
    expect(firstKept(entries, 60)).toBe("u3")
  })
})

describe("what a cut may fall on", () => {
  it("never a result, never a system message", () => {
    const entries = [
      user("u1", tokens(10)),
      calls("a1", "A"),
      result("rA", "A", tokens(10)),
      system("s1", tokens(10)),
      user("u2", tokens(10))
    ]
    for (let keep = 0; keep <= 60; keep++) expect(["u1", "a1", "u2"]).toContain(firstKept(entries, keep))
  })

  it("system messages count in the sum", () => {
    const entries = [
      user("u1", tokens(10)),
      reply("a1", tokens(10)),
      system("s1", tokens(500)),
      user("u2", tokens(10)),
      reply("a2", tokens(10))
    ]
    expect(firstKept(entries, 100)).toBe("u2")
  })

  it("nothing to cut in an empty range, in labels only, in system messages only", () => {
    expect(find([], 100)).toBeUndefined()
    expect(find([label("l", "x"), modelChange("m")], 0)).toBeUndefined()
    expect(find([system("s", tokens(500))], 10)).toBeUndefined()
  })

  it("messages without any text cost nothing and are passed over", () => {
    expect(firstKept([user("u1", ""), reply("a1", []), user("u2", tokens(5)), reply("a2", "")], 0)).toBe("u2")
    expect(firstKept([user("u1", ""), reply("a1", "")], 0)).toBe("u1")
  })

  it("a budget of 0 keeps the newest entry that costs anything", () => {
    expect(firstKept([...oldTurns, reply("a3", "")], 0)).toBe("a2")
  })

  it("a larger budget never cuts later", () => {
    const entries = [
      ...oldTurns,
      calls("a3", "A"),
      user("x", tokens(40)),
      result("rA", "A", tokens(90)),
      label("l", "u1"),
      user("u3", tokens(7))
    ]
    const at = (keep: number) => entries.findIndex((entry) => entry.id === firstKept(entries, keep))
    for (let keep = 1; keep < 2300; keep += 13) expect(at(keep + 13)).toBeLessThanOrEqual(at(keep))
  })
})

describe("entries without a message right before the cut", () => {
  it("go with what they stand before: labels, model changes, hidden messages", () => {
    const entries = [
      ...oldTurns,
      label("l1", "u1"),
      modelChange("m1"),
      user("gone", tokens(5)),
      user("u3", tokens(50)),
      edit("e", "gone", null)
    ]
    expect(firstKept(entries, 40)).toBe("l1")
  })

  it("stop at a compaction and at a system message", () => {
    const older = [
      user("u0"),
      compaction("c0", "u0"),
      label("l1", "u0"),
      user("u1", tokens(50)),
      reply("a1", tokens(50))
    ]
    const path = [...older, compaction("c1", "u0"), user("u2", tokens(50))]
    expect(firstKept(path, 140)).toBe("l1")
    expect(firstKept([user("u1", tokens(9)), system("s", "x"), label("l", "u1"), user("u2", tokens(50))], 20)).toBe("l")
  })
})

describe("a failed reply that a retry hid", () => {
  const failed = [reply("bad", tokens(5), { stopReason: "error" }), edit("e", "bad", null)]

  it("when nothing visible follows, the message that was retried is summarized too", () => {
    expect(firstKept([...oldTurns, user("u3", tokens(50)), ...failed], 40)).toBe("bad")
  })

  it("not when something visible follows, or an edit replaces another entry, or the budget is not reached", () => {
    expect(firstKept([...oldTurns, user("u3", tokens(50)), ...failed, user("u4", tokens(50))], 90)).toBe("u3")
    expect(firstKept([...oldTurns, user("u3", tokens(50)), ...failed, edit("e2", "u1", "new")], 40)).toBe("u3")
    expect(firstKept([user("u3", tokens(50)), ...failed], 400)).toBe("u3")
  })

  it("an edit that hides another entry does not speak against it", () => {
    expect(firstKept([...oldTurns, user("u3", tokens(50)), ...failed, edit("e2", "u1", null)], 40)).toBe("bad")
  })
})

describe("split turns", () => {
  it("a cut on a reply splits the turn, a cut on a user's message does not", () => {
    const entries = [user("u1", tokens(50)), reply("a1", tokens(50)), reply("a2", tokens(50)), user("u2", tokens(50))]
    expect(find(entries, 60)).toEqual({ first: "a2", split: true, turn: "u1" })
    expect(find(entries, 40)).toEqual({ first: "u2", split: false, turn: "u2" })
  })

  it("judged by the message behind a label, not by the label", () => {
    const entries = [user("u1", tokens(50)), reply("a1", tokens(50)), label("l", "a1"), user("u2", tokens(50))]
    expect(find(entries, 40)).toEqual({ first: "l", split: false, turn: "l" })
    expect(find(entries, 40, Rules.parity)).toEqual({ first: "l", split: true, turn: "u1" })
  })

  it("several labels and a hidden message before a reply: still split", () => {
    const entries = [
      user("u1", tokens(50)),
      reply("a1", tokens(50)),
      label("l", "a1"),
      modelChange("m"),
      reply("a2", tokens(50))
    ]
    expect(find(entries, 40)).toEqual({ first: "l", split: true, turn: "u1" })
  })

  it("a reply without a turn start before it is not split", () => {
    expect(find([reply("a0", tokens(50)), reply("a1", tokens(50))], 40)).toEqual({
      first: "a1",
      split: false,
      turn: "a1"
    })
  })

  it.each([
    ["a shell command", bash("t", "make", tokens(9))],
    ["a custom message", custom("t", tokens(9))]
  ])("%s starts a turn", (_, starter) => {
    expect(find([user("u1", tokens(50)), reply("a1", tokens(9)), starter, reply("a2", tokens(50))], 40)?.turn).toBe("t")
  })
})

describe("shell output that the user kept from the model", () => {
  const secret = bash("x", "cat secret", tokens(1000), { excludeFromContext: true })

  it("uses up none of the budget, wherever it stands", () => {
    const entries = [...oldTurns, user("u3", tokens(60)), reply("a3", tokens(60)), secret]
    expect(firstKept(entries, 100)).toBe("u3")
    expect(firstKept([secret, ...entries, changed(secret, { id: "y" })], 100)).toBe("u3")
    expect(firstKept(entries, 100, Rules.parity)).toBe("x")
  })

  it("is no cut and starts no turn", () => {
    expect(find([user("u1", tokens(60)), reply("a1", tokens(60)), secret, reply("a2", tokens(60))], 50)).toEqual({
      first: "x",
      split: true,
      turn: "u1"
    })
    expect(find([secret], 0)).toBeUndefined()
  })
})
