import type * as Entry from "@cutpoint/core/Entry"
import * as FastCheck from "effect/FastCheck"
import { it } from "vitest"

/** How often each law is run. */
export const runs = 1000

/** The same for all laws of a file; `CUTPOINT_SEED` fixes it. */
export const seed = Number(process.env.CUTPOINT_SEED ?? FastCheck.sample(FastCheck.noBias(FastCheck.nat()), 1)[0])

console.log(`CUTPOINT_SEED=${seed}`)

/** Tests that a law holds of whatever the arbitraries make. */
export const law = <Given extends [unknown, ...Array<unknown>]>(
  name: string,
  arbitraries: { readonly [K in keyof Given]: FastCheck.Arbitrary<Given[K]> },
  check: (...given: Given) => void
): void =>
  it(name, () => {
    const given: FastCheck.Arbitrary<Given> = FastCheck.tuple<Given>(...arbitraries)
    FastCheck.assert(
      FastCheck.property(given, (given) => check(...given)),
      { numRuns: runs, seed }
    )
  })

/** Tests that a law over services holds of whatever the arbitrary makes. */
export const lawOverServices = <Given>(
  name: string,
  arbitrary: FastCheck.Arbitrary<Given>,
  check: (given: Given) => Promise<unknown>
): void =>
  it(name, () =>
    FastCheck.assert(
      FastCheck.asyncProperty(arbitrary, async (given) => {
        await check(given)
      }),
      { numRuns: runs, seed }
    )
  )

/** Entries `e0`, `e1` … one after the other, by what they say. */
export const session = (...messages: ReadonlyArray<Entry.MessageEntry["message"]>): ReadonlyArray<Entry.Entry> =>
  messages.map((message, index) => ({
    type: "message",
    id: `e${index}`,
    parentId: index === 0 ? null : `e${index - 1}`,
    timestamp: "2026-01-01T00:00:00.000Z",
    message
  }))

/** The entry by another id. */
export const renamed = (entry: Entry.Entry, id: string): Entry.Entry => ({ ...entry, id })

export const user = (content: string): Entry.MessageEntry["message"] => ({ role: "user", content })

export const calling = (id: string): Entry.MessageEntry["message"] => ({
  role: "assistant",
  content: [{ type: "toolCall", id, name: "read", arguments: { path: "a.ts" } }]
})

export const result = (toolCallId: string, text: string): Entry.MessageEntry["message"] => ({
  role: "toolResult",
  toolCallId,
  toolName: "read",
  content: [{ type: "text", text }],
  isError: false
})
