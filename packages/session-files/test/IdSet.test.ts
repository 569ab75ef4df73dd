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
