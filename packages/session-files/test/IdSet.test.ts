import * as FastCheck from "effect/FastCheck"
import { expect, it } from "vitest"
import { IdSet } from "../src/IdSet.js"

const hex = FastCheck.nat(0xffffffff).map((number) => number.toString(16).padStart(8, "0"))
const id = FastCheck.oneof(
  hex,
  FastCheck.string(),
  FastCheck.constantFrom("00000000", "ffffffff", "FFFFFFFF", "0000000g", "0000000", "")
)

it("holds what a set of texts holds", () => {
  FastCheck.assert(
    FastCheck.property(FastCheck.array(id, { maxLength: 3000, size: "max" }), FastCheck.array(id), (added, asked) => {
      const [ids, plain] = [new IdSet(), new Set<string>()]
      for (const one of added) {
        ids.add(one)
        plain.add(one)
      }
      for (const one of [...added, ...asked]) expect(ids.has(one)).toBe(plain.has(one))
    }),
    { numRuns: 100 }
  )
})

it("holds ids that all belong to one place", () => {
  const ids = new IdSet()
  // By their last digits, by their first, and in order: whatever a place is chosen by, some of these meet.
  const all = [0x1, 0x100, 0x10000, 0x1000000].flatMap((step) =>
    Array.from({ length: 200 }, (_, n) => ((n * step) % 0x100000000).toString(16).padStart(8, "0"))
  )
  for (const id of all) ids.add(id)
  for (const id of all) expect(ids.has(id)).toBe(true)
  expect(ids.has("deadbeef")).toBe(false)
})
