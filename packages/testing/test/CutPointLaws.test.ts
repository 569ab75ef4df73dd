import * as Rules from "@cutpoint/core/Rules"
import * as Tokens from "@cutpoint/core/Tokens"
import * as FastCheck from "effect/FastCheck"
import { describe, expect, it } from "vitest"
import * as CutPointLaws from "../src/CutPointLaws.js"
import * as Sessions from "../src/Sessions.js"
import { calling, law, result, session, user } from "./laws.js"

const { path, preparation } = Sessions
const count = Tokens.heuristic

describe("CutPointLaws", () => {
  law("results stay with their calls", [path, preparation], (path, settings) =>
    CutPointLaws.resultsStayWithCalls(path, count, settings)
  )

  law("the prefix starts the split turn", [path, preparation], (path, settings) =>
    CutPointLaws.prefixStartsTheSplitTurn(path, count, settings)
  )

  law("the budget is kept", [path, preparation], (path, settings) => CutPointLaws.keepsTheBudget(path, count, settings))

  law("the budget is kept by parity's rules", [path, preparation], (path, settings) =>
    CutPointLaws.keepsTheBudget(path, count, { ...settings, rules: Rules.parity })
  )

  law("a larger budget cuts no later", [path, preparation, FastCheck.nat(500)], (path, settings, more) =>
    CutPointLaws.largerBudgetCutsNoLater(path, count, settings, more)
  )
})

describe("CutPointLaws, broken", () => {
  const interleaved = session(user("one"), calling("c"), user("two"), result("c", "three"))
  const settings = { keepRecentTokens: 3, rules: Rules.standard }

  it("notices a result that lost its call", () => {
    CutPointLaws.resultsStayWithCalls(interleaved, count, settings)
    const parity = { ...settings, rules: Rules.parity }
    expect(() => CutPointLaws.resultsStayWithCalls(interleaved, count, parity)).toThrow(
      "The call c of a kept result is summarized."
    )
  })

  it("notices a turn that is said to be split and is not", () => {
    const label = { type: "label", id: "l", parentId: "e1", timestamp: "", targetId: "e0", label: "here" } as const
    const labelled = session(user("one"), calling("c"), user("two")).toSpliced(2, 0, label)
    const oneToken = { keepRecentTokens: 1, rules: { ...Rules.standard, resultsStayWithCalls: false } }
    CutPointLaws.prefixStartsTheSplitTurn(labelled, count, oneToken)
    const byEntry = { ...oneToken, rules: { ...oneToken.rules, splitJudgedByMessage: false } }
    const check = () => CutPointLaws.prefixStartsTheSplitTurn(labelled, count, byEntry)
    expect(check).toThrow("What is kept starts a turn of its own.")
  })

  it("notices a tokenizer that counts otherwise the second time", () => {
    let calls = 0
    const moody = (text: string) => text.length + (calls++ % 7) * 40
    const check = () =>
      FastCheck.assert(
        FastCheck.property(path, FastCheck.nat(400), (path, keepRecentTokens) =>
          CutPointLaws.largerBudgetCutsNoLater(path, moody, { ...settings, keepRecentTokens }, -200)
        )
      )
    expect(check).toThrow("A larger budget never cuts later.")
  })
})
