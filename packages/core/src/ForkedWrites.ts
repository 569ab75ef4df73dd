/**
 * Finds where two programs wrote to a session without seeing each other: an
 * entry that goes on from an earlier place although no move there is recorded,
 * and so leaves behind what was written since.
 *
 * Going back in a program that records no moves looks the same. So it is only
 * taken for a fork where the entry came within seconds of the one it stands
 * beside, or stands beside a compaction, as it does when a program goes on
 * that still has the session in memory as it was before. Equal times say
 * nothing: whoever converts or copies a session may give all entries the same.
 *
 * @since 0.1.0
 */
import * as Diagnostic from "./Diagnostic.js"
import * as Entry from "./Entry.js"

/** Nobody reads, goes back and says something else in so short a time. */
const closeMillis = 5000

/** An entry that was written beside another one, as if that were not there. Both are positions in file order. */
export interface Fork {
  readonly at: number
  readonly beside: number
}

/** Every place where it looks as if a program had not seen what was written last. */
export const find = (entries: ReadonlyArray<Entry.Entry>): ReadonlyArray<Fork> => {
  const forks: Array<Fork> = []
  const lastChild = new Map<string | null, number>()
  const known = new Set<string>()
  let leafId: string | null = null
  for (const [at, entry] of entries.entries()) {
    const { id, parentId } = entry
    // A program that does not know marks goes on from the mark itself.
    const isNext = parentId === leafId || parentId === (entries[at - 1]?.id ?? null)
    const isElsewhere = !isNext && (parentId === null || known.has(parentId))
    if (isElsewhere && goesOn(entry)) {
      const sibling = lastChild.get(parentId)
      const beside = sibling ?? at - 1
      if (isUnseen(entry, entries[beside], sibling !== undefined)) forks.push({ at, beside })
    }
    lastChild.set(parentId, at)
    known.add(id)
    leafId = Entry.isLeafMarker(entry) ? parentId : id
  }
  return forks
}

/** The forks as faults. `lines` are the 1-based lines of the entries. */
export const diagnostics = (
  entries: ReadonlyArray<Entry.Entry>,
  lines: ReadonlyArray<number>
): ReadonlyArray<Diagnostic.Diagnostic> => {
  const collector = Diagnostic.collector()
  for (const { at, beside } of find(entries)) {
    const [entryId, other] = [entries[at]?.id ?? "", entries[beside]?.id ?? ""]
    const message = `The entry ${entryId} stands beside ${other}, not after it, and no move is recorded in between: the program that wrote it seems not to have seen ${other}. Nothing is lost; each is on a branch of its own.`
    collector.add(Diagnostic.make("ForkedWrite", message, { line: lines[at], entryId }))
  }
  return collector.all()
}

/** Other entries, such as labels, may stand before the record of a move. */
const goesOn = ({ type }: Entry.Entry): boolean =>
  type === "message" || type === "custom_message" || type === "compaction"

const isUnseen = (entry: Entry.Entry, beside: Entry.Entry | undefined, isSibling: boolean): boolean => {
  if (beside === undefined) return false
  if (isSibling && beside.type === "compaction") return true
  const [one, other] = [Entry.writtenAt(entry), Entry.writtenAt(beside)]
  if (one === undefined || other === undefined || one === other) return false
  return Math.abs(one - other) <= closeMillis
}
