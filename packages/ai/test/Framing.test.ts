import { eventStream } from "@cutpoint/ai/EventStreamFraming"
import { type Frame, type Framing, serverSentEvents } from "@cutpoint/ai/Framing"
import { it } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Stream from "effect/Stream"
import { describe, expect } from "vitest"

const encoder = new TextEncoder()

/** Cuts bytes at these places, given as shares of the whole. */
const cutAt = (bytes: Uint8Array, shares: ReadonlyArray<number>): ReadonlyArray<Uint8Array> => {
  const places = [0, ...shares.map((share) => Math.floor(share * bytes.length)), bytes.length].toSorted((a, b) => a - b)
  return places.slice(1).map((end, index) => bytes.slice(places[index], end))
}

const decoded = (framing: Framing, pieces: ReadonlyArray<Uint8Array>): ReadonlyArray<Frame> =>
  Chunk.toReadonlyArray(Effect.runSync(Stream.runCollect(framing.decode(Stream.fromIterable(pieces)))))

const joined = (pieces: ReadonlyArray<Uint8Array>): Uint8Array => new Uint8Array(pieces.flatMap((piece) => [...piece]))

const shares = FastCheck.array(FastCheck.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 })
const lineEnd = FastCheck.constantFrom("\n", "\r\n", "\r")
const name = FastCheck.constantFrom("message", "content_block_delta", "error")
const json = FastCheck.string({ unit: "binary", minLength: 1 }).map((text) => JSON.stringify({ text }))
const frames = FastCheck.array(FastCheck.record({ name, data: json }), { maxLength: 6 })

/** What servers put between events, and no event comes of. */
const filler = FastCheck.constantFrom(
  "",
  ": OPENROUTER PROCESSING\n\n",
  ":\n\n",
  "retry: 3000\n\n",
  "id: 7\n\n",
  "data:\n\n",
  "event: ping\n\n"
)

describe("server-sent events", () => {
  it("are the same however the bytes are cut, whatever ends their lines and stands between them", () => {
    FastCheck.assert(
      FastCheck.property(frames, filler, lineEnd, shares, (events, between, end, cuts) => {
        const text = events.map(({ data, name }) => `${between}event: ${name}\ndata: ${data}\n\n`).join("") + between
        const bytes = encoder.encode(text.replaceAll("\n", end))
        expect(decoded(serverSentEvents, cutAt(bytes, cuts))).toEqual(events)
      }),
      { numRuns: 1000 }
    )
  })

  it("are the same when they come byte by byte", () => {
    const text = `\u{FEFF}: hi\r\n\r\nevent: a\r\ndata: {"one":\r\ndata: "\u{1F600}"}\r\n\r\ndata: [DONE]\r\n\r\n`
    const bytes = encoder.encode(text)
    expect(
      decoded(
        serverSentEvents,
        [...bytes].map((byte) => new Uint8Array([byte]))
      )
    ).toEqual([
      { name: "a", data: '{"one":\n"\u{1F600}"}' },
      { name: "message", data: "[DONE]" }
    ])
  })

  it("come back from what they are encoded as", () => {
    FastCheck.assert(
      FastCheck.property(frames, (events) => {
        expect(decoded(serverSentEvents, events.map(serverSentEvents.encode))).toEqual(events)
      })
    )
  })

  it("that the stream breaks off in do not count", () => {
    expect(decoded(serverSentEvents, [encoder.encode('data: {"a":1}\n\ndata: {"b"')])).toEqual([
      { name: "message", data: '{"a":1}' }
    ])
  })
})

describe("Amazon's frames", () => {
  it("are the same however the bytes are cut", () => {
    FastCheck.assert(
      FastCheck.property(frames, shares, (events, cuts) => {
        const bytes = joined(events.map(eventStream.encode))
        expect(decoded(eventStream, cutAt(bytes, cuts))).toEqual(events)
      }),
      { numRuns: 500 }
    )
  })

  it("that the stream breaks off in do not count", () => {
    const whole = eventStream.encode({ name: "messageStart", data: "{}" })
    expect(decoded(eventStream, [whole, whole.slice(0, -1)])).toEqual([{ name: "messageStart", data: "{}" }])
  })

  const damages: ReadonlyArray<readonly [string, (bytes: Uint8Array) => Uint8Array]> = [
    ["a byte is another one", (bytes) => bytes.with(20, 255)],
    ["it says that it has no length", (bytes) => joined([new Uint8Array(4), bytes.slice(4)])],
    [
      "it says that it is shorter than a frame can be",
      (bytes) => joined([new Uint8Array([0, 0, 0, 8]), bytes.slice(4)])
    ],
    ["it says that it has gigabytes", (bytes) => joined([new Uint8Array([0x7f, 0, 0, 0]), bytes.slice(4)])],
    ["it is text", () => encoder.encode("<html>Bad Gateway</html>")]
  ]
  it.each(damages)("are at an end where one is damaged: %s", (_, damage) => {
    const whole = eventStream.encode({ name: "messageStart", data: '{"role":"assistant"}' })
    const bytes = joined([whole, damage(whole), whole])
    expect(decoded(eventStream, [bytes]).slice(0, 2)).toEqual([
      { name: "messageStart", data: '{"role":"assistant"}' },
      { name: "damaged", data: "" }
    ])
  })
})
