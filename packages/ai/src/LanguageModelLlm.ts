/**
 * The `Llm` port over a `LanguageModel` that an application already has.
 *
 * A `LanguageModel` takes neither an output limit nor a routing id for a single
 * request, so that those are as its own layer was configured. The provider
 * modules beside this one pass on both.
 *
 * @since 0.1.0
 */
import * as Llm from "@cutpoint/compaction/Llm"
import * as LanguageModel from "@effect/ai/LanguageModel"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as Fault from "./Fault.js"
import * as LanguageModelParts from "./LanguageModelParts.js"
import * as Scrub from "./Scrub.js"

/** What the model is. Sizes are in tokens. */
export interface Options {
  /** `provider/model`. */
  readonly name: string
  readonly contextWindow: number
  readonly maxOutputTokens: number
}

/** The model in context, as the port. */
export const layer = (options: Options): Layer.Layer<Llm.Llm, never, LanguageModel.LanguageModel> =>
  Layer.effect(
    Llm.Llm,
    Effect.map(LanguageModel.LanguageModel, (languageModel) =>
      Llm.Llm.of({
        ...options,
        stream: (request) =>
          Stream.mapError(LanguageModelParts.stream(languageModel, request), (fault) =>
            Fault.toError(fault, options.name, Scrub.scrubbed(fault.message, { keys: [], texts: [request.prompt] }))
          )
      })
    )
  )
