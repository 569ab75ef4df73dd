import * as Rules from "@cutpoint/core/Rules"
import * as Tokens from "@cutpoint/core/Tokens"
import * as FastCheck from "effect/FastCheck"
import { describe, expect, it } from "vitest"
import * as ContextIndexLaws from "../src/ContextIndexLaws.js"
import * as Sessions from "../src/Sessions.js"
import { calling, law, result, session, user } from "./laws.js"

const { path, preparation } = Sessions
const count = Tokens.heuristic

describe("ContextIndexLaws", () => {
  law("an index follows appends", [path, FastCheck.nat(60), preparation], (path, start, settings) =>
    ContextIndexLaws.followsAppends(path, start, count, settings)
  )

  law("an index follows appends by parity's rules", [path, FastCheck.nat(60), preparation], (path, start, settings) =>
    ContextIndexLaws.followsAppends(path, start, count, { ...settings, rules: Rules.parity })
  )
})

describe("ContextIndexLaws, broken", () => {
  it("notices a counter that counts by what it has counted before", () => {
    const conversation = session(user("one"), calling("c"), result("c", "two"), user("three"))
    let length = 0
    const fickle = (text: string) => text.length + length++
    const settings = { keepRecentTokens: 3, rules: Rules.standard }
    ContextIndexLaws.followsAppends(conversation, 0, count, settings)
    // Messages are counted once, system messages once more when they are folded.
    const prompt = session({ role: "system", content: "be brief" }, user("one"))
    expect(() => ContextIndexLaws.followsAppends(prompt, 0, fickle, settings)).toThrow(/The tokens/)
  })
})
