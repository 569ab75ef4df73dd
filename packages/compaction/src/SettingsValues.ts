/**
 * The settings that there are: their types, defaults, and what a file may say.
 *
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"

/** A size in tokens: a whole number that is not negative. */
const Tokens = Schema.Int.pipe(Schema.between(0, Number.MAX_SAFE_INTEGER))

/** A duration in milliseconds: a whole number above 0. */
const Milliseconds = Schema.Int.pipe(Schema.between(1, Number.MAX_SAFE_INTEGER))

const Price = Schema.Finite.pipe(Schema.nonNegative())

/** What a model's tokens cost, in the currency of the price list, per million. */
export const Prices = Schema.Struct({
  input: Schema.optional(Price),
  output: Schema.optional(Price),
  cacheRead: Schema.optional(Price),
  cacheWrite: Schema.optional(Price)
})
export interface Prices extends Schema.Schema.Type<typeof Prices> {}

/** What is known of a model. Sizes are in tokens. */
export interface Model {
  readonly contextWindow?: number
  readonly maxOutput?: number
  /** Where its provider is reached. */
  readonly baseUrl?: string
  readonly cost?: Prices
}

/** What differs for a model. Sizes are in tokens. */
export interface Override {
  readonly reserveTokens?: number
  readonly keepRecentTokens?: number
}

/** All settings. Sizes are in tokens, `stallTimeout` in milliseconds. */
export interface Values {
  readonly compaction: {
    /** Whether sessions are compacted of themselves; asking for it works all the same. */
    readonly enabled: boolean
    readonly reserveTokens: number
    readonly keepRecentTokens: number
    /** By `provider/model`. */
    readonly modelOverrides: { readonly [model: string]: Override }
  }
  readonly branchSummary: {
    readonly reserveTokens: number
    /** Whether a move is made without asking for a summary, and without one. */
    readonly skipPrompt: boolean
  }
  readonly cutpoint: {
    /** `provider/model`, or `offline`. */
    readonly model: string | undefined
    /** By `provider/model`. */
    readonly models: { readonly [model: string]: Model }
    /** Undefined for the model's own. */
    readonly contextWindow: number | undefined
    readonly tokenizer: Tokenizer
    readonly includeThinking: boolean
    readonly onRejected: "fail" | "offline"
    readonly branchOverflow: "fold" | "drop-oldest"
    readonly offlineSummaryTokens: number
    readonly stallTimeout: number
  }
}

/** The tokenizers there are. */
export const tokenizers = ["o200k_base", "cl100k_base", "p50k_base", "heuristic"] as const
export type Tokenizer = (typeof tokenizers)[number]

/** What holds where nothing is set. */
export const defaults: Values = {
  compaction: { enabled: true, reserveTokens: 16_384, keepRecentTokens: 20_000, modelOverrides: {} },
  branchSummary: { reserveTokens: 16_384, skipPrompt: false },
  cutpoint: {
    model: undefined,
    models: {},
    contextWindow: undefined,
    tokenizer: "o200k_base",
    includeThinking: true,
    onRejected: "fail",
    branchOverflow: "fold",
    offlineSummaryTokens: 2000,
    stallTimeout: 120_000
  }
}

/** Whose file it is: a repository's file may not say where a transcript is sent. */
export type Origin = "user" | "project"

/** A setting that is not what it may be. */
export interface Problem {
  /** The setting, such as `compaction.reserveTokens`. */
  readonly key: string
  readonly value: unknown
  readonly allowed: string
}

/** What a file sets. */
export interface FileValues {
  /** By dotted key; those of a model as `cutpoint.models`, then the model, then the field, apart by line breaks. */
  readonly values: ReadonlyMap<string, unknown>
  /** Settings that this file may not make, and which were left out. */
  readonly ignored: ReadonlyArray<string>
}

interface Rule {
  readonly is: (value: unknown) => boolean
  readonly allowed: string
  readonly userOnly?: boolean
}

const rule = <A>(schema: Schema.Schema<A>, allowed: string): Rule => ({ is: Schema.is(schema), allowed })

const userOnly = (of: Rule): Rule => ({ ...of, userOnly: true })

const oneOf = (...values: ReadonlyArray<string>): Rule =>
  rule(Schema.Literal(...values), values.map((value) => `"${value}"`).join(", "))

const flag = rule(Schema.Boolean, "true or false")
const tokens = rule(Tokens, "a whole number of tokens, 0 or more")

const modelName = /^(?:offline|[^/\s]+\/\S+)$/u

/** Whether it is `provider/model`, or `offline`. */
export const isModelName = (name: string): boolean => modelName.test(name)

const rules: { readonly [key: string]: Rule } = {
  "compaction.enabled": flag,
  "compaction.reserveTokens": tokens,
  "compaction.keepRecentTokens": tokens,
  "branchSummary.reserveTokens": tokens,
  "branchSummary.skipPrompt": flag,
  "cutpoint.model": userOnly(rule(Schema.String.pipe(Schema.pattern(modelName)), '"provider/model" or "offline"')),
  "cutpoint.contextWindow": tokens,
  "cutpoint.tokenizer": oneOf(...tokenizers),
  "cutpoint.includeThinking": flag,
  "cutpoint.onRejected": oneOf("fail", "offline"),
  "cutpoint.branchOverflow": oneOf("fold", "drop-oldest"),
  "cutpoint.offlineSummaryTokens": tokens,
  "cutpoint.stallTimeout": rule(Milliseconds, "a whole number of milliseconds, 1 or more")
}

/** Settings by model: what each model's entry may say. */
const byModel: { readonly [key: string]: { readonly [field: string]: Rule } } = {
  "compaction.modelOverrides": { reserveTokens: tokens, keepRecentTokens: tokens },
  "cutpoint.models": {
    contextWindow: tokens,
    maxOutput: tokens,
    baseUrl: userOnly(rule(Schema.NonEmptyString, "an address")),
    cost: rule(Prices, "an object of prices per million tokens: input, output, cacheRead, cacheWrite")
  }
}

/** Reads what a settings file says. Keys that are not known here are left alone. */
export const read = (json: unknown, origin: Origin): Either.Either<FileValues, Problem> => {
  const values = new Map<string, unknown>()
  const ignored: Array<string> = []
  const take = (key: string, value: unknown, of: Rule, name: string): Problem | undefined => {
    if (value === undefined) return undefined
    if (!of.is(value)) return { key: name, value, allowed: of.allowed }
    if (of.userOnly === true && origin !== "user") ignored.push(name)
    else values.set(key, value)
    return undefined
  }
  if (!isObject(json)) return Either.left({ key: "(the file)", value: json, allowed: "an object" })
  for (const section of ["compaction", "branchSummary", "cutpoint"]) {
    const problem = objectProblem(json[section], section)
    if (problem) return Either.left(problem)
  }
  for (const [key, of] of Object.entries(rules)) {
    const problem = take(key, valueAt(json, key), of, key)
    if (problem) return Either.left(problem)
  }
  for (const [key, fields] of Object.entries(byModel)) {
    const problem = readModels(key, valueAt(json, key), fields, take)
    if (problem) return Either.left(problem)
  }
  return Either.right({ values, ignored })
}

const readModels = (
  key: string,
  models: unknown,
  fields: { readonly [field: string]: Rule },
  take: (key: string, value: unknown, of: Rule, name: string) => Problem | undefined
): Problem | undefined => {
  if (!isObject(models)) return objectProblem(models, key)
  for (const [model, entry] of Object.entries(models)) {
    const name = `${key}["${model}"]`
    if (!isObject(entry)) return { key: name, value: entry, allowed: "an object" }
    for (const [field, of] of Object.entries(fields)) {
      const problem = take([key, model, field].join("\n"), entry[field], of, `${name}.${field}`)
      if (problem) return problem
    }
  }
  return undefined
}

/** The settings that files make, each over the one before it, key by key. */
export const merge = (files: ReadonlyArray<FileValues>): Values => {
  const all = new Map(files.flatMap(({ values }) => [...values]))
  const section = (name: string, base: object): object =>
    Object.fromEntries(
      Object.entries(base).map(([field, value]) => {
        const key = `${name}.${field}`
        return [field, byModel[key] === undefined ? (all.has(key) ? all.get(key) : value) : models(all, key)]
      })
    )
  return {
    compaction: { ...defaults.compaction, ...section("compaction", defaults.compaction) },
    branchSummary: { ...defaults.branchSummary, ...section("branchSummary", defaults.branchSummary) },
    cutpoint: { ...defaults.cutpoint, ...section("cutpoint", defaults.cutpoint) }
  }
}

const models = (all: ReadonlyMap<string, unknown>, key: string): object => {
  const found = new Map<string, Array<readonly [string, unknown]>>()
  for (const [path, value] of all) {
    if (!path.startsWith(`${key}\n`)) continue
    // A model's name may hold line breaks, a field's does not.
    const end = path.lastIndexOf("\n")
    const model = path.slice(key.length + 1, end)
    found.set(model, [...(found.get(model) ?? []), [path.slice(end + 1), value]])
  }
  return Object.fromEntries([...found].map(([model, fields]) => [model, Object.fromEntries(fields)]))
}

const isObject = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const objectProblem = (value: unknown, key: string): Problem | undefined =>
  value === undefined || isObject(value) ? undefined : { key, value, allowed: "an object" }

const valueAt = (json: { readonly [key: string]: unknown }, key: string): unknown => {
  const [section = "", field = ""] = key.split(".")
  const values = json[section]
  return isObject(values) && Object.hasOwn(values, field) ? values[field] : undefined
}
