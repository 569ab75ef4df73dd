/**
 * Spans of a chat's calls. A span that ends with an error shows all of it to
 * those who collect spans, and what a provider or a tool says may hold a key or
 * what was said: so these tell that a call failed, and not how. The caller gets
 * the error as it came.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import type * as Tracer from "effect/Tracer"

/** Runs a call in a span. */
export const around =
  (name: string) =>
  <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E, Exclude<R, Tracer.ParentSpan>> =>
    Effect.acquireUseRelease(made(name), (span) => Effect.withParentSpan(call, span), ended)

/** A span that lasts as long as the scope. */
export const scoped = (name: string): Effect.Effect<Tracer.Span, never, Scope.Scope> =>
  Effect.acquireRelease(made(name), ended)

const made = (name: string) => Effect.makeSpan(name, { captureStackTrace: false })

const ended = (span: Tracer.Span, exit: Exit.Exit<unknown, unknown>): Effect.Effect<void> =>
  Effect.map(Clock.currentTimeNanos, (now) => {
    if (Exit.isFailure(exit)) span.attribute("failed", true)
    span.end(now, Exit.void)
  })
