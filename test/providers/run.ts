/** Compacts a real session file by a model behind a real HTTP server, with a clock that does not wait. */
import * as ModelCatalogue from "@cutpoint/ai/ModelCatalogue"
import * as Compaction from "@cutpoint/compaction/Compaction"
import * as Llm from "@cutpoint/compaction/Llm"
import * as Navigation from "@cutpoint/compaction/Navigation"
import * as Settings from "@cutpoint/compaction/Settings"
import * as Summarizer from "@cutpoint/compaction/Summarizer"
import * as Tokenizer from "@cutpoint/compaction/Tokenizer"
import * as SessionFiles from "@cutpoint/session-files/SessionFiles"
import * as ScriptedLlm from "@cutpoint/testing/ScriptedLlm"
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as FileSystem from "@effect/platform/FileSystem"
import type * as HttpClient from "@effect/platform/HttpClient"
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type Received, type Script, serve, type Server } from "./server.js"
import type { Wire } from "./wire.js"

/** What the session says first of all, so that one can see whether a summary has it. */
export const fact = "FACT-0"

/** The time it is, for all of a run. */
export const now = "Thu, 01 Jan 2026 00:00:00 GMT"

const stallTimeout = 77_777

/** How a session is compacted. */
export interface Options {
  readonly key?: string
  readonly model?: string
  readonly onRejected?: "fail" | "offline"
  readonly instructions?: string
  /** The session's lines; a conversation of eight turns where left out. */
  readonly lines?: ReadonlyArray<object>
  /** The window that the model says it has, in tokens; its own where left out. */
  readonly contextWindow?: number
  readonly settings?: Settings.Given
  /** Whether to wait for what never comes until it is too long. */
  readonly hangs?: boolean
}

const timestamp = "2026-01-01T00:00:00.000Z"

export const header = { type: "session", version: 3, id: "s1", timestamp, cwd: "/work/app" }

const entry = (id: string, parentId: string | null, message: object) => ({
  type: "message",
  id,
  parentId,
  timestamp,
  message
})

/** A conversation of questions and answers, some 220 tokens each turn. */
export const conversation = (turns: number, more: string = ""): ReadonlyArray<object> => [
  header,
  ...Array.from({ length: turns }, (_, n) => [
    entry(`u${n}`, n === 0 ? null : `a${n - 1}`, {
      role: "user",
      content: `FACT-${n} ${more} ${"why is that so ".repeat(50)}`
    }),
    entry(`a${n}`, `u${n}`, {
      role: "assistant",
      content: [{ type: "text", text: `Because of ${n}.` }],
      provider: "maker",
      model: "thinker",
      stopReason: "stop"
    })
  ]).flat()
]

/** A summary of the facts that a prompt shows, in the form that it asks for. */
export const summaryOf = (prompt: string, facts: RegExp = /FACT-0\b/g): string => {
  const request: Llm.Request = { system: "", prompt, maxOutputTokens: 1, routingId: "" }
  const reply = ScriptedLlm.carriesOver(facts)(request)
  return reply._tag === "Says" ? reply.text : ""
}

/** How a run went. */
export interface Ran {
  readonly file: string
  readonly server: Server
  readonly received: ReadonlyArray<Received>
  /** How long it was waited before a request was made again, in milliseconds. */
  readonly waits: ReadonlyArray<number>
  readonly before: string
  readonly after: string
}

/** Waits for nothing but for what never comes, and remembers how long it would have waited. */
const impatient = (waits: Array<number>, hanging: Promise<void>): Clock.Clock => {
  const live = Clock.make()
  return {
    [Clock.ClockTypeId]: Clock.ClockTypeId,
    currentTimeMillis: Effect.succeed(Date.parse(now)),
    currentTimeNanos: live.currentTimeNanos,
    unsafeCurrentTimeMillis: () => Date.parse(now),
    unsafeCurrentTimeNanos: () => live.unsafeCurrentTimeNanos(),
    sleep: (duration) => {
      const milliseconds = Duration.toMillis(duration)
      if (milliseconds === stallTimeout) return Effect.promise(() => hanging)
      waits.push(milliseconds)
      return Effect.yieldNow()
    }
  }
}

/** The services over files of a folder of their own. */
const services = (
  sessionsDir: string,
  llm: Layer.Layer<Llm.Llm, never, HttpClient.HttpClient>,
  { onRejected = "fail", settings = {} }: Options
) =>
  Layer.mergeAll(Compaction.layer, Navigation.layer).pipe(
    Layer.provide(
      Layer.mergeAll(
        Layer.provide(SessionFiles.layer({ sessionsDir }), NodeContext.layer),
        Layer.provide(Summarizer.layerLlm, Layer.provide(llm, FetchHttpClient.layer)),
        Settings.layerMemory({
          ...settings,
          compaction: { keepRecentTokens: 500, ...settings.compaction },
          cutpoint: { stallTimeout, onRejected, ...settings.cutpoint }
        })
      )
    ),
    Layer.provideMerge(Layer.merge(Tokenizer.layerHeuristic, ModelCatalogue.layer))
  )

/** A model that says that it has another window than it has. */
const withWindow = <E, R>(llm: Layer.Layer<Llm.Llm, E, R>, contextWindow: number | undefined) =>
  contextWindow === undefined
    ? llm
    : Layer.provide(
        Layer.effect(
          Llm.Llm,
          Effect.map(Llm.Llm, (llm) => Llm.Llm.of({ ...llm, contextWindow }))
        ),
        llm
      )

/** Compacts a session by a model whose server follows the script; `use` is given what compacts, and how it has gone so far. */
export const compactingBy = <A, E>(
  wire: Wire,
  script: Script,
  use: (
    compact: ReturnType<Compaction.Service["compact"]>,
    ran: Effect.Effect<Ran>
  ) => Effect.Effect<A, E, Navigation.Navigation>,
  options: Options = {}
) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped({ prefix: "cutpoint-providers-" })
    const file = `${folder}/session.jsonl`
    const before = (options.lines ?? conversation(8)).map((line) => `${JSON.stringify(line)}\n`).join("")
    yield* fs.writeFileString(file, before)
    const server = yield* serve(script)
    const waits: Array<number> = []
    const llm = withWindow(wire.layer(server.origin, options.key ?? "k-1", options.model), options.contextWindow)
    const ran = Effect.map(fs.readFileString(file), (after) => ({
      file,
      server,
      received: server.received,
      waits,
      before,
      after
    }))
    return yield* Effect.flatMap(Compaction.Compaction, (compaction) =>
      use(compaction.compact(file, { customInstructions: options.instructions }), Effect.orDie(ran))
    ).pipe(
      Effect.provide(services(folder, llm, options)),
      Effect.withClock(impatient(waits, options.hangs === true ? server.hanging : new Promise(() => {})))
    )
  }).pipe(Effect.scoped, Effect.provide(NodeContext.layer))

/** Compacts, and says how it ended. */
export const compactBy = (wire: Wire, script: Script, options: Options = {}) =>
  compactingBy(
    wire,
    script,
    (compact, ran) => Effect.zipWith(Effect.exit(compact), ran, (exit, ran) => ({ exit, ...ran })),
    options
  )
