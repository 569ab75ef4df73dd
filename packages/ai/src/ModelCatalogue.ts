/**
 * What is known of models, from a catalogue that others keep (`llm-zoo`).
 * Loaded when it is first asked.
 *
 * @since 0.1.0
 */
import * as ModelFacts from "@cutpoint/compaction/ModelFacts"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { ModelConfig } from "llm-zoo"

/** Providers whose models the catalogue has under another provider's name; `undefined` for those of several. */
const resellers: ReadonlyMap<string, string | undefined> = new Map([
  ["openrouter", undefined],
  ["amazon-bedrock", "anthropic"],
  ["google-vertex", "google"],
  ["azure-openai-responses", "openai"],
  ["openai-codex", "openai"],
  ["zai", "glm"],
  ["moonshotai", "moonshot"],
  ["kimi-coding", "moonshot"]
])

/** The facts of a model by `provider/model`; empty where the catalogue does not have it. */
export const find = (name: string): Effect.Effect<ModelFacts.Facts> =>
  Effect.map(Effect.promise(load), (models) => factsOf(name, models))

/** The catalogue as the port by which sessions learn of their models. */
export const layer: Layer.Layer<ModelFacts.ModelFacts> = Layer.succeed(ModelFacts.ModelFacts, { find })

const load = async (): Promise<ReadonlyArray<ModelConfig>> =>
  Object.values(await import("llm-zoo/providers"))
    .filter(isGroup)
    .flatMap((group) => Object.values(group))

/** A model is there twice where it can be asked to think: the entry that says so counts. */
const lookUp = (provider: string, name: string, models: ReadonlyArray<ModelConfig>): ModelConfig | undefined => {
  const wanted = bareName(name)
  const found = models.filter(
    (model) =>
      model.provider.valueOf() === provider &&
      (bareName(model.fullName) === wanted || bareName(model.shortName) === wanted)
  )
  return found.find((model) => model.capabilities.supportsReasoning) ?? found[0]
}

const isGroup = (value: unknown): value is Record<string, ModelConfig> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const factsOf = (name: string, models: ReadonlyArray<ModelConfig>): ModelFacts.Facts => {
  const slash = name.indexOf("/")
  const provider = name.slice(0, slash)
  const rest = name.slice(slash + 1)
  const inner = rest.indexOf("/")
  const own = resellers.has(provider) ? (resellers.get(provider) ?? rest.slice(0, Math.max(0, inner))) : provider
  const found = lookUp(own, rest, models)
  if (found === undefined) return {}
  const { capabilities, contextWindow, inputPrice: input, maxOutputTokens: maxOutput, outputPrice: output } = found
  const cacheRead = input * capabilities.cacheDiscountFactor
  return {
    contextWindow,
    maxOutput,
    thinks: capabilities.supportsReasoning,
    // OpenRouter asks what the makers ask; what others ask is not known.
    cost: provider === own || provider === "openrouter" ? { input, output, cacheRead } : undefined
  }
}

/**
 * What a model's name comes to, so that its many spellings are one: without a
 * date, a region, a maker's prefix, a version of Amazon's, or a variant.
 */
const bareName = (model: string): string =>
  model
    .toLowerCase()
    .replace(/^.*\//, "")
    .replace(/^(?:[a-z]{2,6}\.)?anthropic\./, "")
    .replace(/:.*$/, "")
    .replace(/-v\d+$/, "")
    .replace(/-(?:latest|\d{8}|\d{4}-\d{2}-\d{2})$/, "")
    .replaceAll(".", "-")
