/**
 * Makes text from a session safe to print: nothing in it may drive the
 * terminal, reorder what is read, or pass for a line of its own.
 *
 * @since 0.1.0
 */

/**
 * Escape sequences: those that set something (CSI), those that carry a text
 * (OSC, DCS …) where they end on their line, and short ones. Of one that does
 * not end, the text stays to be read.
 */
const escapes =
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u009c\n]*(?:\u0007|\u001b\\|\u009c)|\u001b[ -/]*[0-~]?/gu

/** What is left of control characters, line break and tab apart, and the marks that reverse reading. */
const controls = /(?![\n\t])[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** Characters that take two columns. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1faff}\u{20000}-\u{3fffd}]/u

/** The text without anything that could drive a terminal; line breaks and tabs stay. */
export const text = (value: string): string => value.toWellFormed().replace(escapes, "").replace(controls, "")

/** The text on one line, at most so many columns wide. */
export const line = (value: string, max = 100): string => {
  // Only what can be shown is looked at: a message may have megabytes.
  const flat = text(value.slice(0, max * 20))
    .replace(/\s+/gu, " ")
    .trim()
  let columns = 0
  let end = 0
  let fitting = 0
  for (const character of flat) {
    columns += wide.test(character) ? 2 : 1
    if (columns > max) return `${flat.slice(0, fitting)}…`
    end += character.length
    // The sign that something is missing needs a column too.
    if (columns < max) fitting = end
  }
  return flat
}

/** A whole number with separators. */
export const number = (value: number): string => String(Math.round(value)).replace(/\B(?=(?:\d{3})+(?!\d))/g, ",")

/** So many of something. */
export const count = (value: number, one: string, many = `${one}s`): string =>
  `${number(value)} ${Math.round(value) === 1 ? one : many}`

/** A JSON document in which no character can drive a terminal. */
export const json = (value: unknown): string =>
  JSON.stringify(value, null, 2).replace(
    /[\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`
  )
