import * as Rules from "@cutpoint/core/Rules"
import * as Tokens from "@cutpoint/core/Tokens"
import * as FastCheck from "effect/FastCheck"
import { describe, expect, it } from "vitest"
import * as PreparationLaws from "../src/PreparationLaws.js"
import * as Sessions from "../src/Sessions.js"
import { calling, law, renamed, result, session, user } from "./laws.js"

const { path, preparation } = Sessions
const count = Tokens.heuristic

const asides = FastCheck.array(FastCheck.record({ before: FastCheck.nat(60), body: Sessions.aside }), { maxLength: 6 })

const byAnyRules = FastCheck.record({
  settings: preparation,
  rules: FastCheck.constantFrom(Rules.standard, Rules.parity)
}).map(({ rules, settings }) => Object.assign({}, settings, { rules }))

describe("PreparationLaws", () => {
  law("nothing is lost", [path, byAnyRules], (path, settings) => PreparationLaws.nothingIsLost(path, count, settings))

  law("asides change nothing", [path, preparation, asides], (path, settings, asides) =>
    PreparationLaws.asidesChangeNothing(path, count, settings, asides)
  )

  law("the context is the summary and what was kept", [path, byAnyRules], (path, settings) =>
    PreparationLaws.contextIsSummaryAndKept(path, count, settings)
  )

  law("preparing twice is the same", [path, byAnyRules], (path, settings) =>
    PreparationLaws.preparingTwiceIsTheSame(path, count, settings)
  )

  law("nothing to prepare after a compaction", [path, byAnyRules, asides], (path, settings, asides) =>
    PreparationLaws.nothingToPrepareAfterCompaction(path, count, settings, asides)
  )
})

describe("PreparationLaws, broken", () => {
  const settings = { keepRecentTokens: 1, rules: { ...Rules.standard, splitJudgedByMessage: false } }
  const turn = session(user("one"), calling("c"), result("c", "two"), {
    role: "assistant",
    content: [{ type: "text", text: "done" }]
  })

  it("notices that a label makes a difference", () => {
    const label = { type: "label", targetId: "e0", label: "here" } as const
    const added = [{ before: 4, body: label }]
    const turns = [...turn, ...session(user("more")).map((entry) => renamed(entry, "e4"))]
    const check = () => PreparationLaws.asidesChangeNothing(turns, count, settings, added)
    expect(check).toThrow("never change what is summarized and what is kept. With more of them")
    PreparationLaws.asidesChangeNothing(turns, count, { ...settings, rules: Rules.standard }, added)
  })

  it("notices a tokenizer that counts otherwise each time", () => {
    let calls = 0
    const moody = (text: string) => text.length + calls++
    expect(() => PreparationLaws.preparingTwiceIsTheSame(turn, moody, settings)).toThrow(
      "Preparing twice gives the same."
    )
  })

  it("notices an id that is there twice, so that more is kept than was meant", () => {
    const twice = [...turn.slice(0, 3), ...turn.slice(3).map((entry) => renamed(entry, "e0"))]
    const check = () => PreparationLaws.contextIsSummaryAndKept(twice, count, settings)
    expect(check).toThrow("After the summary")
  })
})
