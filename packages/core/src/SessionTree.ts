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
  /** Whether these are only the entries that the context at the leaf needs. */
  readonly isPart?: boolean
  /** Of a part, whether an id is in use anywhere in the session, where that is known of short ids. */
  readonly isTakenAnywhere?: IsTaken | undefined
}

/** Whether an id is in use. */
type IsTaken = (id: string) => boolean

/** The paths to leaves that have been found. */
const leafPaths = new WeakMap<SessionTree, ReadonlyArray<Entry.Entry>>()

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
  const tree: SessionTree = {
    header,
    entries,
    positions,
    leafId: leafOf(entries, (id) => positions.has(id)),
    diagnostics: []
  }
  findBrokenParents(tree, lines, diagnostics)
  return { ...tree, diagnostics: [...diagnostics.all(), ...ForkedWrites.diagnostics(entries, lines)] }
}

/**
 * A tree of the entries alone that the context at a leaf needs: the end of its
 * path, in order. Where they come from is not known, and so nothing is wrong
 * with it.
 */
export const part = (
  header: Entry.Header,
  entries: ReadonlyArray<Entry.Entry>,
  leafId: string | null,
  isTakenAnywhere?: IsTaken
): SessionTree => {
  const tree = partOf(header, entries, leafId, isTakenAnywhere)
  // The entries of a part are the path to its leaf.
  if (entries.at(-1)?.id === leafId) leafPaths.set(tree, entries)
  return tree
}

const partOf = (
  header: Entry.Header,
  entries: ReadonlyArray<Entry.Entry>,
  leafId: string | null,
  isTakenAnywhere: IsTaken | undefined
): SessionTree => {
  let positions: ReadonlyMap<string, number> | undefined
  return {
    header,
    entries,
    leafId,
    diagnostics: [],
    isPart: true,
    isTakenAnywhere,
    // Most that is done with a part needs no index.
    get positions() {
      positions ??= new Map(entries.map((entry, position) => [entry.id, position]))
      return positions
    }
  }
}

const leafOf = (entries: ReadonlyArray<Entry.Entry>, has: (id: string) => boolean): string | null => {
  const last = entries.at(-1)
  if (last === undefined) return null
  if (!Entry.isLeafMarker(last)) return last.id
  return last.parentId !== null && has(last.parentId) ? last.parentId : null
}

/** The tree with further entries after its last; the last of them becomes the leaf. */
export const append = (tree: SessionTree, entries: ReadonlyArray<Entry.Entry>): SessionTree => {
  if (entries.length === 0) return tree
  const all = [...tree.entries, ...entries]
  if (tree.isPart !== true) return make(tree.header, all)
  const leafId = leafOf(all, (id) => all.some((entry) => entry.id === id))
  const grown = partOf(tree.header, all, leafId, tree.isTakenAnywhere && grownTaken(tree.isTakenAnywhere, entries))
  const isPath = tree.leafId === tree.entries.at(-1)?.id && isChain(tree.leafId, entries)
  if (isPath) leafPaths.set(grown, all)
  return grown
}

const grownTaken =
  (isTaken: IsTaken, entries: ReadonlyArray<Entry.Entry>): IsTaken =>
  (id) =>
    isTaken(id) || entries.some((entry) => entry.id === id)

/** Whether entries follow one another, the first a given one, and the last is where one stands then. */
const isChain = (parentId: string | null, entries: ReadonlyArray<Entry.Entry>): boolean =>
  entries.every(
    (entry, index) => entry.parentId === (index === 0 ? parentId : entries[index - 1]?.id) && !Entry.isLeafMarker(entry)
  )

/** Whether a short id is in use; undefined where that is not known of all ids. */
export const isTaken = (tree: SessionTree, id: string): boolean | undefined =>
  tree.isPart === true ? tree.isTakenAnywhere?.(id) : tree.positions.has(id)

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
  const seen = new Uint8Array(tree.entries.length)
  for (let at = positionOf(tree, id); at !== undefined && seen[at] === 0;) {
    const entry = tree.entries[at]
    if (entry === undefined) break
    seen[at] = 1
    backwards.push(entry)
    at = positionOf(tree, entry.parentId)
  }
  return backwards.toReversed()
}

const positionOf = (tree: SessionTree, id: string | null): number | undefined =>
  id === null ? undefined : tree.positions.get(id)

/** The path to the leaf. It is found once for a tree, however often it is asked for. */
export const leafPath = (tree: SessionTree): ReadonlyArray<Entry.Entry> => {
  const known = leafPaths.get(tree) ?? path(tree, tree.leafId)
  leafPaths.set(tree, known)
  return known
}

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

/** How far the walk to the root has come for an entry. */
const walk = { none: 0, current: 1, done: 2 }

/** Every unknown parent, and every cycle once. */
const findBrokenParents = (
  tree: SessionTree,
  lines: ReadonlyArray<number>,
  diagnostics: Diagnostic.Collector
): void => {
  const walks = new Uint8Array(tree.entries.length)
  for (const [position, start] of tree.entries.entries()) {
    // An entry whose id is used again later is out of the tree.
    if (tree.positions.get(start.id) !== position) continue
    const walked: Array<number> = []
    let at: number | undefined = position
    while (at !== undefined && walks[at] !== walk.done) {
      const entry: Entry.Entry | undefined = tree.entries[at]
      if (entry === undefined) break
      const where = { line: lines[at], entryId: entry.id }
      if (walks[at] === walk.current) {
        diagnostics.add(
          Diagnostic.make("ParentCycle", `The entry ${entry.id} is its own ancestor; its path stops there.`, where)
        )
        break
      }
      walks[at] = walk.current
      walked.push(at)
      at = positionOf(tree, entry.parentId)
      if (entry.parentId !== null && at === undefined) {
        const message = `The parent ${entry.parentId} of the entry ${entry.id} is not in the session; its path stops there.`
        diagnostics.add(Diagnostic.make("UnknownParent", message, where))
      }
    }
    for (const done of walked) walks[done] = walk.done
  }
}
