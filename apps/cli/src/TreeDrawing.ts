/**
 * Draws a session's tree: one line an entry that matters, a count for those
 * between. Works in one pass, however deep the tree.
 *
 * @since 0.1.0
 */
import * as Entry from "@cutpoint/core/Entry"
import * as SessionTree from "@cutpoint/core/SessionTree"
import * as EntryView from "./EntryView.js"
import * as Printable from "./Printable.js"

/** How a tree is drawn. */
export interface Options {
  /** Whether every entry gets a line. */
  readonly all: boolean
  /** The tokens of an entry. */
  readonly tokens: (entry: Entry.Entry) => number
  readonly columns: number
}

/** An entry that waits to be drawn: where its branch stands. */
interface Waiting {
  readonly entry: Entry.Entry
  /** What stands before its line, and before the lines of what follows it. */
  readonly lead: string
  readonly indent: string
}

/** The lines of the drawing. */
export const draw = (tree: SessionTree.SessionTree, options: Options): ReadonlyArray<string> => {
  const children = SessionTree.children(tree)
  const childrenOf = (id: string | null) =>
    (children.get(id) ?? []).filter((entry) => options.all || !Entry.isLeafMarker(entry))
  const labels = SessionTree.labels(tree)
  const lines: Array<string> = []
  const stack: Array<Waiting> = branches(childrenOf(null), "")
  let skipped = { entries: 0, tokens: 0, indent: "" }
  const flush = () => {
    if (skipped.entries > 0) {
      lines.push(`${skipped.indent}  ⋮ ${skipped.entries} entries, ${Printable.number(skipped.tokens)} tokens`)
    }
    skipped = { entries: 0, tokens: 0, indent: "" }
  }
  const drawn = new Set<string>()
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { entry, indent, lead } = next
    if (drawn.has(entry.id)) continue
    drawn.add(entry.id)
    const below = childrenOf(entry.id)
    const label = labels.get(entry.id)
    const matters =
      options.all || below.length !== 1 || label !== undefined || entry.id === tree.leafId || isLandmark(entry)
    if (matters) {
      flush()
      lines.push(entryLine(entry, lead, label, entry.id === tree.leafId, options))
    } else {
      skipped = { entries: skipped.entries + 1, tokens: skipped.tokens + options.tokens(entry), indent }
    }
    if (below.length === 1) stack.push(...below.map((child) => ({ entry: child, lead: indent, indent })))
    else {
      flush()
      stack.push(...branches(below, indent))
    }
  }
  flush()
  return lines
}

/** Several children stand below each other, each on a branch of its own; the first is drawn first. */
const branches = (entries: ReadonlyArray<Entry.Entry>, indent: string): Array<Waiting> => {
  if (entries.length === 1) return entries.map((entry) => ({ entry, lead: indent, indent }))
  return entries
    .map((entry, index) => {
      const isLast = index === entries.length - 1
      return { entry, lead: `${indent}${isLast ? "└─ " : "├─ "}`, indent: `${indent}${isLast ? "   " : "│  "}` }
    })
    .toReversed()
}

const isLandmark = (entry: Entry.Entry): boolean =>
  entry.type === "compaction" ||
  entry.type === "branch_summary" ||
  entry.parentId === null ||
  (entry.type === "message" && entry.message.role === "user")

const entryLine = (
  entry: Entry.Entry,
  lead: string,
  label: string | undefined,
  isLeaf: boolean,
  options: Options
): string => {
  const named = label === undefined ? "" : ` [${Printable.line(label, 40)}]`
  const tokens = options.tokens(entry)
  const cost = tokens > 0 ? `  ${Printable.number(tokens)} tokens` : ""
  const head = `${lead}${isLeaf ? "●" : "○"} ${Printable.line(entry.id, 40)}  ${EntryView.kind(entry)}${named}`
  const room = Math.max(20, options.columns - head.length - cost.length - (isLeaf ? 9 : 0) - 4)
  const said = EntryView.preview(entry, room)
  return `${head}${said === "" ? "" : `  ${said}`}${cost}${isLeaf ? "  <- leaf" : ""}`
}
