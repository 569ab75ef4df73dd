/**
 * Steps by which a session is made: what one entry says, and to which earlier
 * entry or call it refers, as a number. Any list of steps makes a session, so
 * a list that was made shorter does too: this is how a session that breaks a
 * law shrinks.
 *
 * @since 0.1.0
 */
import type * as Entry from "@cutpoint/core/Entry"
import type * as Message from "@cutpoint/core/Message"

type Without<E, Keys extends PropertyKey> = E extends unknown ? Omit<E, Keys> : never

/** An entry without its place in the tree. */
export type Body = Without<Entry.Entry, "id" | "parentId" | "timestamp">

/** A call that a reply makes; its id is made up, or where `repeatsId` is that of the newest call before it. */
export interface Call {
  readonly type: "call"
  readonly name: string
  readonly arguments: unknown
  readonly repeatsId: boolean
}

/** An entry that refers to no other. */
export interface Plain {
  readonly step: "plain"
  readonly body: Body
}

/** A reply with calls. */
export interface Reply {
  readonly step: "reply"
  readonly blocks: ReadonlyArray<Message.TextBlock | Message.ThinkingBlock | Call>
  readonly rest: Without<Message.AssistantMessage, "role" | "content" | "timestamp">
}

/** A result: of the unanswered call, or the call, so many back on the path, or of none. */
export interface Result {
  readonly step: "result"
  readonly to: "unanswered" | "any" | "nothing"
  readonly back: number
  readonly rest: Without<Message.ToolResultMessage, "role" | "toolCallId" | "toolName" | "timestamp">
}

/** A compaction that keeps from the entry so many back, from itself, from an entry elsewhere in the tree, or from nowhere. */
export interface Compaction {
  readonly step: "compaction"
  readonly keeps: number | "itself" | "elsewhere" | "nowhere"
  readonly rest: Without<Entry.CompactionEntry, "type" | "id" | "parentId" | "timestamp" | "firstKeptEntryId">
}

/** The summary of a branch that ended at any entry of the tree. */
export interface BranchSummary {
  readonly step: "branchSummary"
  readonly from: number
  readonly rest: Without<Entry.BranchSummaryEntry, "type" | "id" | "parentId" | "timestamp" | "fromId">
}

/** Hides or replaces the entry so many back on the path. */
export interface Edit {
  readonly step: "edit"
  readonly back: number
  readonly replacement: Entry.ContextEditEntry["replacement"]
}

/** Names the entry so many back on the path. */
export interface Label {
  readonly step: "label"
  readonly back: number
  readonly label: string | null
}

/** What follows goes under any entry of the tree, or starts a tree of its own. */
export interface Move {
  readonly step: "move"
  readonly to: number | null
}

/** One step of making a session. */
export type Step = Plain | Reply | Result | Compaction | BranchSummary | Edit | Label | Move

/** Entries, and where the next one goes. */
export interface Place {
  /** In file order. */
  readonly entries: ReadonlyArray<Entry.Entry>
  readonly leafId: string | null
}

/** A session without entries. */
export const start: Place = { entries: [], leafId: null }

/** The entries that steps add; ids, call ids and timestamps come from how many entries there are. */
export const run = (steps: ReadonlyArray<Step>, from: Place = start): ReadonlyArray<Entry.Entry> => {
  let place = from
  for (const step of steps) place = take(place, step)
  return place.entries.slice(from.entries.length)
}

const take = (place: Place, step: Step): Place => {
  if (step.step === "move")
    return { ...place, leafId: step.to === null ? null : (at(place.entries, step.to)?.id ?? null) }
  const number = place.entries.length
  const base: Base = { number, id: idOf(number), parentId: place.leafId, timestamp: timeOf(number).toISOString() }
  const entry = entryOf(place, step, base)
  return entry === undefined ? place : { entries: [...place.entries, entry], leafId: base.id }
}

interface Base {
  readonly number: number
  readonly id: string
  readonly parentId: string | null
  readonly timestamp: string
}

const idOf = (number: number): string => number.toString(16).padStart(8, "0")

/** A second for each entry, so that no two messages are the same. */
const timeOf = (number: number): Date => new Date(Date.UTC(2026, 0, 1) + number * 1000)

const at = (entries: ReadonlyArray<Entry.Entry>, number: number): Entry.Entry | undefined =>
  entries[number % Math.max(1, entries.length)]

const entryOf = (place: Place, step: Exclude<Step, Move>, { number, ...base }: Base): Entry.Entry | undefined => {
  switch (step.step) {
    case "plain":
      return plain(step.body, base, number)
    case "reply":
      return { type: "message", ...base, message: replyOf(place, step, number) }
    case "result":
      return { type: "message", ...base, message: resultOf(place, step, number) }
    case "compaction":
      return { type: "compaction", ...base, firstKeptEntryId: keptBy(place, step, base.id), ...step.rest }
    case "branchSummary":
      return { type: "branch_summary", ...base, fromId: at(place.entries, step.from)?.id ?? null, ...step.rest }
    case "edit":
    case "label":
      return pointing(place, step, base)
  }
}

const plain = (body: Body, base: Omit<Base, "number">, number: number): Entry.Entry => {
  if (body.type === "unknown") return { type: "unknown", ...base, original: { ...body.original, ...base } }
  if (body.type !== "message" || body.message.role === "unknown") return { ...body, ...base }
  return { ...body, ...base, message: { ...body.message, timestamp: timeOf(number).getTime() } }
}

/** An edit or a label; none where there is nothing it could point at. */
const pointing = (place: Place, step: Edit | Label, base: Omit<Base, "number">): Entry.Entry | undefined => {
  const target = at(backwards(place), step.back)
  if (target === undefined) return undefined
  return step.step === "edit"
    ? { type: "context_edit", ...base, targetId: target.id, replacement: step.replacement }
    : { type: "label", ...base, targetId: target.id, label: step.label }
}

/** The path from the leaf to its root. */
const backwards = ({ entries, leafId }: Place): ReadonlyArray<Entry.Entry> => {
  const path: Array<Entry.Entry> = []
  let wanted = leafId
  for (const entry of entries.toReversed()) {
    if (entry.id !== wanted) continue
    path.push(entry)
    wanted = entry.parentId
  }
  return path
}

/** The calls on the path, the newest first. */
const callsOn = (path: ReadonlyArray<Entry.Entry>): ReadonlyArray<Message.ToolCallBlock> =>
  path.flatMap((entry) =>
    entry.type === "message" && entry.message.role === "assistant"
      ? entry.message.content.filter((block) => block.type === "toolCall").toReversed()
      : []
  )

const replyOf = (place: Place, step: Reply, number: number): Message.AssistantMessage => {
  const newest = step.blocks.some((block) => block.type === "call" && block.repeatsId)
    ? callsOn(backwards(place))[0]?.id
    : undefined
  const content = step.blocks.map((block, index): Message.AssistantBlock => {
    if (block.type !== "call") return block
    const id = block.repeatsId && newest !== undefined ? newest : `call-${number}-${index}`
    return { type: "toolCall", id, name: block.name, arguments: block.arguments }
  })
  return { role: "assistant", content, ...step.rest, timestamp: timeOf(number).getTime() }
}

const resultOf = (place: Place, step: Result, number: number): Message.ToolResultMessage => {
  const call = calledFor(place, step)
  return {
    role: "toolResult",
    toolCallId: call?.id ?? "call-of-nobody",
    toolName: call?.name ?? "nobody",
    ...step.rest,
    timestamp: timeOf(number).getTime()
  }
}

const calledFor = (place: Place, step: Result): Message.ToolCallBlock | undefined => {
  if (step.to === "nothing") return undefined
  const path = backwards(place)
  const calls = callsOn(path)
  if (step.to === "any") return calls[step.back % Math.max(1, calls.length)]
  const answered = new Set(
    path.flatMap((entry) =>
      entry.type === "message" && entry.message.role === "toolResult" ? [entry.message.toolCallId] : []
    )
  )
  const open = calls.filter((call) => !answered.has(call.id))
  return open[step.back % Math.max(1, open.length)]
}

const keptBy = (place: Place, step: Compaction, id: string): string => {
  if (step.keeps === "itself") return id
  const path = backwards(place)
  if (typeof step.keeps === "number") return at(path, step.keeps)?.id ?? id
  const elsewhere = step.keeps === "elsewhere" ? place.entries.find((entry) => !path.includes(entry)) : undefined
  return elsewhere?.id ?? "gone"
}
