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

/** Server-sent events. One that the stream breaks off in does not count. */
export const serverSentEvents: Framing = {
  contentTypes: ["text/event-stream"],
  decode: (bytes) =>
    Stream.suspend(() => {
      let frames: Array<Frame> = []
      const parser = Sse.makeParser((event) => {
        if (event._tag === "Event") frames.push({ name: event.event, data: event.data })
      })
      return bytes.pipe(
        Stream.decodeText(),
        Stream.mapConcat((text) => {
          frames = []
          parser.feed(text)
          return frames
        })
      )
    }),
  encode: ({ data, name }) => encoder.encode(Sse.encoder.write({ _tag: "Event", event: name, id: undefined, data }))
}
