/**
 * Where new ids come from.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"

/** Makes ids. */
export interface Service {
  /** An id for an entry: 8 hex characters that are not taken. */
  readonly entryId: (isTaken: (id: string) => boolean) => Effect.Effect<string>
  /** A version-4 UUID, for sessions and for the routing of requests. */
  readonly uuid: Effect.Effect<string>
}

const hex = (digits: number) =>
  Effect.map(Random.nextIntBetween(0, 16 ** digits), (number) => number.toString(16).padStart(digits, "0"))

const entryId: Service["entryId"] = (isTaken) =>
  Effect.flatMap(hex(8), (id) => (isTaken(id) ? entryId(isTaken) : Effect.succeed(id)))

const uuid = Effect.gen(function* () {
  const [a, b, c, d, e, f] = yield* Effect.all([hex(8), hex(4), hex(3), hex(3), hex(8), hex(4)])
  const variant = (yield* Random.nextIntBetween(8, 12)).toString(16)
  return `${a}-${b}-4${c}-${variant}${d}-${e}${f}`
})

/** Makes ids; by default from Effect's `Random`. */
export class IdGenerator extends Context.Reference<IdGenerator>()("@cutpoint/compaction/IdGenerator", {
  defaultValue: (): Service => ({ entryId, uuid })
}) {}
