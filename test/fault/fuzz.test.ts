/** Damaged sessions are worked on. `scripts/fuzz.mjs` does the same with more of them. */
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import * as FastCheck from "effect/FastCheck"
import { afterAll, expect, it } from "vitest"

const count = Number(process.env.CUTPOINT_FUZZ ?? 1000)

/** `CUTPOINT_SEED=123 CUTPOINT_FUZZ=1` works on the one file of a seed. */
const seed = Number(process.env.CUTPOINT_SEED ?? FastCheck.sample(FastCheck.noBias(FastCheck.nat()), 1)[0])
console.log(`CUTPOINT_SEED=${seed}`)

/** Whatever is in a file: who works on it for longer hangs. */
const hangMillis = 2000

const folder = mkdtempSync(join(tmpdir(), "cutpoint-fuzz-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Where the work stands, and how it ended. */
interface Outcome {
  readonly files: number
  readonly problem: string | undefined
}

const work = (): Promise<Outcome> =>
  new Promise((resolve, reject) => {
    const program = fileURLToPath(new URL("fuzzer.mjs", import.meta.url))
    const child = spawn(process.execPath, [program, folder, String(seed), String(count)], {
      stdio: ["ignore", "pipe", "pipe"]
    })
    let [files, last, errors, hangs] = [0, "", "", false]
    let watchdog: NodeJS.Timeout | undefined
    createInterface({ input: child.stdout }).on("line", (line) => {
      files++
      last = line
      clearTimeout(watchdog)
      watchdog = setTimeout(() => {
        hangs = true
        child.kill("SIGKILL")
      }, hangMillis)
    })
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => void (errors += chunk.slice(0, 2000)))
    child.on("error", reject)
    child.on("close", (code, signal) => {
      clearTimeout(watchdog)
      const how = hangs ? `takes longer than ${hangMillis} ms` : `ends with ${code ?? signal}: ${errors}`
      resolve({ files, problem: code === 0 ? undefined : `CUTPOINT_SEED=${last} CUTPOINT_FUZZ=1 ${how}` })
    })
  })

it(
  `${count} damaged sessions are read, repaired and written to without a crash, a hang or a loss`,
  async () => expect(await work()).toEqual({ files: count, problem: undefined }),
  60_000 + count * 100
)
