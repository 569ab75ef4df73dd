/**
 * Runs the calls of a reply that is already stored, so that what was asked for
 * outlives whatever happens to the tool.
 *
 * @since 0.1.0
 */
import * as Json from "@cutpoint/core/Json"
import type * as Message from "@cutpoint/core/Message"
import * as AiError from "@effect/ai/AiError"
import * as Response from "@effect/ai/Response"
import type * as Tool from "@effect/ai/Tool"
import type * as Toolkit from "@effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as ChatMessages from "./ChatMessages.js"
import * as ChatReply from "./ChatReply.js"
import * as ChatTyping from "./ChatTyping.js"

/** The tools that are offered, ready to be run; none where none are. */
export const toolkitOf = ({
  toolkit
}: ChatTyping.Options): Effect.Effect<Toolkit.WithHandler<ChatTyping.Tools> | undefined, unknown> => {
  const given = ChatTyping.toolkitOf(toolkit)
  return Effect.isEffect(given) ? given : Effect.succeed(given)
}

/** What a request's model asked the tools, in order. */
export interface Asked {
  /** To be offered in place of the toolkit. */
  readonly toolkit: Toolkit.WithHandler<ChatTyping.Tools>
  /** The arguments of each call as the model wrote them. */
  readonly written: ReadonlyArray<unknown>
}

/**
 * A toolkit whose tools do not run yet: replies come with decoded arguments, and
 * decoding is not always undone by encoding, but tools are given the arguments
 * as they were written.
 */
export const asked = (toolkit: Toolkit.WithHandler<ChatTyping.Tools>): Asked => {
  const written: Array<unknown> = []
  const handle = (name: string, params: unknown) =>
    Effect.suspend(() => {
      const tool = toolkit.tools[name]
      written.push(params)
      return tool === undefined ? unknownTool(name, toolkit) : Effect.as(decoded(tool, name, params), unanswered)
    })
  return { toolkit: ChatTyping.withHandle(toolkit, handle), written }
}

const unanswered = { result: undefined, encodedResult: null, isFailure: false }

const unknownTool = (name: string, { tools }: Toolkit.WithHandler<ChatTyping.Tools>) =>
  new AiError.MalformedOutput({
    module: "SessionChat",
    method: `${name}.handle`,
    description: `The model calls the tool '${name}', which is not offered; it may call ${Object.keys(tools).join(", ")}.`
  })

const decoded = (tool: Tool.Any, name: string, params: unknown) =>
  Effect.mapError(
    Schema.decodeUnknown(ChatTyping.parametersOf(tool))(params),
    (cause) =>
      new AiError.MalformedOutput({
        module: "SessionChat",
        method: `${name}.handle`,
        description: `The model calls the tool '${name}' with other arguments than it takes: ${Json.textOf(params)}`,
        cause
      })
  )

/** Whether a part is the answer that tools give which do not run yet. */
export const isUnanswered = (part: Response.AnyPart): boolean => part.type === "tool-result" && !part.providerExecuted

/** Arguments as far as they can be had again from what was made of them. */
export const argumentsOf = (
  toolkit: Toolkit.WithHandler<ChatTyping.Tools> | undefined,
  { name, params }: ChatTyping.Call
): unknown => {
  const tool = toolkit?.tools[name]
  if (tool === undefined) return params
  return Option.getOrElse(Schema.encodeUnknownOption(ChatTyping.parametersOf(tool))(params), () => params)
}

/**
 * Runs a call with the arguments as they were written; `stored` keeps what comes
 * of it, a failure included, before anything else is done.
 */
export const run = (
  toolkit: Toolkit.WithHandler<ChatTyping.Tools>,
  call: ChatTyping.Call,
  written: unknown,
  stored: (message: Message.ToolResultMessage) => Effect.Effect<void, unknown>
): Effect.Effect<ChatTyping.Result, unknown> =>
  ChatTyping.handle(toolkit, call.name, written).pipe(
    Effect.map(({ encodedResult, isFailure, result }) =>
      Response.toolResultPart({
        id: call.id,
        name: call.name,
        result,
        encodedResult,
        isFailure,
        providerExecuted: false,
        ...(call.providerName === undefined ? {} : { providerName: call.providerName })
      })
    ),
    Effect.tapError((error) => stored(failureOf(call, error))),
    Effect.tap((part) => Effect.forEach(messagesOf(part), stored, { discard: true }))
  )

const messagesOf = (part: ChatTyping.Result): ReadonlyArray<Message.ToolResultMessage> =>
  ChatMessages.ofJson([{ role: "tool", content: [ChatReply.resultOf(part)], options: {} }]).filter(
    (message) => message.role === "toolResult"
  )

/** What the model is told of a tool that failed: not what its error says, which is nobody's but the program's. */
const failureOf = ({ id, name, providerName }: ChatTyping.Call, error: unknown): Message.ToolResultMessage => ({
  role: "toolResult",
  toolCallId: id,
  toolName: providerName ?? name,
  content: [{ type: "text", text: `The tool failed${kindOf(error)}.` }],
  isError: true
})

const kindOf = (error: unknown): string =>
  Json.isObject(error) && typeof error._tag === "string" ? ` (${error._tag})` : ""
