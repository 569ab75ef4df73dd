/**
 * Where a compaction cuts. Each law takes a path, a tokenizer's `count` and
 * the settings of a preparation, and throws `LawBroken` where it does not hold.
 *
 * @since 0.1.0
 */
import type * as Entry from "@cutpoint/core/Entry"
import * as Message from "@cutpoint/core/Message"
import * as Preparation from "@cutpoint/core/Preparation"
import * as Projection from "@cutpoint/core/Projection"
import * as Tokens from "@cutpoint/core/Tokens"
import * as Option from "effect/Option"
import * as Law from "./Law.js"

/** The entries that can be cut, the first of them that is kept, and what was prepared. */
interface Cut {
  readonly items: ReadonlyArray<Projection.ProjectedEntry>
  readonly index: number
  readonly preparation: Preparation.Preparation
}

const cutOf = (
  path: ReadonlyArray<Entry.Entry>,
  count: Tokens.CountMessage,
  settings: Preparation.Settings
): Cut | undefined => {
  const projection = Projection.project(path)
  const preparation = Option.getOrUndefined(Preparation.prepareProjection(projection, count, settings))
  if (preparation === undefined) return undefined
  const items = Projection.range(projection)
  return { items, index: items.findIndex(({ entry }) => entry.id === preparation.firstKeptEntryId), preparation }
}

/**
 * A tool result is never the first message kept, and none that is kept has
 * lost its call: where both are visible, both are summarized or both kept.
 */
export const resultsStayWithCalls = (
  path: ReadonlyArray<Entry.Entry>,
  count: Tokens.Count,
  settings: Preparation.Settings
): void => {
  const law = "The first kept message is a valid cut, and no kept result has its visible call before the cut."
  const preparation = cutOf(path, Tokens.counter(count, settings.rules), settings)?.preparation
  if (preparation === undefined) return
  const { keptMessages, messagesToSummarize, turnPrefixMessages } = preparation
  const first = keptMessages[0]?.role
  Law.hold(law, first !== "toolResult" && first !== "system", () => `The first kept message has the role ${first}.`)
  const summarized = new Set<string>()
  for (const message of [...messagesToSummarize, ...turnPrefixMessages]) {
    if (message.role === "assistant") for (const { id } of Message.toolCalls(message)) summarized.add(id)
  }
  for (const message of keptMessages) {
    // An id that is used again belongs to the newer call.
    if (message.role === "assistant") for (const { id } of Message.toolCalls(message)) summarized.delete(id)
    if (message.role !== "toolResult") continue
    Law.hold(
      law,
      !summarized.has(message.toolCallId),
      () => `The call ${message.toolCallId} of a kept result is summarized.`
    )
  }
}

const turnRoles: ReadonlySet<Message.Role> = new Set([
  "user",
  "bashExecution",
  "custom",
  "branchSummary",
  "compactionSummary"
])

const startsTurn = (message: Message.Message | undefined): boolean =>
  message !== undefined && turnRoles.has(message.role)

/**
 * The prefix of a split turn is the turn's own start: it begins where a turn
 * does, holds no other beginning, and what is kept goes on in that turn. Where
 * no turn is split, what is kept begins a turn, or none began before it.
 */
export const prefixStartsTheSplitTurn = (
  path: ReadonlyArray<Entry.Entry>,
  count: Tokens.Count,
  settings: Preparation.Settings
): void => {
  const law = "The prefix of a split turn is the start of the turn that goes on in what is kept."
  const preparation = cutOf(path, Tokens.counter(count, settings.rules), settings)?.preparation
  if (preparation === undefined) return
  const { isSplitTurn, keptMessages, messagesToSummarize, turnPrefixMessages } = preparation
  const starts = turnPrefixMessages.map(startsTurn)
  const [first, ...rest] = starts
  const goesOn = keptMessages.length > 0 && !startsTurn(keptMessages[0])
  if (isSplitTurn) {
    Law.hold(
      law,
      first === true && !rest.includes(true),
      () => `Of the prefix these start a turn: ${Law.shown(starts)}.`
    )
    Law.hold(law, goesOn, () => "What is kept starts a turn of its own.")
  } else {
    Law.hold(law, starts.length === 0, () => "No turn is split, and there is a prefix.")
    Law.hold(law, !goesOn || !messagesToSummarize.some(startsTurn), () => "A turn is cut, and not said to be split.")
  }
}

/**
 * No more is kept than the budget asks for, and no less: what is kept after
 * the entry that fills it costs less than the budget, and of what is kept
 * from that entry on, nothing that could be cut before is left out. Where
 * nothing from that entry on can be cut before, the last entry before it is.
 */
export const keepsTheBudget = (
  path: ReadonlyArray<Entry.Entry>,
  count: Tokens.Count,
  settings: Preparation.Settings
): void => {
  const law = `What is kept after the entry that fills the budget of ${settings.keepRecentTokens} tokens costs less, and no more is given up than must be.`
  const counter = Tokens.counter(count, settings.rules)
  const cut = cutOf(path, counter, settings)
  if (cut === undefined) return
  const { index, items, preparation } = cut
  const filled = fillingEntry(items, counter, settings.keepRecentTokens)
  const from = filled ?? 0
  if (filled !== undefined) {
    const cost = costOf(items.slice(Math.max(index, filled + 1)), counter)
    Law.hold(law, cost < Math.max(1, settings.keepRecentTokens), () => `It costs ${cost}.`)
  }
  // Where a retry left only hidden replies behind, what it retried is given up too.
  if (preparation.keptMessages.length === 0) return
  const valid = items.flatMap((_, at) => (mayCut(items, at, settings) ? [at] : []))
  const expected = valid.find((at) => at >= from) ?? valid.findLast((at) => at < from)
  const found = items.findIndex((item, at) => at >= index && isVisible(item, settings))
  Law.hold(
    law,
    found === expected,
    () => `The first kept message is number ${found} of the range, and should be number ${expected}.`
  )
}

/** Walks back, passing entries of no tokens, until the sum reaches the budget. */
const fillingEntry = (
  items: ReadonlyArray<Projection.ProjectedEntry>,
  count: Tokens.CountMessage,
  budget: number
): number | undefined => {
  let sum = 0
  for (let index = items.length - 1; index >= 0; index--) {
    const cost = costOf(items.slice(index, index + 1), count)
    if (cost === 0) continue
    sum += cost
    if (sum >= budget) return index
  }
  return undefined
}

const costOf = (items: ReadonlyArray<Projection.ProjectedEntry>, count: Tokens.CountMessage): number =>
  items.reduce((sum, { messages }) => sum + Tokens.sum(messages, count), 0)

const messageOf = (item: Projection.ProjectedEntry | undefined): Message.Message | undefined => item?.messages.at(-1)

const isVisible = (item: Projection.ProjectedEntry, { rules }: Preparation.Settings): boolean => {
  const message = messageOf(item)
  return message !== undefined && !(rules.excludedBashIsSilent && Message.isExcludedBash(message))
}

/** Whether a cut may fall on an item, by the words of the rule and without regard to speed. */
const mayCut = (
  items: ReadonlyArray<Projection.ProjectedEntry>,
  index: number,
  settings: Preparation.Settings
): boolean => {
  const item = items[index]
  const role = messageOf(item)?.role
  if (item === undefined || !isVisible(item, settings) || role === "toolResult" || role === "system") return false
  return !settings.rules.resultsStayWithCalls || !separates(items, index)
}

/** Whether an item stands between a call and its result, or after a newest reply whose calls may still get theirs. */
const separates = (items: ReadonlyArray<Projection.ProjectedEntry>, index: number): boolean => {
  const before = items.slice(0, index).map(messageOf)
  const after = items.slice(index + 1).map(messageOf)
  const isCut = after.some((result, at) => {
    if (result?.role !== "toolResult") return false
    const isCaller = calls(result.toolCallId)
    return before.some(isCaller) && ![messageOf(items[index]), ...after.slice(0, at)].some(isCaller)
  })
  return isCut || waits(before, items.slice(index).map(messageOf))
}

const calls =
  (id: string) =>
  (message: Message.Message | undefined): boolean =>
    message?.role === "assistant" && Message.toolCalls(message).some((call) => call.id === id)

type Messages = ReadonlyArray<Message.Message | undefined>

const waits = (before: Messages, from: Messages): boolean => {
  const at = before.findLastIndex((message) => message?.role === "assistant")
  const reply = before[at]
  if (reply?.role !== "assistant" || Message.isBroken(reply)) return false
  if (from.some((message) => message?.role === "assistant")) return false
  const later = [...before.slice(at + 1), ...from]
  return Message.toolCalls(reply).some(
    ({ id }) => !later.some((message) => message?.role === "toolResult" && message.toolCallId === id)
  )
}

/** Whoever keeps more summarizes no more. */
export const largerBudgetCutsNoLater = (
  path: ReadonlyArray<Entry.Entry>,
  count: Tokens.Count,
  settings: Preparation.Settings,
  /** How many tokens more are kept. */
  more: number
): void => {
  const counter = Tokens.counter(count, settings.rules)
  const cutAt = (keepRecentTokens: number) => cutOf(path, counter, { ...settings, keepRecentTokens })?.index ?? 0
  const { keepRecentTokens } = settings
  const [smaller, larger] = [cutAt(keepRecentTokens), cutAt(keepRecentTokens + more)]
  Law.hold(
    "A larger budget never cuts later.",
    larger <= smaller,
    () =>
      `A budget of ${keepRecentTokens} cuts before entry ${smaller} of the range, ${keepRecentTokens + more} before ${larger}.`
  )
}
