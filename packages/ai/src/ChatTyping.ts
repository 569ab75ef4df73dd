/**
 * The types of `@effect/ai`, which depend on the tools and options of each call,
 * put back on what is done alike for all of them. Nothing else is done here.
 *
 * @since 0.1.0
 */
import type * as Json from "@cutpoint/core/Json"
import type * as Chat from "@effect/ai/Chat"
import type * as LanguageModel from "@effect/ai/LanguageModel"
import type * as Prompt from "@effect/ai/Prompt"
import type * as Response from "@effect/ai/Response"
import type * as Tool from "@effect/ai/Tool"
import type * as Toolkit from "@effect/ai/Toolkit"
import type * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"

/** The tools of any call. */
export type Tools = Record<string, Tool.Any>

/** The options of any call. */
export type Options = LanguageModel.GenerateTextOptions<Tools>

/** The options of any call for an object. */
export type ObjectOptions = LanguageModel.GenerateObjectOptions<Tools, unknown, Record<string, unknown>, never>

/** A call in a reply. */
export type Call = Response.ToolCallPart<string, unknown>

/** What came of a call. */
export type Result = Response.ToolResultPart<string, unknown, unknown>

/** A part of a streamed reply. */
export type Part = Response.StreamPart<Tools>

/** What a chat does, whatever the tools and the options are. */
export interface Calls {
  readonly generateText: (
    options: Options
  ) => Effect.Effect<LanguageModel.GenerateTextResponse<Tools>, unknown, LanguageModel.LanguageModel>
  readonly streamText: (options: Options) => Stream.Stream<Part, unknown, LanguageModel.LanguageModel>
  readonly generateObject: (
    options: ObjectOptions
  ) => Effect.Effect<LanguageModel.GenerateObjectResponse<Tools, unknown>, unknown, LanguageModel.LanguageModel>
}

/** As a `Chat` has it. */
export const typed = (calls: Calls): Pick<Chat.Service, keyof Calls> =>
  calls as unknown as Pick<Chat.Service, keyof Calls>

/** The schema of a tool's arguments; what it needs, it was given with the tools. */
export const parametersOf = (tool: Tool.Any): Schema.Schema<unknown> =>
  tool.parametersSchema as unknown as Schema.Schema<unknown>

/** The tools that are offered, ready to be run; what they need is in the context of the call. */
export const toolkitOf = (
  toolkit: Options["toolkit"]
): Toolkit.WithHandler<Tools> | Effect.Effect<Toolkit.WithHandler<Tools>, unknown> | undefined =>
  toolkit as Toolkit.WithHandler<Tools> | Effect.Effect<Toolkit.WithHandler<Tools>, unknown> | undefined

/** A message in JSON that the schema of prompts takes. */
export const encoded = (message: Json.JsonObject): Prompt.MessageEncoded => message as unknown as Prompt.MessageEncoded

/** The tools as an option of a request. */
export const offered = (toolkit: Options["toolkit"]): { readonly toolkit?: NonNullable<Options["toolkit"]> } =>
  toolkit === undefined ? {} : { toolkit }

/** The same tools, handled otherwise. */
export const withHandle = (
  toolkit: Toolkit.WithHandler<Tools>,
  handle: (name: string, params: unknown) => Effect.Effect<unknown, unknown, unknown>
): Toolkit.WithHandler<Tools> => ({ ...toolkit, handle: handle as unknown as Toolkit.WithHandler<Tools>["handle"] })

/** Runs a tool; what it needs is in the context of the call. */
export const handle = (
  toolkit: Toolkit.WithHandler<Tools>,
  name: string,
  params: unknown
): Effect.Effect<Tool.HandlerResult<Tool.Any>, unknown> =>
  (
    toolkit.handle as unknown as (name: string, params: unknown) => Effect.Effect<Tool.HandlerResult<Tool.Any>, unknown>
  )(name, params)

/** A reply with what came of its calls. */
export const joined = (
  content: ReadonlyArray<Response.Part<Tools>>,
  results: ReadonlyArray<Result>
): Array<Response.Part<Tools>> => [...content, ...(results as unknown as ReadonlyArray<Response.Part<Tools>>)]

/** What came of calls, as a stream has it. */
export const streamed = (results: ReadonlyArray<Result>): ReadonlyArray<Part> =>
  results as unknown as ReadonlyArray<Part>
