/**
 * The context window as a bar.
 *
 * @since 0.1.0
 */
import * as Printable from "./Printable.js"

/** A part of the window, in tokens. */
export interface Part {
  readonly label: string
  readonly tokens: number
  readonly sign: string
  /** An ANSI colour, such as 33. */
  readonly color: number
}

/** The parts, what is free behind them, and a legend below. */
export const draw = (parts: ReadonlyArray<Part>, window: number, columns: number, hasColors: boolean): string => {
  const used = parts.reduce((sum, part) => sum + part.tokens, 0)
  const free: Part = { label: "free", tokens: Math.max(0, window - used), sign: "·", color: 90 }
  const all = [...parts.filter((part) => part.tokens > 0), free]
  const width = Math.max(10, Math.min(columns - 2, 72))
  const paint = (part: Part, text: string) => (hasColors ? `\u001b[${part.color}m${text}\u001b[0m` : text)
  const cells = cellsOf(
    all.map((part) => part.tokens),
    width
  )
  const bar = all.map((part, index) => paint(part, part.sign.repeat(cells[index] ?? 0))).join("")
  const legend = all
    .map((part) => `${paint(part, part.sign)} ${part.label} ${Printable.number(part.tokens)}`)
    .join("  ")
  return `[${bar}]\n ${legend}`
}

/**
 * Shares of the width that add up to it. What is there at all gets a cell, as
 * long as there are enough of them.
 */
export const cellsOf = (tokens: ReadonlyArray<number>, width: number): ReadonlyArray<number> => {
  const total = tokens.reduce((sum, each) => sum + each, 0)
  if (total === 0) return tokens.map((_, index) => (index === 0 ? width : 0))
  let before = 0
  // What is rounded is where a share ends, so that no rounding adds up.
  const cells = tokens.map((each) => {
    const start = Math.round((before / total) * width)
    before += each
    return Math.round((before / total) * width) - start
  })
  for (const [index, each] of tokens.entries()) {
    if (each === 0 || cells[index] !== 0) continue
    const largest = cells.indexOf(Math.max(...cells))
    cells[largest] = (cells[largest] ?? 0) - 1
    cells[index] = 1
  }
  return cells
}
