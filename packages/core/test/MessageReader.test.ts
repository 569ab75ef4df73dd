import * as Schema from "effect/Schema"
import { describe, expect, it } from "vitest"
import * as Entry from "../src/Entry.js"
import * as EntryReader from "../src/EntryReader.js"
import * as Message from "../src/Message.js"
import * as MessageReader from "../src/MessageReader.js"
import * as Projection from "../src/Projection.js"
import * as Transcript from "../src/Transcript.js"
import { count } from "./SessionBuilder.js"

const isMessage = Schema.is(Message.Message)
const isEntry = Schema.is(Entry.Entry)

const roles = [
  "system",
  "user",
  "assistant",
  "toolResult",
  "bashExecution",
  "custom",
  "hookMessage",
  "branchSummary",
  "compactionSummary"
]

const garbage: ReadonlyArray<unknown> = [
  undefined,
  null,
  0,
  -1,
  NaN,
  true,
  "",
  "text",
  [],
  {},
  [null],
  [[]],
  ["text", 7, null, { type: "text" }, { type: "text", text: 7 }, { type: "image", data: 7 }, { type: "toolCall" }],
  [
    { type: "text", text: "good" },
    { type: "future", text: "bad" },
    { type: "thinking", thinking: null }
  ],
  { type: "text", text: "not a list" },
  { nested: { deeply: [{ garbage: [null] }] } },
  JSON.parse('{"__proto__":{"polluted":true},"constructor":1}')
]

const fields = [
  "content",
  "sections",
  "toolsAdded",
  "toolsRemoved",
  "usage",
  "stopReason",
  "errorMessage",
  "provider",
  "model",
  "toolCallId",
  "toolName",
  "isError",
  "nestedCalls",
  "command",
  "output",
  "exitCode",
  "excludeFromContext",
  "customType",
  "display",
  "summary",
  "fromId",
  "tokensBefore",
  "timestamp"
]

/** What everything else does with a message. */
const useIt = (message: Message.Message): void => {
  expect(count(message)).toBeGreaterThanOrEqual(0)
  expect(typeof Transcript.serialize(Projection.convertToLlm([message]), Transcript.forModel)).toBe("string")
}

describe("MessageReader.read", () => {
  it.each(roles)("reads a %s message whose fields are of any shape", (role) => {
    for (const field of fields) {
      for (const value of garbage) {
        const message = MessageReader.read({ role, [field]: value })
        expect(isMessage(message), `${field}: ${JSON.stringify(value)}`).toBe(true)
        useIt(message)
      }
    }
  })

  it("keeps what is no message as unknown", () => {
    for (const value of [
      ...garbage,
      { role: "future", content: "x" },
      { role: 7 },
      { role: null },
      { role: "constructor" }
    ]) {
      expect(MessageReader.read(value)).toEqual({ role: "unknown", original: value })
    }
  })

  it("reads a null, missing or number content as empty", () => {
    for (const content of [null, undefined, 7, {}]) {
      expect(MessageReader.read({ role: "user", content })).toMatchObject({ content: "" })
      expect(MessageReader.read({ role: "assistant", content })).toMatchObject({ content: [] })
      expect(MessageReader.read({ role: "toolResult", content })).toMatchObject({ content: [] })
    }
  })

  it("reads a plain text where blocks are needed as one text block, and leaves out unknown blocks", () => {
    expect(MessageReader.read({ role: "assistant", content: "hi" })).toMatchObject({
      content: [{ type: "text", text: "hi" }]
    })
    expect(MessageReader.read({ role: "toolResult", content: "hi" })).toMatchObject({
      content: [{ type: "text", text: "hi" }]
    })
    const blocks = [{ type: "future" }, { type: "text", text: "good" }, null]
    expect(MessageReader.read({ role: "user", content: blocks })).toMatchObject({
      content: [{ type: "text", text: "good" }]
    })
  })

  it("gives a sound message back as the same object", () => {
    const sound = {
      role: "assistant",
      content: [{ type: "text", text: "x", extra: 1 }],
      usage: { totalTokens: 5 },
      extra: 2
    }
    expect(MessageReader.read(sound)).toBe(sound)
  })

  it("keeps a call whose arguments are null, missing or a text", () => {
    for (const args of [null, undefined, "rm"]) {
      const call = { type: "toolCall", id: "1", name: "bash", arguments: args }
      expect(MessageReader.read({ role: "assistant", content: [call] })).toMatchObject({ content: [call] })
    }
  })
})

describe("usage of any shape", () => {
  const total = (usage: unknown): number => {
    const message = MessageReader.read({ role: "assistant", content: [], usage })
    return message.role === "assistant" && message.usage !== undefined ? Message.usageTotal(message.usage) : -1
  }

  it.each([
    [
      "the total where there is one, cached tokens in it",
      { totalTokens: 98_716, cacheRead: 98_432, input: 84, output: 200 },
      98_716
    ],
    ["a total below what was read from the cache", { totalTokens: 163_978, cacheRead: 819_661 }, 163_978],
    [
      "each part once where the total is 0",
      { totalTokens: 0, input: 1, output: 2, cacheRead: 30, cacheWrite: 400 },
      433
    ],
    ["each part once where there is no total", { input: 1, cacheRead: 30 }, 31],
    ["parts that are null, texts or NaN", { totalTokens: null, input: "5", output: NaN, cacheRead: 7 }, 7],
    ["negative parts", { totalTokens: -5, input: -3, output: 4 }, 4],
    ["nothing", {}, 0],
    ["tokens beside a cost that is null", { totalTokens: 190_000, cost: null }, 190_000],
    ["tokens beside a cost that is a text", { totalTokens: 190_000, cost: "free" }, 190_000]
  ])("counts %s", (_, usage, tokens) => expect(total(usage)).toBe(tokens))

  it("has a cost that is never NaN", () => {
    for (const cost of [undefined, {}, { total: NaN }, { input: 1, output: 2 }, { total: 3, input: 9 }]) {
      expect(Number.isFinite(Message.usageCost(cost === undefined ? {} : { cost }))).toBe(true)
    }
    expect(Message.usageCost({ cost: { input: 1, output: 2 } })).toBe(3)
    expect(Message.usageCost({ cost: { total: 3, input: 9 } })).toBe(3)
  })
})

describe("EntryReader.read", () => {
  const types = [
    "message",
    "custom_message",
    "branch_summary",
    "compaction",
    "context_edit",
    "model_change",
    "thinking_level_change",
    "label",
    "session_info",
    "custom",
    "usage",
    "unknown",
    "future"
  ]
  const ownFields = [
    "message",
    "customType",
    "content",
    "display",
    "details",
    "fromId",
    "summary",
    "usage",
    "fromHook",
    "firstKeptEntryId",
    "tokensBefore",
    "systemMessage",
    "targetId",
    "replacement",
    "provider",
    "modelId",
    "thinkingLevel",
    "label",
    "name",
    "data",
    "timestamp"
  ]

  it.each(types)("reads an entry of type %s whose fields are of any shape", (type) => {
    for (const field of ownFields) {
      for (const value of garbage) {
        const entry = EntryReader.read({ type, [field]: value }, { id: "x", parentId: null })
        expect(isEntry(entry), `${field}: ${JSON.stringify(value)}`).toBe(true)
        for (const message of Projection.messages(Projection.project([entry]))) useIt(message)
      }
    }
  })

  it("keeps an edit without a target as unknown, so that it hides nothing", () => {
    for (const value of [
      { replacement: null },
      { targetId: "a" },
      { targetId: "a", replacement: "x" },
      { targetId: 7, replacement: null }
    ]) {
      expect(EntryReader.read({ type: "context_edit", ...value }, { id: "x", parentId: null }).type).toBe("unknown")
    }
  })

  it("never pollutes the prototype of objects", () => {
    EntryReader.read(JSON.parse('{"type":"message","message":{"role":"user","__proto__":{"polluted":1}}}'), {
      id: "x",
      parentId: null
    })
    expect("polluted" in {}).toBe(false)
  })
})
