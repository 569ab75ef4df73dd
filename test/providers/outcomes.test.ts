/** Every way an answer can go, in every provider's wire format, over a real HTTP server and a real session file. */
import { expect, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import { describe } from "vitest"
import { type Expected, outcomes, scriptOf, usageOf } from "./outcomes.js"
import { compactBy, fact, type Ran } from "./run.js"
import type { Wire } from "./wire.js"
import { wires } from "./wires/index.js"

type Outcome = Effect.Effect.Success<ReturnType<typeof compactBy>>

const expectCompacted = ({ after, before, exit }: Outcome, wire: Wire, expected: Expected) => {
  if (Exit.isFailure(exit)) return expect.fail(Cause.pretty(exit.cause))
  const { requests } = expected
  expect(exit.value).toMatchObject({ _tag: "Compacted", writer: wire.name, requests, usage: usageOf(wire, expected) })
  // What was there is there, and one line more.
  expect(after.startsWith(before)).toBe(true)
  const added = after.slice(before.length).trimEnd()
  expect(JSON.parse(added)).toMatchObject({ type: "compaction", summary: expect.stringContaining(fact) })
}

const expectFailed = ({ after, before, exit }: Outcome, wire: Wire, expected: Expected) => {
  if (Exit.isSuccess(exit)) return expect.fail(`It ended as ${exit.value._tag}.`)
  const error = Option.getOrThrow(Cause.failureOption(exit.cause))
  const { reason, requests, tag: _tag } = expected
  if (!("requests" in error)) return expect.fail(`It failed as ${error._tag}.`)
  // Said field by field: an error that does not match is too large to be printed.
  expect({ _tag: error._tag, reason: error.reason, requests: error.requests }).toEqual({ _tag, reason, requests })
  const { usage } = error
  const counted = usage && { input: usage.input, output: usage.output, totalTokens: usage.totalTokens }
  expect(counted).toEqual(usageOf(wire, expected))
  expect(after).toBe(before)
}

/** Each request has a routing id of its own. */
const expectFreshIds = (ids: ReadonlyArray<string | undefined>) => {
  const given = ids.filter((id) => id !== undefined)
  expect(new Set(given).size).toBe(given.length)
}

/** Nobody is left connected. */
const expectOver = ({ received }: Ran) => Effect.promise(() => Promise.all(received.map(({ over }) => over)))

describe.each(outcomes)("%s", (_, ofKind) => {
  describe.each(wires)("a model at $name", (wire) => {
    it.effect.each(ofKind)("that answers with $title", (outcome) =>
      Effect.gen(function* () {
        const ran = yield* compactBy(wire, scriptOf(wire, outcome))
        expect(ran.received).toHaveLength(outcome.expected.requests)
        if (outcome.expected.tag === undefined) expectCompacted(ran, wire, outcome.expected)
        else expectFailed(ran, wire, outcome.expected)
        expectFreshIds(ran.received.map((one) => wire.sent(one).routingId))
        yield* expectOver(ran)
      })
    )
  })
})
