/**
 * Runs the built command as a person would: a process of its own, in folders
 * of its own. `npm test` builds it first.
 */
import { spawn, type StdioOptions } from "node:child_process"
import { createHash } from "node:crypto"
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll } from "vitest"

/** The command's file. */
export const bin = fileURLToPath(new URL("../../apps/cli/dist/bin.js", import.meta.url))

/** What a test reads out of a JSON document is for its assertions to say. */
export type Json = ReturnType<typeof JSON.parse>

/** How a process ended, and what it printed. */
export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Where and how the command is run. */
export interface RunOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  /** Is given the process as soon as it runs. */
  readonly meanwhile?: (process: ReturnType<typeof spawn>) => void
}

/** A temporary folder with an empty home and a working folder in it. */
export interface Workspace {
  readonly root: string
  readonly home: string
  readonly cwd: string
  /** The sessions folder of that home. */
  readonly sessions: string
  /** Writes a file as if a minute ago, of lines unless it is given as a text, and returns its path. */
  readonly write: (name: string, content: string | ReadonlyArray<object | string>) => string
  readonly run: (args: ReadonlyArray<string>, options?: RunOptions) => Promise<Ran>
  /** Runs with `--json`, expects an exit code and exactly one document on stdout. */
  readonly json: (args: ReadonlyArray<string>, code?: number, options?: RunOptions) => Promise<Json>
}

const roots: Array<string> = []

afterAll(() => {
  for (const root of roots) rmSync(root, { recursive: true, force: true })
})

/** A fresh workspace; gone after the tests of its file. */
export const makeWorkspace = (): Workspace => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "cutpoint-cli-")))
  roots.push(root)
  const [home, cwd] = [join(root, "home"), join(root, "work")]
  mkdirSync(home)
  mkdirSync(cwd)
  const write: Workspace["write"] = (name, content) => {
    const file = join(root, name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, typeof content === "string" ? content : lines(content))
    age(file, quietSeconds)
    return file
  }
  const run: Workspace["run"] = (args, options = {}) =>
    start(process.execPath, [bin, ...args], {
      ...options,
      cwd: options.cwd ?? cwd,
      env: { HOME: home, ...options.env }
    })
  const json: Workspace["json"] = async (args, code = 0, options = {}) => {
    const ran = await run([...args, "--json"], options)
    if (ran.code !== code)
      throw new Error(`${args.join(" ")} ended with ${ran.code}, not ${code}:\n${ran.stderr}\n${ran.stdout}`)
    return JSON.parse(ran.stdout)
  }
  return { root, home, cwd, sessions: join(home, ".pi", "agent", "sessions"), write, run, json }
}

/** So long ago, nobody is taken to be still at work on a session. */
const quietSeconds = 60

/** Lets a file look as if it had last been written so many seconds earlier. */
export const age = (file: string, seconds: number): void => {
  const { atimeMs, mtimeMs } = statSync(file)
  utimesSync(file, atimeMs / 1000, mtimeMs / 1000 - seconds)
}

/** A process that has not ended by then hangs, in milliseconds; less than a test may take. */
const mostMs = 50_000

/** Runs a program with nothing on stdin and only the given environment. One that hangs is ended, and said to. */
export const start = (
  program: string,
  args: ReadonlyArray<string>,
  { cwd, env, meanwhile }: RunOptions = {}
): Promise<Ran> =>
  new Promise((resolve, reject) => {
    const stdio: StdioOptions = ["ignore", "pipe", "pipe"]
    const child = spawn(program, args, { cwd, env: { PATH: process.env.PATH, ...env }, stdio })
    const printed = { stdout: "", stderr: "" }
    for (const name of ["stdout", "stderr"] as const) {
      child[name]?.setEncoding("utf8").on("data", (chunk: string) => void (printed[name] += chunk))
    }
    const watch = setTimeout(() => {
      const { stderr, stdout } = printed
      reject(new Error(`${args.join(" ")} hangs.\n${stdout}\n${stderr}\n${threadsOf(child.pid)}`))
      child.kill("SIGKILL")
    }, mostMs)
    child.on("error", reject)
    child.on("close", (code) => {
      clearTimeout(watch)
      resolve({ code, ...printed })
    })
    meanwhile?.(child)
  })

/** What each thread of a process waits for, where the system tells. */
const threadsOf = (pid: number | undefined): string => {
  const tasks = `/proc/${pid}/task`
  const known = (thread: string) =>
    ["comm", "wchan", "syscall"].map((name) => readFileSync(join(tasks, thread, name), "utf8").trim()).join(" ")
  try {
    return readdirSync(tasks).map(known).join("\n")
  } catch (error) {
    return `What its threads wait for cannot be seen. ${String(error)}`
  }
}

/** Lines of a session's file. */
export const lines = (all: ReadonlyArray<object | string>): string =>
  all.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join("")

/** The objects of a session's file. */
export const readLines = (file: string): ReadonlyArray<Json> =>
  readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))

/** Names a file's bytes and its last change: equal where nobody wrote to it. */
export const fingerprint = (file: string): string =>
  `${createHash("sha256").update(readFileSync(file)).digest("hex")} ${statSync(file).mtimeMs}`

// -----------------------------------------------------------------------------
// Sessions
// -----------------------------------------------------------------------------

const timestamp = "2026-01-01T00:00:00.000Z"

export const header = (fields: object = {}) => ({
  type: "session",
  version: 3,
  id: "s1",
  timestamp,
  cwd: "/w",
  ...fields
})

export const entry = (type: string, id: string, parentId: string | null, fields: object = {}) => ({
  type,
  id,
  parentId,
  timestamp,
  ...fields
})

export const message = (id: string, parentId: string | null, fields: object) =>
  entry("message", id, parentId, { message: fields })

export const user = (id: string, parentId: string | null, content = id) =>
  message(id, parentId, { role: "user", content })

export const reply = (id: string, parentId: string | null, text = id, fields: object = {}) =>
  message(id, parentId, {
    role: "assistant",
    content: [{ type: "text", text }],
    provider: "maker",
    model: "thinker",
    stopReason: "stop",
    ...fields
  })

/** A conversation of questions and answers; a question has so many tokens by heuristic, or a little more. */
export const conversation = (turns: number, tokens: number): ReadonlyArray<object> =>
  Array.from({ length: turns }, (_, turn) => [
    user(`u${turn}`, turn === 0 ? null : `a${turn - 1}`, `Question ${turn}: ${"why ".repeat(tokens - 3)}`),
    reply(`a${turn}`, `u${turn}`, `Answer ${turn}.`)
  ]).flat()
