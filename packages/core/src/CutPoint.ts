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

/** Entries in projected order, after the compaction at their head, with running sums of their tokens. */
export interface Range {
  readonly items: ReadonlyArray<Projection.ProjectedEntry>
  /** `sums[i]` is what the items before `i` cost, in tokens; one longer than `items`. */
  readonly sums: ReadonlyArray<number>
}

/** A cut: `index` is the first kept item. */
export interface CutPoint {
  readonly index: number
  /** Whether the turn that the cut falls in starts before it. */
  readonly isSplitTurn: boolean
  /** Where the split turn starts; the cut itself where no turn is split. */
  readonly turnStart: number
}

/** Counts the items of a range. */
export const range = (items: ReadonlyArray<Projection.ProjectedEntry>, count: Tokens.CountMessage): Range => {
  const sums: Array<number> = [0]
  let total = 0
  for (const item of items) {
    for (const message of item.messages) total += count(message)
    sums.push(total)
  }
  return { items, sums }
}

/**
 * Finds the cut that keeps about `keepRecentTokens` tokens. None where no
 * entry is a valid cut.
 */
export const find = (range: Range, keepRecentTokens: number, rules: Rules.Rules): Option.Option<CutPoint> => {
  const isValid = validCuts(range.items, rules)
  const filled = fillingIndex(range.sums, keepRecentTokens)
  const cut = filled === undefined ? firstFrom(isValid, 0) : (firstFrom(isValid, filled) ?? lastBefore(isValid, filled))
  if (cut === undefined) return Option.none()
  const resumed = filled !== undefined && isRecoverySuffix(range.items, cut, rules) ? cut + 1 : cut
  return Option.some(withTurn(range.items, overSilent(range.items, resumed, rules), rules))
}

/**
 * The newest entry from which on the tokens reach the budget; with a budget
 * of 0 the newest entry that costs anything. Undefined where they never do.
 */
const fillingIndex = (sums: ReadonlyArray<number>, budget: number): number | undefined => {
  const total = sums.at(-1) ?? 0
  if (total === 0 || total < budget) return undefined
  // The last index whose suffix is at least the budget, and more than nothing.
  let low = 0
  let high = sums.length - 2
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    const suffix = total - (sums[middle] ?? 0)
    if (suffix >= budget && suffix > 0) low = middle
    else high = middle - 1
  }
  return low
}

const firstFrom = (isValid: ReadonlyArray<boolean>, from: number): number | undefined => {
  const index = isValid.indexOf(true, from)
  return index < 0 ? undefined : index
}

const lastBefore = (isValid: ReadonlyArray<boolean>, before: number): number | undefined => {
  const index = isValid.lastIndexOf(true, before - 1)
  return before === 0 || index < 0 ? undefined : index
}

/** Which entries a cut may fall on: tool results stay with their calls, system messages are prompt state. */
const validCuts = (items: ReadonlyArray<Projection.ProjectedEntry>, rules: Rules.Rules): ReadonlyArray<boolean> => {
  const bound = rules.resultsStayWithCalls ? boundToCall(items) : undefined
  return items.map((item, index) => {
    const role = Projection.visible(item, rules)?.role
    return role !== undefined && role !== "toolResult" && role !== "system" && bound?.[index] !== true
  })
}

/**
 * Which entries stand between a visible call and its result. The calls of the
 * newest reply may still get theirs, so what follows it stays with it too.
 */
const boundToCall = (items: ReadonlyArray<Projection.ProjectedEntry>): ReadonlyArray<boolean> => {
  const callAt = new Map<string, number>()
  const lastResult: Array<number> = []
  let newestReply = -1
  items.forEach((item, index) => {
    const message = item.messages.at(-1)
    if (message?.role === "assistant") {
      newestReply = index
      for (const call of Message.toolCalls(message)) callAt.set(call.id, index)
    } else if (message?.role === "toolResult") {
      const call = callAt.get(message.toolCallId)
      if (call !== undefined) lastResult[call] = index
    }
  })
  if (awaitsResults(items, newestReply)) lastResult[newestReply] = items.length - 1
  let reach = -1
  return items.map((_, index) => {
    const isBound = index <= reach
    reach = Math.max(reach, lastResult[index] ?? -1)
    return isBound
  })
}

const awaitsResults = (items: ReadonlyArray<Projection.ProjectedEntry>, reply: number): boolean => {
  const message = items[reply]?.messages.at(-1)
  if (message?.role !== "assistant" || Message.isBroken(message)) return false
  const answered = new Set<string>()
  for (const item of items.slice(reply + 1)) {
    const result = item.messages.at(-1)
    if (result?.role === "toolResult") answered.add(result.toolCallId)
  }
  return Message.toolCalls(message).some((call) => !answered.has(call.id))
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
  const after = items.slice(cut + 1)
  if (after.some((item) => Projection.visible(item, rules) !== undefined)) return false
  const hidden = new Set(after.filter(isHiddenReply).map((item) => item.entry.id))
  const replacesOther = after.some(
    ({ entry }) => entry.type === "context_edit" && entry.replacement !== null && !hidden.has(entry.targetId)
  )
  return hidden.size > 0 && !replacesOther
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
  const judged = rules.splitJudgedByMessage
    ? items.slice(index).find((item) => Projection.visible(item, rules) !== undefined)
    : items[index]
  if (judged === undefined || startsTurn(judged)) return whole
  const turnStart = items.slice(0, index).findLastIndex(startsTurn)
  return turnStart < 0 ? whole : { index, isSplitTurn: true, turnStart }
}
