/**
 * A request to any `LanguageModel` of `@effect/ai`, and its reply as parts.
 *
 * @since 0.1.0
 */
import type * as Llm from "@cutpoint/compaction/Llm"
import type * as AiError from "@effect/ai/AiError"
import type * as LanguageModel from "@effect/ai/LanguageModel"
import type * as Response from "@effect/ai/Response"
import type * as ParseResult from "effect/ParseResult"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as ErrorBody from "./ErrorBody.js"
import type { Fault } from "./Fault.js"
import * as ReplyUsage from "./ReplyUsage.js"
import * as Said from "./Said.js"

/** The reply to a request. It fails with what went wrong; the error that said so, which may hold a key, is dropped. */
export const stream = (
  languageModel: LanguageModel.Service,
  { prompt, system }: Llm.Request
): Stream.Stream<Llm.Part, Fault> =>
  languageModel
    .streamText({
      prompt: [
        { role: "system", content: system },
        { role: "user", content: [{ type: "text", text: prompt }] }
      ]
    })
    .pipe(
      Stream.catchAll((error) =>
        Stream.fromEffect(Effect.flip(Effect.map(Clock.currentTimeMillis, (now) => faultOf(error, now))))
      ),
      Stream.mapConcat(partsOf),
      Stream.flatMap((part) => (part._tag === "Fault" ? Stream.fail(part.fault) : Stream.succeed(part)))
    )

type Heard = Llm.Part | { readonly _tag: "Fault"; readonly fault: Fault }

const partsOf = (part: Response.StreamPart<{}>): ReadonlyArray<Heard> => {
  switch (part.type) {
    case "text-delta":
      return [{ _tag: "Text", text: part.delta }]
    case "reasoning-delta":
      return [{ _tag: "Thinking", text: part.delta }]
    case "finish":
      return [{ _tag: "Finish", stopReason: stopReasonOf(part.reason), usage: ReplyUsage.of(part) }]
    case "error":
      return [{ _tag: "Fault", fault: ErrorBody.ofEvent(part.error) }]
    default:
      return []
  }
}

/** Why a reply ended, in the port's words. */
export const stopReasonOf = (reason: Response.FinishReason) =>
  Said.stopReason({ length: "length", "tool-calls": "toolUse", "content-filter": "refusal" }, reason) ?? "stop"

/** What an error says went wrong. `now` is in milliseconds since 1970. */
export const faultOf = (error: AiError.AiError | ParseResult.ParseError, now: number): Fault => {
  switch (error._tag) {
    case "HttpResponseError":
      return error.reason === "StatusCode"
        ? ErrorBody.read({
            status: error.response.status,
            headers: error.response.headers,
            body: error.body ?? "",
            now
          })
        : { codes: ["unavailable"], message: "the connection broke." }
    case "HttpRequestError":
      return error.reason === "Transport"
        ? { codes: ["unavailable"], message: "no connection to the provider." }
        : { codes: ["invalid_argument"], message: `the request could not be made (${error.reason}).` }
    case "MalformedInput":
      return { codes: ["invalid_argument"], message: "the request could not be made." }
    default:
      return { codes: ["malformed"], message: "the reply is not what was expected." }
  }
}
