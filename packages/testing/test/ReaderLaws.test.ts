import * as Entry from "@cutpoint/core/Entry"
import * as Json from "@cutpoint/core/Json"
import * as Message from "@cutpoint/core/Message"
import * as Arbitrary from "effect/Arbitrary"
import * as FastCheck from "effect/FastCheck"
import { describe, expect, it } from "vitest"
import * as ReaderLaws from "../src/ReaderLaws.js"
import * as Sessions from "../src/Sessions.js"
import { law } from "./laws.js"

/** As it comes out of a file. */
const throughJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

const json = FastCheck.jsonValue({ maxDepth: 2 })

const message = Arbitrary.make(Message.Message)

const entry = Arbitrary.make(Entry.Entry)

/** JSON has no other numbers. */
const finite = (value: unknown): boolean =>
  typeof value === "object" && value !== null
    ? Object.values(value).every(finite)
    : typeof value !== "number" || Number.isFinite(value)

const soundMessage = message.filter(finite)

/** A number of tokens is not negative. */
const soundEntry = entry.filter((entry) => finite(entry) && (entry.type !== "compaction" || entry.tokensBefore >= 0))

const soundEntries = FastCheck.oneof(
  Sessions.tree.map(({ entries }) => entries),
  soundEntry.map((entry) => [entry])
)

interface Damage {
  readonly at: ReadonlyArray<number>
  readonly value: unknown
}

const damage: FastCheck.Arbitrary<Damage> = FastCheck.record({
  at: FastCheck.array(FastCheck.nat(8), { minLength: 1, maxLength: 4 }),
  value: FastCheck.oneof(json, FastCheck.constantFrom(undefined, [], {}, [{ name: "x" }], { calls: [{ name: "x" }] }))
})

/** The value with another in some place of it; undefined takes the place away. */
const damaged = (value: unknown, { at: [here = 0, ...at], value: other }: Damage): unknown => {
  if (typeof value !== "object" || value === null) return other
  const entries = Object.entries(value)
  const [key, inside] = entries[here % Math.max(1, entries.length)] ?? ["content", undefined]
  const changed = at.length === 0 ? other : damaged(inside, { at, value: other })
  if (Array.isArray(value)) return value.toSpliced(Number(key) || 0, 1, changed)
  return { ...value, [key]: changed }
}

const damages = FastCheck.array(damage, { minLength: 1, maxLength: 3 })

/** Values that were sound before something in each was damaged. */
const odd = (sound: FastCheck.Arbitrary<ReadonlyArray<unknown>>): FastCheck.Arbitrary<ReadonlyArray<unknown>> =>
  FastCheck.tuple(sound, damages).map(([values, damages]) =>
    values.map((value) => throughJson(damages.reduce(damaged, throughJson(value)) ?? null))
  )

const anyMessages = FastCheck.oneof(
  FastCheck.array(json),
  odd(FastCheck.array(message)),
  odd(Sessions.tree.map(({ entries }) => entries.map((entry) => (entry.type === "message" ? entry.message : entry))))
)

const anyEntries = FastCheck.oneof(odd(FastCheck.array(entry)), odd(Sessions.tree.map(({ entries }) => entries))).map(
  (values) => values.filter(Json.isObject)
)

describe("ReaderLaws", () => {
  law("sound entries stay the same", [soundEntries], (entries) => entries.forEach(ReaderLaws.keepsSoundEntries))

  law("sound messages stay the same", [soundMessage], ReaderLaws.keepsSoundMessages)

  law("any value is read as a message", [anyMessages], (values) => values.forEach(ReaderLaws.readsAnyMessage))

  law("any object is read as an entry", [anyEntries], (values) => {
    for (const value of values) ReaderLaws.readsAnyEntry(value, { id: "a", parentId: null })
  })

  it("notices a message that had to be put right", () => {
    const odd: Message.Message = { role: "user", content: "", timestamp: NaN }
    ReaderLaws.keepsSoundMessages(odd)
    expect(() => ReaderLaws.readsAnyEntry({ type: "usage", usage: odd }, { id: "", parentId: null })).toThrow(
      "of the format"
    )
  })
})
