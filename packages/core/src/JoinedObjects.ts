/**
 * Finds the JSON objects on a line that is no JSON text as a whole: objects
 * that another program wrote without a line break between them, or a whole
 * one after the torn beginning of another.
 *
 * @since 0.1.0
 */
import * as Json from "./Json.js"

/** An object and the text that it was read from. */
export interface Found {
  readonly value: Json.JsonObject
  readonly text: string
}

/** The objects found, what could not be read, and whether that stood first. */
export interface JoinedObjects {
  readonly objects: ReadonlyArray<Found>
  readonly rest: string
  readonly restFirst: boolean
}

/** A torn line is given up after so many places where an object might start. */
const maxStarts = 64

/** Reads whole objects from the start; where the start is torn, from the first place where a typed object begins. */
export const objectsIn = (line: string): JoinedObjects => {
  const whole = fromStart(line)
  if (whole.objects.length > 0) return whole.rest === "" ? whole : withTorn(whole)
  const torn = afterTear(line)
  return torn ?? { objects: [], rest: line, restFirst: true }
}

/** What follows the whole objects may itself be torn and followed by a whole one. */
const withTorn = (whole: JoinedObjects): JoinedObjects => {
  const torn = afterTear(whole.rest)
  return torn === undefined
    ? whole
    : { objects: [...whole.objects, ...torn.objects], rest: torn.rest, restFirst: false }
}

const afterTear = (line: string): JoinedObjects | undefined => {
  let start = line.indexOf('{"type"', 1)
  for (let tries = 0; start > 0 && tries < maxStarts; tries++) {
    const found = fromStart(line.slice(start))
    if (found.objects.length > 0 && found.rest === "") {
      return { objects: found.objects, rest: line.slice(0, start), restFirst: true }
    }
    start = line.indexOf('{"type"', start + 1)
  }
  return undefined
}

const fromStart = (line: string): JoinedObjects => {
  const objects: Array<Found> = []
  let position = skipSpace(line, 0)
  while (position < line.length) {
    const end = endOfObject(line, position)
    const text = line.slice(position, Math.max(position, end))
    const value = parseObject(text)
    if (value === undefined) break
    objects.push({ value, text })
    position = skipSpace(line, end)
  }
  return { objects, rest: line.slice(position), restFirst: false }
}

const skipSpace = (line: string, from: number): number => {
  let position = from
  while (position < line.length && /\s/.test(line.charAt(position))) position++
  return position
}

const parseObject = (text: string): Json.JsonObject | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return Json.isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** The position after the object that starts at `start`; -1 where none ends on the line. */
const endOfObject = (line: string, start: number): number => {
  if (line.charAt(start) !== "{") return -1
  let depth = 0
  let inString = false
  for (let i = start; i < line.length; i++) {
    const char = line.charAt(i)
    if (inString) {
      if (char === "\\") i++
      else if (char === '"') inString = false
    } else if (char === '"') inString = true
    else if (char === "{") depth++
    else if (char === "}" && --depth === 0) return i + 1
  }
  return -1
}
