/**
 * One at a time: while a session is compacted or navigated, nobody else does.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Busy } from "./CompactionErrors.js"

/** Holds sessions. */
export interface Service {
  /** Runs while holding the session; `Busy` where somebody else does. Released on any exit. */
  readonly exclusive: <A, E, R>(key: string, run: Effect.Effect<A, E, R>) => Effect.Effect<A, E | Busy, R>
}

/** Holds sessions. */
export class SessionLocks extends Context.Tag("@cutpoint/compaction/SessionLocks")<SessionLocks, Service>() {}

const make = Effect.sync(() => {
  const held = new Set<string>()
  // Looking and taking is one synchronous step, so that no two can hold a session.
  const acquire = (key: string): Effect.Effect<void, Busy> =>
    Effect.suspend(() => {
      if (held.has(key)) return new Busy({ session: key })
      held.add(key)
      return Effect.void
    })
  return SessionLocks.of({
    exclusive: (key, run) =>
      Effect.acquireUseRelease(
        acquire(key),
        () => run,
        () => Effect.sync(() => held.delete(key))
      )
  })
})

/** Holds the sessions of one process. Built once for all who share a store. */
export const layer: Layer.Layer<SessionLocks> = Layer.effect(SessionLocks, make)
