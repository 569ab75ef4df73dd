/**
 * Cuts a text so that a byte-pair encoder takes linear time over it.
 *
 * An encoder splits a text into chunks, and merges the bytes of each in
 * quadratic time. A chunk ends where the kind of character changes, so that
 * one without a change is the whole text. Here no kind goes on for longer
 * than its limit. A character can be of several kinds, because chunks of
 * different sorts take it: a combining mark goes on a word as well as a row
 * of symbols, a slash goes on a row of symbols as well as line ends.
 *
 * Laws. The pieces joined are the text; no piece is empty; no cut splits a
 * surrogate pair; a text in which no kind goes on beyond its limit is one
 * piece.
 *
 * @since 0.1.0
 */

interface Kind {
  readonly pattern: RegExp
  /** How many characters (code points) of this kind may follow each other in a piece. */
  readonly limit: number
}

/** The longest row of one kind, in characters (code points). */
export const longestRun = 256

/** Digits are taken by threes, so a multiple of three keeps their count exact. */
const longestDigitRun = 255

const kinds: ReadonlyArray<Kind> = [
  { pattern: /[\p{L}\p{M}]/u, limit: longestRun },
  { pattern: /\p{N}/u, limit: longestDigitRun },
  { pattern: /[^\s\p{L}\p{N}]/u, limit: longestRun },
  { pattern: /\s/u, limit: longestRun },
  { pattern: /[\r\n/]/u, limit: longestRun }
]

const limits = Uint16Array.from(kinds, (kind) => kind.limit)

/** The pieces of a text, in order; none of the empty text. Linear in the text's length. */
export const cut = (text: string): ReadonlyArray<string> => {
  if (!mayHaveLongRun(text)) return text === "" ? [] : [text]
  const pieces: Array<string> = []
  const runs = new Runs()
  let start = 0
  let at = 0
  while (at < text.length) {
    const unit = text.charCodeAt(at)
    const point = unit < firstSurrogate ? unit : (text.codePointAt(at) ?? 0)
    if (!runs.take(point)) {
      pieces.push(text.slice(start, at))
      start = at
      runs.start(point)
    }
    at += point > 0xffff ? 2 : 1
  }
  pieces.push(text.slice(start))
  return pieces
}

/**
 * A quick look at whether a kind may go on for too long. A row of any kind but
 * one is free of blank space, or is all blank space and slashes; control
 * characters and those outside ASCII count as both.
 */
const mayHaveLongRun = (text: string): boolean => {
  let dense = 0
  let blank = 0
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    const isBlank = unit === space || (unit >= firstBlank && unit <= lastBlank)
    dense = isBlank ? 0 : dense + 1
    blank = isBlank || unit === slash || unit < space || unit >= del ? blank + 1 : 0
    if (dense > longestDigitRun || blank > longestDigitRun) return true
  }
  return false
}

const firstSurrogate = 0xd800
const space = 0x20
const slash = 0x2f
const del = 0x7f
/** Tab, line feed, vertical tab, form feed and carriage return. */
const firstBlank = 0x09
const lastBlank = 0x0d

/** How long each kind has gone on. Characters of the same kinds in a row only lessen the room that is left. */
class Runs {
  private readonly lengths = new Uint16Array(kinds.length)
  private mask = 0
  /** How many more characters of these kinds fit. */
  private room = 0
  private roomAtFirst = 0

  /** Goes on with a character; false where one of its kinds is too long with it. */
  take(point: number): boolean {
    const mask = kindsOf(point)
    if (mask !== this.mask) this.change(mask)
    if (this.room === 0) return false
    this.room--
    return true
  }

  /** Begins anew with a character. */
  start(point: number): void {
    this.lengths.fill(0)
    this.mask = 0
    this.room = 0
    this.roomAtFirst = 0
    this.take(point)
  }

  private change(mask: number): void {
    const taken = this.roomAtFirst - this.room
    let room = Infinity
    for (let kind = 0; kind < this.lengths.length; kind++) {
      const before = (this.lengths[kind] ?? 0) + ((this.mask >> kind) & 1) * taken
      const length = ((mask >> kind) & 1) * before
      this.lengths[kind] = length
      if (((mask >> kind) & 1) === 1) room = Math.min(room, (limits[kind] ?? 0) - length)
    }
    this.mask = mask
    this.room = room
    this.roomAtFirst = room
  }
}

/** The kinds of each code point as bits; 0 where they have not been looked up. Every character is of one kind at least. */
const known = new Uint8Array(0x110000)

const kindsOf = (point: number): number => {
  const before = known[point] ?? 0
  if (before !== 0) return before
  const character = String.fromCodePoint(point)
  let mask = 0
  kinds.forEach(({ pattern }, kind) => {
    if (pattern.test(character)) mask |= 1 << kind
  })
  known[point] = mask
  return mask
}
