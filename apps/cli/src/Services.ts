/**
 * Builds the services that a session's settings and a command's options ask for.
 *
 * @since 0.1.0
 */
import * as Compaction from "@cutpoint/compaction/Compaction"
import * as CompactionSettings from "@cutpoint/compaction/CompactionSettings"
import * as Llm from "@cutpoint/compaction/Llm"
import * as Navigation from "@cutpoint/compaction/Navigation"
import * as SessionStore from "@cutpoint/compaction/SessionStore"
import * as Settings from "@cutpoint/compaction/Settings"
import type * as SettingsValues from "@cutpoint/compaction/SettingsValues"
import * as Summarizer from "@cutpoint/compaction/Summarizer"
import * as Tokenizer from "@cutpoint/compaction/Tokenizer"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as Failure from "./Failure.js"
import * as Output from "./Output.js"
import * as Printable from "./Printable.js"

/** What a command says of how it is to be carried out; what is left out is up to the settings. */
export interface Options {
  readonly tokenizer?: SettingsValues.Tokenizer | undefined
  readonly offline?: boolean | undefined
  /** In tokens. */
  readonly contextWindow?: number | undefined
  readonly json: boolean
}

/** What holds for the session that a command works on. */
export interface InForce {
  readonly loaded: Settings.Loaded
  /** Who summarizes, and who says so; undefined where nobody was chosen. */
  readonly summarizer: { readonly name: string; readonly because: string } | undefined
}

/** What holds for the session that a command works on. */
export class SessionSettings extends Context.Tag("cutpoint/SessionSettings")<SessionSettings, InForce>() {}

/** The tokenizer of a name; a vocabulary is loaded only when it is asked for. */
const tokenizer = (name: SettingsValues.Tokenizer) =>
  name === "heuristic"
    ? Tokenizer.layerHeuristic
    : Layer.unwrapEffect(
        Effect.map(
          Effect.promise(() => import("@cutpoint/gpt-tokenizer/GptTokenizer")),
          (GptTokenizer) => GptTokenizer.layer(name)
        )
      )

const chosen = (options: Options, { cutpoint }: SettingsValues.Values): InForce["summarizer"] => {
  if (options.offline === true) return { name: "offline", because: "--offline" }
  return cutpoint.model === "offline" ? { name: "offline", because: "cutpoint.model in your settings" } : undefined
}

/**
 * The offline summarizer, which keeps the process busy: a Ctrl-C that came
 * meanwhile is heard before anything is written. That takes it up to two turns
 * of the event loop.
 */
const offlineSummarizer = Layer.effect(
  Summarizer.Summarizer,
  Effect.map(Summarizer.Summarizer, (summarizer) =>
    Summarizer.Summarizer.of({
      ...summarizer,
      summarize: (request) => Effect.tap(summarizer.summarize(request), () => Effect.repeatN(Effect.sleep(0), 1))
    })
  )
).pipe(Layer.provide(Summarizer.layerOffline))

/** The most that an ordinary reply has, in tokens: what a dry run plans with where no model was chosen. */
const nominalOutputTokens = 8192

/** What is planned with where nobody was chosen: a model with the session's window, which is never asked. */
const plannedSummarizer = (contextWindow: number) => {
  const name = "a model"
  const nobody = Stream.die(new Error("A dry run asks no model."))
  const llm = Llm.Llm.of({ name, contextWindow, maxOutputTokens: nominalOutputTokens, stream: () => nobody })
  return Layer.provide(Summarizer.layerLlm, Layer.succeed(Llm.Llm, llm))
}

/** The use cases for a session, by its settings and the command's options. */
export const forSession = (key: string, options: Options) =>
  Layer.unwrapEffect(
    Effect.gen(function* () {
      const store = yield* SessionStore.SessionStore
      const settings = yield* Settings.Settings
      const loaded = yield* settings.load((yield* store.header(key)).cwd)
      const summarizer = chosen(options, loaded.values)
      const contextWindow = CompactionSettings.knownWindow(loaded.values, options) ?? CompactionSettings.unknownWindow
      return Layer.mergeAll(Compaction.layer, Navigation.layer).pipe(
        Layer.provide(summarizer === undefined ? plannedSummarizer(contextWindow) : offlineSummarizer),
        Layer.provideMerge(tokenizer(options.tokenizer ?? loaded.values.cutpoint.tokenizer)),
        Layer.merge(Layer.succeed(SessionSettings, { loaded, summarizer }))
      )
    })
  )

/** Says who summarizes; fails where a summary is to be written and nobody was chosen. */
export const requireSummarizer = Effect.fnUntraced(function* (options: Options) {
  const { summarizer } = yield* SessionSettings
  if (summarizer === undefined) return yield* new Failure.NoSummarizer()
  const output = yield* Output.Output
  if (!options.json) yield* output.notice(`Summarizer: ${summarizer.name} (${summarizer.because})`)
})

/** Tells what was assumed, and what was left out of settings. */
export const tellNotices = Effect.fnUntraced(function* (notices: ReadonlyArray<string>, options: Options) {
  const output = yield* Output.Output
  if (options.json) return
  yield* Effect.forEach(notices, (notice) => output.notice(Printable.line(notice, 400)), { discard: true })
})
