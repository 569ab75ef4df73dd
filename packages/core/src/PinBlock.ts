/**
 * Pins as they stand in a summary: blocks behind its text.
 *
 * Law. `split(append(text, pins))` gives back the pins, whatever they say, and
 * a text that has no pin blocks itself and no space at its end.
 *
 * @since 0.1.0
 */

/** A pin: the id of the entry that made it, and the text that must not be lost. */
export interface Pin {
  readonly id: string
  readonly text: string
}

const end = "\n</pinned>"

/**
 * The summary with a `<pinned>` block for each pin, its text word for word.
 * The block says how long the text is, so that nothing in it can end the block.
 */
export const append = (summary: string, pins: ReadonlyArray<Pin>): string =>
  [summary, ...pins.map(({ id, text }) => `<pinned id="${encode(id)}" chars="${text.length}">\n${text}${end}`)].join(
    "\n\n"
  )

/** The summary without its pin blocks, and the pins that they hold. */
export const split = (summary: string): { readonly text: string; readonly pins: ReadonlyArray<Pin> } => {
  const kept: Array<string> = []
  const pins: Array<Pin> = []
  let position = 0
  for (const match of summary.matchAll(start)) {
    const from = match.index + match[0].length
    const to = from + Number(match[2])
    if (match.index < position || !summary.startsWith(end, to)) continue
    pins.push({ id: decode(match[1] ?? ""), text: summary.slice(from, to) })
    kept.push(summary.slice(position, match.index))
    position = to + end.length
  }
  return { text: kept.join("") + summary.slice(position), pins }
}

/**
 * A block's first line with the blank space before it. Looking behind keeps a
 * long run of blank space from being tried at each place.
 */
const start = /(?<!\s)\s*(?<![^\n])<pinned id="([^"\n]*)" chars="(\d{1,15})">\n/g

const encode = (id: string): string => encodeURIComponent(id.toWellFormed())

/** An id that nobody encoded stands for itself. */
const decode = (id: string): string => {
  try {
    return decodeURIComponent(id)
  } catch {
    return id
  }
}
