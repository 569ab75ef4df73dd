/**
 * Walks from a session's leaf to where its context starts, over lines that come
 * in from the end of the file. Lines that are not on the way are known by their
 * heads and not parsed.
 *
 * Law. What it finds is what reading the whole session finds. Where that cannot
 * be told (an id that is used twice on the way, a parent that is not there, a
 * boundary that is not on the path), it says that it is lost, and the session
 * has to be read whole.
 *
 * @since 0.1.0
 */
import * as Entry from "@cutpoint/core/Entry"
import type * as LineHead from "@cutpoint/core/LineHead"
import * as Projection from "@cutpoint/core/Projection"
import * as ReplyHead from "@cutpoint/core/ReplyHead"
import * as SessionLines from "@cutpoint/core/SessionLines"
import * as SessionTree from "@cutpoint/core/SessionTree"
import * as Skimmed from "@cutpoint/core/Skimmed"
import type { ByteLine } from "./ByteLine.js"
import { IdSet } from "./IdSet.js"

/** How a walk stands: there is more to read, the context's start was found, or it cannot go on. */
export type Standing = "under way" | "found" | "lost"

/** How a walk is made. */
export interface Options {
  /** Which messages are taken by their heads, if nothing else has to be known of them, and after how many bytes. */
  readonly skim?: { readonly what: Skimmed.What; readonly after: number } | undefined
  /** Whether the walk is over as soon as an entry names the model. */
  readonly stopsAtModel?: boolean | undefined
}

/** What a head does not tell of: calls that a tool made itself. */
const nestedKey = Buffer.from('"nestedCalls"')

/** A walk from the leaf to the start of the context. */
export class ContextWalk {
  standing: Standing = "under way"
  /** The leaf's id. */
  leafId: string | null = null
  private readonly backwards: Array<Entry.Entry> = []
  /** The ids of all entries that it met. */
  readonly seen = new IdSet()
  /** The next entry on the way; undefined while the leaf is not known. */
  private wanted: string | null | undefined
  /** The first entry that the last compaction keeps, once that has been met. */
  private boundary: string | undefined
  private newest = 0
  /** Whether the entries that it took say how large the context is, and of which model, so that older ones need not. */
  private hasTokens = false
  private hasModel = false
  private isEdited = false

  constructor(private readonly options: Options) {}

  /** Whether the last compaction has been met. */
  get isCompacted(): boolean {
    return this.boundary !== undefined
  }

  /** The way that was found, the oldest entry first. */
  get entries(): ReadonlyArray<Entry.Entry> {
    return this.backwards.toReversed()
  }

  /** Takes the line before those that it had. */
  push(line: ByteLine): void {
    this.newest += line.length + 1
    const head = line.head()
    if (this.wanted === undefined) return this.start(parsed(line))
    if (head === undefined) {
      // Of two entries on a line the second comes first.
      for (const entry of parsed(line).toReversed()) this.meet(entry.id, () => entry)
      return
    }
    this.meet(head.id, () => this.read(line, head))
  }

  /** There are no more lines. */
  end(): void {
    if (this.standing === "under way") this.standing = "lost"
  }

  private start(entries: ReadonlyArray<Entry.Entry>): void {
    const last = entries.at(-1)
    if (last === undefined) return
    if (Entry.isLeafMarker(last)) {
      this.leafId = last.parentId
      this.wanted = last.parentId
      this.seen.add(last.id)
      if (last.parentId === null) this.standing = "lost"
      return
    }
    this.leafId = last.id
    this.wanted = last.id
    for (const entry of entries.toReversed()) this.meet(entry.id, () => entry)
  }

  private meet(id: string, entryOf: () => Entry.Entry | undefined): void {
    if (this.standing !== "under way" || this.seen.has(id)) return
    this.seen.add(id)
    if (id === this.wanted) this.take(entryOf())
  }

  private take(entry: Entry.Entry | undefined): void {
    if (entry === undefined) {
      this.standing = "lost"
      return
    }
    this.backwards.push(entry)
    this.note(entry)
    if (entry.type === "compaction" && this.boundary === undefined) this.boundary = entry.firstKeptEntryId
    this.wanted = entry.parentId
    const isLastWanted = this.options.stopsAtModel === true && Projection.latestModel([entry]) !== undefined
    if (this.editsNewer(entry)) this.standing = "lost"
    else if (isLastWanted || entry.id === this.boundary) this.standing = "found"
    else if (entry.parentId === null) this.standing = this.boundary === undefined ? "found" : "lost"
    else if (this.seen.has(entry.parentId)) this.standing = "lost"
  }

  /** Whether an entry changes what came after it, and with that perhaps how large the context is. */
  private editsNewer(entry: Entry.Entry): boolean {
    return entry.type === "context_edit" && this.seen.has(entry.targetId)
  }

  /** The entry of a line by its head, if that is enough, else by all of it. */
  private read(line: ByteLine, head: LineHead.LineHead): Entry.Entry | undefined {
    const { skim } = this.options
    if (skim === undefined || this.newest <= skim.after) return entryOf(line, head)
    const skimmed = Skimmed.entryOf(head, skim.what)
    if (skimmed !== undefined && !says(line, head)) return skimmed
    const reply = this.hasTokens && this.hasModel ? ReplyHead.read(line.text(), head) : undefined
    if (reply !== undefined) return Skimmed.replyOf(head, reply)
    const entry = entryOf(line, head)
    return entry && Skimmed.callsOnly(entry)
  }

  private note(entry: Entry.Entry): void {
    this.isEdited ||= entry.type === "context_edit"
    this.hasTokens ||= !this.isEdited && SessionTree.reportedTokens([entry]) !== undefined
    this.hasModel ||= Projection.latestModel([entry]) !== undefined
  }
}

const entryOf = (line: ByteLine, { id }: LineHead.LineHead): Entry.Entry | undefined =>
  parsed(line).find((entry) => entry.id === id)

const parsed = (line: ByteLine): ReadonlyArray<Entry.Entry> => SessionLines.entriesOf(line.text())

/**
 * Whether a line says more that matters than its head. A second entry on the
 * line does not: where it is on the way, its id is not found by any head, and
 * the walk is lost.
 */
const says = (line: ByteLine, { end, role }: LineHead.LineHead): boolean =>
  role === "toolResult" && line.includes(nestedKey, end)
