/** What a chat tells of itself by Effect's spans, logs and metrics: figures, and nothing of what was said. */
import * as SessionChat from "@cutpoint/ai/SessionChat"
import * as Model from "@cutpoint/testing/ScriptedLanguageModel"
import { expect, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Metric from "effect/Metric"
import * as Stream from "effect/Stream"
import type * as Tracer from "effect/Tracer"
import { inspect } from "node:util"
import * as Tracing from "../../packages/compaction/test/tracing.js"
import { compactions, long, onFiles, stored, Tools, turns } from "./services.js"

const { call, text } = Model

/** In everything that is said, and in what a provider says of a key. */
const secret = "MARKER-73"

const spanned = <A, E, R>(run: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const { spans, tracer } = Tracing.keeping(yield* Effect.tracer)
    const logged: Array<unknown> = []
    const logger = Logger.replace(
      Logger.defaultLogger,
      Logger.make(({ annotations, cause, message }) => void logged.push(message, cause, [...annotations]))
    )
    yield* run.pipe(Effect.withTracer(tracer), Effect.provide(logger))
    return { spans, logged }
  })

/** All that is exported of a span: how it failed as well, but not what it gave. */
const shown = ({ attributes, name, status, ...span }: Tracer.Span): string => {
  const cause = status._tag === "Ended" && Exit.isFailure(status.exit) ? status.exit.cause : Cause.empty
  const pretty = Cause.pretty(cause, { renderErrorCause: true })
  return inspect([name, [...attributes], "events" in span ? span.events : [], cause, pretty], { depth: 20 })
}

const tools = Tools.toLayer({ look: ({ at }) => Effect.succeed({ found: `${secret} ${at} ${long(200)}` }) })

it.effect("spans, logs and metrics carry figures, and nothing of what was said", () =>
  Effect.gen(function* () {
    const model = Model.ofReplies(
      [text(`${secret} I look.`), call("c1", "look", { at: secret })],
      [text(`${secret} Done.`)],
      Model.tooLarge(20_000, 16_000),
      [text(`${secret} Done.`)],
      Model.refusal(401, `wrong key sk-${secret}`),
      Model.breaksOff(text(`${secret} half`))
    )
    const { logged, spans } = yield* spanned(
      Effect.gen(function* () {
        const chat = yield* SessionChat.fromPrompt([{ role: "system", content: secret }, ...turns(9)])
        yield* chat.generateText({ prompt: secret, toolkit: Tools })
        yield* Stream.runDrain(chat.streamText({ prompt: [] }))
        yield* chat.generateText({ prompt: `${secret} again` })
        yield* Effect.exit(chat.generateText({ prompt: `${secret} and again` }))
        yield* Effect.exit(Stream.runDrain(chat.streamText({ prompt: `${secret} once more` })))
        expect(compactions(yield* stored(chat.key))).toBeGreaterThan(0)
        yield* chat.compact({ customInstructions: secret, keepRecentTokens: 0 })
        yield* chat.navigate((yield* chat.session).tree.entries.at(-2)?.id ?? "", { customInstructions: secret })
      }).pipe(Effect.provide(Layer.mergeAll(model.layer, tools, onFiles())))
    )
    const ours = spans.filter(({ name }) => /^(SessionChat|AutoCompaction|Compaction|Navigation|Session)/.test(name))
    const names = new Set(ours.map(({ name }) => name))
    for (const name of [
      "SessionChat.generateText",
      "SessionChat.streamText",
      "SessionChat.compact",
      "SessionChat.navigate",
      "AutoCompaction.ifDue",
      "AutoCompaction.onOverflow",
      "Compaction.run"
    ]) {
      expect(names).toContain(name)
    }
    for (const span of ours) expect(shown(span)).not.toContain(secret)
    expect(ours.filter(({ attributes }) => attributes.get("failed") === true)).toHaveLength(1)
    expect(inspect(logged, { depth: 20 })).not.toContain(secret)
    const metrics = (yield* Metric.snapshot).filter(({ metricKey }) => metricKey.name.startsWith("cutpoint"))
    expect(metrics.length).toBeGreaterThan(5)
    expect(JSON.stringify(metrics.map(({ metricKey }) => [metricKey.name, metricKey.tags]))).not.toContain(secret)
  })
)
