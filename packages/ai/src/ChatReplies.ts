/**
 * How a model is asked in a turn: for a text, for an object, or for a stream.
 *
 * @since 0.1.0
 */
import * as LanguageModel from "@effect/ai/LanguageModel"
import type * as Prompt from "@effect/ai/Prompt"
import type * as Chunk from "effect/Chunk"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type * as ChatReply from "./ChatReply.js"
import * as ChatTurn from "./ChatTurn.js"
import * as ChatTyping from "./ChatTyping.js"
import * as ErrorBody from "./ErrorBody.js"
import * as Fault from "./Fault.js"

type Text = LanguageModel.GenerateTextResponse<ChatTyping.Tools>

/** A turn whose reply is a text. */
export const text = Effect.fnUntraced(function* (turn: ChatTurn.Turn) {
  const ask = (prompt: Prompt.Prompt) => LanguageModel.generateText(unresolved(turn.options, prompt))
  const { content } = yield* whole(turn, ask)
  return new LanguageModel.GenerateTextResponse(ChatTyping.joined(content, yield* results(turn, content)))
})

/** A turn whose reply is an object. */
export const object = Effect.fnUntraced(function* (turn: ChatTurn.Turn, options: ChatTyping.ObjectOptions) {
  const ask = (prompt: Prompt.Prompt) => LanguageModel.generateObject(unresolved(options, prompt))
  const { content, value } = yield* whole(turn, ask)
  return new LanguageModel.GenerateObjectResponse(value, ChatTyping.joined(content, yield* results(turn, content)))
})

/** The calls are run here, when the reply is stored. */
const unresolved = <Options extends ChatTyping.Options>(options: Options, prompt: Prompt.Prompt) => ({
  ...options,
  prompt,
  disableToolCallResolution: true as const
})

/** Asks, once more after an overflow, and keeps the reply. */
const whole = <Reply extends Text, E, R>(
  turn: ChatTurn.Turn,
  ask: (prompt: Prompt.Prompt) => Effect.Effect<Reply, E, R>,
  isRetry = false
): Effect.Effect<Reply, unknown, R> => {
  const reply = ChatTurn.gathered(turn)
  return Effect.suspend(() => ask(ChatTurn.promptOf(turn))).pipe(
    Effect.matchEffect({
      onFailure: (error) =>
        Effect.flatMap(ChatTurn.failed(turn, reply, error, isRetry), (isToBeMadeAgain) =>
          isToBeMadeAgain ? whole(turn, ask, true) : Effect.fail(error)
        ),
      onSuccess: (response) => {
        for (const part of response.content) reply.take(part)
        if (!reply.isCut) return Effect.as(ChatTurn.keep(turn, reply), response)
        return Effect.flatMap(ChatTurn.cut(turn, reply, isRetry), (isToBeMadeAgain) =>
          isToBeMadeAgain ? whole(turn, ask, true) : Effect.succeed(response)
        )
      }
    })
  )
}

const results = (turn: ChatTurn.Turn, parts: Text["content"]) =>
  Effect.zipLeft(ChatTurn.runTools(turn, parts), ChatTurn.end(turn))

// -----------------------------------------------------------------------------
// Streams
// -----------------------------------------------------------------------------

/** A request that failed, told apart from what fails after it. */
class RequestFailed extends Data.TaggedError("RequestFailed")<{ readonly error: unknown }> {}

/** A reply that ended before anything was said, by the part that says so. */
class ReplyCut extends Data.TaggedError("ReplyCut")<{ readonly finish: ChatTyping.Part }> {}

/** The reply that is coming in. */
interface Incoming {
  reply: ChatReply.Gathered
}

/** A turn whose reply is streamed. Left before its end, it keeps what was said. */
export const stream = Effect.fnUntraced(function* (turn: ChatTurn.Turn) {
  const incoming: Incoming = { reply: ChatTurn.gathered(turn) }
  yield* Effect.addFinalizer(() => {
    const { reply } = incoming
    return reply.isKept || reply.isEmpty
      ? Effect.void
      : Effect.ignoreLogged(ChatTurn.keep(turn, reply, { stopReason: "aborted" }))
  })
  return streamed(turn, incoming, false)
})

const streamed = (
  turn: ChatTurn.Turn,
  incoming: Incoming,
  isRetry: boolean
): Stream.Stream<ChatTyping.Part, unknown, LanguageModel.LanguageModel> =>
  Stream.suspend(() => {
    const reply = ChatTurn.gathered(turn)
    const parts: Array<ChatTyping.Part> = []
    incoming.reply = reply
    return LanguageModel.streamText(unresolved(turn.options, ChatTurn.promptOf(turn))).pipe(
      Stream.mapChunksEffect((chunk) => taken(reply, parts, chunk)),
      Stream.mapError((error) =>
        error instanceof RequestFailed || error instanceof ReplyCut ? error : new RequestFailed({ error })
      ),
      Stream.concat(Stream.unwrap(Effect.suspend(() => ended(turn, reply, parts)))),
      Stream.catchAll((failure) => {
        if (failure instanceof RequestFailed) {
          const isToBeMadeAgain = ChatTurn.failed(turn, reply, failure.error, isRetry)
          return again(turn, incoming, isToBeMadeAgain, Stream.fail(failure.error))
        }
        return failure instanceof ReplyCut
          ? again(turn, incoming, ChatTurn.cut(turn, reply, isRetry), followed(turn, [failure.finish]))
          : Stream.fail(failure)
      })
    )
  })

/** The request once more where that may help, else how it ended. */
const again = <E, R>(
  turn: ChatTurn.Turn,
  incoming: Incoming,
  isToBeMadeAgain: Effect.Effect<boolean, E, R>,
  end: Stream.Stream<ChatTyping.Part, unknown>
) =>
  Stream.unwrap(
    Effect.map(isToBeMadeAgain, (isToBeMadeAgain) => (isToBeMadeAgain ? streamed(turn, incoming, true) : end))
  )

/** A provider can say in the middle of a stream that the request was too large. */
const taken = Effect.fnUntraced(function* (
  reply: ChatReply.Gathered,
  parts: Array<ChatTyping.Part>,
  chunk: Chunk.Chunk<ChatTyping.Part>
) {
  for (const part of chunk) {
    if (part.type === "error" && reply.isEmpty && isOverflow(part.error)) return yield* new RequestFailed(part)
    reply.take(part)
    if (reply.isCut) return yield* new ReplyCut({ finish: part })
    parts.push(part)
  }
  return chunk
})

const isOverflow = (error: unknown): boolean => Fault.kindOf(ErrorBody.ofEvent(error)) === "LlmOverflow"

/** The reply is kept, then its calls are run. */
const ended = (turn: ChatTurn.Turn, reply: ChatReply.Gathered, parts: ReadonlyArray<ChatTyping.Part>) =>
  ChatTurn.keep(turn, reply).pipe(
    Effect.zipRight(ChatTurn.runTools(turn, parts)),
    Effect.map((results) => followed(turn, ChatTyping.streamed(results)))
  )

/** The last parts, and the end of the turn. */
const followed = (turn: ChatTurn.Turn, parts: ReadonlyArray<ChatTyping.Part>) =>
  Stream.concat(Stream.fromIterable(parts), Stream.execute(ChatTurn.end(turn)))
