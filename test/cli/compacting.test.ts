import { describe, expect, it } from "vitest"
import { conversation, fingerprint, header, makeWorkspace, readLines, user } from "./cutpoint.js"

const workspace = makeWorkspace()
const fast = ["--tokenizer", "heuristic"]

/** Four turns: 1,000 tokens a question, 3 an answer. */
const write = (name = "session.jsonl") => workspace.write(name, [header(), ...conversation(4, 1000)])

describe("compact --dry-run", () => {
  it("shows the cut, and the window as a bar of 80 columns", async () => {
    const session = write()
    const before = fingerprint(session)
    const args = ["compact", session, "--dry-run", "--keep-recent-tokens", "1500", "--context-window", "20000", ...fast]
    const { stderr, stdout } = await workspace.run(args)
    expect(stderr).toBe("")
    const kept = stdout.split("\n")
    expect(kept).toEqual([
      `Session   ${session}`,
      "Context   4,012 of 20,000 tokens; compaction is due over 3,616",
      'Cut       keeps 4 messages from u2 user "Question 2: why why why why why why why why why why why why…" on',
      "Summary   of 4 messages",
      "Files     0 modified, 0 only read",
      expect.stringMatching(/^Requests {2}1 by a model, about \d,\d{3} tokens in$/),
      "",
      `[${"▒".repeat(7)}${"█".repeat(7)}${"·".repeat(58)}]`,
      " ▒ summarized 2,006  █ kept 2,006  · free 15,988",
      "",
      "Nothing was written (dry run).",
      ""
    ])
    expect(fingerprint(session)).toBe(before)
  })

  it("says all of it as JSON, and needs no summarizer", async () => {
    const session = write()
    const shown = await workspace.json([
      "compact",
      session,
      "--dry-run",
      "--keep-recent-tokens",
      "1",
      "--with-transcript",
      ...fast
    ])
    const { transcript, ...preparation } = shown.preparation
    expect(transcript.turnPrefix).toMatch(/^\[User\]: Question 3: why why/)
    expect(transcript.summarized).toMatch(/^\[User\]: Question 0: [^]*\n\n\[Assistant\]: Answer 2\.$/)
    expect({ ...shown, preparation }).toEqual({
      status: "prepared",
      session,
      leafId: "a3",
      reason: "manual",
      contextTokens: 4012,
      contextWindow: 128_000,
      threshold: 111_616,
      preparation: {
        firstKeptEntryId: "a3",
        firstKeptIndex: 7,
        isSplitTurn: true,
        turnStartEntryId: "u3",
        tokensBefore: 4012,
        summarizedRoles: ["user", "assistant", "user", "assistant", "user", "assistant"],
        turnPrefixRoles: ["user"],
        previousSummary: null,
        readFiles: [],
        modifiedFiles: [],
        requests: expect.any(Number),
        estimatedInputTokens: expect.any(Number),
        estimatedCost: null
      },
      diagnostics: []
    })
  })

  it("says that there is nothing to compact", async () => {
    const ran = await workspace.run(["compact", write(), "--dry-run"])
    expect(ran.code).toBe(0)
    expect(ran.stdout).toContain("There is nothing to compact")
    expect(await workspace.json(["compact", write(), "--dry-run"])).toMatchObject({
      status: "nothing-to-compact",
      preparation: null
    })
  })
})

describe("compact", () => {
  it("appends one entry, and says what came of it", async () => {
    const session = write()
    const before = readLines(session)
    const shown = await workspace.json(["compact", session, "--offline", "--keep-recent-tokens", "1500", ...fast])
    expect(shown).toMatchObject({
      status: "compacted",
      reason: "manual",
      result: { summarizer: "offline", tokensBefore: 4012, requests: 0, usage: null, cost: null }
    })
    const after = readLines(session)
    expect(after.slice(0, -1)).toEqual(before)
    expect(after.at(-1)).toMatchObject({
      type: "compaction",
      id: shown.result.entryId,
      parentId: "a3",
      firstKeptEntryId: "u2",
      tokensBefore: 4012,
      summary: shown.result.summary
    })
    const { contextTokens } = await workspace.json(["context", session, ...fast])
    expect(contextTokens).toBe(shown.result.tokensAfter)
    expect(contextTokens).toBeLessThan(4012)
    expect(shown.result.durationMs).toBeGreaterThanOrEqual(0)
  })

  it("says in words how much smaller the context is", async () => {
    const { stderr, stdout } = await workspace.run([
      "compact",
      write(),
      "--offline",
      "--keep-recent-tokens",
      "1500",
      ...fast
    ])
    expect(stderr).not.toContain("warning")
    expect(stdout).toContain("\n## Goal\n")
    expect(stdout).toMatch(/\nCompacted 4,012 -> [\d,]+ tokens in \d+ ms, by offline, 0 requests; entry \w{8}\n$/)
  })

  it("without --offline has nothing to summarize with, and says what to do", async () => {
    const session = write()
    const before = fingerprint(session)
    const ran = await workspace.run(["compact", session, "--keep-recent-tokens", "1500"])
    expect(ran).toMatchObject({ code: 1, stdout: "" })
    expect(ran.stderr).toContain("--offline")
    expect((await workspace.json(["compact", session], 1)).error._tag).toBe("NoSummarizer")
    expect(fingerprint(session)).toBe(before)
  })

  it.each([
    ["10000", "10000"],
    ["16384", "9000"],
    ["5", "0"]
  ])("refuses a reserve of %s in a window of %s, naming both", async (reserve, window) => {
    const session = write()
    const before = fingerprint(session)
    for (const how of ["--dry-run", "--offline"]) {
      const args = ["compact", session, how, "--reserve-tokens", reserve, "--context-window", window]
      const { error } = await workspace.json(args, 1)
      expect(error).toMatchObject({ _tag: "SettingsInvalid", setting: "compaction.reserveTokens" })
      expect(error.message).toContain(reserve)
      expect(error.message).toContain(window)
    }
    expect(fingerprint(session)).toBe(before)
  })

  it("names the entry that fills the window alone", async () => {
    const session = workspace.write("huge.jsonl", [header(), user("giant", null, "word ".repeat(200_000))])
    const before = fingerprint(session)
    const { error } = await workspace.json(["compact", session, "--offline", ...fast], 1)
    expect(error).toMatchObject({ _tag: "CannotShrink", entryId: "giant", entryTokens: 250_000, threshold: 111_616 })
    expect((await workspace.run(["compact", session, "--offline", ...fast])).stderr).toContain("giant")
    expect((await workspace.run(["compact", session, "--dry-run", ...fast])).stdout).toContain("over the threshold")
    expect(fingerprint(session)).toBe(before)
  })

  it("--auto writes only over the threshold", async () => {
    const session = write()
    const before = fingerprint(session)
    const common = ["compact", session, "--auto", "--keep-recent-tokens", "1500", "--context-window", "10000", ...fast]
    const below = await workspace.json([...common, "--offline", "--reserve-tokens", "5988"])
    expect(below).toMatchObject({
      status: "below-threshold",
      reason: "threshold",
      contextTokens: 4012,
      threshold: 4012
    })
    expect((await workspace.json([...common, "--dry-run", "--reserve-tokens", "5988"])).status).toBe("below-threshold")
    expect(fingerprint(session)).toBe(before)
    const over = await workspace.json([...common, "--offline", "--reserve-tokens", "5989"])
    expect(over).toMatchObject({ status: "compacted", reason: "threshold", threshold: 4011 })
    expect(readLines(session).at(-1).type).toBe("compaction")
  })
})

describe("context", () => {
  it("lists the messages, then a bar", async () => {
    const session = write()
    const { stdout } = await workspace.run(["context", session, "--context-window", "8000", ...fast])
    const printed = stdout.split("\n")
    expect(printed[0]).toBe(`u0            user                    1,000  Question 0: ${"why ".repeat(4)}why…`)
    expect(printed[1]).toBe("a0            assistant                   3  Answer 0.")
    expect(printed.slice(8)).toEqual([
      "",
      `Session   ${session}`,
      "Model     maker/thinker",
      "Context   4,012 of 8,000 tokens, 8 messages",
      "Used      0 tokens in all, cost 0.0000",
      `[${"█".repeat(36)}${"·".repeat(36)}]`,
      " █ used 4,012  · free 3,988",
      ""
    ])
    for (const line of printed) expect(line.length).toBeLessThanOrEqual(80)
  })

  it("stands at another entry, and shows it as text", async () => {
    const { stdout } = await workspace.run(["context", write(), "--leaf", "a0", "--transcript"])
    expect(stdout).toBe(`[User]: Question 0: ${"why ".repeat(997)}\n\n[Assistant]: Answer 0.\n`)
  })
})
