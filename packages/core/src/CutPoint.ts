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

/** Which entries a cut may fall on. */
const validCuts = (
  items: ReadonlyArray<Projection.ProjectedEntry>,
  rules: Rules.Rules
): ((index: number) => boolean) => {
  const bound = rules.resultsStayWithCalls ? boundToCall(items) : undefined
  return (index) => {
    const item = items[index]
    return item !== undefined && mayBegin(item, rules) && bound?.[index] !== true
  }
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
