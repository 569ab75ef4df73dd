/**
 * How events stand in the bytes of a reply: as server-sent events, or in
 * Amazon's binary frames.
 *
 * @since 0.1.0
 */
import * as Sse from "@effect/experimental/Sse"
import * as Stream from "effect/Stream"

/** One event: its name and its JSON text. */
export interface Frame {
  readonly name: string
  readonly data: string
}

/** Takes bytes apart into events, and puts events into bytes again. */
export interface Framing {
  /** The start of the content type that such a reply has. */
  readonly contentTypes: ReadonlyArray<string>
  readonly decode: <E>(bytes: Stream.Stream<Uint8Array, E>) => Stream.Stream<Frame, E>
  readonly encode: (frame: Frame) => Uint8Array
}

const encoder = new TextEncoder()

/** Stands for bytes in which no event can be found. */
export const damaged: Frame = { name: "damaged", data: "" }

/** Server-sent events. One that the stream breaks off in does not count. */
export const serverSentEvents: Framing = {
  contentTypes: ["text/event-stream"],
  decode: (bytes) =>
    Stream.suspend(() => {
      let frames: Array<Frame> = []
      const parser = Sse.makeParser((event) => {
        // Some servers send empty data so that the connection is not closed.
        if (event._tag === "Event" && event.data.trim() !== "") frames.push({ name: event.event, data: event.data })
      })
      return bytes.pipe(
        Stream.decodeText(),
        Stream.mapAccum(false, withLineFeeds),
        Stream.mapConcat((text) => {
          frames = []
          const tooLarge = parser.feed(text)
          return tooLarge === undefined ? frames : [...frames, damaged]
        })
      )
    }),
  encode: ({ data, name }) => encoder.encode(Sse.encoder.write({ _tag: "Event", event: name, id: undefined, data }))
}

/**
 * Ends lines by line feeds alone: the parser takes a CRLF whose halves come one
 * after the other for two ends of lines, and so for the end of an event.
 */
const withLineFeeds = (isAfterReturn: boolean, text: string): readonly [boolean, string] => {
  const rest = isAfterReturn && text.startsWith("\n") ? text.slice(1) : text
  return [text === "" ? isAfterReturn : text.endsWith("\r"), rest.replace(/\r\n?/g, "\n")]
}
