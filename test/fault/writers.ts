/** Processes that write to a session, and what must be true of it afterwards. */
import { spawn } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import * as SessionFiles from "@cutpoint/session-files/SessionFiles"
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as Effect from "effect/Effect"
import { afterAll, expect } from "vitest"

const program = fileURLToPath(new URL("writer.mjs", import.meta.url))

const roots: Array<string> = []

afterAll(() => {
  for (const root of roots) rmSync(root, { recursive: true, force: true })
})

/** The path of a session of a version of the format, with these entries in it, in a folder of its own. */
export const newSession = (version = 3, entries: ReadonlyArray<object> = []): string => {
  const root = mkdtempSync(join(tmpdir(), "cutpoint-writers-"))
  roots.push(root)
  const file = join(root, "x.jsonl")
  const header = { type: "session", version, id: "s1", timestamp: "2026-01-01T00:00:00.000Z", cwd: root }
  writeFileSync(file, [header, ...entries].map((line) => `${JSON.stringify(line)}\n`).join(""))
  return file
}

/** A writer that was started. */
export interface Writer {
  /** Ends it at once, wherever it is. */
  readonly kill: () => void
  /** What it acknowledged, once it has ended. Fails where it ended by itself with an error. */
  readonly acknowledged: Promise<ReadonlyArray<string>>
}

/** Starts a writer; `onAcknowledged` hears of each entry. */
export const start = (
  args: { readonly file: string; readonly name: string; readonly operations: number; readonly careless?: boolean },
  onAcknowledged: (count: number) => void = () => {}
): Writer => {
  const manner = args.careless === true ? "careless" : "careful"
  const child = spawn(process.execPath, [program, args.file, args.name, String(args.operations), manner], {
    cwd: dirname(args.file),
    stdio: ["ignore", "pipe", "pipe"]
  })
  const ids: Array<string> = []
  let errors = ""
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => void (errors += chunk))
  const lines = createInterface({ input: child.stdout })
  lines.on("line", (id) => onAcknowledged(ids.push(id)))
  const acknowledged = new Promise<ReadonlyArray<string>>((resolve, reject) => {
    child.on("error", reject)
    child.on("close", (code, signal) => {
      if (code === 0 || signal === "SIGKILL") resolve(ids)
      else reject(new Error(`The writer ${args.name} ended with ${code}: ${errors}`))
    })
  })
  return { kill: () => child.kill("SIGKILL"), acknowledged }
}

/** A store over files, for looking at what was written. */
export const store = await Effect.runPromise(
  Effect.provide(SessionFiles.make({ sessionsDir: tmpdir() }), NodeContext.layer)
)

/** The session as it is now. */
export const open = (file: string) => Effect.runPromise(store.open(file))

/** Appends a message as the next one who works on the session would, and expects that it is there. */
export const appendNext = async (file: string, id: string): Promise<void> => {
  const session = await open(file)
  const entry = {
    type: "message",
    id,
    parentId: session.tree.leafId,
    timestamp: new Date().toISOString(),
    message: { role: "user", content: "Going on." }
  } as const
  await Effect.runPromise(store.append(session, [entry]))
  expect((await open(file)).tree.leafId).toBe(id)
}

/** Every id that was acknowledged is there, once. */
export const expectOnce = (file: string, acknowledged: Iterable<string>): void => {
  const counts = new Map<string, number>()
  for (const line of readFileSync(file, "utf8").split("\n")) {
    const id = /^\{"type":"\w+","id":"([^"]+)"/.exec(line)?.[1]
    // A line that was cut off names an id, and is none.
    if (id !== undefined && line.endsWith("}")) counts.set(id, (counts.get(id) ?? 0) + 1)
  }
  const wrong = [...acknowledged].filter((id) => counts.get(id) !== 1)
  expect(wrong).toEqual([])
}

/** What stands beside the session besides backups. */
export const beside = (file: string): ReadonlyArray<string> =>
  readdirSync(dirname(file)).filter((name) => name !== basename(file) && !name.endsWith(".bak"))
