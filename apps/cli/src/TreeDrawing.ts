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

/** Where a branch stands: what is before its lines, and how many times the way to it has branched. */
interface Place {
  readonly indent: string
  readonly level: number
}

/** An entry that waits to be drawn, and what stands before its own line. */
interface Waiting extends Place {
  readonly entry: Entry.Entry
  readonly lead: string
}

const top: Place = { indent: "", level: 0 }

/** The lines of the drawing. */
export const draw = (tree: SessionTree.SessionTree, options: Options): ReadonlyArray<string> => {
  const shown = shownChildren(tree, options.all)
  const childrenOf = (id: string | null) => shown.get(id) ?? []
  const labels = SessionTree.labels(tree)
  const lines: Array<string> = []
  const drawn = new Set<string>()
  let skipped = { entries: 0, tokens: 0, lead: "" }
  const flush = () => {
    if (skipped.entries > 0) {
      const entries = Printable.count(skipped.entries, "entry", "entries")
      lines.push(`${skipped.lead}⋮ ${entries}, ${Printable.count(skipped.tokens, "token")}`)
    }
    skipped = { entries: 0, tokens: 0, lead: "" }
  }
  const drawFrom = (stack: Array<Waiting>) => {
    for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
      const { entry, indent, lead } = next
      if (drawn.has(entry.id)) continue
      drawn.add(entry.id)
      const below = childrenOf(entry.id)
      const label = labels.get(entry.id)
      const isLeaf = entry.id === tree.leafId
      if (options.all || below.length !== 1 || label !== undefined || isLeaf || isLandmark(entry)) {
        flush()
        lines.push(entryLine(entry, lead, label, isLeaf, options))
      } else {
        // The first of a branch shows where the branch comes from, even if only as one of several.
        const first = lead === indent ? `${indent}  ` : lead
        skipped = {
          entries: skipped.entries + 1,
          tokens: skipped.tokens + options.tokens(entry),
          lead: skipped.entries === 0 ? first : skipped.lead
        }
      }
      if (below.length !== 1) flush()
      for (const waiting of branches(below, next, options.columns)) stack.push(waiting)
    }
    flush()
  }
  drawFrom(branches(childrenOf(null), top, options.columns))
  // What no root leads to is a cycle: it is drawn from its first entry on.
  for (const entry of [...shown.values()].flat())
    drawFrom(drawn.has(entry.id) ? [] : branches([entry], top, options.columns))
  return lines
}

/**
 * The children of each entry that are drawn. Of two entries with one id only
 * the later is in the tree; marks and labels that nothing follows say nothing
 * of their own.
 */
const shownChildren = (
  tree: SessionTree.SessionTree,
  all: boolean
): ReadonlyMap<string | null, ReadonlyArray<Entry.Entry>> => {
  const children = SessionTree.children(tree)
  const isShown = (entry: Entry.Entry): boolean =>
    SessionTree.get(tree, entry.id) === entry &&
    (all ||
      children.has(entry.id) ||
      entry.id === tree.leafId ||
      !(Entry.isLeafMarker(entry) || entry.type === "label"))
  return new Map([...children].map(([id, entries]) => [id, entries.filter(isShown)]))
}

/**
 * Several children stand below each other, each on a branch of its own; the
 * first is drawn first. From half the width on, a number stands for the indent.
 */
const branches = (entries: ReadonlyArray<Entry.Entry>, { indent, level }: Place, columns: number): Array<Waiting> => {
  if (entries.length === 1) return entries.map((entry) => ({ entry, lead: indent, indent, level }))
  const isDeep = (level + 1) * 3 > columns / 2
  const before = isDeep ? `⋯${level + 1} ` : indent
  return entries
    .map((entry, index) => {
      const isLast = index === entries.length - 1
      const below = isLast ? "   " : "│  "
      return { entry, lead: `${before}${isLast ? "└─ " : "├─ "}`, indent: `${before}${below}`, level: level + 1 }
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
  const cost = tokens > 0 ? `  ${Printable.count(tokens, "token")}` : ""
  const head = `${lead}${isLeaf ? "●" : "○"} ${Printable.line(entry.id, 40)}  ${EntryView.kind(entry)}${named}`
  const room = Math.max(20, options.columns - head.length - cost.length - (isLeaf ? 9 : 0) - 4)
  const said = EntryView.preview(entry, room)
  return `${head}${said === "" ? "" : `  ${said}`}${cost}${isLeaf ? "  <- leaf" : ""}`
}
