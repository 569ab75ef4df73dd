/**
 * Shows on stderr how far a summary is: on a terminal in a line that is drawn
 * again and again, elsewhere in a line for each request.
 *
 * @since 0.1.0
 */
import * as SummaryProgress from "@cutpoint/compaction/SummaryProgress"
import type * as SummaryPrompt from "@cutpoint/core/SummaryPrompt"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Ref from "effect/Ref"
import * as Schedule from "effect/Schedule"
import * as Output from "./Output.js"
import * as Printable from "./Printable.js"

/** One request that is under way. */
interface Request {
  readonly request: number
  readonly of: number
  /** What has come in, in tokens. */
  readonly tokens: number
  /** When it began, in milliseconds since 1970. */
  readonly since: number
}

type Requests = ReadonlyMap<SummaryPrompt.Kind, Request>

/** How often the line is drawn again while nothing comes in. */
const redrawEverySecond = Schedule.spaced("1 second")

/** Shows progress, for as long as the layer is there. */
export const layer = Layer.scoped(
  SummaryProgress.SummaryProgress,
  Effect.gen(function* () {
    const output = yield* Output.Output
    const requests = yield* Ref.make<Requests>(new Map())
    const draw = Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const lines = [...(yield* Ref.get(requests))].map(([kind, request]) => lineOf(kind, request, now))
      if (lines.length > 0) yield* output.status(lines.join("   "))
    })
    yield* Effect.addFinalizer(() => output.status(""))
    yield* Effect.forkScoped(Effect.repeat(draw, redrawEverySecond))
    const report = Effect.fnUntraced(function* (event: SummaryProgress.Event) {
      const now = yield* Clock.currentTimeMillis
      yield* Ref.update(requests, (before) =>
        new Map(before).set(event.kind, after(before.get(event.kind), event, now))
      )
      if (!output.hasStatus && event._tag === "Request") yield* output.notice(`${titleOf(event.kind, event)}.`)
      if (event._tag === "Again") yield* output.notice(Printable.line(`Once more: ${event.why}`, 500))
      yield* draw
    })
    return SummaryProgress.SummaryProgress.of({ report })
  })
)

const after = (before: Request | undefined, event: SummaryProgress.Event, now: number): Request => {
  if (event._tag === "Request") return { request: event.request, of: event.of, tokens: 0, since: now }
  const current = before ?? { request: 1, of: 1, tokens: 0, since: now }
  return { ...current, tokens: event._tag === "Received" ? event.tokens : 0 }
}

const names: { readonly [kind in SummaryPrompt.Kind]: string } = {
  history: "the history",
  turnPrefix: "the start of the split turn",
  branch: "the branch"
}

const titleOf = (kind: SummaryPrompt.Kind, { of, request }: { readonly request: number; readonly of: number }) =>
  `Summarizing ${names[kind]}: request ${request} of ${of}`

const lineOf = (kind: SummaryPrompt.Kind, request: Request, now: number): string => {
  const seconds = Math.floor((now - request.since) / 1000)
  return `${titleOf(kind, request)}, ${Printable.count(request.tokens, "token")} received, ${seconds} s`
}
