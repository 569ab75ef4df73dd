/**
 * Runs that several callers share: who asks for the same while it is under way
 * waits for it and gets its result.
 *
 * @since 0.1.0
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import { Busy } from "./CompactionErrors.js"

interface Run<A, E> {
  /** What is done, and how: equal for what can be shared. */
  readonly signature: string
  readonly done: Deferred.Deferred<A, E>
  waiters: number
  fiber: Fiber.RuntimeFiber<A, E> | undefined
}

/** Shares runs by key. */
export interface SharedRuns<A, E> {
  /**
   * Starts the run, or waits for one under way of the same signature; `Busy`
   * where one of another signature is. The run is interrupted when the last
   * who waits for it leaves; leaving then takes until the run has ended.
   */
  readonly share: (key: string, signature: string, run: Effect.Effect<A, E>) => Effect.Effect<A, E | Busy>
}

/** No runs yet. */
export const make = <A, E>(): SharedRuns<A, E> => {
  const runs = new Map<string, Run<A, E>>()

  const start = (key: string, signature: string, effect: Effect.Effect<A, E>) => {
    const run: Run<A, E> = { signature, done: Deferred.unsafeMake(FiberId.none), waiters: 1, fiber: undefined }
    runs.set(key, run)
    return Effect.interruptible(effect).pipe(
      Effect.onExit((exit) => {
        runs.delete(key)
        return Deferred.done(run.done, exit)
      }),
      Effect.forkDaemon,
      Effect.map((fiber) => {
        run.fiber = fiber
        return run
      })
    )
  }

  const leave = (run: Run<A, E>): Effect.Effect<void> => {
    run.waiters--
    return run.waiters === 0 && run.fiber !== undefined ? Effect.asVoid(Fiber.interrupt(run.fiber)) : Effect.void
  }

  const share: SharedRuns<A, E>["share"] = (key, signature, effect) =>
    Effect.uninterruptibleMask((restore) => {
      const wait = (run: Run<A, E>) => Effect.onInterrupt(restore(Deferred.await(run.done)), () => leave(run))
      return Effect.suspend((): Effect.Effect<A, E | Busy> => {
        const found = runs.get(key)
        if (found === undefined) return Effect.flatMap(start(key, signature, effect), wait)
        // Nobody waits for it any more: it is about to end, and what is asked for starts after it.
        if (found.waiters === 0) {
          return Effect.zipRight(
            Effect.exit(restore(Deferred.await(found.done))),
            restore(share(key, signature, effect))
          )
        }
        if (found.signature !== signature) return new Busy({ session: key })
        found.waiters++
        return wait(found)
      })
    })

  return { share }
}
