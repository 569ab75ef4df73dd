/** Prompts as `@effect/ai` itself encodes and decodes them. */
import * as Histories from "@cutpoint/core/Histories"
import type * as Message from "@cutpoint/core/Message"
import * as Prompt from "@effect/ai/Prompt"
import * as Schema from "effect/Schema"
import { expect, it } from "vitest"

const encode = Schema.encodeSync(Prompt.Prompt)
const decode = Schema.decodeUnknownSync(Prompt.Prompt)

const prompt = Prompt.make([
  { role: "system", content: "Be brief." },
  { role: "user", content: [{ type: "file", mediaType: "image/png", data: "aGk=" }] },
  {
    role: "assistant",
    content: [
      { type: "reasoning", text: "Look it up." },
      { type: "tool-call", id: "c1", name: "read", params: { path: "a.ts" } }
    ]
  },
  {
    role: "tool",
    content: [
      { type: "tool-result", id: "c1", name: "read", isFailure: false, result: "export {}", providerExecuted: false }
    ]
  }
])

it("a prompt that was encoded needs nothing kept beside it, and comes back", () => {
  const document: unknown = JSON.parse(JSON.stringify(encode(prompt)))
  const imported = Histories.read(document, "prompt")
  expect(imported?.kept).toEqual([])
  expect(decode(Histories.write(imported?.messages ?? [], "prompt").document)).toEqual(prompt)
})

it("any messages are a prompt that can be decoded", () => {
  const messages: ReadonlyArray<Message.Message> = [
    { role: "system", content: "", sections: { rules: "Be brief." } },
    { role: "bashExecution", command: "ls", output: "a.ts" },
    { role: "assistant", content: [{ type: "toolCall", id: "c1", name: "read" }] },
    { role: "toolResult", toolCallId: "c1", toolName: "read", content: [], isError: true }
  ]
  const { content } = decode(Histories.write(messages, "prompt").document)
  expect(content.map(({ role }) => role)).toEqual(["system", "user", "assistant", "tool"])
})
