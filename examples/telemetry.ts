/**
 * Spans and metrics of compactions, by OpenTelemetry. They are printed here; an
 * exporter of `@opentelemetry/exporter-trace-otlp-http` sends them on. Neither
 * holds a word of what was said.
 */
import { Compaction, SessionStore, Settings, Summarizer, Tokenizer } from "@cutpoint/compaction"
import type { Entry } from "@cutpoint/core"
import * as NodeSdk from "@effect/opentelemetry/NodeSdk"
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  PeriodicExportingMetricReader
} from "@opentelemetry/sdk-metrics"
import { InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base"
import { Console, Effect, Layer } from "effect"

const spans = new InMemorySpanExporter()
const metrics = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
const metricReader = new PeriodicExportingMetricReader({ exporter: metrics })

const telemetry = NodeSdk.layer(() => ({
  resource: { serviceName: "my-agent" },
  spanProcessor: new SimpleSpanProcessor(spans),
  metricReader
}))

const entries = Array.from({ length: 6 }, (_, n): Entry.Entry => ({
  type: "message",
  id: `e${n}`,
  parentId: n === 0 ? null : `e${n - 1}`,
  timestamp: "2026-01-01T00:00:00.000Z",
  message: { role: "user", content: `Question ${n}. ${"Words. ".repeat(200)}` }
}))
const session = { header: { type: "session", version: 3, id: "example", cwd: "/work" }, entries } as const

const services = Compaction.layer.pipe(
  Layer.provide(Summarizer.layerOffline),
  Layer.provide(Layer.mergeAll(SessionStore.layerMemory([session]), Settings.layerMemory(), Tokenizer.layerHeuristic))
)

const program = Effect.gen(function* () {
  const { compact } = yield* Compaction.Compaction
  yield* compact("example", { keepRecentTokens: 500 })
  // What had been measured by now; by itself this is done once a minute.
  yield* Effect.promise(() => metricReader.forceFlush())
  const show = (name: string, attributes: object, value: unknown) =>
    Console.log([name, ...Object.entries(attributes).map((pair) => pair.join("=")), value].join(" "))
  for (const { attributes, duration, name } of spans.getFinishedSpans()) {
    yield* show(name, attributes, `${Math.round(duration[0] * 1000 + duration[1] / 1e6)} ms`)
  }
  const measured = metrics.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics))
  for (const { dataPoints, descriptor } of measured.filter(({ descriptor }) =>
    descriptor.name.startsWith("cutpoint")
  )) {
    for (const { attributes, value } of dataPoints) {
      yield* show(descriptor.name, attributes, typeof value === "number" ? value : value.sum)
    }
  }
})

await Effect.runPromise(Effect.provide(program, Layer.mergeAll(services, telemetry)))
