/**
 * Runs the calls of a reply that is already stored, so that what was asked for
 * outlives whatever happens to the tool.
 *
 * @since 0.1.0
 */
import * as Json from "@cutpoint/core/Json"
import type * as Message from "@cutpoint/core/Message"
import * as Response from "@effect/ai/Response"
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

/** A call's arguments as the model wrote them. */
export const argumentsOf =
  (toolkit: Toolkit.WithHandler<ChatTyping.Tools> | undefined) =>
  ({ name, params }: ChatTyping.Call): unknown => {
    const tool = toolkit?.tools[name]
    if (tool === undefined) return params
    return Option.getOrElse(Schema.encodeUnknownOption(ChatTyping.parametersOf(tool))(params), () => params)
  }

/** Runs a call; `stored` keeps what comes of it, a failure included, before anything else is done. */
export const run = (
  toolkit: Toolkit.WithHandler<ChatTyping.Tools>,
  call: ChatTyping.Call,
  stored: (message: Message.ToolResultMessage) => Effect.Effect<void, unknown>
): Effect.Effect<ChatTyping.Result, unknown> =>
  ChatTyping.handle(toolkit, call.name, argumentsOf(toolkit)(call)).pipe(
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
