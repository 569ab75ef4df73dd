/**
 * Takes bytes apart into lines, chunk by chunk, so that a file of any size is
 * read without ever being one string.
 *
 * Laws. A line ends at a line feed and nowhere else. The lines of a file do
 * not depend on where its chunks end: bytes are only decoded a line at a time,
 * so that a character is never cut.
 *
 * @since 0.1.0
 */
import type * as PlatformError from "@effect/platform/Error"
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

/** A line without its line feed. */
export interface Line {
  /** 1-based. */
  readonly number: number
  /** Empty for a line that is too long. */
  readonly text: string
  /** False for a last line without a line feed. */
  readonly terminated: boolean
  /** Whether the line exceeds the limit, so that its text was given up. */
  readonly tooLong: boolean
}

/** Takes chunks in order. `end` gives what stands after the last line feed, if anything does. */
export interface Splitter {
  readonly push: (chunk: Uint8Array) => Iterable<Line>
  readonly end: () => Line | undefined
}

/** The longest line that is read, in bytes: 256 MiB, half of what fits into a string. */
export const maxLineBytes = 256 * 1024 * 1024

const lineFeed = 0x0a
const defaultChunkBytes = 256 * 1024

/** A fresh splitter. */
export const makeSplitter = (limit: number = maxLineBytes): Splitter => {
  const state = new State(limit)
  return {
    push: (chunk) => state.push(chunk),
    end: () => (state.isEmpty() ? undefined : state.take(false))
  }
}

/**
 * Gives the lines of a file's first `bytes` bytes to `onLine`, until it returns
 * false. Reads at most `chunkBytes` bytes at a time.
 */
export const read = Effect.fnUntraced(function* (
  file: FileSystem.File,
  bytes: number,
  onLine: (line: Line) => boolean,
  chunkBytes: number = defaultChunkBytes
): Effect.fn.Return<void, PlatformError.PlatformError> {
  const splitter = makeSplitter()
  yield* file.seek(0, "start")
  let left = bytes
  while (left > 0) {
    const chunk = yield* file.readAlloc(Math.min(left, chunkBytes))
    if (Option.isNone(chunk)) break
    left -= chunk.value.length
    for (const line of splitter.push(chunk.value)) {
      if (!onLine(line)) return
    }
  }
  const last = splitter.end()
  if (last !== undefined) onLine(last)
})

class State {
  private pieces: Array<Uint8Array> = []
  private held = 0
  private number = 0
  // The byte order mark is left in: it is a fault to report.
  private readonly decoder = new TextDecoder("utf-8", { ignoreBOM: true })

  constructor(private readonly limit: number) {}

  *push(chunk: Uint8Array): Iterable<Line> {
    let start = 0
    let end = chunk.indexOf(lineFeed)
    while (end >= 0) {
      this.hold(chunk.subarray(start, end))
      yield this.take(true)
      start = end + 1
      end = chunk.indexOf(lineFeed, start)
    }
    this.hold(chunk.subarray(start))
  }

  isEmpty(): boolean {
    return this.held === 0
  }

  take(terminated: boolean): Line {
    const tooLong = this.held > this.limit
    const text = tooLong ? "" : this.decoder.decode(this.joined())
    this.pieces = []
    this.held = 0
    this.number++
    return { number: this.number, text, terminated, tooLong }
  }

  private hold(piece: Uint8Array): void {
    if (piece.length === 0) return
    this.held += piece.length
    if (this.held > this.limit) this.pieces = []
    else this.pieces.push(piece)
  }

  private joined(): Uint8Array {
    const [only] = this.pieces
    if (this.pieces.length === 1 && only !== undefined) return only
    const whole = new Uint8Array(this.held)
    let position = 0
    for (const piece of this.pieces) {
      whole.set(piece, position)
      position += piece.length
    }
    return whole
  }
}
