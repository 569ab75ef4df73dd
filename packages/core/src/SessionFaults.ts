/**
 * All that is wrong with a session: what its lines show, what its tree shows,
 * and what shows only where one goes on from it.
 *
 * @since 0.1.0
 */
import * as Diagnostic from "./Diagnostic.js"
import type * as Entry from "./Entry.js"
import * as Projection from "./Projection.js"
import type * as SessionLines from "./SessionLines.js"
import * as SessionTree from "./SessionTree.js"

/** Every fault of a session and what else is worth knowing of it, in the order of lines as far as they are known. */
export const find = (session: SessionLines.SessionLines): ReadonlyArray<Diagnostic.Diagnostic> => {
  const tree = SessionTree.make(session.header, session.entries, session.lines)
  const known = [...session.diagnostics, ...tree.diagnostics]
  const boundaries = danglingBoundaries(tree, session.lines, known)
  return [...known, ...boundaries, ...toolPairs(tree)].toSorted((one, other) => lineOf(one) - lineOf(other))
}

const lineOf = ({ line, more }: Diagnostic.Diagnostic): number =>
  more === undefined ? (line ?? Number.MAX_SAFE_INTEGER - 1) : Number.MAX_SAFE_INTEGER

/** Compactions, on whatever branch, whose first kept entry does not stand before them. */
const danglingBoundaries = (
  tree: SessionTree.SessionTree,
  lines: ReadonlyArray<number>,
  known: ReadonlyArray<Diagnostic.Diagnostic>
): ReadonlyArray<Diagnostic.Diagnostic> => {
  const told = new Set(known.flatMap(({ _tag, entryId }) => (_tag === "DanglingBoundary" ? [entryId] : [])))
  const collector = Diagnostic.collector()
  for (const { at, entry } of dangling(tree)) {
    if (told.has(entry.id)) continue
    const kept = entry.firstKeptEntryId || "nowhere"
    const message = `The compaction ${entry.id} keeps messages from ${kept} on, which does not stand before it on its path; nothing from before it is kept.`
    collector.add(Diagnostic.make("DanglingBoundary", message, { line: lines[at], entryId: entry.id }))
  }
  return collector.all()
}

/** A compaction and its position in file order. */
export interface Dangling {
  readonly at: number
  readonly entry: Entry.CompactionEntry
}

/** The compactions of a tree whose first kept entry is neither themselves nor stands before them on their path. */
export const dangling = (tree: SessionTree.SessionTree): ReadonlyArray<Dangling> => {
  const isAncestor = SessionTree.ancestry(tree)
  return tree.entries.flatMap((entry, at) => {
    if (entry.type !== "compaction" || entry.firstKeptEntryId === entry.id) return []
    return isAncestor(entry.firstKeptEntryId, entry.id) ? [] : [{ at, entry }]
  })
}

/** Calls without results and results without calls among what the model would be given. */
const toolPairs = (tree: SessionTree.SessionTree): ReadonlyArray<Diagnostic.Diagnostic> => {
  const context = Projection.messages(Projection.project(SessionTree.leafPath(tree)))
  const collector = Diagnostic.collector()
  for (const one of Projection.repairToolPairs(Projection.convertToLlm(context)).diagnostics) collector.add(one)
  return collector.all()
}
