/**
 * Gives the lines of a file from its end, block by block, so that what stands
 * far back is only read where somebody wants it.
 *
 * Law. The lines are those that reading forward gives, in reverse.
 *
 * @since 0.1.0
 */
import type * as PlatformError from "@effect/platform/Error"
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Revision from "./Revision.js"

/** The first block, which is enough for most contexts' newest part, and the largest, in bytes. */
const usualFirstBlock = 256 * 1024
const largestBlock = 1024 * 1024

/** So far back blocks stay small, in bytes: most contexts end before. */
const patience = 2 * 1024 * 1024

const lineFeed = 0x0a

/**
 * Gives the lines of a file's first `size` bytes to `onLine`, the last first,
 * without their line feeds, until it returns false. `offset` is where a line
 * starts, in bytes; the bytes of a line are only good until it returns.
 */
export const read = Effect.fnUntraced(function* (
  file: FileSystem.File,
  size: number,
  onLine: (line: Uint8Array, offset: number) => boolean,
  firstBlock: number = usualFirstBlock
): Effect.fn.Return<void, PlatformError.PlatformError> {
  let buffer = new Uint8Array(Math.min(size, firstBlock))
  // The pieces of a line whose start has not been read, in order.
  let pieces: Array<Uint8Array> = []
  let end = size
  for (let length = firstBlock; end > 0; length = size - end < patience ? length : largestBlock) {
    const start = Math.max(0, end - length)
    if (buffer.length < end - start) buffer = new Uint8Array(end - start)
    const { byteLength, byteOffset } = yield* Revision.fill(file, start, buffer.subarray(0, end - start))
    const block = Buffer.from(buffer.buffer, byteOffset, byteLength)
    let until = block.length
    for (let feed = feedBefore(block, until); feed >= 0; feed = feedBefore(block, until)) {
      const last = block.subarray(feed + 1, until)
      const line = pieces.length === 0 ? last : joined([last, ...pieces])
      pieces = []
      until = feed
      // What follows the last line feed is no line where nothing does.
      const isLine = line.length > 0 || start + feed + 1 < size
      if (isLine && !onLine(line, start + feed + 1)) return
    }
    // The block is used again for the next one.
    pieces.unshift(new Uint8Array(block.subarray(0, until)))
    end = start
  }
  if (pieces.length > 0) onLine(joined(pieces), 0)
})

/** Node searches its own kind of bytes many times faster. */
const feedBefore = (block: Buffer, until: number): number => (until === 0 ? -1 : block.lastIndexOf(lineFeed, until - 1))

const joined = (pieces: ReadonlyArray<Uint8Array>): Uint8Array => {
  const [only] = pieces
  if (pieces.length === 1 && only !== undefined) return only
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0))
  let position = 0
  for (const piece of pieces) {
    whole.set(piece, position)
    position += piece.length
  }
  return whole
}
