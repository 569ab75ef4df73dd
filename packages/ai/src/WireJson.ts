/**
 * Looks into JSON of any shape, as it comes from providers.
 *
 * @since 0.1.0
 */
import * as Json from "@cutpoint/core/Json"
import * as Message from "@cutpoint/core/Message"

/** The value of a JSON text; undefined where it is none. */
export const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The object at a path; an empty one where there is none. */
export const at = (value: unknown, ...path: ReadonlyArray<string>): Json.JsonObject => {
  let found = value
  for (const key of path) found = Json.isObject(found) ? found[key] : undefined
  return Json.isObject(found) ? found : {}
}

/** The objects of a list. */
export const objects = (value: unknown): ReadonlyArray<Json.JsonObject> =>
  Array.isArray(value) ? value.filter(Json.isObject) : []

/** The text; empty where it is none. */
export const text = (value: unknown): string => Json.stringOr(value, "")

/** Tokens by part; undefined where no part is told. What is read from a cache is not part of `input`. */
export const usage = (parts: {
  readonly [part in "input" | "output" | "cacheRead" | "cacheWrite"]?: unknown
}): Message.Usage | undefined => {
  const told = Object.entries(parts).filter(([, amount]) => typeof amount === "number")
  if (told.length === 0) return undefined
  const amounts = Object.fromEntries(told.map(([part, amount]) => [part, Json.amountOf(amount)]))
  return { ...amounts, totalTokens: Message.usageTotal(amounts) }
}

/** What is left of an amount when a part of it is counted elsewhere; undefined where it is not told. */
export const without = (amount: unknown, part: unknown): number | undefined =>
  typeof amount === "number" ? Math.max(0, amount - Json.amountOf(part)) : undefined
