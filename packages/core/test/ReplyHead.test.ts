import * as FastCheck from "effect/FastCheck"
import { describe, expect, it } from "vitest"
import * as FileOps from "../src/FileOps.js"
import * as LineHead from "../src/LineHead.js"
import * as Message from "../src/Message.js"
import * as ReplyHead from "../src/ReplyHead.js"
import * as SessionLines from "../src/SessionLines.js"

const seed = Number(process.env.CUTPOINT_SEED ?? FastCheck.sample(FastCheck.noBias(FastCheck.nat()), 1)[0])

console.log(`CUTPOINT_SEED=${seed}`)

/** What is read off a line; undefined where it has to be parsed. */
const headOf = (line: string): ReplyHead.ReplyHead | undefined => {
  const head = LineHead.read(line.slice(0, LineHead.length))
  return head && ReplyHead.read(line, head)
}

/** What finding a cut takes of a reply. */
const taken = (message: Message.AssistantMessage) => ({
  calls: Message.toolCalls(message).map(({ id, name }) => [id, name]),
  files: [true, false].map((fold) => FileOps.lists(FileOps.fromMessage(message, { fold }))),
  stopReason: message.stopReason
})

/** What parsing the line says; undefined where it is no reply. */
const parsedOf = (line: string) => {
  const [entry, ...more] = SessionLines.entriesOf(line)
  const isReply = entry?.type === "message" && entry.message.role === "assistant" && more.length === 0
  return isReply && entry.message.role === "assistant" ? taken(entry.message) : undefined
}

/** Whether the head was read; if so, it says what parsing says. */
const agrees = (line: string): boolean => {
  const head = headOf(line)
  if (head === undefined) return false
  const { calls, stopReason } = head
  expect(taken({ role: "assistant", content: calls, ...(stopReason === undefined ? {} : { stopReason }) })).toEqual(
    parsedOf(line)
  )
  return true
}

const lineOf = (message: object): string =>
  JSON.stringify({
    type: "message",
    id: "00000002",
    parentId: "00000001",
    timestamp: "2026-01-01T00:00:00.000Z",
    message
  })

const usage = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0, totalTokens: 3, cost: { input: 0.1, total: 1e-7 } }

const reply = (content: ReadonlyArray<object>, more: object = { stopReason: "toolUse", timestamp: 1 }) =>
  lineOf({ role: "assistant", content, api: "messages", provider: "maker", model: "large", usage, ...more })

const call = (name: string, args: object, id = "call_1") => ({ type: "toolCall", id, name, arguments: args })

describe("a reply as agents write it", () => {
  const text = FastCheck.oneof(
    FastCheck.string(),
    FastCheck.fullUnicodeString(),
    FastCheck.constantFrom('"', "\\", "\\u0022", '{"type":"toolCall"')
  )
  const value = FastCheck.oneof(text, FastCheck.double({ noNaN: true }), FastCheck.boolean(), FastCheck.constant(null))
  const keys = FastCheck.oneof(FastCheck.constantFrom("path", "file_path", "command", "content"), text)
  const name = FastCheck.oneof(
    FastCheck.constantFrom("read", "write", "edit", "bash", "mcp__fs__Read", "str_replace_editor"),
    text
  )
  const block = FastCheck.oneof(
    FastCheck.record({ type: FastCheck.constant("text"), text }),
    FastCheck.record({ type: FastCheck.constant("thinking"), thinking: text, thinkingSignature: text }),
    FastCheck.tuple(name, FastCheck.dictionary(keys, value), text).map(([name, args, id]) => call(name, args, id))
  )
  const stopReason = FastCheck.constantFrom("stop", "toolUse", "aborted", "error", "\u00e9nd\n")

  it("is read off its line", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.array(block, { minLength: 1, maxLength: 5 }), stopReason, (content, stopReason) => {
        expect(agrees(reply(content, { stopReason, timestamp: 1 }))).toBe(true)
      }),
      { numRuns: 1000, seed }
    )
  })

  it("is not read otherwise than it is parsed, whatever happens to its line", () => {
    let read = 0
    const change = FastCheck.tuple(
      FastCheck.nat(),
      FastCheck.constantFrom("", '"', "\\", ",", "}", "]", "{", " ", "\n", "0", "\u0000")
    )
    FastCheck.assert(
      FastCheck.property(FastCheck.array(block, { minLength: 1, maxLength: 3 }), change, (content, [place, by]) => {
        const line = reply(content)
        const at = place % line.length
        if (agrees(line.slice(0, at) + by + line.slice(at + 1))) read++
      }),
      { numRuns: 3000, seed }
    )
    expect(read).toBeGreaterThan(100)
  })
})

describe("a reply that has to be parsed", () => {
  const calls = [call("read", { path: "a.ts" })]
  const whole = reply(calls)

  it.each([
    ["with nested arguments", reply([call("edit", { edits: [{ path: "a.ts" }] })])],
    ["with details", reply(calls, { details: { a: 1 } })],
    ["without content", reply([])],
    ["whose content is a text", lineOf({ role: "assistant", content: "hello" })],
    ["with a block of another kind", reply([{ type: "image", data: "AA==" }])],
    ["with its content again at its end", whole.replace(/\}\}$/u, ',"content":[]}}')],
    ["with a message again at its end", whole.replace(/\}$/u, ',"message":{"role":"user","content":"x"}}')],
    ["that is cut off", whole.slice(0, -1)],
    ["with something after it", `${whole} `],
    ["with spaces", whole.replace('"content":[', '"content": [')],
    ["with its role last", lineOf({ content: calls, role: "assistant" })],
    ["longer than is matched", reply([{ type: "text", text: "x".repeat(70_000) }])],
    ["of a user", lineOf({ role: "user", content: [{ type: "text", text: "x" }] })]
  ])("%s", (_, line) => {
    expect(headOf(line)).toBe(undefined)
  })
})

it("what is read off a line of two calls", () => {
  const line = reply([
    { type: "text", text: "I look." },
    call("read", { path: "a.ts" }),
    call("edit", { path: "b.ts", oldText: "x", newText: "y" })
  ])
  expect(headOf(line)).toEqual({
    calls: [call("read", { path: "a.ts" }), call("edit", { path: "b.ts" })],
    stopReason: "toolUse"
  })
})
