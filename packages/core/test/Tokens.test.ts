import { describe, expect, it } from "vitest"
import type * as Message from "../src/Message.js"
import * as Rules from "../src/Rules.js"
import * as Tokens from "../src/Tokens.js"
import { changed, answered, call, gave, ran, said, text, tokens } from "./SessionBuilder.js"

const of = (message: Message.Message, rules = Rules.standard) => Tokens.ofMessage(message, Tokens.heuristic, rules)

const image: Message.ImageBlock = { type: "image", data: "A".repeat(100_000), mimeType: "image/png" }

describe("Tokens.ofMessage", () => {
  it("counts a message once on its joined text, not block by block", () => {
    expect(of(said([text("a"), text("b"), text("c"), text("d")]))).toBe(1)
    expect(of(answered([{ type: "thinking", thinking: "ab" }, text("cd")]))).toBe(1)
  })

  it("costs a flat amount an image, whatever its data", () => {
    expect(of(said([image]))).toBe(1200)
    expect(of(said([text("abcd"), image, image]))).toBe(2401)
    expect(of(gave("c", "", { content: [image] }))).toBe(1200)
    expect(of({ role: "custom", customType: "t", content: [image, text("abcd")] })).toBe(1201)
  })

  it.each([
    ["null", null, "null"],
    ["undefined", undefined, ""],
    ["a text", "rm", "rm"],
    ["a number", 7, "7"],
    ["an object", { path: "a" }, '{"path":"a"}'],
    ["a list", [1, "b"], '[1,"b"]']
  ])("arguments that are %s do not throw", (_, args, counted) => {
    expect(of(answered([changed(call("1", "name"), { arguments: args })]))).toBe(
      Math.ceil(("name" + counted).length / 4)
    )
  })

  it("arguments that cannot be printed as JSON do not throw", () => {
    const loop: Record<string, unknown> = {}
    loop.self = loop
    expect(of(answered([call("1", "name", loop)]))).toBe(1)
    expect(of(answered([call("1", "name", 10n)]))).toBe(1)
  })

  it("costs nothing where nothing is said", () => {
    for (const message of [said(""), said([]), answered([]), answered(""), gave("c", ""), ran("", "")])
      expect(of(message)).toBe(0)
    expect(of({ role: "unknown", original: { role: "future", content: tokens(50) } })).toBe(0)
  })

  it("counts a shell command with its output, unless it was kept from the model", () => {
    const kept = ran("abcd", tokens(10), { excludeFromContext: true })
    expect(of(ran("abcd", tokens(10)))).toBe(11)
    expect(of(kept)).toBe(0)
    expect(of(kept, Rules.parity)).toBe(11)
    expect(of(ran("abcd", tokens(10), { excludeFromContext: false }))).toBe(11)
  })

  it("counts a system message's content, its sections that are not null, and its tools", () => {
    const toolsAdded = [{ name: "read" }]
    expect(of({ role: "system", content: "abcd", sections: { a: "efgh", b: null }, toolsAdded })).toBe(
      Math.ceil((8 + JSON.stringify(toolsAdded).length) / 4)
    )
  })

  it("counts each message object once", () => {
    let asked = 0
    const counter = Tokens.counter((text) => ((asked += 1), text.length), Rules.standard)
    const message = said("abc")
    expect([counter(message), counter(message), counter(changed(message, {}))]).toEqual([3, 3, 3])
    expect(asked).toBe(2)
  })
})
