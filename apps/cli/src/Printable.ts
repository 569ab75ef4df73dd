/**
 * Makes text from a session safe to print: nothing in it may drive the
 * terminal, reorder what is read, or pass for a line of its own.
 *
 * @since 0.1.0
 */

/** Escape sequences: those that set something (CSI), those that carry a text (OSC, DCS …), and short ones. */
const escapes =
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)?|\u001b[ -/]*[0-~]?/gu

/** What is left of control characters, line break and tab apart, and the marks that reverse reading. */
const controls = /(?![\n\t])[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** The text without anything that could drive a terminal; line breaks and tabs stay. */
export const text = (value: string): string => value.toWellFormed().replace(escapes, "").replace(controls, "")

/** The text on one line, at most so many characters long. */
export const line = (value: string, max = 100): string => {
  // Only what can be shown is looked at: a message may have megabytes.
  const flat = text(value.slice(0, max * 20))
    .replace(/\s+/gu, " ")
    .trim()
  const characters = Array.from(flat)
  return characters.length <= max ? flat : `${characters.slice(0, max - 1).join("")}…`
}

/** A whole number with separators. */
export const number = (value: number): string => Math.round(value).toLocaleString("en-US")

/** A JSON document in which no character can drive a terminal. */
export const json = (value: unknown): string =>
  JSON.stringify(value, null, 2).replace(
    /[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`
  )
