/**
 * Writes sessions of any size for the benchmarks: the same for the same
 * arguments, about 1.5 KB an entry, as an agent with tools would leave them.
 */
import { closeSync, openSync, writeSync } from "node:fs"

/** What a session is to be like. */
export interface Shape {
  readonly entries: number
  /** How many entries follow the last compaction; never compacted where left out. */
  readonly sinceCompaction?: number | undefined
}

const words =
  "the server parses a page of results and keeps its cursor while tests cover every branch of the store that reads files before it writes them again with care for order and size".split(
    " "
  )

/** Numbers that look like chance, the same at every run. */
export const makeRandom = (seed: number) => {
  let state = seed >>> 0
  return (below: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const makeText = (random: (below: number) => number) => (length: number) => {
  let text = ""
  while (text.length < length) text += `${words[random(words.length)]}${random(12) === 0 ? ".\n" : " "}`
  return text.slice(0, length)
}

const bufferSize = 4 * 1024 * 1024

/** Writes a session's file. */
export const write = (path: string, { entries, sinceCompaction }: Shape): void => {
  const random = makeRandom(entries)
  const text = makeText(random)
  const file = openSync(path, "w", 0o600)
  let buffered = ""
  const line = (record: object) => {
    buffered += `${JSON.stringify(record)}\n`
    if (buffered.length < bufferSize) return
    writeSync(file, buffered)
    buffered = ""
  }
  line({ type: "session", version: 3, id: `bench-${entries}`, timestamp: timestamp(0), cwd: "/bench/project" })
  let parentId: string | null = null
  const entry = (index: number, type: string, fields: object) => {
    const id = idOf(index)
    line({ type, id, parentId, timestamp: timestamp(index), ...fields })
    parentId = id
  }
  const compactedAt = sinceCompaction === undefined ? -1 : entries - sinceCompaction - 1
  for (let index = 0; index < entries; index++) {
    if (index === compactedAt) entry(index, "compaction", compaction(index, text))
    else entry(index, "message", { message: messageOf(index, random, text) })
  }
  writeSync(file, buffered)
  closeSync(file)
}

const idOf = (index: number): string => index.toString(16).padStart(8, "0")

const timestamp = (index: number): string => new Date(Date.UTC(2026, 0, 1) + index * 1000).toISOString()

/** How many entries before a compaction it keeps. */
const kept = 40

const compaction = (index: number, text: (length: number) => string) => ({
  summary: `## Goal\n- ${text(2000)}`,
  firstKeptEntryId: idOf(index - kept),
  tokensBefore: 180_000,
  details: { readFiles: ["src/a.ts"], modifiedFiles: ["src/b.ts"] }
})

/** Turns of four: a request, a reply that calls two tools, a result of each. */
const messageOf = (index: number, random: (below: number) => number, text: (length: number) => string): object => {
  const time = Date.UTC(2026, 0, 1) + index * 1000
  const turn = Math.floor(index / 4)
  const step = index % 4
  if (step === 0) return { role: "user", content: [{ type: "text", text: text(300 + random(200)) }], timestamp: time }
  if (step === 1) return reply(index, turn, random, text, time)
  const [id, toolName] = step === 2 ? [`call_${turn}_a`, "read"] : [`call_${turn}_b`, "edit"]
  const content = [{ type: "text", text: text(step === 2 ? 3000 : 700) }]
  return { role: "toolResult", toolCallId: id, toolName, content, isError: false, timestamp: time }
}

const reply = (
  index: number,
  turn: number,
  random: (below: number) => number,
  text: (length: number) => string,
  timestamp: number
) => ({
  role: "assistant",
  content: [
    { type: "thinking", thinking: text(300) },
    { type: "text", text: text(400 + random(200)) },
    { type: "toolCall", id: `call_${turn}_a`, name: "read", arguments: { path: `src/file${random(400)}.ts` } },
    {
      type: "toolCall",
      id: `call_${turn}_b`,
      name: "edit",
      arguments: { path: `src/file${random(400)}.ts`, oldText: text(100), newText: text(120) }
    }
  ],
  api: "anthropic-messages",
  provider: "anthropic",
  model: "claude-sonnet-4-5",
  usage: {
    input: 100,
    output: 300,
    cacheRead: Math.min(170_000, index * 300),
    cacheWrite: 500,
    totalTokens: Math.min(170_900, index * 300 + 900),
    cost: { input: 0.001, output: 0.002, cacheRead: 0.01, cacheWrite: 0.001, total: 0.014 }
  },
  stopReason: "toolUse",
  timestamp
})
