import { describe, expect, it } from "vitest"
import { entry, fingerprint, header, type Json, makeWorkspace, message, readLines, reply, user } from "./cutpoint.js"

const workspace = makeWorkspace()
const fast = ["--tokenizer", "heuristic"]

/** Two branches under `a1`, of which the leaf `a3` is on the second, and another root. */
const write = (name = "forked.jsonl") =>
  workspace.write(name, [
    header(),
    user("r1", null, "Another start"),
    user("u1", null, "Write a.ts"),
    reply("a1", "u1", "Wrote a.ts"),
    user("u2", "a1", "Try it with b.ts"),
    reply("a2", "u2", "Tried b.ts"),
    user("u3", "a1", "Try it with c.ts"),
    message("a3", "u3", {
      role: "assistant",
      content: [
        { type: "text", text: "Tried c.ts" },
        { type: "toolCall", id: "c1", name: "write", arguments: { path: "c.ts", content: "1" } }
      ],
      stopReason: "toolUse"
    }),
    message("t3", "a3", {
      role: "toolResult",
      toolCallId: "c1",
      toolName: "write",
      content: [{ type: "text", text: "Written" }]
    })
  ])

const leafOf = async (session: string): Promise<string | null> =>
  (await workspace.json(["tree", session, ...fast])).leafId

describe("tree --to", () => {
  it.each([
    {
      target: "u1",
      newLeafId: null,
      editText: "Write a.ts",
      commonAncestorId: "u1",
      entryIds: ["a1", "u3", "a3", "t3"]
    },
    {
      target: "u2",
      newLeafId: "a1",
      editText: "Try it with b.ts",
      commonAncestorId: "a1",
      entryIds: ["u3", "a3", "t3"]
    },
    { target: "a1", newLeafId: "a1", editText: null, commonAncestorId: "a1", entryIds: ["u3", "a3", "t3"] },
    { target: "a2", newLeafId: "a2", editText: null, commonAncestorId: "a1", entryIds: ["u3", "a3", "t3"] },
    {
      target: "r1",
      newLeafId: null,
      editText: "Another start",
      commonAncestorId: null,
      entryIds: ["u1", "a1", "u3", "a3", "t3"]
    }
  ])(
    "$target moves the leaf to $newLeafId, also after reopening",
    async ({ target, newLeafId, editText, commonAncestorId, entryIds }) => {
      const session = write()
      const before = readLines(session)
      const dry = await workspace.json(["tree", session, "--to", target, "--dry-run", ...fast])
      expect(dry).toMatchObject({ status: "prepared", newLeafId, editText, collected: { entryIds, commonAncestorId } })
      expect(readLines(session)).toEqual(before)
      const moved = await workspace.json(["tree", session, "--to", target, ...fast])
      expect(moved).toMatchObject({ status: "navigated", oldLeafId: "t3", newLeafId, editText, summaryEntryId: null })
      expect(moved.collected).toEqual(dry.collected)
      expect(await leafOf(session)).toBe(newLeafId)
      const after = readLines(session)
      expect(after.slice(0, -1)).toEqual(before)
      expect(after.at(-1)).toMatchObject({ type: "custom", customType: "cutpoint.leaf", parentId: newLeafId })
    }
  )

  it("a descendant goes there", async () => {
    const session = write()
    await workspace.json(["tree", session, "--to", "a1"])
    const moved = await workspace.json(["tree", session, "--to", "t3", ...fast])
    expect(moved).toMatchObject({
      oldLeafId: "a1",
      newLeafId: "t3",
      collected: { entryIds: [], commonAncestorId: "a1" }
    })
    expect(await leafOf(session)).toBe("t3")
  })

  it("the leaf does nothing", async () => {
    const session = write()
    const before = fingerprint(session)
    const moved = await workspace.json(["tree", session, "--to", "t3", "--summarize", "--offline", "--label", "x"])
    expect(moved).toMatchObject({
      status: "unchanged",
      oldLeafId: "t3",
      newLeafId: "t3",
      editText: null,
      summaryEntryId: null
    })
    expect((await workspace.run(["tree", session, "--to", "t3"])).stdout).toContain("Already at t3.")
    expect(fingerprint(session)).toBe(before)
  })

  it("an unknown entry fails and names it", async () => {
    const session = write()
    const before = fingerprint(session)
    for (const options of [[], ["--dry-run"], ["--summarize", "--offline"]]) {
      const { error } = await workspace.json(["tree", session, "--to", "nope", ...options], 1)
      expect(error).toMatchObject({ _tag: "EntryNotFound", entryId: "nope" })
    }
    expect(fingerprint(session)).toBe(before)
  })

  it("says in words where from, where to, and what can be edited", async () => {
    const session = write()
    const { stdout } = await workspace.run(["tree", session, "--to", "u1", "--dry-run", ...fast])
    expect(stdout.split("\n")).toEqual([
      "From t3 to before the first entry",
      expect.stringMatching(/^Leaves behind 4 entries, \d+ tokens$/),
      "",
      "To edit and send again:",
      "Write a.ts",
      "",
      "Nothing was written (dry run).",
      ""
    ])
  })

  it("leaves from another entry in a dry run", async () => {
    const session = write()
    const shown = await workspace.json(["tree", session, "--to", "u3", "--from", "a2", "--dry-run", ...fast])
    expect(shown).toMatchObject({
      oldLeafId: "a2",
      newLeafId: "a1",
      collected: { entryIds: ["u2", "a2"], commonAncestorId: "a1" }
    })
    expect((await workspace.json(["tree", session, "--to", "u3", "--from", "nope", "--dry-run"], 1)).error._tag).toBe(
      "EntryNotFound"
    )
  })
})

describe("tree --to --summarize", () => {
  it("needs something to summarize with", async () => {
    const session = write()
    const before = fingerprint(session)
    expect((await workspace.json(["tree", session, "--to", "a2", "--summarize"], 1)).error._tag).toBe("NoSummarizer")
    expect(fingerprint(session)).toBe(before)
  })

  it("carries a summary along, under the new leaf, with its label", async () => {
    const session = write()
    const args = ["tree", session, "--to", "u2", "--summarize", "--offline", "--label", "the c way", ...fast]
    const moved = await workspace.json(args)
    expect(moved).toMatchObject({
      status: "navigated",
      editText: "Try it with b.ts",
      collected: { modifiedFiles: ["c.ts"] }
    })
    const summary = readLines(session).at(-1)
    expect(summary).toMatchObject({ type: "branch_summary", id: moved.summaryEntryId, parentId: "a1", fromId: "t3" })
    expect(moved.newLeafId).toBe(summary.id)
    expect(summary.summary).toContain("Try it with c.ts")
    expect(summary.summary).toContain("<modified-files>\nc.ts\n</modified-files>")
    const shown = await workspace.json(["tree", session, ...fast])
    expect(shown.leafId).toBe(summary.id)
    expect(shown.entries.at(-1)).toMatchObject({
      id: summary.id,
      label: "the c way",
      role: "branchSummary",
      onPath: true
    })
    const { messages } = await workspace.json(["context", session, ...fast])
    expect(messages.map((each: Json) => each.role)).toEqual(["user", "assistant", "branchSummary"])
  })

  it("lets other instructions stand in place of the usual ones", async () => {
    const session = write()
    const options = ["--summarize", "--offline", "-i", "Only the files", "--replace-instructions"]
    expect(await workspace.json(["tree", session, "--to", "a2", ...options])).toMatchObject({ status: "navigated" })
    expect(readLines(session).at(-1).type).toBe("branch_summary")
  })

  it("goes without a summary where nothing is left behind", async () => {
    const session = write()
    await workspace.json(["tree", session, "--to", "a1"])
    const moved = await workspace.json(["tree", session, "--to", "a3", "--summarize", "--offline"])
    expect(moved).toMatchObject({ status: "navigated", newLeafId: "a3", summaryEntryId: null })
    expect(await leafOf(session)).toBe("a3")
  })

  it("takes as much of the branch as the budget allows", async () => {
    const session = workspace.write("long.jsonl", [
      header(),
      user("u1", null),
      ...Array.from({ length: 20 }, (_, index) =>
        user(`b${index}`, index === 0 ? "u1" : `b${index - 1}`, "word ".repeat(80))
      )
    ])
    const rolesOf = async (...options: ReadonlyArray<string>): Promise<number> => {
      const args = ["tree", session, "--to", "u1", "--dry-run", "--parity", ...fast, ...options]
      const { collected } = await workspace.json(args)
      expect(collected.entryIds).toHaveLength(20)
      expect(collected.totalTokens).toBe(collected.roles.length * 100)
      return collected.roles.length
    }
    expect(await rolesOf()).toBe(20)
    expect(await rolesOf("--token-budget", "0")).toBe(20)
    expect(await rolesOf("--token-budget", "350")).toBe(3)
    expect(await rolesOf("--context-window", "1000", "--reserve-tokens", "500")).toBe(5)
    const { error } = await workspace.json(
      ["tree", session, "--to", "u1", "--dry-run", "--context-window", "500", "--reserve-tokens", "500"],
      1
    )
    expect(error._tag).toBe("SettingsInvalid")
  })

  it("shows the text that a model would get", async () => {
    const args = ["tree", write(), "--to", "a2", "--dry-run", "--with-transcript"]
    expect((await workspace.json(args)).collected.transcript).toMatch(
      /^\[User\]: Try it with c\.ts\n\n\[Assistant\]: Tried c\.ts/
    )
    expect((await workspace.run(args)).stdout).toContain("[User]: Try it with c.ts")
    expect((await workspace.json(["tree", write(), "--to", "a2", "--dry-run"])).collected).not.toHaveProperty(
      "transcript"
    )
  })
})

describe("tree", () => {
  it("draws branches, labels and the leaf", async () => {
    const session = write()
    await workspace.run(["tree", session, "--to", "a2", "--label", "b way"])
    const { stdout } = await workspace.run(["tree", session, ...fast])
    expect(stdout.split("\n")).toEqual([
      "├─ ○ r1  user  Another start  4 tokens",
      "└─ ○ u1  user  Write a.ts  3 tokens",
      "   ○ a1  assistant  Wrote a.ts  3 tokens",
      "   ├─ ○ u2  user  Try it with b.ts  4 tokens",
      "   │  ● a2  assistant [b way]  Tried b.ts  3 tokens  <- leaf",
      "   └─ ○ u3  user  Try it with c.ts  4 tokens",
      expect.stringMatching(/^ {8}⋮ 1 entry, \d+ tokens$/),
      "      ○ t3  toolResult  Written  2 tokens",
      ""
    ])
    const all = (await workspace.run(["tree", session, "--all", ...fast])).stdout
    expect(all).toMatch(/├─ ○ \w{8} {2}label {2}b way on a2\n/)
    expect(all).toMatch(/└─ ○ \w{8} {2}custom {2}cutpoint.leaf\n/)
  })

  it("shows where one stands before the first entry", async () => {
    const session = write()
    await workspace.run(["tree", session, "--to", "u1"])
    expect((await workspace.run(["tree", session])).stdout).toMatch(/^● \(before the first entry\) {2}<- leaf\n├─ ○ r1/)
  })

  it("lists all entries in the order of the file", async () => {
    const { diagnostics, entries, leafId, session } = await workspace.json(["tree", write(), ...fast])
    expect({ diagnostics, leafId, session }).toEqual({ diagnostics: [], leafId: "t3", session: write() })
    expect(entries.map((each: Json) => each.id)).toEqual(["r1", "u1", "a1", "u2", "a2", "u3", "a3", "t3"])
    expect(entries.filter((each: Json) => each.onPath).map((each: Json) => each.id)).toEqual([
      "u1",
      "a1",
      "u3",
      "a3",
      "t3"
    ])
    expect(entries[2]).toEqual({
      id: "a1",
      parentId: "u1",
      type: "message",
      role: "assistant",
      preview: "Wrote a.ts",
      tokens: 3,
      label: null,
      onPath: true
    })
  })

  it("draws what another program appended to the mark of a move", async () => {
    const session = workspace.write("continued.jsonl", [
      header(),
      user("u1", null, "one"),
      reply("a1", "u1", "two"),
      user("u2", "a1", "three"),
      entry("custom", "m1", "a1", { customType: "cutpoint.leaf" }),
      user("u3", "m1", "four"),
      reply("a3", "u3", "five")
    ])
    const { stdout } = await workspace.run(["tree", session, ...fast])
    expect(stdout.split("\n")).toEqual([
      "○ u1  user  one  1 token",
      "○ a1  assistant  two  1 token",
      "├─ ○ u2  user  three  2 tokens",
      "└─ ⋮ 1 entry, 0 tokens",
      "   ○ u3  user  four  1 token",
      "   ● a3  assistant  five  1 token  <- leaf",
      ""
    ])
  })
})
