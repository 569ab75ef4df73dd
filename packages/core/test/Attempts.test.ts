import * as FastCheck from "effect/FastCheck"
import * as Option from "effect/Option"
import { describe, expect, it } from "vitest"
import * as Attempts from "../src/Attempts.js"

const fill: Attempts.Fill = { contextTokens: 5000, threshold: 4000, keepRecentTokens: 2000, firstKeptEntryId: "e5" }

const kindOf = (attempts: Attempts.Attempts, fill: Attempts.Fill, now = 0) =>
  Option.getOrUndefined(Option.map(Attempts.obstacle(attempts, fill, now), ({ kind }) => kind))

describe("after an attempt that found nothing to summarize", () => {
  const attempts = Attempts.ended(Attempts.none, { ...fill, wasMade: false, why: "Nothing." })

  it("none is made until the cut has moved, however large the context gets", () => {
    expect(kindOf(attempts, fill)).toBe("stuck")
    expect(kindOf(attempts, { ...fill, contextTokens: 900_000 })).toBe("stuck")
    expect(kindOf(attempts, { ...fill, firstKeptEntryId: "e6" })).toBe(undefined)
  })
})

describe("after an attempt that left the context over its threshold", () => {
  const attempts = Attempts.ended(Attempts.none, { ...fill, wasMade: true, why: "Too much is kept." })

  it("none is made until the context has changed by what is kept, to either side", () => {
    expect(kindOf(attempts, { ...fill, firstKeptEntryId: "e6" })).toBe("stuck")
    expect(kindOf(attempts, { ...fill, contextTokens: 6999 })).toBe("stuck")
    expect(kindOf(attempts, { ...fill, contextTokens: 7000 })).toBe(undefined)
    expect(kindOf(attempts, { ...fill, contextTokens: 3001 })).toBe("stuck")
    expect(kindOf(attempts, { ...fill, contextTokens: 3000 })).toBe(undefined)
  })

  it("a change by less than a thousand tokens is none, if nothing is kept", () => {
    const keepRecentTokens = 0
    const attempts = Attempts.ended(Attempts.none, { ...fill, keepRecentTokens, wasMade: true, why: "" })
    expect(kindOf(attempts, { ...fill, keepRecentTokens, contextTokens: 5999 })).toBe("stuck")
    expect(kindOf(attempts, { ...fill, keepRecentTokens, contextTokens: 6000 })).toBe(undefined)
  })

  it("other settings make room for one at once", () => {
    expect(kindOf(attempts, { ...fill, threshold: 4001 })).toBe(undefined)
    expect(kindOf(attempts, { ...fill, keepRecentTokens: 1000 })).toBe(undefined)
  })

  it("says why", () => {
    expect(Attempts.obstacle(attempts, fill, 0)).toEqual(Option.some({ kind: "stuck", why: "Too much is kept." }))
  })
})

describe("after failures", () => {
  it("the pause doubles, and ends at ten minutes", () => {
    let attempts = Attempts.none
    const pauses = Array.from({ length: 9 }, () => {
      const now = attempts.pausedUntil
      attempts = Attempts.failed(attempts, "No answer.", now)
      return (attempts.pausedUntil - now) / 1000
    })
    expect(pauses).toEqual([10, 20, 40, 80, 160, 320, 600, 600, 600])
  })

  it("says until when, and what failed", () => {
    expect(Attempts.obstacle(failed(0), fill, 4001)).toEqual(
      Option.some({ kind: "paused", why: "The last attempt failed; the next is made in 6 s. No answer." })
    )
    expect(kindOf(failed(0), fill, 10_000)).toBe(undefined)
  })

  it("they are forgotten when the pause has been over for as long as one can be", () => {
    const late = Attempts.firstPauseMs + Attempts.longestPauseMs
    expect(Attempts.failed(failed(0), "", late).failures).toBe(2)
    expect(Attempts.failed(failed(0), "", late + 1).failures).toBe(1)
  })

  const failed = (now: number) => Attempts.failed(Attempts.none, "No answer.", now)
})

describe("a session of any kind", () => {
  /** What comes of an attempt. */
  const outcome = FastCheck.constantFrom("nothing" as const, "made" as const, "failed" as const)
  const step = FastCheck.record({
    grows: FastCheck.nat(1500),
    moves: FastCheck.boolean(),
    afterMs: FastCheck.nat(30_000),
    outcome
  })

  it("that never gets under its threshold is tried as often as its history grows and the clock goes on, and no more", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.array(step, { maxLength: 200 }), (steps) => {
        const [start, keepRecentTokens] = [5000, 2000]
        let [attempts, now, tokens, cut] = [Attempts.none, 0, start, 0]
        const tried = { nothing: 0, made: 0, failed: 0 }
        for (const { afterMs, grows, moves, outcome } of steps) {
          now += afterMs
          tokens += grows
          cut += moves ? 1 : 0
          const fill = { contextTokens: tokens, threshold: 4000, keepRecentTokens, firstKeptEntryId: `e${cut}` }
          if (Option.isSome(Attempts.obstacle(attempts, fill, now))) continue
          tried[outcome] += 1
          attempts =
            outcome === "failed"
              ? Attempts.failed(attempts, "No answer.", now)
              : Attempts.ended(Attempts.none, { ...fill, wasMade: outcome === "made", why: "" })
        }
        const ended = tried.nothing + tried.made
        expect(tried.made).toBeLessThanOrEqual(1 + (tokens - start) / keepRecentTokens + tried.nothing + tried.failed)
        expect(tried.nothing).toBeLessThanOrEqual(1 + cut + tried.made + tried.failed)
        expect(tried.failed).toBeLessThanOrEqual(1 + now / Attempts.firstPauseMs + ended)
      })
    )
  })
})
