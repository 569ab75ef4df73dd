/** Histories of other formats, made sessions and back, through the command. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { conversation, fingerprint, header, type Json, makeWorkspace, readLines, user } from "./cutpoint.js"

const workspace = makeWorkspace()
const { json, run } = workspace

const call = { id: "c1", type: "function", function: { name: "read", arguments: '{"path": "a.ts"}' } }

/** As providers' clients keep them, each with something that has no counterpart in a session. */
const documents = {
  "openai-chat": {
    model: "gpt-5",
    temperature: 0.2,
    messages: [
      { role: "developer", content: "Be brief." },
      { role: "user", content: [{ type: "text", text: "Read a.ts" }], name: "ann" },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: "c1", content: "export {}" },
      { role: "assistant", content: "It is empty.", annotations: [] }
    ]
  },
  "openai-responses": [
    { role: "user", content: [{ type: "input_text", text: "Read a.ts" }] },
    { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAA" },
    { type: "web_search_call", id: "ws_1", status: "completed" },
    { type: "function_call", id: "fc_1", call_id: "c1", name: "read", arguments: '{"path":"a.ts"}' },
    { type: "function_call_output", call_id: "c1", output: "export {}" },
    {
      type: "message",
      id: "m_1",
      role: "assistant",
      content: [{ type: "output_text", text: "Empty.", annotations: [] }]
    }
  ],
  anthropic: {
    system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }],
    messages: [
      { role: "user", content: "Read a.ts" },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "Reading.", signature: "EqQB" },
          { type: "tool_use", id: "c1", name: "read", input: { path: "a.ts" } }
        ]
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "c1", content: "No such file", is_error: true },
          { type: "text", text: "Go on", cache_control: { type: "ephemeral" } }
        ]
      },
      { role: "assistant", content: [{ type: "text", text: "It is not there.", citations: null }] }
    ]
  },
  prompt: {
    content: [
      { role: "system", content: "Be brief.", options: {} },
      { role: "user", content: "Read a.ts", options: { anthropic: { cacheControl: { type: "ephemeral" } } } },
      {
        role: "assistant",
        content: [
          { type: "tool-call", id: "c1", name: "read", params: { path: "a.ts" }, providerExecuted: false, options: {} }
        ],
        options: {}
      },
      {
        role: "tool",
        content: [
          {
            type: "tool-result",
            id: "c1",
            name: "read",
            isFailure: false,
            result: { text: "export {}" },
            providerExecuted: false,
            options: {}
          }
        ],
        options: {}
      }
    ]
  }
}

let written = 0
const file = (document: unknown): string => workspace.write(`in/${written++}.json`, JSON.stringify(document))

const rolesOf = (session: string): ReadonlyArray<string> =>
  readLines(session).flatMap((line: Json) => (line.type === "message" ? [line.message.role] : []))

/** What users and tools said; replies may be taken apart differently. */
const asked = (session: string): ReadonlyArray<string> =>
  rolesOf(session).filter((role) => role === "user" || role === "toolResult")

describe.each(Object.entries(documents))("import and export of %s", (format, document) => {
  it("finds the format, makes a session, and gives the same document back", async () => {
    const imported = await json(["import", file(document)])
    expect(imported.format).toBe(format)
    expect(imported.kept.length).toBeGreaterThan(0)
    const exported = await run(["export", imported.session, "--format", format])
    expect(JSON.parse(exported.stdout)).toEqual(document)
    expect(exported.stderr).toBe("")
    expect((await json(["doctor", imported.session])).diagnostics).toEqual([])
  })

  it("says the same in every other format", async () => {
    const { session } = await json(["import", file(document)])
    for (const other of Object.keys(documents)) {
      const exported = await json(["export", session, "--format", other])
      expect(JSON.stringify(exported.history)).toContain("a.ts")
      const again = await json(["import", file(exported.history), "--format", other])
      expect(asked(again.session)).toEqual(asked(session))
    }
  })
})

describe("import", () => {
  it("makes a session of this folder that the other commands work on", async () => {
    const { session } = await json(["import", file(documents["openai-chat"])])
    expect(session.startsWith(workspace.sessions)).toBe(true)
    const context = await json(["context", session])
    expect(context.messages.map(({ role }: Json) => role)).toEqual([
      "system",
      "user",
      "assistant",
      "toolResult",
      "assistant"
    ])
    expect(context.model).toBe("openai/gpt-5")
    expect(readLines(session)[0].cwd).toBe(workspace.cwd)
  })

  it("appends at the leaf of a session, and names what was kept", async () => {
    const session = workspace.write("to/one.jsonl", [header(), ...conversation(1, 10)])
    const { code, stdout } = await run(["import", file(documents.anthropic), "--to", session])
    expect(code).toBe(0)
    expect(stdout).toContain(`Imported 6 messages of anthropic into ${session}`)
    expect(stdout).toContain("content.*.cache_control, 1 times")
    expect(rolesOf(session)).toEqual([
      "user",
      "assistant",
      "system",
      "user",
      "assistant",
      "toolResult",
      "user",
      "assistant"
    ])
  })

  it("writes nothing where the file is no history", async () => {
    const before = existsSync(workspace.sessions) ? readdirSync(workspace.sessions, { recursive: true }).length : 0
    const none = await json(["import", file({ some: "thing" })], 1)
    expect(none.error._tag).toBe("NotAHistory")
    const other = await json(["import", file(documents["openai-chat"]), "--format", "prompt"], 1)
    expect(other.error).toMatchObject({ _tag: "NotAHistory", format: "prompt" })
    const text = await json(["import", workspace.write("in/text.json", "not json")], 1)
    expect(text.error._tag).toBe("HistoryUnreadable")
    expect((await json(["import", join(workspace.root, "nowhere.json")], 1)).error._tag).toBe("HistoryUnreadable")
    expect((await json(["import", file([]), "--format", "xml"], 2)).error._tag).toBe("WrongUse")
    expect(readdirSync(workspace.sessions, { recursive: true }).length).toBe(before)
  })
})

describe("export", () => {
  const session = () =>
    workspace.write(`from/${written++}.jsonl`, [
      header(),
      ...conversation(2, 10),
      {
        type: "compaction",
        id: "c",
        parentId: "a1",
        timestamp: "2026-01-01T00:00:00.000Z",
        summary: "Before.",
        firstKeptEntryId: "u1",
        tokensBefore: 9
      },
      user("u2", "c", "And now?")
    ])

  it("gives what the model sees, or with --all the whole path", async () => {
    const key = session()
    const { history } = await json(["export", key, "--format", "openai-chat"])
    expect(history.map(({ role }: Json) => role)).toEqual(["user", "user", "assistant", "user"])
    expect(history[0].content).toContain("Before.")
    const all = await json(["export", key, "--format", "openai-chat", "--all"])
    expect(all.history.map(({ role }: Json) => role)).toEqual(["user", "assistant", "user", "assistant", "user"])
  })

  it("writes a file for its owner alone, and never over another", async () => {
    const out = join(workspace.root, "out.json")
    const key = session()
    const before = fingerprint(key)
    expect((await run(["export", key, "--format", "anthropic", "-o", out])).code).toBe(0)
    expect(JSON.parse(readFileSync(out, "utf8")).messages).toHaveLength(4)
    expect(statSync(out).mode & 0o777).toBe(0o600)
    const again = await json(["export", key, "--format", "anthropic", "-o", out], 1)
    expect(again.error).toMatchObject({ _tag: "CopyExists", path: out })
    expect(fingerprint(key)).toBe(before)
  })

  it("says what a format cannot say", async () => {
    const { session } = await json(["import", file(documents.anthropic)])
    const { stderr } = await run(["export", session, "--format", "openai-chat"])
    expect(stderr).toContain("Left out: thinking, of 1 message")
    expect(stderr).toContain("Left out: mark of a failed tool, of 1 message")
  })
})
