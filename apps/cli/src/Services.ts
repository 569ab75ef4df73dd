/**
 * Builds the services that a session's settings and a command's options ask for.
 *
 * @since 0.1.0
 */
import * as ModelCatalogue from "@cutpoint/ai/ModelCatalogue"
import type * as Providers from "@cutpoint/ai/Providers"
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
import * as Ref from "effect/Ref"
import * as Stream from "effect/Stream"
import * as Failure from "./Failure.js"
import * as ModelChoice from "./ModelChoice.js"
import * as Output from "./Output.js"
import * as Printable from "./Printable.js"
import * as Progress from "./Progress.js"

/** What a command says of how it is to be carried out; what is left out is up to the settings. */
export interface Options extends ModelChoice.Options {
  readonly tokenizer?: SettingsValues.Tokenizer | undefined
  readonly json: boolean
}

/** What holds for the session that a command works on. */
export interface InForce {
  readonly loaded: Settings.Loaded
  readonly choice: ModelChoice.Choice
  /** Whether notices are kept to oneself. */
  readonly isSilent: boolean
  /** The notices that have been told, so that none is told twice. */
  readonly told: Ref.Ref<ReadonlySet<string>>
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

/**
 * A model that is built when it is first asked: a dry run, or a command that
 * needs no summary, needs no key.
 */
const llm = ({ contextWindow, maxOutputTokens, name, overrides }: ModelChoice.Model) =>
  Layer.scoped(
    Llm.Llm,
    Effect.gen(function* () {
      const scope = yield* Effect.scope
      const built = yield* Effect.cached(Layer.buildWithScope(providerLayer(name, overrides), scope))
      const stream: Llm.Service["stream"] = (request) =>
        Stream.unwrap(Effect.map(Effect.orDie(built), (context) => Context.get(context, Llm.Llm).stream(request)))
      return Llm.Llm.of({ name, contextWindow, maxOutputTokens, stream })
    })
  )

const providerLayer = (name: string, overrides: Providers.Overrides) =>
  Layer.unwrapEffect(
    Effect.gen(function* () {
      const providers = yield* ModelChoice.loadProviders
      const http = yield* Effect.promise(() => import("@effect/platform/FetchHttpClient"))
      return Layer.provide(providers.layer(name, overrides), http.layer)
    })
  )

const summarizer = (choice: ModelChoice.Choice) =>
  choice._tag === "Offline" ? offlineSummarizer : Layer.provide(Summarizer.layerLlm, llm(choice.model))

/** The use cases for a session, by its settings and the command's options. */
export const forSession = (key: string, options: Options) =>
  Layer.unwrapEffect(
    Effect.gen(function* () {
      const store = yield* SessionStore.SessionStore
      const settings = yield* Settings.Settings
      const loaded = yield* settings.load((yield* store.header(key)).cwd)
      const choice = yield* ModelChoice.choose(key, options, loaded.values)
      const told = yield* Ref.make<ReadonlySet<string>>(new Set())
      return Layer.mergeAll(Compaction.layer, Navigation.layer).pipe(
        Layer.provide(summarizer(choice)),
        Layer.provideMerge(tokenizer(options.tokenizer ?? loaded.values.cutpoint.tokenizer)),
        Layer.provideMerge(ModelCatalogue.layer),
        Layer.merge(Layer.succeed(SessionSettings, { loaded, choice, isSilent: options.json, told })),
        Layer.merge(options.json ? Layer.empty : Progress.layer)
      )
    })
  )

/** Says who summarizes; fails where a summary is to be written and nobody can write it. */
export const requireSummarizer = Effect.gen(function* () {
  const { choice } = yield* SessionSettings
  const output = yield* Output.Output
  const providers = yield* ModelChoice.loadProviders
  if (choice._tag === "Nobody") return yield* new Failure.NoSummarizer({ variables: [...providers.variables] })
  const name = choice._tag === "Offline" ? "offline" : choice.model.name
  if (choice._tag === "Model") yield* providers.check(name, choice.model.overrides)
  yield* output.notice(Printable.line(`Summarizer: ${name} (${choice.because})`, 400))
  if (choice._tag === "Model" && choice.model.isAssumed) yield* tellNotices([CompactionSettings.assumed(name)])
})

/** Tells what was assumed, and what was left out of settings: once, and not with `--json`. */
export const tellNotices = Effect.fnUntraced(function* (notices: ReadonlyArray<string>) {
  const output = yield* Output.Output
  const { isSilent, told } = yield* SessionSettings
  if (isSilent) return
  const before = yield* Ref.getAndUpdate(told, (told) => new Set([...told, ...notices]))
  const fresh = notices.filter((notice) => !before.has(notice))
  yield* Effect.forEach(fresh, (notice) => output.notice(Printable.line(notice, 400)), { discard: true })
})
