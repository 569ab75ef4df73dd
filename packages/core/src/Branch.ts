/**
 * What is left behind when one goes from one place in the tree to another.
 *
 * Law. What is collected is the old path without the target's path, in order,
 * and the ancestor is the deepest entry on both.
 *
 * @since 0.1.0
 */
import * as FileOps from "./FileOps.js"
import type * as Entry from "./Entry.js"
import * as Message from "./Message.js"
import * as Projection from "./Projection.js"
import type * as Rules from "./Rules.js"
import * as SessionTree from "./SessionTree.js"
import type * as Tokens from "./Tokens.js"
import * as Transcript from "./Transcript.js"

/** The entries that a move leaves behind. */
export interface Collected {
  readonly entries: ReadonlyArray<Entry.Entry>
  readonly commonAncestorId: string | null
}

/** How a branch is prepared. */
export interface Settings {
  /** How many tokens fit; 0 for no limit. */
  readonly tokenBudget: number
  /** Whether the oldest messages are dropped where not all fit; else all are taken. */
  readonly dropOldest: boolean
  readonly cwd?: string | undefined
  readonly rules: Rules.Rules
}

/** What of a branch is summarized. */
export interface Prepared {
  /** In order; system messages count their tokens and print nothing. */
  readonly messages: ReadonlyArray<Message.Message>
  /** What these messages cost, in tokens. */
  readonly totalTokens: number
  readonly fileOps: FileOps.FileOps
}

/**
 * From the old leaf back to the deepest entry on the target's path, that one
 * left out; chronological. Compactions are included, not stopped at.
 */
export const collect = (
  tree: SessionTree.SessionTree,
  oldLeafId: string | null,
  targetId: string | null
): Collected => {
  if (oldLeafId === null) return { entries: [], commonAncestorId: null }
  const commonAncestorId = SessionTree.commonAncestor(tree, oldLeafId, targetId)
  const path = SessionTree.path(tree, oldLeafId)
  const start = path.findIndex((entry) => entry.id === commonAncestorId) + 1
  return { entries: path.slice(start), commonAncestorId }
}

/** An entry of a branch and the message it is summarized by. */
interface Candidate {
  readonly entry: Entry.Entry
  readonly message: Message.Message
}

/**
 * The messages to summarize, newest first taken while they fit. A compaction
 * or branch summary that does not fit is still taken when less than 90 % of
 * the budget is used; then it ends.
 */
export const prepare = (
  entries: ReadonlyArray<Entry.Entry>,
  count: Tokens.CountMessage,
  settings: Settings
): Prepared => {
  const candidates = candidatesOf(entries, settings.rules)
  const budget = settings.dropOldest || !settings.rules.wholeBranch ? settings.tokenBudget : 0
  const { taken, totalTokens, seen } = take(candidates, count, budget, settings.rules)
  const messages = taken.map(({ message }) => message)
  return { messages, totalTokens, fileOps: fileOpsOf(entries, seen, settings) }
}

/** What the model would be told of each entry, edits applied; a compaction yields its summary only. */
const candidatesOf = (entries: ReadonlyArray<Entry.Entry>, rules: Rules.Rules): ReadonlyArray<Candidate> => {
  const edits = Projection.latestEdits(entries)
  return entries.flatMap((entry) => {
    const message = Projection.projected(entry, true, edits.get(entry.id)).messages.at(-1)
    return message === undefined || isLeftOut(message, rules) ? [] : [{ entry, message }]
  })
}

const isLeftOut = (message: Message.Message, rules: Rules.Rules): boolean =>
  (message.role === "toolResult" && !rules.wholeBranch) ||
  (rules.excludedBashIsSilent && Message.isExcludedBash(message))

/** The share of the budget up to which a summary that does not fit is still taken. */
const summaryShare = 0.9

interface Taken {
  readonly taken: ReadonlyArray<Candidate>
  readonly totalTokens: number
  /** Those taken, and the first that did not fit. */
  readonly seen: ReadonlyArray<Candidate>
}

const take = (
  candidates: ReadonlyArray<Candidate>,
  count: Tokens.CountMessage,
  budget: number,
  rules: Rules.Rules
): Taken => {
  const taken: Array<Candidate> = []
  let totalTokens = 0
  for (let index = candidates.length - 1; index >= 0; index--) {
    const candidate = candidates[index]
    if (candidate === undefined) break
    const tokens = count(candidate.message)
    if (budget > 0 && totalTokens + tokens > budget) {
      // Prompt state prints nothing: it must not keep what was said from being taken.
      if (rules.wholeBranch && candidate.message.role === "system") continue
      const last = lastResort(candidate, taken.length === 0, totalTokens, budget, count, rules)
      if (last !== undefined) {
        taken.push(last)
        totalTokens += count(last.message)
      }
      return { taken: taken.toReversed(), totalTokens, seen: candidates.slice(index) }
    }
    taken.push(candidate)
    totalTokens += tokens
  }
  return { taken: taken.toReversed(), totalTokens, seen: candidates }
}

/** What is taken of the first message that does not fit. */
const lastResort = (
  candidate: Candidate,
  isNewest: boolean,
  used: number,
  budget: number,
  count: Tokens.CountMessage,
  rules: Rules.Rules
): Candidate | undefined => {
  const isSummary = candidate.entry.type === "compaction" || candidate.entry.type === "branch_summary"
  if (isSummary && used < budget * summaryShare) return candidate
  if (!isNewest || !rules.wholeBranch) return undefined
  return { entry: candidate.entry, message: cutToFit(candidate.message, budget, count) }
}

/** Halves what is kept of a message's texts until it fits. */
const cutToFit = (message: Message.Message, budget: number, count: Tokens.CountMessage): Message.Message => {
  for (let max = longestText(message); max > 1; max = Math.floor(max / 2)) {
    const candidate = shortened(message, (text) => Transcript.withoutMiddle(text, max, Math.ceil(max * 0.7)))
    if (count(candidate) <= budget) return candidate
  }
  return shortened(message, () => "")
}

const longestText = (message: Message.Message): number => {
  switch (message.role) {
    case "bashExecution":
      return Math.max(message.command.length, message.output.length)
    case "branchSummary":
    case "compactionSummary":
      return message.summary.length
    case "unknown":
      return 0
    default:
      return textOf(message.content).length
  }
}

const textOf = (content: Message.Content): string => Message.texts(content).join("\n")

const shortened = (message: Message.Message, shorten: (text: string) => string): Message.Message => {
  switch (message.role) {
    case "bashExecution":
      return { ...message, command: shorten(message.command), output: shorten(message.output) }
    case "branchSummary":
    case "compactionSummary":
      return { ...message, summary: shorten(message.summary) }
    case "unknown":
      return message
    default:
      return Projection.withContent(message, shorten(textOf(message.content)))
  }
}

/**
 * With the whole branch: the operations of all collected entries and of the
 * summaries among them. Else those of the branch summaries' details, and of
 * the messages that fit and the first that did not.
 */
const fileOpsOf = (
  entries: ReadonlyArray<Entry.Entry>,
  seen: ReadonlyArray<Candidate>,
  settings: Settings
): FileOps.FileOps => {
  const { rules, cwd } = settings
  const recognition: FileOps.Recognition = { cwd, fold: rules.foldFileNames }
  const details = entries.flatMap((entry) =>
    entry.type === "branch_summary" || (rules.wholeBranch && entry.type === "compaction")
      ? [FileOps.fromDetails(entry, recognition)]
      : []
  )
  const messages = rules.wholeBranch ? candidatesOf(entries, rules) : seen
  return FileOps.combineAll([
    ...details,
    FileOps.fromMessages(
      messages.map(({ message }) => message),
      recognition
    )
  ])
}
