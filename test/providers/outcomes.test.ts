/** Every way an answer can go, in every provider's wire format, over a real HTTP server and a real session file. */
import { expect, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { describe } from "vitest"
import { type Expected, outcomes, scriptOf, usageOf } from "./outcomes.js"
import { compactBy, fact, type Ran } from "./run.js"
import { wires } from "./wires/index.js"

type Outcome = Effect.Effect.Success<ReturnType<typeof compactBy>>

const expectCompacted = ({ after, before, exit }: Outcome, name: string, { replies, requests }: Expected) => {
  if (Exit.isFailure(exit)) return expect.fail(Cause.pretty(exit.cause))
  expect(exit.value).toMatchObject({ _tag: "Compacted", writer: name, requests, usage: usageOf(replies ?? 0) })
  // What was there is there, and one line more.
  expect(after.startsWith(before)).toBe(true)
  const added = after.slice(before.length).trimEnd()
  expect(JSON.parse(added)).toMatchObject({ type: "compaction", summary: expect.stringContaining(fact) })
}

const expectFailed = ({ after, before, exit }: Outcome, { reason, replies, requests, tag }: Expected) => {
  if (Exit.isSuccess(exit)) return expect.fail(`It ended as ${exit.value._tag}.`)
  const error = Cause.squash(exit.cause)
  expect(error).toMatchObject({ _tag: tag, reason, requests })
  if (replies !== undefined) expect(error).toMatchObject({ usage: usageOf(replies) })
  expect(after).toBe(before)
}

/** Each request has a routing id of its own. */
const expectFreshIds = (ids: ReadonlyArray<string | undefined>) => {
  const given = ids.filter((id) => id !== undefined)
  expect(new Set(given).size).toBe(given.length)
}

/** Nobody is left connected. */
const expectOver = ({ received }: Ran) => Effect.promise(() => Promise.all(received.map(({ over }) => over)))

describe.each(wires)("a model at $name", (wire) => {
  it.effect.each(outcomes)("that answers with $title", (outcome) =>
    Effect.gen(function* () {
      const ran = yield* compactBy(wire, scriptOf(wire, outcome))
      expect(ran.received).toHaveLength(outcome.expected.requests)
      if (outcome.expected.tag === undefined) expectCompacted(ran, wire.name, outcome.expected)
      else expectFailed(ran, outcome.expected)
      expectFreshIds(ran.received.map((one) => wire.sent(one).routingId))
      yield* expectOver(ran)
    })
  )
})
