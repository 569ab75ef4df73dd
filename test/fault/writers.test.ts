/** Several processes write to one session at the same time. `scripts/writers.mjs` does the same with more operations. */
import * as SessionTree from "@cutpoint/core/SessionTree"
import { describe, expect, it } from "vitest"
import { beside, expectOnce, newSession, open, start } from "./writers.js"

const writers = 8
const operations = Number(process.env.CUTPOINT_OPERATIONS ?? 200)
const timeout = 60_000 + operations * 100

const write = (file: string, careless: boolean) =>
  Promise.all(
    Array.from({ length: writers }, (_, n) => {
      const name = `w${n}`
      return start({ file, name, operations: operations / writers, careless: careless && n === 0 }).acknowledged
    })
  )

describe(`${writers} processes with ${operations} operations on one session`, () => {
  it(
    "lose nothing, mix no lines and make one chain",
    async () => {
      const file = newSession()
      const acknowledged = (await write(file, false)).flat()
      expect(acknowledged.length).toBe(operations)
      expectOnce(file, acknowledged)
      const { diagnostics, tree } = await open(file)
      expect(diagnostics).toEqual([])
      expect(tree.entries.length).toBe(operations)
      // One who had not seen another's entry would have gone on beside it.
      expect(SessionTree.leafPath(tree)).toEqual(tree.entries)
      expect(tree.entries.some((entry) => entry.type === "compaction")).toBe(true)
      expect(beside(file)).toEqual([])
    },
    timeout
  )

  it(
    "lose nothing where one of them ignores the lock; that the session has forked is found and told",
    async () => {
      const file = newSession()
      const acknowledged = (await write(file, true)).flat()
      expectOnce(file, acknowledged)
      const { diagnostics, tree } = await open(file)
      expect(tree.entries.length).toBe(acknowledged.length)
      expect(new Set(diagnostics.map((one) => one._tag))).toEqual(new Set(["ForkedWrite"]))
      const branches = [...SessionTree.children(tree).values()].filter((children) => children.length > 1)
      expect(branches.length).toBeGreaterThan(0)
      expect(beside(file)).toEqual([])
    },
    timeout
  )
})
