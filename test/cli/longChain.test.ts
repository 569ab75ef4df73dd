import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { fingerprint, header, makeWorkspace, reply, start, user, bin } from "./cutpoint.js"

const length = 20_000
const workspace = makeWorkspace()

const chain = Array.from({ length }, (_, index) => {
  const [id, parentId] = [`e${index}`, index === 0 ? null : `e${index - 1}`]
  return index % 2 === 0 ? user(id, parentId, `Question ${index}, please`) : reply(id, parentId, `Answer ${index}`)
})

const write = (name: string) => workspace.write(name, [header({ id: "chain", cwd: workspace.cwd }), ...chain])
const session = write("chain.jsonl")
const fast = ["--tokenizer", "heuristic"]

describe("a session of 20,000 entries in one chain", () => {
  it("is compacted dry, and not written to", async () => {
    const before = fingerprint(session)
    const shown = await workspace.json(["compact", session, "--dry-run", ...fast])
    expect(shown.status).toBe("prepared")
    const { firstKeptIndex, summarizedRoles, turnPrefixRoles } = shown.preparation
    expect(firstKeptIndex).toBe(summarizedRoles.length + turnPrefixRoles.length)
    expect(fingerprint(session)).toBe(before)
  })

  it("is compacted, with every line of before still there", async () => {
    const copy = write("copy.jsonl")
    const before = readFileSync(copy, "utf8")
    const shown = await workspace.json(["compact", copy, "--offline", ...fast])
    expect(shown.status).toBe("compacted")
    expect(readFileSync(copy, "utf8").startsWith(before)).toBe(true)
    const { messages } = await workspace.json(["context", copy, ...fast])
    expect(messages).toHaveLength(1 + length - shown.preparation.firstKeptIndex)
  })

  it("is drawn with all its entries", async () => {
    const all = await workspace.run(["tree", session, "--all", ...fast])
    expect(all.code).toBe(0)
    expect(all.stdout.trimEnd().split("\n")).toHaveLength(length)
    const short = await workspace.run(["tree", session, ...fast])
    // Users' messages, a count after each, and the leaf, which stands for the last count.
    expect(short.stdout.trimEnd().split("\n")).toHaveLength(length)
    expect(short.stdout).toMatch(/● e19999 .*<- leaf\n$/)
  })

  it("is listed as JSON, read to its end through a pipe", async () => {
    const ran = await workspace.run(["tree", session, "--json", ...fast])
    expect(ran.stdout.length).toBeGreaterThan(4_000_000)
    const { entries } = JSON.parse(ran.stdout)
    expect(entries).toHaveLength(length)
    expect(entries.at(-1)).toMatchObject({ id: "e19999", parentId: "e19998", role: "assistant", onPath: true })
  })

  it("does not mind a reader that goes away", async () => {
    for (const shown of ["tree", "context"]) {
      const piped = await start(
        "bash",
        ["-c", 'set -o pipefail; "$0" "$@" | head -1', process.execPath, bin, shown, session, "--json"],
        {
          env: { HOME: workspace.home }
        }
      )
      expect(piped).toMatchObject({ code: 0, stdout: "{\n", stderr: "" })
    }
  })

  it("is left for its second message", async () => {
    const shown = await workspace.json(["tree", session, "--to", "e1", "--dry-run", "--token-budget", "0", ...fast])
    expect(shown.collected.entryIds).toHaveLength(length - 2)
    expect(shown.collected.roles).toHaveLength(length - 2)
    const moved = await workspace.json([
      "tree",
      write("moved.jsonl"),
      "--to",
      "e1",
      "--summarize",
      "--offline",
      ...fast
    ])
    expect(moved).toMatchObject({ status: "navigated", collected: { commonAncestorId: "e1" } })
  })

  it("is shown as a context, and listed", async () => {
    const { messages } = await workspace.json(["context", session, ...fast])
    expect(messages).toHaveLength(length)
    expect((await workspace.run(["context", session, ...fast])).stdout).toContain("20,000 messages")
    const sessions = makeWorkspace()
    sessions.write("home/.pi/agent/sessions/any/1_chain.jsonl", [header({ id: "chain", cwd: sessions.cwd }), ...chain])
    const listed = await sessions.json(["sessions", "--counts"])
    expect(listed.sessions).toMatchObject([{ id: "chain", cwd: sessions.cwd, entries: length, compactions: 0 }])
  })

  it("is pinned in, and a compaction of it taken back", async () => {
    const file = write("pinned.jsonl")
    const { pins } = await workspace.json(["pin", "e7", "--session", file])
    expect(pins).toHaveLength(1)
    const compacted = await workspace.json(["compact", file, "--offline", ...fast])
    expect(compacted.result.summary).toContain("<pinned ")
    expect(await workspace.json(["undo", file])).toMatchObject({ status: "undone", messagesAfter: 0 })
    expect(await workspace.json(["unpin", pins[0].id, "--session", file])).toEqual({ pins: [] })
  })
})
