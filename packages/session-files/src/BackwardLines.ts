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
import * as Fiber from "effect/Fiber"
import { ByteLine } from "./ByteLine.js"
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
 * starts, in bytes. Far from the end, while the lines of a block are given, the
 * block before it is already being read.
 */
export const read = Effect.fnUntraced(function* (
  file: FileSystem.File,
  size: number,
  onLine: (line: ByteLine, offset: number) => boolean,
  firstBlock: number = usualFirstBlock
): Effect.fn.Return<void, PlatformError.PlatformError> {
  const splitter = new Splitter(size, onLine)
  const lengthAt = (end: number): number => Math.min(end, size - end < patience ? firstBlock : largestBlock)
  /** What is not being read from. */
  let spare = none
  const readBefore = (end: number) => {
    const length = lengthAt(end)
    const buffer = spare.length < length ? Buffer.allocUnsafeSlow(length) : spare
    const filled = Revision.fill(file, end - length, buffer.subarray(0, length))
    return Effect.map(filled, (bytes) => ({ buffer, block: buffer.subarray(0, bytes.length), start: end - length }))
  }
  let current = yield* readBefore(size)
  while (current.start > 0) {
    if (size - current.start < patience) {
      if (!splitter.push(current.block, current.start)) return
      spare = current.buffer
      current = yield* readBefore(current.start)
      spare = none
      continue
    }
    const ahead = yield* Effect.fork(Effect.uninterruptible(readBefore(current.start)))
    // Lets the reading begin.
    yield* Effect.yieldNow()
    const isWanted = splitter.push(current.block, current.start)
    const next = yield* Fiber.join(ahead)
    if (!isWanted) return
    spare = current.buffer
    current = next
  }
  if (splitter.push(current.block, 0)) splitter.end()
})

const none = Buffer.alloc(0)

/** Takes blocks apart into lines, the last block first. */
class Splitter {
  /** The pieces of a line whose start has not been read, in order. */
  private pieces: Array<Buffer> = []

  constructor(
    private readonly size: number,
    private readonly onLine: (line: ByteLine, offset: number) => boolean
  ) {}

  /** Takes the block before those that it had; whether more is wanted. */
  push(block: Buffer, start: number): boolean {
    let until = block.length
    for (let feed = feedBefore(block, until); feed >= 0; feed = feedBefore(block, until)) {
      const line = this.lineOf(block, feed + 1, until)
      until = feed
      // What follows the last line feed is no line where nothing does.
      const isLine = line.length > 0 || start + feed + 1 < this.size
      if (isLine && !this.onLine(line, start + feed + 1)) return false
    }
    // The block is used again for another one.
    this.pieces.unshift(Buffer.from(block.subarray(0, until)))
    return true
  }

  /** There is no block before. */
  end(): void {
    const first = Buffer.concat(this.pieces)
    if (this.size > 0) this.onLine(new ByteLine(first, 0, first.length), 0)
  }

  private lineOf(block: Buffer, start: number, end: number): ByteLine {
    if (this.pieces.length === 0) return new ByteLine(block, start, end)
    const whole = Buffer.concat([block.subarray(start, end), ...this.pieces])
    this.pieces = []
    return new ByteLine(whole, 0, whole.length)
  }
}

const feedBefore = (block: Buffer, until: number): number => (until === 0 ? -1 : block.lastIndexOf(lineFeed, until - 1))
