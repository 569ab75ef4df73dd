import * as FastCheck from "effect/FastCheck"
import { describe, expect, it } from "vitest"
import * as Bar from "../src/Bar.js"

const sum = (numbers: ReadonlyArray<number>): number => numbers.reduce((total, each) => total + each, 0)

const tokens = FastCheck.array(
  FastCheck.oneof(
    FastCheck.constant(0),
    FastCheck.integer({ min: 1, max: 10 }),
    FastCheck.integer({ min: 0, max: 2_000_000 })
  ),
  { minLength: 1, maxLength: 8 }
)
const width = FastCheck.integer({ min: 10, max: 200 })

describe("cellsOf", () => {
  it("gives shares that add up to the width, one at least to what is there, in the order of size", () => {
    FastCheck.assert(
      FastCheck.property(tokens, width, (tokens, width) => {
        FastCheck.pre(sum(tokens) > 0)
        const cells = Bar.cellsOf(tokens, width)
        const isFair = tokens.every((one, i) =>
          tokens.every((other, j) => one <= other || (cells[i] ?? 0) >= (cells[j] ?? 0) - 1)
        )
        return (
          sum(cells) === width && isFair && cells.every((each, index) => (tokens[index] === 0 ? each === 0 : each >= 1))
        )
      }),
      { numRuns: 5000 }
    )
  })

  it("adds up where there are more parts than cells, and where there is nothing", () => {
    expect(
      sum(
        Bar.cellsOf(
          Array.from({ length: 30 }, () => 5),
          10
        )
      )
    ).toBe(10)
    expect(sum(Bar.cellsOf([0, 0], 10))).toBe(10)
  })
})

describe("draw", () => {
  const parts: ReadonlyArray<Bar.Part> = [
    { label: "summarized", tokens: 1500, sign: "▒", color: 33 },
    { label: "turn prefix", tokens: 0, sign: "▓", color: 35 },
    { label: "kept", tokens: 500, sign: "█", color: 32 }
  ]

  it("leaves out what is not there, and shows what is free", () => {
    expect(Bar.draw(parts, 4000, 42, false)).toBe(
      `[${"▒".repeat(15)}${"█".repeat(5)}${"·".repeat(20)}]\n ▒ summarized 1,500  █ kept 500  · free 2,000`
    )
  })

  it("is full where more is used than there is", () => {
    expect(Bar.draw(parts, 1000, 42, false)).toBe(
      `[${"▒".repeat(30)}${"█".repeat(10)}]\n ▒ summarized 1,500  █ kept 500  · free 0`
    )
  })

  it("has colours only where they are shown", () => {
    expect(Bar.draw(parts, 4000, 42, true)).toContain("\u001b[33m▒")
    expect(Bar.draw(parts, 4000, 42, false)).not.toContain("\u001b")
  })

  it("fits the columns, from 12 on, and stays under 75", () => {
    FastCheck.assert(
      FastCheck.property(tokens, FastCheck.integer({ min: 0, max: 300 }), (tokens, columns) => {
        const parts = tokens.map((each) => ({ label: "part", tokens: each, sign: "x", color: 1 }))
        const [bar = ""] = Bar.draw(parts, 128_000, columns, false).split("\n")
        return bar.length === Math.max(12, Math.min(columns, 74))
      }),
      { numRuns: 2000 }
    )
  })
})
