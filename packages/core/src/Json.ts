/**
 * Looking at JSON values that nobody has checked yet.
 *
 * @since 0.1.0
 */

/** A JSON object, as `JSON.parse` gives it. */
export type JsonObject = { readonly [key: string]: unknown }

/** Whether a value is a JSON object (neither null nor an array). */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The value where it is a string, else the fallback. */
export const stringOr = <A>(value: unknown, fallback: A): string | A => (typeof value === "string" ? value : fallback)

/** The value where it is a number above 0 that can be counted with, else 0. */
export const amountOf = (value: unknown): number =>
  typeof value === "number" && value > 0 && value <= Number.MAX_SAFE_INTEGER ? value : 0

/**
 * The JSON text of any value; the empty string for what JSON has no text for
 * (`undefined`, functions), so that counting and printing never throw.
 */
export const textOf = (value: unknown): string => {
  try {
    return JSON.stringify(value) ?? ""
  } catch {
    return ""
  }
}
