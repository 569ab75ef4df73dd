/** Keys, prompts and transcripts are looked for wherever something might show them, though servers echo them all. */
import { inspect } from "node:util"
import { expect, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import type * as Tracer from "effect/Tracer"
import { describe } from "vitest"
import * as Tracing from "../../packages/compaction/test/tracing.js"
import { outcomes, scriptOf } from "./outcomes.js"
import { compactBy, conversation, header } from "./run.js"
import type { Answer, Script } from "./server.js"
import type { Wire } from "./wire.js"
import { wires } from "./wires/index.js"

const key = "sk-KEYMARKER-8Qz7Xw5Vu3Ts1Rp9"

/** Planted where nobody but the provider may see them. */
const markers = {
  key: "KEYMARKER-8Qz7Xw5Vu3Ts1Rp9",
  instructions: "FOCUSMARKER-4f6d8b2a",
  transcript: "TALKMARKER-9c3e7a1d",
  summary: "OLDMARKER-5b7d9f2c"
}

/** A session that was compacted before. */
const lines = (() => {
  const talk = conversation(8, markers.transcript)
  const compaction = {
    type: "compaction",
    id: "c1",
    parentId: "a7",
    timestamp: header.timestamp,
    summary: `## Goal\nKeep ${markers.summary} secret.`,
    firstKeptEntryId: "u1",
    tokensBefore: 2000
  }
  const after = {
    type: "message",
    id: "u8",
    parentId: "c1",
    timestamp: header.timestamp,
    message: { role: "user", content: "go on ".repeat(300) }
  }
  return [...talk, compaction, after]
})()

/** All that was sent, said back in an error's message and headers, or in the middle of a stream. */
const echoing =
  (wire: Wire, script: Script): Script =>
  (received, index) => {
    const answer = script(received, index)
    const { prompt } = wire.sent(received)
    // The markers first: what comes late in a message is cut off.
    const echo = `You sent ${Object.values(markers).join(" ")} and ${key} and ${JSON.stringify(received.headers)} with ${prompt} ${JSON.stringify(received.body)}`
    return withEcho(wire, answer, echo)
  }

const withEcho = (wire: Wire, answer: Answer, echo: string): Answer => ({
  ...answer,
  headers: { ...answer.headers, "x-echo": Object.values(markers).join(" "), "x-request-key": key },
  pieces: answer.pieces.map((piece) => echoed(wire, piece, echo))
})

/** Puts the echo where a body or an error in mid-stream has its message. */
const echoed = (wire: Wire, piece: Answer["pieces"][number], echo: string): Answer["pieces"][number] => {
  for (const kind of ["unavailable", "rateLimited", "unknown"] as const) {
    const plain = wire.interjection(kind)
    if (Buffer.from(piece).equals(Buffer.from(plain))) return wire.interjection(kind, echo)
  }
  if (typeof piece !== "string" || !piece.startsWith("{")) return piece
  const body = JSON.parse(piece)
  if (typeof body.error === "string") return JSON.stringify({ ...body, error: `${body.error} ${echo}` })
  const place = typeof body.error === "object" ? body.error : body
  const raw = place.metadata?.raw
  const metadata = raw === undefined ? place.metadata : { ...place.metadata, raw: `${raw} ${echo}` }
  Object.assign(place, { message: `${place.message ?? ""} ${echo}`, ...(metadata === undefined ? {} : { metadata }) })
  return JSON.stringify(body)
}

/** Every way in which a value can come to be shown. */
const shownOf = (value: unknown): ReadonlyArray<string> => [
  String(value),
  inspect(value, { depth: Infinity, showHidden: true, maxStringLength: Infinity, maxArrayLength: Infinity }),
  jsonOf(value),
  ...(value instanceof Error ? [value.message, value.stack ?? "", jsonOf(Object.entries(value))] : [])
]

const jsonOf = (value: unknown): string => {
  const seen = new WeakSet()
  return (
    JSON.stringify(value, (_, inner: unknown) => {
      if (typeof inner === "bigint") return String(inner)
      if (typeof inner !== "object" || inner === null) return inner
      if (seen.has(inner)) return "again"
      seen.add(inner)
      return inner instanceof Map ? [...inner] : inner
    }) ?? ""
  )
}

const spanShown = (span: Tracer.Span): ReadonlyArray<string> => [
  span.name,
  ...shownOf([...span.attributes]),
  ...("events" in span ? shownOf(span.events) : []),
  ...(span.status._tag === "Ended" && Exit.isFailure(span.status.exit) ? causeShown(span.status.exit.cause) : [])
]

const causeShown = (cause: Cause.Cause<unknown>): ReadonlyArray<string> => [
  Cause.pretty(cause, { renderErrorCause: true }),
  ...shownOf(Cause.squash(cause)),
  jsonOf(cause),
  ...[...Cause.failures(cause), ...Cause.defects(cause)].flatMap(shownOf)
]

const expectSilent = (where: string, shown: ReadonlyArray<string>) => {
  const found = Object.entries(markers).filter(([, marker]) => shown.some((text) => text.includes(marker)))
  expect(found.map(([name]) => `${name} in ${where}`)).toEqual([])
}

const failures = outcomes
  .flatMap(([, of]) => of)
  .filter(({ expected }) => expected.tag === "SummarizerFailed" || (expected.broken ?? 0) > 0 || expected.requests > 1)

/** Nobody is there: the connection itself fails, and the error of the client holds the request. */
const nobody = (wire: Wire): Wire => ({ ...wire, layer: (_, ...rest) => wire.layer("http://127.0.0.1:1", ...rest) })

/** An address that is none. */
const nowhere = (wire: Wire): Wire => ({ ...wire, layer: (_, ...rest) => wire.layer("no address", ...rest) })

const observed = (wire: Wire, script: Script, secret: string = key) =>
  Effect.gen(function* () {
    const logs: Array<string> = []
    const logger = Logger.make(({ annotations, cause, message }) => {
      logs.push(...shownOf(message), ...shownOf([...annotations]), ...causeShown(cause))
    })
    const { spans, tracer } = Tracing.keeping(yield* Effect.tracer)
    const ran = yield* compactBy(wire, script, {
      key: secret,
      instructions: `mind ${markers.instructions}`,
      lines
    }).pipe(
      Logger.withMinimumLogLevel(LogLevel.All),
      Effect.provide(Layer.mergeAll(Logger.replace(Logger.defaultLogger, logger), Layer.setTracer(tracer)))
    )
    const cause = Exit.causeOption(ran.exit)
    return { ran, logs, spans, cause }
  })

describe.each(wires)("a failure of $name", (wire) => {
  it.effect.each(failures)("shows nothing of what was sent: $title", (outcome) =>
    Effect.gen(function* () {
      const { cause, logs, ran, spans } = yield* observed(wire, echoing(wire, scriptOf(wire, outcome)))
      // It was sent, or else there was nothing to find.
      const sent = ran.received.map((one) => JSON.stringify([one.body, one.headers])).join("")
      for (const name of ["instructions", "transcript", "summary"] as const) expect(sent).toContain(markers[name])
      expect(spans.map(({ name }) => name)).toContain("Summarizer.request")
      expectSilent("a log", logs)
      expectSilent("a span", spans.flatMap(spanShown))
      expectSilent("an error", Option.match(cause, { onNone: () => [], onSome: causeShown }))
    })
  )

  it.effect.each([
    ["there is nobody", nobody],
    ["there is no such address", nowhere]
  ] as const)("shows nothing of what was to be sent: %s", ([, changed]) =>
    Effect.gen(function* () {
      const { cause, logs, spans } = yield* observed(changed(wire), () => ({ pieces: [] }))
      expect(Option.isSome(Option.flatMap(cause, Cause.failureOption))).toBe(true)
      expectSilent("a log", logs)
      expectSilent("a span", spans.flatMap(spanShown))
      expectSilent("an error", Option.match(cause, { onNone: () => [], onSome: causeShown }))
    })
  )

  it.effect("shows nothing of a key that cannot be sent", () =>
    Effect.gen(function* () {
      const { cause, logs, spans } = yield* observed(
        wire,
        () => ({ status: 401, pieces: [] }),
        `${key}\n\u0000\u{1F600}`
      )
      expect(Option.isSome(Option.flatMap(cause, Cause.failureOption))).toBe(true)
      expectSilent("a log", logs)
      expectSilent("a span", spans.flatMap(spanShown))
      expectSilent("an error", Option.match(cause, { onNone: () => [], onSome: causeShown }))
    })
  )
})
