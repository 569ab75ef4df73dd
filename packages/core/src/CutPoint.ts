/**
 * Where to cut: what is summarized ends and what is kept begins.
 *
 * Laws. The first kept message is a valid cut, never a tool result, and no
 * kept result has its visible call before the cut. What is kept after the
 * entry that fills the budget costs less than the budget; a larger budget
 * never cuts later. Entries without messages change nothing.
 *
 * @since 0.1.0
 */
import * as Option from "effect/Option"
import * as Message from "./Message.js"
import * as Projection from "./Projection.js"
import type * as Rules from "./Rules.js"
import type * as Tokens from "./Tokens.js"

/** Entries in projected order, after the compaction at their head, and what they cost. */
export interface Range {
  readonly items: ReadonlyArray<Projection.ProjectedEntry>
  /** What the item at an index costs, in tokens. It is only asked for as far back as the budget reaches. */
  readonly tokensAt: (index: number) => number
}

/** A cut: `index` is the first kept item. */
export interface CutPoint {
  readonly index: number
  /** Whether the turn that the cut falls in starts before it. */
  readonly isSplitTurn: boolean
  /** Where the split turn starts; the cut itself where no turn is split. */
  readonly turnStart: number
}

/** The items of a range with a counter of messages. */
export const range = (items: ReadonlyArray<Projection.ProjectedEntry>, count: Tokens.CountMessage): Range => ({
  items,
  tokensAt: (index) => tokensOf(items[index], count)
})

/** What an item costs, in tokens. */
export const tokensOf = (item: Projection.ProjectedEntry | undefined, count: Tokens.CountMessage): number => {
  let total = 0
  for (const message of item?.messages ?? []) total += count(message)
  return total
}

/**
 * Finds the cut that keeps about `keepRecentTokens` tokens. None where no
 * entry is a valid cut.
 */
export const find = (range: Range, keepRecentTokens: number, rules: Rules.Rules): Option.Option<CutPoint> =>
  from(range.items, fillingIndex(range, keepRecentTokens), rules, validCuts(range.items, rules))

/**
 * The cut, given the newest index from which on the tokens reach the budget
 * (undefined where they never do) and which entries a cut may fall on.
 */
export const from = (
  items: ReadonlyArray<Projection.ProjectedEntry>,
  filled: number | undefined,
  rules: Rules.Rules,
  isValid: (index: number) => boolean
): Option.Option<CutPoint> => {
  const cut =
    filled === undefined
      ? firstFrom(items, isValid, 0)
      : (firstFrom(items, isValid, filled) ?? lastBefore(isValid, filled))
  if (cut === undefined) return Option.none()
  const resumed = filled !== undefined && isRecoverySuffix(items, cut, rules) ? cut + 1 : cut
  return Option.some(withTurn(items, overSilent(items, resumed, rules), rules))
}

/**
 * The newest entry from which on the tokens reach the budget; with a budget
 * of 0 the newest entry that costs anything. Undefined where they never do.
 */
const fillingIndex = ({ items, tokensAt }: Range, budget: number): number | undefined => {
  let total = 0
  for (let index = items.length - 1; index >= 0; index--) {
    total += tokensAt(index)
    if (total >= budget && total > 0) return index
  }
  return undefined
}

const firstFrom = (
  items: ReadonlyArray<unknown>,
  isValid: (index: number) => boolean,
  from: number
): number | undefined => {
  for (let index = from; index < items.length; index++) if (isValid(index)) return index
  return undefined
}

const lastBefore = (isValid: (index: number) => boolean, before: number): number | undefined => {
  for (let index = before - 1; index >= 0; index--) if (isValid(index)) return index
  return undefined
}

/** Whether an entry could begin what is kept by what it is: tool results stay with their calls, system messages are prompt state. */
export const mayBegin = (item: Projection.ProjectedEntry, rules: Rules.Rules): boolean => {
  const role = Projection.visible(item, rules)?.role
  return role !== undefined && role !== "toolResult" && role !== "system"
}

/** Which entries a cut may fall on; looked into for those that are asked about. */
const validCuts = (
  items: ReadonlyArray<Projection.ProjectedEntry>,
  rules: Rules.Rules
): ((index: number) => boolean) => {
  const openReply = rules.resultsStayWithCalls ? awaitingReply(items) : undefined
  return (index) => {
    const item = items[index]
    if (item === undefined || !mayBegin(item, rules)) return false
    if (openReply !== undefined && index > openReply) return false
    return !rules.resultsStayWithCalls || !partsCallAndResult(items, index)
  }
}

/** Whether a cut at an index would part a visible call before it from its result at or after it. */
const partsCallAndResult = (items: ReadonlyArray<Projection.ProjectedEntry>, cut: number): boolean => {
  const calls = new Set<string>()
  const strangers = new Set<string>()
  for (let index = cut; index < items.length; index++) {
    const message = items[index]?.messages.at(-1)
    if (message?.role === "assistant") for (const call of Message.toolCalls(message)) calls.add(call.id)
    if (message?.role === "toolResult" && !calls.has(message.toolCallId)) strangers.add(message.toolCallId)
  }
  return strangers.size > 0 && hasCall(items, cut, strangers)
}

/** Whether one of the calls stands before an index. Those of results that are not orphaned are near. */
const hasCall = (
  items: ReadonlyArray<Projection.ProjectedEntry>,
  before: number,
  ids: ReadonlySet<string>
): boolean => {
  for (let index = before - 1; index >= 0; index--) {
    const message = items[index]?.messages.at(-1)
    if (message?.role === "assistant" && Message.toolCalls(message).some((call) => ids.has(call.id))) return true
  }
  return false
}

/** The newest reply, if its calls may still get results: what follows it stays with it. */
const awaitingReply = (items: ReadonlyArray<Projection.ProjectedEntry>): number | undefined => {
  const answered = new Set<string>()
  for (let index = items.length - 1; index >= 0; index--) {
    const message = items[index]?.messages.at(-1)
    if (message?.role === "toolResult") answered.add(message.toolCallId)
    if (message?.role !== "assistant") continue
    const isOpen = !Message.isBroken(message) && Message.toolCalls(message).some((call) => !answered.has(call.id))
    return isOpen ? index : undefined
  }
  return undefined
}

/**
 * Whether all that follows the cut is what a retry left behind: a failed
 * reply that an edit hides, and nothing visible. The message that was retried
 * is then summarized too. An edit that replaces another entry speaks against.
 */
const isRecoverySuffix = (
  items: ReadonlyArray<Projection.ProjectedEntry>,
  cut: number,
  rules: Rules.Rules
): boolean => {
  if (firstVisible(items, cut + 1, rules) !== undefined) return false
  const after = items.slice(cut + 1)
  const hidden = new Set(after.filter(isHiddenReply).map((item) => item.entry.id))
  const replacesOther = after.some(
    ({ entry }) => entry.type === "context_edit" && entry.replacement !== null && !hidden.has(entry.targetId)
  )
  return hidden.size > 0 && !replacesOther
}

/** The first entry from an index on that the model sees. */
const firstVisible = (
  items: ReadonlyArray<Projection.ProjectedEntry>,
  from: number,
  rules: Rules.Rules
): Projection.ProjectedEntry | undefined => {
  for (let index = from; index < items.length; index++) {
    const item = items[index]
    if (item !== undefined && Projection.visible(item, rules) !== undefined) return item
  }
  return undefined
}

const isHiddenReply = ({ entry, hidden }: Projection.ProjectedEntry): boolean =>
  hidden && entry.type === "message" && entry.message.role === "assistant"

/** Moves the cut back over the entries without a message right before it, up to a compaction. */
const overSilent = (items: ReadonlyArray<Projection.ProjectedEntry>, cut: number, rules: Rules.Rules): number => {
  let index = cut
  for (; index > 0; index--) {
    const before = items[index - 1]
    if (before === undefined || before.entry.type === "compaction") break
    if (Projection.visible(before, rules) !== undefined) break
  }
  return index
}

const turnRoles: ReadonlySet<Message.Role> = new Set<Message.Role>([
  "user",
  "bashExecution",
  "custom",
  "branchSummary",
  "compactionSummary"
])

const withTurn = (items: ReadonlyArray<Projection.ProjectedEntry>, index: number, rules: Rules.Rules): CutPoint => {
  const startsTurn = (item: Projection.ProjectedEntry): boolean => {
    const role = Projection.visible(item, rules)?.role
    return role !== undefined && turnRoles.has(role)
  }
  const whole: CutPoint = { index, isSplitTurn: false, turnStart: index }
  const judged = rules.splitJudgedByMessage ? firstVisible(items, index, rules) : items[index]
  if (judged === undefined || startsTurn(judged)) return whole
  for (let start = index - 1; start >= 0; start--) {
    const item = items[start]
    if (item !== undefined && startsTurn(item)) return { index, isSplitTurn: true, turnStart: start }
  }
  return whole
}
