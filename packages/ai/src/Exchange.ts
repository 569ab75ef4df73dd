/**
 * One request to a provider and its reply, as they pass over the wire: what is
 * added to the request, and what the reply says besides its text.
 *
 * Works as middleware of the provider's own HTTP client, so that errors are
 * read before the client turns them into errors that hold the key, and events
 * before its decoder fails on those it does not know.
 *
 * @since 0.1.0
 */
import type * as Message from "@cutpoint/core/Message"
import type * as SummaryCheck from "@cutpoint/core/SummaryCheck"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as ErrorBody from "./ErrorBody.js"
import type { Fault } from "./Fault.js"
import type { Frame, Framing } from "./Framing.js"
import type { Reader } from "./Said.js"
import * as WireJson from "./WireJson.js"

/** What a provider's exchanges have in common. */
export interface Protocol {
  readonly framing: Framing
  readonly read: Reader
  /** Headers of one request. */
  readonly headers?: { readonly [name: string]: string } | undefined
}

/** One exchange. */
export interface Exchange {
  /** The middleware. */
  readonly transformClient: (client: HttpClient.HttpClient) => HttpClient.HttpClient
  /** What the reply has said so far. */
  readonly soFar: () => SoFar
}

/** What a reply has said so far besides its text. */
export interface SoFar {
  readonly fault: Fault | undefined
  readonly stopReason: SummaryCheck.StopReason | undefined
  readonly usage: Message.Usage | undefined
}

/** A fresh exchange, for one request. */
export const make = ({ framing, headers, read }: Protocol): Exchange => {
  let soFar: SoFar = { fault: undefined, stopReason: undefined, usage: undefined }
  let isOver = false
  const failed = (fault: Fault): void => {
    soFar = { ...soFar, fault: soFar.fault ?? fault }
    isOver = true
  }
  const heard = (frame: Frame): ReadonlyArray<Frame> => {
    // Nothing that comes after a fault or the end counts, though it may have come together with it.
    if (isOver) return []
    const event = WireJson.parse(frame.data)
    if (event === undefined) {
      if (frame.data.trim() === "[DONE]") isOver = true
      else failed(unreadable)
      return []
    }
    const said = read(event, frame.name)
    if (said.fault !== undefined) failed(said.fault)
    if (said.isLast === true) isOver = true
    soFar = {
      fault: soFar.fault,
      // What says more than "stop" is not taken back by a later event.
      stopReason:
        soFar.stopReason === undefined || soFar.stopReason === "stop"
          ? (said.stopReason ?? soFar.stopReason)
          : soFar.stopReason,
      usage: said.usage === undefined ? soFar.usage : Object.assign({}, soFar.usage, said.usage)
    }
    return said.pass === undefined ? [] : [{ name: frame.name, data: JSON.stringify(said.pass) }]
  }
  const heardStream = (response: HttpClientResponse.HttpClientResponse) =>
    framing.decode(response.stream).pipe(
      Stream.catchAll(() => {
        // One that breaks after the reply has ended has done its work.
        if (soFar.stopReason === undefined) failed(broken)
        return Stream.empty
      }),
      // Frames come several at a time; each knows whether it was the last.
      Stream.map((frame) => ({ passed: heard(frame), isOver })),
      Stream.takeUntil((one) => one.isOver),
      Stream.mapConcat(({ passed }) => passed),
      Stream.map(framing.encode)
    )
  const receive = (response: HttpClientResponse.HttpClientResponse) =>
    isReply(response, framing)
      ? Effect.succeed(withStream(response, heardStream(response)))
      : Effect.map(faultOf(response), (fault) => {
          failed(fault)
          return withStream(response, Stream.empty)
        })
  const lost = ({ reason }: HttpClientError.HttpClientError) => {
    failed(reason === "Transport" ? unreachable : { ...impossible, message: `${impossible.message} (${reason})` })
    return new HttpClientError.RequestError({ request: unsaid, reason: "Transport" })
  }
  return {
    soFar: () => soFar,
    transformClient: (client) =>
      client.pipe(
        HttpClient.mapRequest(HttpClientRequest.setHeaders(headers ?? {})),
        // The client's errors hold the request, with its key and its prompts, and get into its spans.
        HttpClient.transformResponse((sent) => Effect.flatMap(Effect.mapError(sent, lost), receive)),
        // Neither the provider nor a trace is told of the other.
        HttpClient.withTracerPropagation(false),
        HttpClient.withTracerDisabledWhen(() => true)
      )
  }
}

/** Stands in errors for the request that was made. */
const unsaid = HttpClientRequest.post("")

const unreachable: Fault = { codes: ["unavailable"], message: "no connection to the provider." }

const impossible: Fault = { codes: ["invalid_argument"], message: "the request could not be made" }

const broken: Fault = { codes: ["unavailable"], message: "the connection broke." }

const unreadable: Fault = { codes: ["malformed"], message: "a part of the reply is no JSON." }

/** Whether it is a stream of events. A server that says nothing of the type is believed. */
const isReply = ({ headers, status }: HttpClientResponse.HttpClientResponse, { contentTypes }: Framing): boolean => {
  const type = headers["content-type"]?.toLowerCase() ?? ""
  return status >= 200 && status < 300 && (type === "" || contentTypes.some((one) => type.startsWith(one)))
}

/** What an answer that is no reply says. */
const faultOf = Effect.fnUntraced(function* (response: HttpClientResponse.HttpClientResponse) {
  const now = yield* Clock.currentTimeMillis
  const body = yield* response.stream.pipe(
    Stream.decodeText(),
    Stream.runFoldWhile(
      "",
      (text) => text.length < maxBody,
      (text, more) => text + more
    ),
    Effect.orElseSucceed(() => "")
  )
  return ErrorBody.read({ status: response.status, headers: response.headers, body, now })
})

/** The most that is read of an error, in characters: it may repeat the whole request, but not go on for ever. */
const maxBody = 16 * 1024 * 1024

/** The response with another stream, and as if all were well: what is not has been taken note of. */
const withStream = (
  response: HttpClientResponse.HttpClientResponse,
  stream: Stream.Stream<Uint8Array>
): HttpClientResponse.HttpClientResponse =>
  Object.create(response, { status: { value: 200 }, stream: { value: stream } })
