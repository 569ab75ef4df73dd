/**
 * How a model is asked in a turn: for a text, for an object, or for a stream.
 *
 * @since 0.1.0
 */
import * as LanguageModel from "@effect/ai/LanguageModel"
import type * as Prompt from "@effect/ai/Prompt"
import * as Chunk from "effect/Chunk"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type * as ChatReply from "./ChatReply.js"
import * as ChatTools from "./ChatTools.js"
import * as ChatTurn from "./ChatTurn.js"
import * as ChatTyping from "./ChatTyping.js"
import * as ErrorBody from "./ErrorBody.js"
import * as Fault from "./Fault.js"

type Text = LanguageModel.GenerateTextResponse<ChatTyping.Tools>

/** A turn whose reply is a text. */
export const text = Effect.fnUntraced(function* (turn: ChatTurn.Turn) {
  const { reply, response } = yield* whole(turn, (prompt, toolkit) =>
    LanguageModel.generateText(ready(turn.options, prompt, toolkit))
  )
  return new LanguageModel.GenerateTextResponse(yield* answered(turn, reply, response))
})

/** A turn whose reply is an object. */
export const object = Effect.fnUntraced(function* (turn: ChatTurn.Turn, options: ChatTyping.ObjectOptions) {
  const { reply, response } = yield* whole(turn, (prompt, toolkit) =>
    LanguageModel.generateObject(ready(options, prompt, toolkit))
  )
  return new LanguageModel.GenerateObjectResponse(response.value, yield* answered(turn, reply, response))
})

/** The calls are run here, when the reply is stored; what the model is offered only takes note of them. */
const ready = <Options extends ChatTyping.Options>(
  options: Options,
  prompt: Prompt.Prompt,
  toolkit: ChatTyping.Options["toolkit"]
) => ({ ...options, prompt, disableToolCallResolution: false as const, ...ChatTyping.offered(toolkit) })

/** Asks, once more after an overflow, and keeps the reply. */
const whole = <Response extends Text, E, R>(
  turn: ChatTurn.Turn,
  ask: (prompt: Prompt.Prompt, toolkit: ChatTyping.Options["toolkit"]) => Effect.Effect<Response, E, R>,
  isRetry = false
): Effect.Effect<{ readonly reply: ChatReply.Gathered; readonly response: Response }, unknown, R> => {
  const { reply, toolkit } = ChatTurn.request(turn)
  return Effect.suspend(() => ask(ChatTurn.promptOf(turn), toolkit)).pipe(
    Effect.matchEffect({
      onFailure: (error) =>
        Effect.flatMap(ChatTurn.failed(turn, reply, error, isRetry), (isToBeMadeAgain) =>
          isToBeMadeAgain ? whole(turn, ask, true) : Effect.fail(error)
        ),
      onSuccess: (response) => {
        for (const part of response.content) if (!ChatTools.isUnanswered(part)) reply.take(part)
        return Effect.flatMap(kept(turn, reply, isRetry), (isToBeMadeAgain) =>
          isToBeMadeAgain ? whole(turn, ask, true) : Effect.succeed({ reply, response })
        )
      }
    })
  )
}

/** Keeps a reply that is complete; whether the request is to be made again, nothing having come of it. */
const kept = (turn: ChatTurn.Turn, reply: ChatReply.Gathered, isRetry: boolean) =>
  reply.isCut ? ChatTurn.cut(turn, reply, isRetry) : Effect.as(ChatTurn.keep(turn, reply), false)

/** The parts of a reply with what came of its calls; the turn is over then. */
const answered = (turn: ChatTurn.Turn, reply: ChatReply.Gathered, { content }: Text) => {
  const said = content.filter((part) => !ChatTools.isUnanswered(part))
  const results = Effect.zipLeft(ChatTurn.runTools(turn, reply), ChatTurn.end(turn))
  return Effect.map(results, (results) => ChatTyping.joined(said, results))
}

// -----------------------------------------------------------------------------
// Streams
// -----------------------------------------------------------------------------

/** A request that failed, told apart from what fails after it. */
class RequestFailed extends Data.TaggedError("RequestFailed")<{ readonly error: unknown }> {}

/** The reply that is coming in. */
interface Incoming {
  reply: ChatReply.Gathered | undefined
}

/** A turn whose reply is streamed. Left before its end, it keeps what was said. */
export const stream = Effect.fnUntraced(function* (turn: ChatTurn.Turn) {
  const incoming: Incoming = { reply: undefined }
  yield* Effect.addFinalizer(() => {
    const { reply } = incoming
    return reply === undefined || reply.isKept || reply.isEmpty
      ? Effect.void
      : Effect.ignoreLogged(ChatTurn.keep(turn, reply, reply.isFinished ? undefined : { stopReason: "aborted" }))
  })
  return streamed(turn, incoming, false)
})

const streamed = (
  turn: ChatTurn.Turn,
  incoming: Incoming,
  isRetry: boolean
): Stream.Stream<ChatTyping.Part, unknown, LanguageModel.LanguageModel> =>
  Stream.suspend(() => {
    const { reply, toolkit } = ChatTurn.request(turn)
    const ending: Array<ChatTyping.Part> = []
    incoming.reply = reply
    return LanguageModel.streamText(ready(turn.options, ChatTurn.promptOf(turn), toolkit)).pipe(
      Stream.mapChunksEffect((chunk) => taken(reply, ending, chunk)),
      Stream.mapError((error) => (error instanceof RequestFailed ? error : new RequestFailed({ error }))),
      Stream.concat(Stream.unwrap(Effect.suspend(() => ended(turn, incoming, reply, ending, isRetry)))),
      Stream.catchAll((failure) =>
        failure instanceof RequestFailed ? again(turn, incoming, reply, failure.error, isRetry) : Stream.fail(failure)
      )
    )
  })

/** The request once more where that may help, else its failure. */
const again = (turn: ChatTurn.Turn, incoming: Incoming, reply: ChatReply.Gathered, error: unknown, isRetry: boolean) =>
  Stream.unwrap(
    Effect.map(ChatTurn.failed(turn, reply, error, isRetry), (isToBeMadeAgain) =>
      isToBeMadeAgain ? streamed(turn, incoming, true) : Stream.fail(error)
    )
  )

/**
 * What of a chunk is given on. A provider can say in the middle of a stream that
 * the request was too large. Its finish waits until the reply is stored and its
 * calls have run: many go no further.
 */
const taken = Effect.fnUntraced(function* (
  reply: ChatReply.Gathered,
  ending: Array<ChatTyping.Part>,
  chunk: Chunk.Chunk<ChatTyping.Part>
) {
  const given: Array<ChatTyping.Part> = []
  for (const part of chunk) {
    if (part.type === "error" && reply.isEmpty && isOverflow(part.error)) return yield* new RequestFailed(part)
    if (ChatTools.isUnanswered(part)) continue
    reply.take(part)
    if (part.type === "finish") ending.push(part)
    else given.push(part)
  }
  return Chunk.unsafeFromArray(given)
})

const isOverflow = (error: unknown): boolean => Fault.kindOf(ErrorBody.ofEvent(error)) === "LlmOverflow"

/** The reply is kept, then its calls are run, then it ends. */
const ended = Effect.fnUntraced(function* (
  turn: ChatTurn.Turn,
  incoming: Incoming,
  reply: ChatReply.Gathered,
  ending: ReadonlyArray<ChatTyping.Part>,
  isRetry: boolean
) {
  if (yield* kept(turn, reply, isRetry)) return streamed(turn, incoming, true)
  const results = ChatTyping.streamed(yield* ChatTurn.runTools(turn, reply))
  return Stream.concat(Stream.fromIterable([...results, ...ending]), Stream.execute(ChatTurn.end(turn)))
})
