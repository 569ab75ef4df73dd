/**
 * The entries that a move appends.
 *
 * @since 0.1.0
 */
import * as Entry from "@cutpoint/core/Entry"
import type * as Message from "@cutpoint/core/Message"
import type * as SessionTree from "@cutpoint/core/SessionTree"
import * as Effect from "effect/Effect"
import * as NewEntry from "./NewEntry.js"

/** From where to where, in which tree. */
export interface Way {
  readonly tree: SessionTree.SessionTree
  readonly oldLeafId: string | null
  readonly newLeafId: string | null
}

/** A branch's summary, ready to be stored. */
export interface Carried {
  readonly text: string
  readonly details: unknown
  readonly usage: Message.Usage | undefined
  readonly fromHook: boolean
}

/** Entries to append: the last of them decides where one stands. */
export interface Move {
  readonly entries: readonly [Entry.Entry, ...ReadonlyArray<Entry.Entry>]
  readonly summaryEntry: Entry.BranchSummaryEntry | undefined
}

/** Without a summary the move is made durable by a mark, which must come last. */
export const plain = Effect.fnUntraced(function* (way: Way, targetId: string, label: string | undefined) {
  const mark: Entry.Entry = {
    type: "custom",
    ...(yield* NewEntry.base(way.tree, way.newLeafId)),
    customType: Entry.leafMarker
  }
  const move: Move = { entries: withLabel(yield* labelEntry(way, targetId, label), mark), summaryEntry: undefined }
  return move
})

/** The summary becomes the leaf, so a label for it is written before it. */
export const summarized = Effect.fnUntraced(function* (way: Way, carried: Carried, label: string | undefined) {
  const summaryEntry: Entry.BranchSummaryEntry = {
    type: "branch_summary",
    ...(yield* NewEntry.base(way.tree, way.newLeafId)),
    fromId: way.oldLeafId,
    summary: carried.text,
    ...(carried.details === undefined ? {} : { details: carried.details }),
    ...(carried.usage === undefined ? {} : { usage: carried.usage }),
    ...(carried.fromHook ? { fromHook: true } : {})
  }
  const move: Move = { entries: withLabel(yield* labelEntry(way, summaryEntry.id, label), summaryEntry), summaryEntry }
  return move
})

const labelEntry = Effect.fnUntraced(function* (way: Way, targetId: string, label: string | undefined) {
  if (label === undefined || label === "") return undefined
  const base = yield* NewEntry.base(way.tree, way.newLeafId)
  const entry: Entry.LabelEntry = { type: "label", ...base, targetId, label }
  return entry
})

const withLabel = (label: Entry.LabelEntry | undefined, last: Entry.Entry): Move["entries"] =>
  label === undefined ? [last] : [label, last]
