/**
 * Finds the sections of a summary and the items in them, as people and models
 * write them: several kinds of bullets, items over several lines, headings
 * under other names.
 *
 * @since 0.1.0
 */

/** The sections that a summary has. */
export type Name =
  | "goal"
  | "constraints"
  | "done"
  | "inProgress"
  | "blocked"
  | "decisions"
  | "nextSteps"
  | "criticalContext"

/** A section as found: `title` is its own heading where that names none of the known sections. */
export interface Section {
  readonly name: Name
  readonly title: string
  readonly items: ReadonlyArray<string>
}

/** The headings as they are written, in lower case. */
export const headings: ReadonlyMap<string, Name> = new Map([
  ["goal", "goal"],
  ["constraints & preferences", "constraints"],
  ["done", "done"],
  ["in progress", "inProgress"],
  ["blocked", "blocked"],
  ["key decisions", "decisions"],
  ["next steps", "nextSteps"],
  ["critical context", "criticalContext"]
])

/** What else a heading may say, where a summary was written to another form. */
const likeHeadings: ReadonlyArray<readonly [RegExp, Name]> = [
  [/\b(goal|asked|request|objective)\b/, "goal"],
  [/\b(constraints?|preferences?)\b/, "constraints"],
  [/\b(next|todo|remaining)\b/, "nextSteps"],
  [/\b(done|completed?|finished)\b/, "done"],
  [/\b(in progress|current)\b/, "inProgress"],
  [/\b(blocked|blockers?)\b/, "blocked"],
  [/\bdecisions?\b/, "decisions"]
]

/** Headings that only group others. */
const groups: ReadonlySet<string> = new Set(["progress", "turn in progress"])

/** Whether an item only says that there is none. */
export const saysNothing = (item: string): boolean => /^\(?(none|nothing)( yet)?\)?\.?$/i.test(item)

/** The sections in the order they stand in; text before the first heading is critical context. */
export const sections = (text: string): ReadonlyArray<Section> => {
  const found: Array<{ readonly name: Name; readonly title: string; readonly lines: Array<string> }> = [
    { name: "criticalContext", title: "", lines: [] }
  ]
  let inCode = false
  for (const line of text.split("\n")) {
    const heading = /^#{1,6}\s+(.*?)\s*:?\s*$/.exec(line)?.[1]
    if (isCodeFence(line)) inCode = !inCode
    // In code a line like this is a comment, unless the code was never ended.
    if (heading !== undefined && (!inCode || headings.has(heading.toLowerCase()))) {
      found.push({ ...nameOf(heading), lines: [] })
      inCode = false
    } else if (line.trim() !== "---") found.at(-1)?.lines.push(line)
  }
  return found.map(({ name, title, lines }) => ({ name, title, items: itemsOf(lines, name) }))
}

const isCodeFence = (line: string): boolean => line.trim().startsWith("```")

const nameOf = (heading: string): { readonly name: Name; readonly title: string } => {
  const key = heading.toLowerCase()
  const like = likeHeadings.find(([pattern]) => pattern.test(key))
  const name = headings.get(key) ?? like?.[1]
  if (name !== undefined) return { name, title: "" }
  return { name: "criticalContext", title: groups.has(key) ? "" : heading }
}

const bullet = /^\s{0,3}(?:[-*+•]|\d+[.)])\s+(.*)$/su

const checkbox = /^\[[ xX]\]\s+(.*)$/su

/** An item starts at a bullet, or where text follows a blank line; what else follows belongs to it. */
const itemsOf = (lines: ReadonlyArray<string>, name: Name): ReadonlyArray<string> => {
  const items: Array<Array<string>> = []
  let isOpen = false
  let inCode = false
  for (const line of lines) {
    const marked = inCode ? null : bullet.exec(line)
    const text = line.trim()
    if (isCodeFence(line)) inCode = !inCode
    if (marked) items.push([withoutCheckbox(marked[1] ?? "", name)])
    else if (isOpen && text !== "") items.at(-1)?.push(text)
    else if (text !== "" && !saysNothing(text)) items.push([text])
    isOpen = items.length > 0 && (inCode || (text !== "" && !saysNothing(text)))
  }
  return items.map((item) => item.join(" ").trim()).filter((item) => item !== "")
}

const withoutCheckbox = (item: string, name: Name): string =>
  name === "done" || name === "inProgress" ? (checkbox.exec(item)?.[1] ?? item) : item
