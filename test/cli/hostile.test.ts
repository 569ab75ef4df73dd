import { readdirSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { entry, header, makeWorkspace, message, reply, user } from "./cutpoint.js"

/** Everything that could drive a terminal: CSI, OSC, DCS, C1, bidi marks, CR, BEL, DEL, an escape that never ends. */
const evil = [
  "\u001b[31mred\u001b[0m",
  "\u001b]0;title\u0007",
  "\u001b]8;;https://example.com\u001b\\link",
  "\u001bPq#0\u001b\\",
  "\u009b2J\u009d0;title\u009c",
  "\u202eright\u202c\u2066to\u2069\u200f\u061c",
  "\rover\u0008\u007f\u001bc",
  "\u001b]never"
].join(" ")

/** Where it is shown, the honest words around it are there. */
const shown = "red"

const dangerous = /(?![\n\t])[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u

const workspace = makeWorkspace()
const file = workspace.write("home/.pi/agent/sessions/any/1_evil.jsonl", [
  header({ id: `id${evil}`, cwd: `/w/${evil}` }),
  user(`u1${evil}`, null, `asked ${evil} end\u0000`),
  reply("a1", `u1${evil}`, `said ${evil} end`, { provider: `maker${evil}`, model: `thinker${evil}` }),
  entry("label", "l1", "a1", { targetId: "a1", label: `label${evil}` }),
  entry("session_info", "i1", "l1", { name: `name${evil}` }),
  entry("model_change", "m1", "i1", { provider: `maker${evil}`, modelId: `thinker${evil}` }),
  entry("thinking_level_change", "t1", "m1", { thinkingLevel: `high${evil}` }),
  entry(`weird${evil}`, "w1", "t1"),
  entry("custom", "c1", "w1", { customType: `custom${evil}` }),
  message("b1", "c1", { role: "bashExecution", command: `ls ${evil}`, output: `listed ${evil}`, exitCode: 1 }),
  message("x1", "b1", {
    role: "assistant",
    content: [{ type: "toolCall", id: `call${evil}`, name: `write${evil}`, arguments: { path: `a${evil}.ts` } }],
    provider: `maker${evil}`,
    model: `thinker${evil}`,
    stopReason: "error",
    errorMessage: `failed ${evil}`
  }),
  message("x2", "x1", {
    role: "toolResult",
    toolCallId: `other${evil}`,
    toolName: `write${evil}`,
    content: [{ type: "text", text: `result ${evil}` }],
    isError: true
  }),
  user(`twice${evil}`, "x2", "first"),
  user(`twice${evil}`, "x2", `second ${evil}`),
  entry("compaction", "k1", `twice${evil}`, {
    summary: `summed ${evil}`,
    firstKeptEntryId: `gone${evil}`,
    tokensBefore: 5
  }),
  user(`orphan${evil}`, `nowhere${evil}`, `lost ${evil}`),
  user("z1", "k1", `${"word ".repeat(2000)} ${evil}`),
  reply("z2", "z1", `answered ${evil}`),
  user("z3", "z2", `more ${evil}`),
  reply("z4", "z3", `last ${evil}`)
])

const commands = [
  ["context", file],
  ["context", file, "--transcript"],
  ["context", file, "--leaf", "x2"],
  ["tree", file],
  ["tree", file, "--all"],
  ["tree", file, "--to", `u1${evil}`, "--dry-run", "--with-transcript"],
  ["tree", file, "--to", "z1", "--dry-run"],
  ["compact", file, "--dry-run", "--with-transcript", "--keep-recent-tokens", "1"],
  ["sessions", "--all", "--counts"],
  ["doctor", file],
  ["context", `unknown${evil}`],
  ["context"]
].map((args, index) => [index, args] as const)

describe("text from a session", () => {
  it.each(commands)("never drives the terminal, in command %i", async (_, args) => {
    const ran = await workspace.run(args)
    expect(`${ran.stdout}${ran.stderr}`).toContain(shown)
    expect(ran.stdout).not.toMatch(dangerous)
    expect(ran.stderr).not.toMatch(dangerous)
  })

  it.each(commands)("is escaped in JSON, in command %i", async (_, args) => {
    const ran = await workspace.run([...args, "--json"])
    expect(ran.stderr).toBe("")
    expect(ran.stdout).not.toMatch(dangerous)
    expect(JSON.stringify(JSON.parse(ran.stdout))).toContain("red")
  })

  it("comes back from JSON as it was", async () => {
    const { entries } = await workspace.json(["tree", file])
    expect(entries[0]).toMatchObject({ id: `u1${evil}`, role: "user" })
    expect(entries.find((each: { readonly id: string }) => each.id === "a1").label).toBe(`label${evil}`)
  })

  it("is safe in what is written about it", async () => {
    const copy = workspace.write("copy.jsonl", [
      header({ id: "copy" }),
      user("u1", null, `${"word ".repeat(900)} ${evil}`),
      reply("a1", "u1", evil)
    ])
    for (const args of [
      ["compact", copy, "--offline", "--keep-recent-tokens", "0"],
      ["tree", copy, "--to", "u1", "--summarize", "--offline", "--label", evil]
    ]) {
      const ran = await workspace.run(args)
      expect(ran.code).toBe(0)
      expect(ran.stdout).toContain(shown)
      expect(`${ran.stdout}${ran.stderr}`).not.toMatch(dangerous)
    }
  })
})

describe("ids and names in a session that look like paths", () => {
  const names = ["../../../escaped", "/tmp/escaped", "a\0b", "C:\\escaped", "x".repeat(300)]

  /** Every file below a folder. */
  const filesIn = (folder: string): ReadonlyArray<string> =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((each) => each.isFile())
      .map((each) => join(each.parentPath, each.name))
      .toSorted()

  it.each(names)("such as %j name no file, whatever is done", async (name) => {
    const own = makeWorkspace()
    const session = own.write("home/.pi/agent/sessions/--w--/1_s.jsonl", [
      header({ version: 2, id: name, cwd: name, parentSession: name }),
      user(name, null, "word ".repeat(900)),
      reply("a1", name, "word ".repeat(90)),
      entry("session_info", "i", "a1", { name }),
      user("u2", "i", "and"),
      reply("a2", "u2")
    ])
    const copy = join(own.root, "copy.jsonl")
    for (const args of [
      ["sessions", "--all"],
      ["context", session],
      ["compact", session, "--offline", "--keep-recent-tokens", "0"],
      ["pin", name, "--session", session],
      ["tree", session, "--to", name, "--summarize", "--offline", "--label", name],
      ["undo", session],
      ["doctor", session, "--repair", copy]
    ]) {
      // An argument of a process cannot hold a NUL.
      if (args.some((arg) => arg.includes("\0"))) continue
      expect([args, (await own.run(args)).stderr]).toEqual([args, expect.not.stringContaining("fault in cutpoint")])
    }
    expect(filesIn(own.root)).toEqual([copy, session, `${session}.v2.bak`].toSorted())
  })

  it.each(["../../../escaped", "/etc/passwd", ".."])("such as %j find no session by its id", async (name) => {
    const { error } = await workspace.json(["context", name], 1)
    expect(["SessionNotFound", "NotASession", "SessionUnreadable"]).toContain(error._tag)
  })
})
