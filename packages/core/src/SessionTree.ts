/**
 * The tree that a session's entries form: who follows whom, where one stands,
 * how one got there.
 *
 * Laws. A path is finite whatever the entries say of their parents. The
 * deepest common ancestor of two entries is on both paths, and no deeper
 * entry is. Of two entries with one id the later counts.
 *
 * @since 0.1.0
 */
import * as Diagnostic from "./Diagnostic.js"
import * as Entry from "./Entry.js"
import * as ForkedWrites from "./ForkedWrites.js"
import * as Message from "./Message.js"

/** A session's entries with their index. */
export interface SessionTree {
  readonly header: Entry.Header
  /** In file order. */
  readonly entries: ReadonlyArray<Entry.Entry>
  /** The position in `entries` of each id. */
  readonly positions: ReadonlyMap<string, number>
  /**
   * Where one stands: the last entry; where that is the mark of a move, the
   * entry it marks. Null in an empty session, and after a move before a root.
   */
  readonly leafId: string | null
  /** Duplicate ids, unknown parents, cycles, forked writes. */
  readonly diagnostics: ReadonlyArray<Diagnostic.Diagnostic>
}

/** Builds the tree. `lines` are the 1-based lines of the entries, for the diagnostics. */
export const make = (
  header: Entry.Header,
  entries: ReadonlyArray<Entry.Entry>,
  lines: ReadonlyArray<number> = []
): SessionTree => {
  const diagnostics = Diagnostic.collector()
  const positions = new Map<string, number>()
  entries.forEach((entry, position) => {
    if (positions.has(entry.id)) diagnostics.add(duplicate(entry.id, lines[position]))
    positions.set(entry.id, position)
  })
  const tree: SessionTree = { header, entries, positions, leafId: leafOf(entries, positions), diagnostics: [] }
  findBrokenParents(tree, lines, diagnostics)
  return { ...tree, diagnostics: [...diagnostics.all(), ...ForkedWrites.diagnostics(entries, lines)] }
}

const leafOf = (entries: ReadonlyArray<Entry.Entry>, positions: ReadonlyMap<string, number>): string | null => {
  const last = entries.at(-1)
  if (last === undefined) return null
  if (!Entry.isLeafMarker(last)) return last.id
  return last.parentId !== null && positions.has(last.parentId) ? last.parentId : null
}

/** The tree with further entries after its last; the last of them becomes the leaf. */
export const append = (tree: SessionTree, entries: ReadonlyArray<Entry.Entry>): SessionTree =>
  entries.length === 0 ? tree : make(tree.header, [...tree.entries, ...entries])

/** The same tree, standing somewhere else. */
export const withLeaf = (tree: SessionTree, leafId: string | null): SessionTree => ({ ...tree, leafId })

/** The entry of an id, or undefined. */
export const get = (tree: SessionTree, id: string | null): Entry.Entry | undefined => {
  const position = id === null ? undefined : tree.positions.get(id)
  return position === undefined ? undefined : tree.entries[position]
}

/**
 * The entries from a root to an entry, in order; empty for null and for an
 * unknown id. It stops at an unknown parent and where a cycle closes.
 */
export const path = (tree: SessionTree, id: string | null): ReadonlyArray<Entry.Entry> => {
  const backwards: Array<Entry.Entry> = []
  const seen = new Set<string>()
  let entry = get(tree, id)
  while (entry !== undefined && !seen.has(entry.id)) {
    seen.add(entry.id)
    backwards.push(entry)
    entry = get(tree, entry.parentId)
  }
  return backwards.toReversed()
}

/** The path to the leaf. */
export const leafPath = (tree: SessionTree): ReadonlyArray<Entry.Entry> => path(tree, tree.leafId)

/** The deepest entry that is on the paths of both, or null. */
export const commonAncestor = (tree: SessionTree, one: string | null, other: string | null): string | null => {
  const onOther = new Set(path(tree, other).map((entry) => entry.id))
  return path(tree, one).findLast((entry) => onOther.has(entry.id))?.id ?? null
}

/** Children of each entry in file order; roots stand under null, and so do entries whose parent is unknown. */
export const children = (tree: SessionTree): ReadonlyMap<string | null, ReadonlyArray<Entry.Entry>> => {
  const byParent = new Map<string | null, Array<Entry.Entry>>()
  for (const entry of tree.entries) {
    const parent = entry.parentId !== null && tree.positions.has(entry.parentId) ? entry.parentId : null
    const siblings = byParent.get(parent)
    if (siblings === undefined) byParent.set(parent, [entry])
    else siblings.push(entry)
  }
  return byParent
}

/**
 * Whether one entry stands on the path of another, itself left out; for asking
 * often. A cycle is taken to start with its first entry in the file.
 */
export const ancestry = (tree: SessionTree): ((ancestorId: string, id: string) => boolean) => {
  const byParent = children(tree)
  const entered = new Map<string, number>()
  const left = new Map<string, number>()
  let clock = 0
  const walk = (root: Entry.Entry): void => {
    const open: Array<{ readonly id: string; readonly below: ReadonlyArray<Entry.Entry>; next: number }> = []
    const enter = (entry: Entry.Entry): void => {
      const { id } = entry
      // An entry whose id is used again later is out of the tree.
      if (entered.has(id) || get(tree, id) !== entry) return
      entered.set(id, clock++)
      open.push({ id, below: byParent.get(id) ?? [], next: 0 })
    }
    enter(root)
    for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
      const child = top.below[top.next++]
      if (child !== undefined) enter(child)
      else left.set(open.pop()?.id ?? "", clock++)
    }
  }
  for (const root of byParent.get(null) ?? []) walk(root)
  for (const entry of tree.entries) walk(entry)
  return (ancestorId, id) => {
    const [from, to, at] = [entered.get(ancestorId), left.get(ancestorId), entered.get(id)]
    return from !== undefined && to !== undefined && at !== undefined && from < at && at < to
  }
}

/** The labels in force: the latest of each entry. */
export const labels = (tree: SessionTree): ReadonlyMap<string, string> => {
  const byTarget = new Map<string, string>()
  for (const entry of tree.entries) {
    if (entry.type !== "label") continue
    if (typeof entry.label === "string" && entry.label !== "") byTarget.set(entry.targetId, entry.label)
    else byTarget.delete(entry.targetId)
  }
  return byTarget
}

/** The session's name: the latest that was given, or undefined. */
export const sessionName = (tree: SessionTree): string | undefined => {
  const info = tree.entries.findLast((entry) => entry.type === "session_info")
  return info?.type === "session_info" && info.name ? info.name : undefined
}

/**
 * The tokens of the context as the last sound reply of a file reported them;
 * undefined where a compaction or an edit came after it, or none reported any.
 */
export const reportedTokens = (entries: ReadonlyArray<Entry.Entry>): number | undefined => {
  for (let index = entries.length - 1; index >= 0; index--) {
    const entry = entries[index]
    if (entry?.type === "compaction" || entry?.type === "context_edit") return undefined
    if (entry?.type !== "message" || entry.message.role !== "assistant" || Message.isBroken(entry.message)) continue
    const tokens = entry.message.usage === undefined ? 0 : Message.usageTotal(entry.message.usage)
    if (tokens > 0) return tokens
  }
  return undefined
}

const duplicate = (id: string, line: number | undefined): Diagnostic.Diagnostic =>
  Diagnostic.make("DuplicateId", `The id ${id} is used a second time; the later entry counts.`, { line, entryId: id })

/** Every unknown parent, and every cycle once. */
const findBrokenParents = (
  tree: SessionTree,
  lines: ReadonlyArray<number>,
  diagnostics: Diagnostic.Collector
): void => {
  const rooted = new Set<string>()
  for (const [position, start] of tree.entries.entries()) {
    // An entry whose id is used again later is out of the tree.
    if (tree.positions.get(start.id) !== position) continue
    const walked = new Set<string>()
    let entry: Entry.Entry | undefined = start
    while (entry !== undefined && !rooted.has(entry.id)) {
      const where = { line: lines[tree.positions.get(entry.id) ?? -1], entryId: entry.id }
      if (walked.has(entry.id)) {
        diagnostics.add(
          Diagnostic.make("ParentCycle", `The entry ${entry.id} is its own ancestor; its path stops there.`, where)
        )
        break
      }
      walked.add(entry.id)
      const parent: Entry.Entry | undefined = get(tree, entry.parentId)
      if (entry.parentId !== null && parent === undefined) {
        const message = `The parent ${entry.parentId} of the entry ${entry.id} is not in the session; its path stops there.`
        diagnostics.add(Diagnostic.make("UnknownParent", message, where))
      }
      entry = parent
    }
    for (const id of walked) rooted.add(id)
  }
}
