/**
 * A set of entries' ids. Nearly all are eight hex digits; those take eight bytes
 * each in one array, so that the ids of a long session are looked up in no time.
 *
 * Law. It holds what a `Set` of the same ids holds.
 *
 * @since 0.1.0
 */

/** A set that ids are added to. */
export class IdSet {
  /** What is not eight hex digits, or found no place. */
  private readonly others = new Set<string>()
  /** A number of an id and one, in the first free place from where it belongs; 0 is free. */
  private places = new Float64Array(1024)
  private count = 0

  has(id: string): boolean {
    const number = numberOf(id)
    const isPlaced = number !== undefined && this.places[this.placeOf(number)] === number + 1
    return isPlaced || this.others.has(id)
  }

  add(id: string): void {
    const number = numberOf(id)
    if (number === undefined) this.others.add(id)
    else this.addNumber(number)
  }

  private addNumber(number: number): void {
    const place = this.placeOf(number)
    if (this.places[place] === number + 1) return
    if (this.places[place] !== 0) {
      this.others.add(number.toString(16).padStart(digits, "0"))
      return
    }
    this.places[place] = number + 1
    if (++this.count * 2 > this.places.length) this.grow()
  }

  /** Where a number stands, or could; somebody else's place where there is none near. */
  private placeOf(number: number): number {
    const mask = this.places.length - 1
    // Ids may be counted up, or differ in their first digits alone: both halves take part.
    let place = (Math.imul(number ^ (number >>> 16), spread) >>> 8) & mask
    for (let step = 0; step < farthest && this.places[place] !== 0 && this.places[place] !== number + 1; step++) {
      place = (place + 1) & mask
    }
    return place
  }

  private grow(): void {
    const before = this.places
    this.places = new Float64Array(before.length * 2)
    this.count = 0
    for (const place of before) if (place !== 0) this.addNumber(place - 1)
  }
}

/** An odd number that numbers which follow each other are far apart by. */
const spread = 0x9e3779b1

/** So many places are looked at: ids that were chosen to belong to one place must not make it slow. */
const farthest = 64

const digits = 8

/** The number that eight hex digits in lower case are; undefined for anything else. */
export const numberOf = (id: string): number | undefined => {
  if (id.length !== digits) return undefined
  let number = 0
  for (let index = 0; index < digits; index++) {
    const digit = digitOf(id.charCodeAt(index))
    if (digit < 0) return undefined
    number = number * 16 + digit
  }
  return number
}

const digitOf = (code: number): number => {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  return code >= 0x61 && code <= 0x66 ? code - 0x57 : -1
}
