import * as Compaction from "@cutpoint/compaction/Compaction"
import * as SessionStore from "@cutpoint/compaction/SessionStore"
import * as Settings from "@cutpoint/compaction/Settings"
import * as Summarizer from "@cutpoint/compaction/Summarizer"
import * as Tokenizer from "@cutpoint/compaction/Tokenizer"
import type * as Entry from "@cutpoint/core/Entry"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Tracing from "./tracing.js"

const secret = "the secret of the session"

const entries: ReadonlyArray<Entry.Entry> = Array.from({ length: 8 }, (_, index) => ({
  type: "message",
  id: `e${index}`,
  parentId: index === 0 ? null : `e${index - 1}`,
  timestamp: "2026-01-01T00:00:00.000Z",
  message: { role: "user", content: `${secret} ${"word ".repeat(300)}` }
}))

const services = Compaction.layer.pipe(
  Layer.provide(Summarizer.layerOffline),
  Layer.provide(
    Layer.mergeAll(
      SessionStore.layerMemory([{ header: { type: "session", version: 3, id: "s" }, entries }]),
      Tokenizer.layerHeuristic,
      Settings.layerMemory()
    )
  )
)

it.effect("a compaction's span carries its figures, and nothing of what was said", () =>
  Effect.gen(function* () {
    const { spans, tracer } = Tracing.keeping(yield* Effect.tracer)
    const result = yield* Effect.flatMap(Compaction.Compaction, (compaction) =>
      compaction.compact("s", { keepRecentTokens: 500 })
    ).pipe(Effect.provide(services), Effect.withTracer(tracer))
    expect(result._tag).toBe("Compacted")
    if (result._tag !== "Compacted") return
    const { requests, tokensAfter, tokensBefore } = result
    const run = spans.find((span) => span.name === "Compaction.run")
    const expected = { session: "s", reason: "manual", tokensBefore, tokensAfter, requests }
    expect(Object.fromEntries(run?.attributes ?? [])).toMatchObject(expected)
    const shown = JSON.stringify(spans.map((span) => [span.name, [...span.attributes]]))
    expect(shown).toContain("Compaction.compact")
    expect(shown).not.toContain(secret)
  })
)
