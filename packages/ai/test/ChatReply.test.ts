import * as Response from "@effect/ai/Response"
import { expect, it } from "vitest"
import { Gathered } from "../src/ChatReply.js"

const reply = () =>
  new Gathered(
    ({ params }) => params,
    (index) => ({ nth: index })
  )

/** A text that comes in two pieces. */
const text = (id: string, ...pieces: readonly [string, string]) => [
  Response.makePart("text-start", { id }),
  ...pieces.map((delta) => Response.makePart("text-delta", { id, delta })),
  Response.makePart("text-end", { id })
]

const call = Response.makePart("tool-call", { id: "c1", name: "look", params: {}, providerExecuted: false })

const messageOf = (parts: ReadonlyArray<Response.AnyPart>) => {
  const gathered = reply()
  for (const part of parts) gathered.take(part)
  return gathered.message({}, 1, undefined)
}

it("texts that use one id after the other stay apart, and where they were", () => {
  expect(messageOf([...text("0", "First", "."), call, ...text("0", "Second", ".")]).content).toMatchObject([
    { type: "text", text: "First." },
    { type: "toolCall", id: "c1", arguments: { nth: 0 } },
    { type: "text", text: "Second." }
  ])
})

it("texts that come side by side are put together by their ids", () => {
  const [one, other] = [text("1", "a", "b"), text("2", "c", "d")]
  const mixed = one.flatMap((part, index) => [part, other[index]]).filter((part) => part !== undefined)
  expect(messageOf(mixed).content).toMatchObject([{ text: "ab" }, { text: "cd" }])
})

it("one that breaks off is a failed one, with what was said", () => {
  expect(messageOf(text("0", "half", "way").slice(0, 2))).toMatchObject({
    stopReason: "error",
    errorMessage: "The reply broke off.",
    content: [{ text: "half" }]
  })
})
