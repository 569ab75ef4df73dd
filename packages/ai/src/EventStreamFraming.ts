/**
 * Amazon's binary frames, each with headers that name the event or the
 * exception it holds.
 *
 * @since 0.1.0
 */
import { EventStreamCodec } from "@smithy/eventstream-codec"
import { fromUtf8, toUtf8 } from "@smithy/util-utf8"
import * as Stream from "effect/Stream"
import { damaged, type Frame, type Framing } from "./Framing.js"

const codec = new EventStreamCodec(toUtf8, fromUtf8)

/** A frame starts with its length, in four bytes. */
const lengthBytes = 4

/** Two lengths and two checksums are the least of a frame, 24 MiB the most, in bytes. */
const frameBytes = { least: 16, most: 24 * 1024 * 1024 } as const

/** Amazon's binary frames. An exception has its own name as an event's. */
export const eventStream: Framing = {
  contentTypes: ["application/vnd.amazon.eventstream"],
  decode: (bytes) =>
    Stream.suspend(() => {
      let held = new Uint8Array(0)
      return Stream.mapConcat(bytes, (chunk) => {
        const { frames, rest } = taken(joined(held, chunk))
        held = rest
        return frames
      })
    }),
  encode: ({ data, name }) =>
    codec.encode({
      headers: {
        ":message-type": { type: "string", value: "event" },
        ":event-type": { type: "string", value: name },
        ":content-type": { type: "string", value: "application/json" }
      },
      body: fromUtf8(data)
    })
}

const joined = (one: Uint8Array, other: Uint8Array): Uint8Array<ArrayBuffer> => {
  const whole = new Uint8Array(one.length + other.length)
  whole.set(one)
  whole.set(other, one.length)
  return whole
}

/** The whole frames, and what is left over. After a length that cannot be one, nothing more can be found. */
const taken = (bytes: Uint8Array<ArrayBuffer>) => {
  const frames: Array<Frame> = []
  let start = 0
  while (bytes.length - start >= lengthBytes) {
    const length = new DataView(bytes.buffer, bytes.byteOffset + start).getUint32(0, false)
    if (length < frameBytes.least || length > frameBytes.most) {
      return { frames: [...frames, damaged], rest: new Uint8Array(0) }
    }
    if (bytes.length - start < length) break
    frames.push(frameOf(bytes.subarray(start, start + length)))
    start += length
  }
  return { frames, rest: bytes.slice(start) }
}

const frameOf = (bytes: Uint8Array): Frame => {
  try {
    const { body, headers } = codec.decode(bytes)
    const name = headers[":event-type"] ?? headers[":exception-type"] ?? headers[":error-code"]
    return { name: String(name?.value ?? ""), data: toUtf8(body) }
  } catch {
    return damaged
  }
}
