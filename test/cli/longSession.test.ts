import { copyFileSync, chmodSync, existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { fingerprint, type Json, makeWorkspace, readLines } from "./cutpoint.js"

const data = fileURLToPath(new URL("../../../shared/data/sessions/", import.meta.url))
const file = `${data}long-session-v1.jsonl`
const isThere = existsSync(file)
if (!isThere) console.warn(`The tests of a long real session are left out: there is no ${file}`)

const expected: Json = isThere
  ? JSON.parse(readFileSync(`${data}long-session-v1.expected.json`, "utf8"))
  : { preparations: [] }
const workspace = makeWorkspace()

/** A copy that may be written to. */
const copy = (name: string): string => {
  const target = workspace.write(name, "")
  copyFileSync(file, target)
  chmodSync(target, 0o600)
  return target
}

const summaryOf = async (session: string, tokenizer: string): Promise<Json> => {
  const { messages } = await workspace.json(["context", session, "--tokenizer", tokenizer])
  expect(messages[0].role).toBe("compactionSummary")
  return messages[0]
}

describe.runIf(isThere)("a long real session of version 1", () => {
  it.each<Json>(expected.preparations)(
    "is prepared as expected when about $keepRecentTokens tokens are kept",
    async (answer: Json) => {
      const before = fingerprint(file)
      const options = ["--dry-run", "--offline", "--tokenizer", "heuristic", "--parity"]
      const shown = await workspace.json([
        "compact",
        file,
        ...options,
        "--keep-recent-tokens",
        String(answer.keepRecentTokens)
      ])
      const { preparation } = shown
      expect(shown.status).toBe("prepared")
      expect(shown.contextTokens).toBe(expected.contextTokens)
      expect({
        keepRecentTokens: answer.keepRecentTokens,
        firstKeptIndex: preparation.firstKeptIndex,
        isSplitTurn: preparation.isSplitTurn,
        tokensBefore: preparation.tokensBefore,
        summarized: preparation.summarizedRoles.length,
        turnPrefix: preparation.turnPrefixRoles.length,
        hasPreviousSummary: preparation.previousSummary !== null,
        readFiles: preparation.readFiles,
        modifiedFiles: preparation.modifiedFiles
      }).toEqual(answer)
      expect(fingerprint(file)).toBe(before)
    }
  )

  it("has the expected context", async () => {
    const shown = await workspace.json(["context", file, "--tokenizer", "heuristic"])
    expect(shown.messages).toHaveLength(expected.contextMessages)
  })

  it("is upgraded and compacted, and keeps exactly what the dry run said", async () => {
    const session = copy("compacted.jsonl")
    const before = await workspace.json(["context", session])
    const { preparation } = await workspace.json(["compact", session, "--dry-run", "--keep-recent-tokens", "60000"])
    const shown = await workspace.json(["compact", session, "--offline", "--keep-recent-tokens", "60000"])
    expect(shown.status).toBe("compacted")
    expect(readFileSync(`${session}.v1.bak`).equals(readFileSync(file))).toBe(true)
    expect(readLines(session)[0].version).toBe(3)
    expect(readLines(session)).toHaveLength(expected.entries + 2)

    const after = await workspace.json(["context", session])
    const [summary, ...kept] = after.messages
    const firstKept = before.messages.findIndex((each: Json) => each.entryId === preparation.firstKeptEntryId)
    expect(firstKept).toBeGreaterThan(100)
    expect(summary).toMatchObject({ entryId: shown.result.entryId, role: "compactionSummary" })
    expect(kept).toEqual(before.messages.slice(firstKept))
    expect(after.contextTokens).toBe(shown.result.tokensAfter)
    expect(after.contextTokens).toBeLessThan(before.contextTokens / 2)

    const written = fingerprint(session)
    const again = await workspace.json(["compact", session, "--offline"])
    expect(again).toMatchObject({ status: "nothing-to-compact", preparation: null })
    expect(fingerprint(session)).toBe(written)
  })

  it.each(["o200k_base", "heuristic"])("gets the same short summary at every run, counted by %s", async (tokenizer) => {
    const sessions = [copy(`one-${tokenizer}.jsonl`), copy(`other-${tokenizer}.jsonl`)]
    const summaries: Array<string> = []
    for (const session of sessions) {
      const shown = await workspace.json(["compact", session, "--offline", "--tokenizer", tokenizer])
      expect(shown.result).toMatchObject({ summarizer: "offline", requests: 0, usage: null, cost: null })
      expect((await summaryOf(session, tokenizer)).tokens).toBeLessThanOrEqual(2000)
      summaries.push(shown.result.summary)
    }
    expect(summaries[0]).toBe(summaries[1])
  })

  it("gets a summary that names requests, changed files and open errors", async () => {
    const { result } = await workspace.json(["compact", copy("said.jsonl"), "--offline"])
    const [said, blocks] = result.summary.split("<read-files>")
    for (const heading of ["## Goal", "### Done", "### Blocked", "## Next Steps", "## Critical Context"]) {
      expect(said).toContain(heading)
    }
    // The first request, by way of the previous summary, and the latest ones, in the user's own words.
    expect(said).toContain("eliminate code duplication between three run modes")
    expect(said).toContain("then we need to tackle this bash issue")
    expect(said).toContain("remoev the old remaining files")
    expect(said).toContain("packages/coding-agent/src/modes/interactive/interactive-mode.ts")
    expect(said).toContain("`tool_use` ids were found without `tool_result` blocks")
    expect(blocks).toContain(
      "/Users/devuser1/workspaces/pi-mono/packages/coding-agent/src/utils/config.ts\n</modified-files>"
    )
  })
})
