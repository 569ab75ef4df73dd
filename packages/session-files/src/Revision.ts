/**
 * Names the state of a file, so that a change by anyone is noticed.
 *
 * Sessions are appended to, and then the size grows; or they are replaced, and
 * then it is another file. The last bytes tell apart what has one size by
 * chance. The time of the last change is left out: it is too coarse to notice
 * a quick change, and a failed append that was taken back must not count.
 *
 * @since 0.1.0
 */
import type * as PlatformError from "@effect/platform/Error"
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

/** A file at one moment. */
export interface FileState {
  readonly revision: string
  /** In bytes. */
  readonly size: number
  /** Whether what is appended starts on a line of its own. */
  readonly endsLine: boolean
}

/** How many of the last bytes count. */
const tailBytes = 4096

const lineFeed = 0x0a

/** The state of an open file. */
export const of = Effect.fnUntraced(function* (
  file: FileSystem.File
): Effect.fn.Return<FileState, PlatformError.PlatformError> {
  const info = yield* file.stat
  return yield* at(file, Number(info.size))
})

/** The state that an open file had when it had `size` bytes, if it has only grown since. */
export const at = Effect.fnUntraced(function* (
  file: FileSystem.File,
  size: number
): Effect.fn.Return<FileState, PlatformError.PlatformError> {
  const info = yield* file.stat
  const length = Math.min(size, tailBytes)
  const tail = yield* bytesAt(file, size - length, length)
  const inode = Option.getOrElse(info.ino, () => 0)
  return { revision: `${size}:${inode}:${hash(tail)}`, size, endsLine: tail.length === 0 || tail.at(-1) === lineFeed }
})

/** `length` bytes of a file from `offset` on; fewer where it ends before. */
export const bytesAt = Effect.fnUntraced(function* (
  file: FileSystem.File,
  offset: number,
  length: number
): Effect.fn.Return<Uint8Array, PlatformError.PlatformError> {
  return yield* fill(file, offset, new Uint8Array(length))
})

/** A file's bytes from `offset` on, as many as `bytes` takes; fewer where it ends before. */
export const fill = Effect.fnUntraced(function* (
  file: FileSystem.File,
  offset: number,
  bytes: Uint8Array
): Effect.fn.Return<Uint8Array, PlatformError.PlatformError> {
  yield* file.seek(offset, "start")
  let filled = 0
  while (filled < bytes.length) {
    const read = Number(yield* file.read(bytes.subarray(filled)))
    if (read === 0) break
    filled += read
  }
  return bytes.subarray(0, filled)
})

/** Two multiplicative hashes of 32 bits each, in hex. */
const hash = (bytes: Uint8Array): string => {
  let one = 0x811c9dc5
  let other = 0xdeadbeef
  for (const byte of bytes) {
    one = Math.imul(one ^ byte, 0x01000193)
    other = Math.imul(other ^ byte, 0x9e3779b1)
  }
  return [one, other].map((half) => (half >>> 0).toString(16).padStart(8, "0")).join("")
}
