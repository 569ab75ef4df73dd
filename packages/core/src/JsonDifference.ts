/**
 * What has to be done to one JSON value to make another of it, as JSON.
 *
 * Law. For any two JSON values, the difference from one to the other applied
 * to the one gives the other.
 *
 * @since 0.1.0
 */
import * as Json from "./Json.js"

/** Another value in place of all; or, within an object or a list, other fields or items, and fields that go. */
export type Difference =
  | { readonly set: unknown }
  | {
      readonly fields?: { readonly [key: string]: Difference }
      readonly without?: ReadonlyArray<string>
    }

/** From one value to another; undefined where they are the same. */
export const of = (from: unknown, to: unknown): Difference | undefined => {
  if (Array.isArray(from) && Array.isArray(to) && from.length === to.length) {
    return ofFields(Object.entries(from), Object.entries(to))
  }
  if (Json.isObject(from) && Json.isObject(to)) return ofFields(Object.entries(from), Object.entries(to))
  // JSON knows one zero.
  return from === to ? undefined : { set: to }
}

type Fields = ReadonlyArray<readonly [string, unknown]>

const ofFields = (from: Fields, to: Fields): Difference | undefined => {
  const [before, after] = [new Map(from), new Map(to)]
  const fields: Array<readonly [string, Difference]> = []
  for (const [key, value] of to) {
    const difference = before.has(key) ? of(before.get(key), value) : { set: value }
    if (difference !== undefined) fields.push([key, difference])
  }
  const without = from.map(([key]) => key).filter((key) => !after.has(key))
  if (fields.length === 0 && without.length === 0) return undefined
  return {
    ...(fields.length === 0 ? {} : { fields: Object.fromEntries(fields) }),
    ...(without.length === 0 ? {} : { without })
  }
}

/** The value with a difference applied. What does not fit the value is passed over. */
export const applied = (value: unknown, difference: Difference): unknown => {
  if ("set" in difference) return difference.set
  const fields = new Map(Object.entries(difference.fields ?? {}))
  if (Array.isArray(value)) return value.map((item, index) => changed(item, fields.get(String(index))))
  if (!Json.isObject(value)) return value
  const gone = new Set(difference.without)
  const kept = Object.entries(value)
    .filter(([key]) => !gone.has(key))
    .map(([key, item]) => [key, changed(item, fields.get(key))] as const)
  const known = new Set(Object.keys(value))
  const added = [...fields].filter(([key]) => !known.has(key)).map(([key, field]) => [key, applied(undefined, field)])
  return Object.fromEntries([...kept, ...added])
}

const changed = (value: unknown, difference: Difference | undefined): unknown =>
  difference === undefined ? value : applied(value, difference)

/** Where a difference puts something in: paths such as `content.0.cache_control`; the empty path for the value itself. */
export const places = (difference: Difference): ReadonlyArray<string> => {
  if ("set" in difference) return [""]
  return Object.entries(difference.fields ?? {}).flatMap(([key, field]) =>
    places(field).map((place) => (place === "" ? key : `${key}.${place}`))
  )
}

/** Whether a value of any kind is a difference. */
export const isDifference = (value: unknown): value is Difference => {
  if (!Json.isObject(value)) return false
  if ("set" in value) return true
  const { fields, without } = value
  return (
    (fields === undefined || (Json.isObject(fields) && Object.values(fields).every(isDifference))) &&
    (without === undefined || (Array.isArray(without) && without.every((key) => typeof key === "string")))
  )
}
