/**
 * The `Llm` port over a provider's `LanguageModel`: one for each request, made
 * with what that request needs.
 *
 * @since 0.1.0
 */
import * as Llm from "@cutpoint/compaction/Llm"
import type * as ModelFacts from "@cutpoint/compaction/ModelFacts"
import type * as LanguageModel from "@effect/ai/LanguageModel"
import * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Exchange from "./Exchange.js"
import * as Fault from "./Fault.js"
import * as LanguageModelParts from "./LanguageModelParts.js"
import * as Prices from "./Prices.js"
import * as Scrub from "./Scrub.js"

/** A model, and what is known of it. */
export interface Model {
  /** `provider/model`. */
  readonly name: string
  readonly facts: ModelFacts.Facts
  /** Keys, which must appear nowhere. */
  readonly keys: ReadonlyArray<Redacted.Redacted>
}

/** One request as a provider makes it. */
export interface Call extends Exchange.Protocol {
  /** The provider's model, whose client takes this middleware. */
  readonly languageModel: (
    transformClient: Exchange.Exchange["transformClient"]
  ) => Effect.Effect<LanguageModel.Service, never, HttpClient.HttpClient | Scope.Scope>
}

/** How much chance there is in a summary, where a model lets one say so. */
export const temperature = 0.2

/** What a model's window is taken to be where nothing is known of it, in tokens. */
export const unknownWindow = 128_000

/** What a model's replies are taken to have at most where nothing is known of it, in tokens. */
export const unknownOutput = 8192

/** A model that is asked by a provider's calls. */
export const make = Effect.fnUntraced(function* (
  model: Model,
  call: (request: Llm.Request) => Call
): Effect.fn.Return<Llm.Service, never, HttpClient.HttpClient> {
  const client = yield* HttpClient.HttpClient
  const contextWindow = model.facts.contextWindow ?? unknownWindow
  return Llm.Llm.of({
    name: model.name,
    contextWindow,
    maxOutputTokens: Math.min(model.facts.maxOutput ?? unknownOutput, contextWindow),
    stream: (request) => Stream.provideService(replyTo(model, call(request), request), HttpClient.HttpClient, client)
  })
})

const replyTo = (model: Model, call: Call, request: Llm.Request) =>
  Stream.unwrapScoped(
    Effect.gen(function* () {
      const exchange = Exchange.make(call)
      const languageModel = yield* call.languageModel(exchange.transformClient)
      const said = LanguageModelParts.stream(languageModel, request)
      const news = usageNews(model, exchange)
      return said.pipe(
        Stream.filter((part) => part._tag !== "Finish"),
        Stream.mapConcat((part) => [...news(), part]),
        Stream.catchAll((fault) =>
          Stream.concat(
            Stream.fromIterable(news()),
            Stream.fail(errorOf(model, request, exchange.soFar().fault ?? fault))
          )
        ),
        Stream.concat(
          Stream.suspend(() => Stream.concat(Stream.fromIterable(news()), endOf(model, request, exchange.soFar())))
        )
      )
    })
  )

/** What has been used so far, whenever the provider has said more of it. */
const usageNews = (model: Model, exchange: Exchange.Exchange): (() => ReadonlyArray<Llm.Part>) => {
  let told: Exchange.SoFar["usage"]
  return () => {
    const { usage } = exchange.soFar()
    if (usage === told) return []
    told = usage
    return [{ _tag: "Usage", usage: Prices.priced(usage, model.facts.cost) }]
  }
}

/** How the reply ended. One that says nothing of its end broke off, and ends without a finish. */
const endOf = (
  model: Model,
  request: Llm.Request,
  { fault, stopReason, usage }: Exchange.SoFar
): Stream.Stream<Llm.Part, Llm.LlmError> => {
  if (fault !== undefined) return Stream.fail(errorOf(model, request, fault))
  if (stopReason === undefined) return Stream.empty
  return Stream.succeed({ _tag: "Finish", stopReason, usage: Prices.priced(usage, model.facts.cost) })
}

const errorOf = (model: Model, request: Llm.Request, fault: Fault.Fault): Llm.LlmError => {
  const keys = model.keys.map(Redacted.value)
  return Fault.toError(fault, model.name, Scrub.scrubbed(fault.message, { keys, texts: [request.prompt] }))
}
