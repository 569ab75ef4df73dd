import * as Prices from "@cutpoint/ai/Prices"
import { describe, expect, it } from "vitest"

const usage = { input: 1_000_000, output: 500_000, cacheRead: 2_000_000, cacheWrite: 100_000, totalTokens: 3_600_000 }

describe("what a reply cost", () => {
  it("is told by part and in all", () => {
    const { cost } = Prices.priced(usage, { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 }) ?? {}
    expect(cost).toEqual({ input: 3, output: 7.5, cacheRead: 0.6, cacheWrite: 0.375, total: 11.475 })
  })

  it("takes what stands in a cache for ordinary input where nobody says otherwise", () => {
    expect(Prices.priced(usage, { input: 1, output: 0 })?.cost).toMatchObject({ cacheRead: 2, cacheWrite: 0.1 })
  })

  it("is what the provider says where it does", () => {
    const told = { ...usage, cost: { total: 0.5 } }
    expect(Prices.priced(told, { input: 3, output: 15 })).toBe(told)
  })

  it("is not told where the prices are not known, nor of nothing", () => {
    expect(Prices.priced(usage, undefined)).toBe(usage)
    expect(Prices.priced(usage, { input: 3 })).toBe(usage)
    expect(Prices.priced(undefined, { input: 3, output: 15 })).toBe(undefined)
  })
})

describe("what a plan would cost", () => {
  it("counts a reply of 2,000 tokens for each request", () => {
    expect(Prices.estimated({ inputTokens: 1_000_000, requests: 5 }, { input: 3, output: 15 })).toBeCloseTo(3.15)
    expect(Prices.estimated({ inputTokens: 1_000_000, requests: 5 }, { input: 0, output: 0 })).toBe(0)
  })

  it("is not told where the prices are not known", () => {
    expect(Prices.estimated({ inputTokens: 1, requests: 1 }, undefined)).toBe(undefined)
    expect(Prices.estimated({ inputTokens: 1, requests: 1 }, { output: 15 })).toBe(undefined)
  })
})
