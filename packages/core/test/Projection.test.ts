import { describe, expect, it } from "vitest"
import type * as Entry from "../src/Entry.js"
import type * as Message from "../src/Message.js"
import * as Projection from "../src/Projection.js"
import * as SystemReplay from "../src/SystemReplay.js"
import {
  changed,
  entryOf,
  bash,
  branchSummary,
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
  text,
  tokens,
  user
} from "./SessionBuilder.js"

const project = (...entries: ReadonlyArray<Entry.Entry>) => Projection.project(chain(entries))

const order = (...entries: ReadonlyArray<Entry.Entry>) => project(...entries).items.map((item) => item.entry.id)

const rolesOf = (...entries: ReadonlyArray<Entry.Entry>) =>
  Projection.messages(project(...entries)).map((message) => message.role)

const contextTokens = (...entries: ReadonlyArray<Entry.Entry>) => Projection.contextTokens(project(...entries), count)

describe("the order that the model sees", () => {
  it("the last compaction, what it keeps, what follows; labels stay in the list", () => {
    expect(order(user("u1"), label("l", "u1"), user("u2"), compaction("c", "u2"), user("u3"))).toEqual([
      "c",
      "u2",
      "u3"
    ])
    expect(order(user("u1"), user("u2"), label("l", "u1"), compaction("c", "u2"))).toEqual(["c", "u2", "l"])
  })

  it.each([
    ["missing", "gone"],
    ["empty", ""],
    ["its own", "c"],
    ["after it", "u3"]
  ])("a first kept entry that is %s keeps nothing from before", (_, firstKept) => {
    const projection = project(user("u1"), user("u2"), compaction("c", firstKept), user("u3"))
    expect(projection.items.map((item) => item.entry.id)).toEqual(["c", "u3"])
    expect(projection.diagnostics.map((one) => one._tag)).toEqual(firstKept === "c" ? [] : ["DanglingBoundary"])
  })

  it("a first kept entry on a sibling branch is not on the path", () => {
    const path = chain([user("u1"), compaction("c", "sibling"), user("u3")])
    expect(Projection.project(path).diagnostics.map((one) => one.entryId)).toEqual(["c"])
  })

  it("an older compaction in the kept range says nothing", () => {
    const path = [user("u1"), compaction("c1", "u1", "first"), user("u2"), compaction("c2", "u1", "second"), user("u3")]
    expect(order(...path)).toEqual(["c2", "u1", "c1", "u2", "u3"])
    expect(rolesOf(...path)).toEqual(["compactionSummary", "user", "user", "user"])
  })

  it("system messages of the kept range are left out, those after the compaction are not", () => {
    const carried: Message.SystemMessage = { role: "system", content: "replay" }
    const path = [
      system("s1", "a"),
      user("u1"),
      system("s2", "b"),
      compaction("c", "u1", "s", { systemMessage: carried }),
      system("s3", "c")
    ]
    expect(rolesOf(...path)).toEqual(["system", "compactionSummary", "user", "system"])
  })

  it("an empty branch summary, an unknown role and an unknown type say nothing", () => {
    const unknown: Entry.Entry = {
      type: "unknown",
      id: "x",
      parentId: null,
      timestamp: "",
      original: { type: "future" }
    }
    const role = entryOf("y", { role: "unknown", original: { role: "future" } })
    expect(rolesOf(branchSummary("b1", ""), branchSummary("b2", "text"), unknown, role)).toEqual(["branchSummary"])
  })

  it("nothing gives nothing", () => expect(rolesOf()).toEqual([]))
})

describe("edits", () => {
  const contentAfter = (target: Entry.Entry, content: Message.Content) => {
    const message = Projection.messages(project(target, edit("e", target.id, content)))[0]
    return message !== undefined && "content" in message ? message.content : undefined
  }

  it("the latest of a target holds, whichever it is", () => {
    expect(rolesOf(user("u"), edit("e1", "u", null), edit("e2", "u", "back"))).toEqual(["user"])
    expect(rolesOf(user("u"), edit("e1", "u", "new"), edit("e2", "u", null))).toEqual([])
  })

  it("a text becomes one block for replies and results, and stays a text for others", () => {
    expect(contentAfter(user("u"), "new")).toBe("new")
    expect(contentAfter(custom("u", "old"), "new")).toBe("new")
    expect(contentAfter(reply("u"), "new")).toEqual([text("new")])
    expect(contentAfter(result("u", "c"), "new")).toEqual([text("new")])
  })

  it("keeps everything else of a message, and blocks that its role may have", () => {
    const usage = { totalTokens: 9 }
    const [message] = Projection.messages(
      project(reply("u", "old", { usage }), edit("e", "u", [text("a"), call("1"), { type: "image" }]))
    )
    expect(message).toEqual({ role: "assistant", content: [text("a"), call("1")], stopReason: "stop", usage })
    expect(contentAfter(user("u"), [text("a"), call("1"), { type: "thinking", thinking: "t" }])).toEqual([text("a")])
  })

  it("replaces nothing of shell commands and summaries, but hides them", () => {
    for (const target of [bash("t", "ls", "out"), branchSummary("t", "s")]) {
      expect(project(target, edit("e", "t", "new")).items[0]?.messages).toEqual(project(target).items[0]?.messages)
      expect(rolesOf(target, edit("e", "t", null))).toEqual([])
    }
  })

  it("of an unknown target changes nothing", () => {
    expect(rolesOf(user("u"), edit("e", "gone", null))).toEqual(["user"])
  })
})

describe("model and thinking level", () => {
  it("are the latest of the whole path, a reply's model included, compacted or not", () => {
    const answer = reply("a", "x", { provider: "p", model: "m" })
    expect(project(modelChange("c"), answer).model).toEqual({ provider: "p", modelId: "m" })
    expect(project(answer, modelChange("c"), user("u"), compaction("z", "u")).model).toEqual({
      provider: "openai",
      modelId: "gpt"
    })
    expect(project(user("u")).model).toBeUndefined()
  })
})

describe("which usage is trusted", () => {
  const used = (id: string, usage: Message.Usage, stopReason = "stop") => reply(id, tokens(1), { usage, stopReason })

  it("the last one, plus the estimate of what follows", () => {
    expect(contextTokens(user("u", tokens(70)), used("a", { totalTokens: 190_000 }), user("u2", tokens(10)))).toBe(
      190_010
    )
    expect(contextTokens(used("a", { totalTokens: 5 }), used("b", { totalTokens: 9 }))).toBe(9)
  })

  it("not that of a reply that was aborted or failed, nor one of 0", () => {
    const good = used("a", { totalTokens: 190_000 })
    expect(contextTokens(good, used("b", { totalTokens: 0 }, "error"), user("u", tokens(10)))).toBe(190_011)
    expect(contextTokens(good, used("b", { totalTokens: 7 }, "error"))).toBe(190_001)
    expect(contextTokens(good, used("b", { totalTokens: 7 }, "aborted"))).toBe(190_001)
    expect(contextTokens(good, used("b", {}))).toBe(190_001)
  })

  it("not one from before the last compaction, by tree order, whatever the clocks say", () => {
    const late = changed(used("a", { totalTokens: 190_000 }), { timestamp: "2099-01-01T00:00:00.000Z" })
    const path = [user("u0"), user("u1", tokens(5)), late, compaction("c", "u1", tokens(20)), user("u2", tokens(3))]
    expect(contextTokens(...path)).toBe(20 + 5 + 1 + 3)
    expect(contextTokens(...path, used("b", { totalTokens: 50 }), user("u3", tokens(2)))).toBe(52)
  })

  it("not one from before the last edit", () => {
    expect(contextTokens(used("a", { totalTokens: 190_000 }), edit("e", "a", "short"), user("u", tokens(3)))).toBe(
      2 + 3
    )
    expect(contextTokens(used("a", { totalTokens: 9000 }), edit("e", "a", "x"), used("b", { totalTokens: 50 }))).toBe(
      50
    )
  })

  it("without any, the estimate of all, of the system messages only their replay", () => {
    const path = [
      system("s1", "", { sections: { a: tokens(100) } }),
      user("u", tokens(5)),
      system("s2", "", { sections: { a: tokens(7) } })
    ]
    expect(contextTokens(...path)).toBe(12)
    expect(contextTokens()).toBe(0)
  })

  it("is never NaN", () => {
    expect(contextTokens(used("a", { totalTokens: NaN, input: NaN, output: 5 }), user("u", tokens(1)))).toBe(6)
    expect(contextTokens(used("a", { totalTokens: Infinity }))).toBe(1)
  })

  it("images count among what follows", () => {
    expect(contextTokens(used("a", { totalTokens: 10 }), user("u", [{ type: "image" }]))).toBe(1210)
  })
})

describe("SystemReplay.fold", () => {
  const message = (
    content: Message.UserContent,
    fields: Partial<Message.SystemMessage> = {}
  ): Message.SystemMessage => ({
    role: "system",
    content,
    ...fields
  })

  it("is nothing for nothing, and leaves out what is empty", () => {
    expect(SystemReplay.fold([])).toBeUndefined()
    expect(SystemReplay.fold([message("")])).toEqual({ role: "system", content: "" })
    expect(SystemReplay.fold([message("a", { sections: { x: "1" } }), message("", { sections: { x: null } })])).toEqual(
      { role: "system", content: "a" }
    )
  })

  it("joins contents by a blank line and the blocks of one by a line break, and keeps the first timestamp", () => {
    const folded = SystemReplay.fold([
      message([text("a"), text("b")], { timestamp: 1 }),
      message(""),
      message("c", { timestamp: 2 })
    ])
    expect(folded).toEqual({ role: "system", content: "a\nb\n\nc", timestamp: 1 })
  })

  it("patches sections by name", () => {
    const folded = SystemReplay.fold([
      message("", { sections: { a: "1", b: "2" } }),
      message("", { sections: { a: null, b: "3", c: "4" } })
    ])
    expect(folded?.sections).toEqual({ b: "3", c: "4" })
  })

  it("removes tools before it adds them, and one declared again keeps its place", () => {
    const add = (...names: ReadonlyArray<string>) => ({ toolsAdded: names.map((name) => ({ name })) })
    const fold = (...all: ReadonlyArray<Partial<Message.SystemMessage>>) =>
      SystemReplay.fold(all.map((fields) => message("", fields)))?.toolsAdded?.map((tool) => tool.name)
    expect(fold(add("a", "b"), add("a", "c"))).toEqual(["a", "b", "c"])
    expect(fold(add("a", "b"), { ...add("a"), toolsRemoved: [{ name: "a" }] })).toEqual(["b", "a"])
    expect(fold(add("a"), { toolsRemoved: [{ name: "a" }, { name: "gone" }] })).toBeUndefined()
  })
})
