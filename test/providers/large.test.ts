/** A session far larger than the window of the model behind the server, which refuses in its provider's own words. */
import * as Tokens from "@cutpoint/core/Tokens"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { describe } from "vitest"
import { compactBy, header, summaryOf } from "./run.js"
import type { Received } from "./server.js"
import { answerOf, type Wire } from "./wire.js"
import { wires } from "./wires/index.js"

const refuseOver = 50_000

/** Questions and answers, a fact of its own in each. */
const lines = [
  header,
  ...Array.from({ length: 400 }, (_, n) => {
    const text = `FACT-${n} ${"words of no weight ".repeat(160)}`
    return {
      type: "message",
      id: `m${n}`,
      parentId: n === 0 ? null : `m${n - 1}`,
      timestamp: header.timestamp,
      message:
        n % 2 === 0
          ? { role: "user", content: text }
          : { role: "assistant", content: [{ type: "text", text }], stopReason: "stop" }
    }
  })
]

const tokensOf = (wire: Wire, received: Received): number => {
  const { prompt, system } = wire.sent(received)
  return Tokens.heuristic(system + prompt)
}

const providers = wires.filter(({ name }) => /^(?:anthropic|openai|google|amazon-bedrock)\//.test(name))

describe("case 28: a session of 1.2 million characters", () => {
  it("is as large as that", () => {
    expect(JSON.stringify(lines).length).toBeGreaterThan(1_200_000)
  })

  it.effect.each(providers)("is compacted by $name, which takes 50,000 tokens whatever it says of its window", (wire) =>
    Effect.gen(function* () {
      // The first fact, and those about the place where the session is cut.
      const facts = /FACT-(?:0|39[0-9])\b/g
      const ran = yield* compactBy(
        wire,
        (received) =>
          tokensOf(wire, received) > refuseOver
            ? wire.failure("overflow")
            : answerOf(wire, { text: summaryOf(wire.sent(received).prompt, facts) }),
        { lines }
      )
      if (Exit.isFailure(ran.exit)) return expect.fail(String(ran.exit.cause))
      const result = ran.exit.value
      if (result._tag !== "Compacted") return expect.fail(result._tag)
      const { plan } = result.prepared
      const refused = ran.received.filter((received) => tokensOf(wire, received) > refuseOver)
      expect(refused.length).toBeGreaterThan(0)
      expect(refused.length).toBeLessThanOrEqual(8)
      expect(result.requests).toBe(ran.received.length)
      expect(result.requests).toBeLessThanOrEqual(plan.mostRequests)
      expect(result.requests - refused.length).toBeLessThanOrEqual(plan.requests * 2 ** refused.length)
      const last = Number(result.entry.firstKeptEntryId.slice(1)) - 1
      expect(result.entry.summary).toMatch(/FACT-0\b/)
      expect(result.entry.summary).toMatch(new RegExp(`FACT-${last}\\b`))
      expect(ran.after.startsWith(ran.before)).toBe(true)
      expect(ran.waits).toEqual([])
    })
  )
})
