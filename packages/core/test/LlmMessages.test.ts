import { describe, expect, it } from "vitest"
import { convertToLlm, type LlmMessage, repairToolPairs } from "../src/LlmMessages.js"
import * as Message from "../src/Message.js"
import { answered, call, gave, ran, said } from "./SessionBuilder.js"

const textOf = (message: Message.Message): string => {
  const [converted] = convertToLlm([message])
  return converted?.role === "user" ? Message.texts(converted.content).join("") : ""
}

describe("convertToLlm", () => {
  it("leaves users, replies, results and system messages as they are", () => {
    const messages: ReadonlyArray<Message.Message> = [
      { role: "system", content: "s" },
      said("u"),
      answered("a"),
      gave("1", "r")
    ]
    expect(convertToLlm(messages)).toEqual(messages)
  })

  it("tells of a shell command, its output and an exit code that is not 0", () => {
    expect(textOf(ran("make", "done"))).toMatch(/make[\s\S]*done/)
    expect(textOf(ran("make", "done"))).not.toMatch(/exit code/)
    expect(textOf(ran("make", "boom", { exitCode: 2 }))).toMatch(/boom[\s\S]*exit code 2/)
    for (const exitCode of [null, undefined])
      expect(textOf(ran("make", "", exitCode === undefined ? {} : { exitCode }))).not.toMatch(/exit code/)
    expect(textOf(ran("make", ""))).toMatch(/nothing/)
  })

  it("leaves out what the user kept from the model, and unknown roles", () => {
    expect(
      convertToLlm([
        ran("cat key", "SECRET", { excludeFromContext: true }),
        { role: "unknown", original: { role: "x" } }
      ])
    ).toEqual([])
  })

  it("says of summaries what they are, and gives custom messages as the user's", () => {
    expect(textOf({ role: "branchSummary", summary: "tried it" })).toMatch(/branch[\s\S]*tried it/)
    expect(textOf({ role: "compactionSummary", summary: "so far" })).toMatch(/[Ss]ummary[\s\S]*so far/)
    const content = [
      { type: "text" as const, text: "from an extension" },
      { type: "image" as const, data: "A" }
    ]
    expect(convertToLlm([{ role: "custom", customType: "t", content, timestamp: 5 }])).toEqual([
      { role: "user", content, timestamp: 5 }
    ])
  })
})

/** Whether every result directly follows its reply, and every call has one. */
const isPaired = (messages: ReadonlyArray<LlmMessage>): boolean => {
  let open: Array<string> = []
  for (const message of messages) {
    if (message.role === "toolResult") {
      const index = open.indexOf(message.toolCallId)
      if (index < 0) return false
      open.splice(index, 1)
      continue
    }
    if (open.length > 0) return false
    if (message.role === "assistant") open = Message.toolCalls(message).map(({ id }) => id)
  }
  return open.length === 0
}

const calls = (...ids: ReadonlyArray<string>) => answered(ids.map((id) => call(id)))

const outline = (messages: ReadonlyArray<LlmMessage>) =>
  messages.map((message) =>
    message.role === "toolResult" ? `${message.toolCallId}=${Message.texts(message.content).join("")}` : message.role
  )

const missing = "This call got no result."

describe("repairToolPairs", () => {
  it("leaves sound messages as they are", () => {
    const messages = [said("u"), calls("1", "2"), gave("1", "a"), gave("2", "b"), answered("done"), said("u2")]
    const repaired = repairToolPairs(messages)
    expect(repaired.messages).toEqual(messages)
    expect(repaired.diagnostics).toEqual([])
    expect(repairToolPairs([])).toEqual({ messages: [], diagnostics: [] })
  })

  it.each<readonly [string, ReadonlyArray<LlmMessage>, ReadonlyArray<string>, ReadonlyArray<string>]>([
    ["a result whose call is not there", [gave("0", "x"), said("u")], ["user"], ["OrphanedResult"]],
    [
      "a result before its call",
      [gave("1", "early"), calls("1")],
      ["assistant", `1=${missing}`],
      ["OrphanedResult", "UnansweredCall"]
    ],
    ["one result of two", [calls("1", "2"), gave("1", "a")], ["assistant", "1=a", `2=${missing}`], ["UnansweredCall"]],
    [
      "no result, and the user went on",
      [calls("1"), said("u")],
      ["assistant", `1=${missing}`, "user"],
      ["UnansweredCall"]
    ],
    [
      "a late result",
      [calls("1"), said("u"), answered("ok"), gave("1", "late")],
      ["assistant", "1=late", "user", "assistant"],
      []
    ],
    ["results in another order", [calls("1", "2"), gave("2", "b"), gave("1", "a")], ["assistant", "1=a", "2=b"], []],
    ["two results of one call", [calls("1"), gave("1", "a"), gave("1", "b")], ["assistant", "1=a"], ["OrphanedResult"]],
    [
      "an id used again by a later reply",
      [calls("1"), gave("1", "a"), calls("1"), gave("1", "b")],
      ["assistant", "1=a", "assistant", "1=b"],
      []
    ],
    [
      "an id used again while the first call had no result",
      [calls("1"), calls("1"), gave("1", "b")],
      ["assistant", `1=${missing}`, "assistant", "1=b"],
      ["UnansweredCall"]
    ],
    ["an id twice in one reply", [calls("1", "1"), gave("1", "a"), gave("1", "b")], ["assistant", "1=a", "1=b"], []],
    [
      "an id twice in one reply, one result",
      [calls("1", "1"), gave("1", "a")],
      ["assistant", "1=a", `1=${missing}`],
      ["UnansweredCall"]
    ],
    [
      "a reply that was aborted",
      [answered([call("1")], { stopReason: "aborted" }), said("u")],
      ["assistant", `1=${missing}`, "user"],
      ["UnansweredCall"]
    ],
    ["an empty id", [calls(""), gave("", "a")], ["assistant", "=a"], []]
  ])("%s", (_, messages, expected, faults) => {
    const repaired = repairToolPairs(messages)
    expect(outline(repaired.messages)).toEqual(expected)
    expect(repaired.diagnostics.map((one) => one._tag).toSorted()).toEqual(faults.toSorted())
    expect(isPaired(repaired.messages)).toBe(true)
  })

  it("mended once is mended for good", () => {
    const once = repairToolPairs([gave("0", "x"), calls("1", "2"), said("u"), gave("2", "late")])
    expect(repairToolPairs(once.messages)).toEqual({ messages: once.messages, diagnostics: [] })
  })

  it("a missing result counts as an error and names its tool", () => {
    const [, result] = repairToolPairs([answered([call("1", "grep")])]).messages
    expect(result).toMatchObject({ role: "toolResult", toolName: "grep", isError: true })
  })
})
