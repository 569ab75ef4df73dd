/** A process is killed while it writes. `scripts/crash.mjs` does the same with more kills. */
import { readFileSync, watch } from "node:fs"
import { dirname } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import * as FastCheck from "effect/FastCheck"
import { describe, expect, it } from "vitest"
import { appendNext, beside, expectOnce, newSession, open, start, type Writer } from "./writers.js"

const kills = Number(process.env.CUTPOINT_KILLS ?? 30)
const timeout = 60_000 + kills * 3000

/** Fixes the moments at which is killed, as far as the system lets it; `CUTPOINT_SEED` repeats them. */
const seed = Number(process.env.CUTPOINT_SEED ?? FastCheck.sample(FastCheck.noBias(FastCheck.nat()), 1)[0])
console.log(`CUTPOINT_SEED=${seed}`)

const moments = FastCheck.sample(
  FastCheck.record({ count: FastCheck.integer({ min: 1, max: 8 }), millis: FastCheck.integer({ min: 0, max: 12 }) }),
  { numRuns: kills, seed }
)

/** A fresh session after so many kills, so that opening it stays quick. */
const killsOfOne = 50

describe(`a process that appends and compacts, killed ${kills} times`, () => {
  it(
    "leaves a session that opens, with all it acknowledged in it once, and that can be written to",
    async () => {
      let file = newSession()
      let safe: Array<string> = []
      let writer: Writer | undefined
      for (const [kill, { count, millis }] of moments.entries()) {
        if (kill % killsOfOne === 0) [file, safe] = [newSession(), []]
        await new Promise<void>((resolve, reject) => {
          writer = start({ file, name: `k${kill}`, operations: 1_000_000 }, (acknowledged) => {
            if (acknowledged === count) resolve()
          })
          writer.acknowledged.catch(reject)
        })
        // Somewhere in a later operation.
        await sleep(millis)
        writer?.kill()
        safe.push(...((await writer?.acknowledged) ?? []))
        expect(safe.length).toBeGreaterThan(0)
        await expectSound(file, safe)
        // At times it is the next process that finds what this one left.
        if (kill % 2 === 0) continue
        await appendNext(file, `after-${kill}`)
        safe.push(`after-${kill}`)
        expect(beside(file).filter((name) => !name.endsWith(".dead"))).toEqual([])
      }
      await appendNext(file, "last")
      await expectSound(file, [...safe, "last"])
      expect(beside(file).filter((name) => !name.endsWith(".dead"))).toEqual([])
    },
    timeout
  )
})

/** Opens; holds what was acknowledged; and nothing is wrong with it but lines that were cut off. */
const expectSound = async (file: string, acknowledged: ReadonlyArray<string>): Promise<void> => {
  const { diagnostics } = await open(file)
  const kinds = new Set(diagnostics.map((one) => one._tag))
  for (const kind of kinds) expect(["TornLine", "NotJson", "NoFinalLineBreak"]).toContain(kind)
  expectOnce(file, acknowledged)
}

/** Resolves as soon as something in a folder changes: the lock is the first that an upgrade creates. */
const firstChangeIn = (folder: string): Promise<void> =>
  new Promise((resolve) => {
    const watcher = watch(folder, () => {
      watcher.close()
      resolve()
    })
  })

describe("a process that upgrades an older session, killed on the way", () => {
  const old = Array.from({ length: 300 }, (_, n) => ({
    type: "message",
    id: `old-${n}`,
    parentId: n === 0 ? null : `old-${n - 1}`,
    timestamp: "2026-01-01T00:00:00.000Z",
    message: { role: "user", content: `Said long ago. ${"And more. ".repeat(50)}` }
  }))

  it(
    "leaves the old file or the new one, and the next upgrade makes do with what is there",
    async () => {
      const ends = new Set<string>()
      for (const [kill, { millis }] of moments.slice(0, Math.ceil(kills / 3)).entries()) {
        const file = newSession(2, old)
        const text = readFileSync(file, "utf8")
        const writing = firstChangeIn(dirname(file))
        const writer = start({ file, name: `u${kill}`, operations: 1 })
        await Promise.race([writing, writer.acknowledged])
        await sleep(millis * 3)
        writer.kill()
        const acknowledged = await writer.acknowledged
        const now = readFileSync(file, "utf8")
        expect(now === text || now.startsWith(text.replace('"version":2', '"version":3'))).toBe(true)
        ends.add(now === text ? "old" : "new")
        await appendNext(file, "next")
        expectOnce(file, [...old.map(({ id }) => id), ...acknowledged, "next"])
        expect((await open(file)).version).toBe(3)
        expect(beside(file).filter((name) => !name.endsWith(".dead"))).toEqual([])
      }
      console.log(`Killed upgrades left the file: ${[...ends].join(", ")}`)
    },
    timeout
  )
})
