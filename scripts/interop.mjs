/**
 * Lets Cutpoint and the agent whose session format it shares work on the same
 * files, and compares what each shows a model:
 *
 *     CUTPOINT_REFERENCE=/path/to/node_modules/@earendil-works/pi-coding-agent node scripts/interop.mjs
 *
 * The agent is installed elsewhere and asked as anybody would: it opens files
 * and says what their context is. It is no part of the project or its tests.
 */
import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { build } from "./build.mjs"
import { root } from "./workspace.mjs"

const reference = process.env.CUTPOINT_REFERENCE
if (reference === undefined) {
  console.error("Install @earendil-works/pi-coding-agent@1.6.0 anywhere and set CUTPOINT_REFERENCE to its folder.")
  process.exit(2)
}

await build()
const { SessionManager } = await import(pathToFileURL(join(reference, "dist/core/session-manager.js")).href)
const core = (name) => import(pathToFileURL(join(root, "packages/core/dist", `${name}.js`)).href)
const [SessionLines, SessionTree, Projection] = await Promise.all(
  ["SessionLines", "SessionTree", "Projection"].map(core)
)

const folder = mkdtempSync(join(tmpdir(), "cutpoint-interop-"))
process.on("exit", () => rmSync(folder, { recursive: true, force: true }))

/** Runs the command and gives its document. */
const cutpoint = (...args) => {
  const bin = join(root, "apps/cli/dist/bin.js")
  const env = { PATH: process.env.PATH, HOME: folder }
  const { status, stderr, stdout } = spawnSync(process.execPath, [bin, ...args, "--json"], {
    encoding: "utf8",
    env,
    cwd: folder
  })
  assert.equal(status, 0, `${args.join(" ")}: ${stderr}${stdout}`)
  return JSON.parse(stdout)
}

/** What matters of a message, in one spelling: both keep more of their own beside it. */
const essence = ({ command, content, customType, fromId, output, role, summary, toolCallId }) =>
  JSON.parse(JSON.stringify({ role, content, summary, fromId, toolCallId, command, output, customType }))

const cutpointContext = (file) => {
  const { entries, header } = SessionLines.parse(readFileSync(file, "utf8"))
  const path = SessionTree.leafPath(SessionTree.make(header, entries))
  return Projection.messages(Projection.project(path)).map(essence)
}

/** The agent is given a copy, since it may write to what it opens. */
const referenceContext = (file) => {
  const copy = join(folder, "copy.jsonl")
  copyFileSync(file, copy)
  return SessionManager.open(copy, folder).buildSessionContext().messages.map(essence)
}

let compared = 0

const same = (file, after) => {
  const [ours, theirs] = [cutpointContext(file), referenceContext(file)]
  assert.ok(ours.length > 0, `${after}: an empty context proves nothing`)
  assert.deepEqual(ours, theirs, after)
  console.log(`same context, ${String(ours.length).padStart(3)} messages: ${after}`)
  compared++
}

// -----------------------------------------------------------------------------
// What Cutpoint wrote opens there
// -----------------------------------------------------------------------------

const said = (text) => ({ role: "user", content: text, timestamp: 1 })
const answered = (text) => ({
  role: "assistant",
  content: [{ type: "text", text }],
  api: "some-api",
  provider: "some",
  model: "one",
  usage: {
    input: 1,
    output: 1,
    cacheRead: 0,
    cacheWrite: 0,
    totalTokens: 2,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 }
  },
  stopReason: "stop",
  timestamp: 2
})

/** A conversation as each version of the format spells it. */
const conversation = (version, turns) => {
  const messages = Array.from({ length: turns }, (_, n) => [
    said(`Question ${n}: ${"why is that so, and what follows from it? ".repeat(40)}`),
    answered(`Answer ${n}. ${"Because. ".repeat(20)}`)
  ]).flat()
  const timestamp = "2026-01-01T00:00:00.000Z"
  const named = (n) => ({ id: `id${n}`, parentId: n === 0 ? null : `id${n - 1}` })
  const entries = messages.map((message, n) =>
    Object.assign({ type: "message" }, version === 1 ? {} : named(n), { timestamp, message })
  )
  const compaction = { type: "compaction", timestamp, summary: "Earlier.", firstKeptEntryIndex: 3, tokensBefore: 9 }
  if (version === 1) entries.splice(6, 0, compaction)
  const header = { type: "session", ...(version === 1 ? {} : { version }), id: `v${version}`, timestamp, cwd: folder }
  return [header, ...entries].map((line) => `${JSON.stringify(line)}\n`).join("")
}

const keeping = (tokens) => ["--offline", "--keep-recent-tokens", String(tokens), "--context-window", "100000"]

const workOn = (file, name) => {
  same(file, `${name}, as it is`)
  cutpoint("compact", file, ...keeping(400))
  same(file, `${name}, compacted`)
  cutpoint("pin", "--text", "Never force-push.", "--session", file)
  same(file, `${name}, pinned`)
  const users = cutpoint("tree", file).entries.filter((entry) => entry.role === "user")
  cutpoint("tree", file, "--to", users[2].id)
  same(file, `${name}, gone back without a summary`)
  cutpoint("tree", file, "--to", users.at(-1).id, "--summarize", "--offline")
  same(file, `${name}, gone on with a summary`)
  cutpoint("compact", file, ...keeping(0))
  same(file, `${name}, compacted again`)
  cutpoint("undo", file)
  same(file, `${name}, undone`)
}

for (const version of [1, 2, 3]) {
  const file = join(folder, `version-${version}.jsonl`)
  writeFileSync(file, conversation(version, 12))
  workOn(file, `version ${version}`)
}
const example = join(folder, "example.jsonl")
copyFileSync(join(root, "examples/sessions/todo-api.jsonl"), example)
workOn(example, "the example")

// -----------------------------------------------------------------------------
// What the agent wrote goes on in Cutpoint, and the other way round
// -----------------------------------------------------------------------------

const sessions = join(folder, "theirs")
const theirs = SessionManager.create(folder, sessions)
const talk = (manager, from, turns) => {
  for (let n = from; n < from + turns; n++) {
    manager.appendMessage(said(`Their question ${n}: ${"tell me more about it, please. ".repeat(40)}`))
    manager.appendMessage(answered(`Their answer ${n}. ${"It is so. ".repeat(20)}`))
  }
}
talk(theirs, 0, 6)
theirs.appendModelChange("some", "two")
theirs.appendThinkingLevelChange("high")
theirs.appendCustomMessageEntry("note", "A note.", true)
const file = join(
  sessions,
  readdirSync(sessions, { recursive: true }).find((name) => name.endsWith(".jsonl"))
)
same(file, "theirs, talked")
const early = theirs.getEntries().find((entry) => entry.type === "message" && entry.message.role === "assistant")
theirs.branchWithSummary(early.id, "What was tried there.")
talk(theirs, 6, 3)
same(file, "theirs, branched with a summary")
const kept = theirs.getBranch().findLast(({ message, type }) => type === "message" && message.role === "user")
theirs.appendCompaction("All of it, in short.", kept.id, 1000)
same(file, "theirs, compacted there")

for (let round = 0; round < 3; round++) {
  const there = SessionManager.open(file, sessions)
  talk(there, 10 * (round + 1), 4)
  same(file, `theirs, round ${round}: went on there`)
  cutpoint("compact", file, ...keeping(400))
  same(file, `theirs, round ${round}: compacted here`)
  cutpoint("pin", "--text", `Fact ${round}.`, "--session", file)
  const target = cutpoint("tree", file).entries.findLast((entry) => entry.onPath && entry.role === "user")
  cutpoint("tree", file, "--to", target.id)
  same(file, `theirs, round ${round}: pinned and moved here`)
}
const { diagnostics } = cutpoint("context", file)
assert.deepEqual(diagnostics, [])
console.log(`${compared} contexts compared, all the same.`)
