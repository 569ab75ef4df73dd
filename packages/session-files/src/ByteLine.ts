/**
 * A line of a file as it lies in a block that was read: looked at by its bytes,
 * and made a text only where that is wanted.
 *
 * @since 0.1.0
 */
import * as LineHead from "@cutpoint/core/LineHead"

/** A line without its line feed. Its bytes are only good until the next block is read. */
export class ByteLine {
  constructor(
    private readonly block: Buffer,
    private readonly start: number,
    private readonly end: number
  ) {}

  /** In bytes. */
  get length(): number {
    return this.end - this.start
  }

  /** What its first bytes say of its entry; undefined where they do not. */
  head(): LineHead.LineHead | undefined {
    return LineHead.read(this.block.toString("latin1", this.start, Math.min(this.end, this.start + LineHead.length)))
  }

  /** Whether these bytes stand in it, from a byte on. */
  includes(bytes: Buffer, from = 0): boolean {
    return this.block.subarray(this.start + from, this.end).includes(bytes)
  }

  /** Its text; what is no UTF-8 becomes U+FFFD. A byte order mark is left in. */
  text(): string {
    return this.block.toString("utf8", this.start, this.end)
  }
}

/** A line that stands by itself. */
export const of = (bytes: Uint8Array): ByteLine => {
  const block = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return new ByteLine(block, 0, block.length)
}
