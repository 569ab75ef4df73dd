/**
 * The text that a compaction stores: the summary of the history, that of a
 * split turn's start, and the file blocks.
 *
 * @since 0.1.0
 */
import * as FileOps from "@cutpoint/core/FileOps"
import type * as Message from "@cutpoint/core/Message"
import type * as Preparation from "@cutpoint/core/Preparation"
import * as SummaryFormat from "@cutpoint/core/SummaryFormat"
import * as Tokens from "@cutpoint/core/Tokens"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Summarizer from "./Summarizer.js"

/** What the summary should look at, and how long it may be, in tokens. */
export interface Options {
  readonly customInstructions?: string | undefined
  readonly summaryTokens?: number | undefined
}

/** A compaction's text with what it took. */
export interface Written extends Summarizer.Summary {
  readonly files: FileOps.FileLists
}

const defaultSummaryTokens = 2000

/** The least that a summary is given, in tokens, however long the file blocks or short the messages are. */
const minSummaryTokens = 300

/** How much of the room the start of a split turn gets beside a history. */
const turnPrefixShare = 0.3

/** Two summaries are written side by side where a turn is split, one where none is. */
const requestsOf = (
  preparation: Preparation.Preparation,
  options: Options,
  maxTokens: number
): ReadonlyArray<Summarizer.Request> => {
  const { isSplitTurn, messagesToSummarize, turnPrefixMessages } = preparation
  const common = { customInstructions: options.customInstructions, cwd: preparation.settings.cwd }
  const hasHistory = messagesToSummarize.length > 0
  const prefixTokens = isSplitTurn ? Math.floor(maxTokens * (hasHistory ? turnPrefixShare : 1)) : 0
  const history: Summarizer.Request = {
    ...common,
    kind: "history",
    messages: messagesToSummarize,
    previousSummary: previousOf(preparation),
    maxTokens: maxTokens - prefixTokens
  }
  const prefix: Summarizer.Request = {
    ...common,
    kind: "turnPrefix",
    messages: turnPrefixMessages,
    maxTokens: prefixTokens
  }
  return [...(hasHistory ? [history] : []), ...(isSplitTurn ? [prefix] : [])]
}

const previousOf = (preparation: Preparation.Preparation): string | undefined =>
  preparation.previousSummary === undefined ? undefined : SummaryFormat.withoutBlocks(preparation.previousSummary)

/** What the summary will take; nothing where there is none to write. */
export const plan = (
  summarizer: Summarizer.Service,
  preparation: Option.Option<Preparation.Preparation>,
  options: Options
): Summarizer.Plan => {
  const requests = Option.match(preparation, {
    onNone: () => [],
    onSome: (some) => requestsOf(some, options, options.summaryTokens ?? defaultSummaryTokens)
  })
  const plans = requests.map(summarizer.plan)
  return {
    requests: plans.reduce((sum, { requests }) => sum + requests, 0),
    inputTokens: plans.reduce((sum, { inputTokens }) => sum + inputTokens, 0)
  }
}

/** Writes the summary with its file blocks. */
export const write = Effect.fnUntraced(function* (
  summarizer: Summarizer.Service,
  count: Tokens.Count,
  preparation: Preparation.Preparation,
  options: Options
) {
  const files = FileOps.lists(preparation.fileOps)
  const blocks = count(SummaryFormat.withFileBlocks("", files))
  const wanted = (options.summaryTokens ?? defaultSummaryTokens) - blocks - joinTokens
  const room = Math.max(minSummaryTokens, Math.min(wanted, materialTokens(preparation, count) / 2))
  const requests = requestsOf(preparation, options, room)
  const summaries = yield* Effect.forEach(requests, summarizer.summarize, { concurrency: "unbounded" })
  const text = SummaryFormat.withFileBlocks(joined(preparation, summaries), files)
  const written: Written = {
    text,
    files,
    usage: summaries.map(({ usage }) => usage).reduce(addUsage, undefined),
    requests: summaries.reduce((sum, summary) => sum + summary.requests, 0)
  }
  return written
})

/** What the summary stands for, in tokens: one that is not much shorter is of no use. */
const materialTokens = (preparation: Preparation.Preparation, count: Tokens.Count): number => {
  const messages = [...preparation.messagesToSummarize, ...preparation.turnPrefixMessages]
  const ofMessages = Tokens.sum(messages, (message) => Tokens.ofMessage(message, count, preparation.settings.rules))
  return ofMessages + count(preparation.previousSummary ?? "")
}

/** What the rule and the heading between two summaries cost at most, in tokens. */
const joinTokens = 20

const joined = (preparation: Preparation.Preparation, summaries: ReadonlyArray<Summarizer.Summary>): string => {
  const texts = summaries.map(({ text }) => text.trim())
  if (!preparation.isSplitTurn) return texts.join("")
  const prefix = texts.at(-1) ?? ""
  const history = texts.length > 1 ? texts[0] : previousOf(preparation)
  return SummaryFormat.join(history ?? SummaryFormat.noHistory, prefix)
}

/** Both, part by part. */
export const addUsage = (
  one: Message.Usage | undefined,
  other: Message.Usage | undefined
): Message.Usage | undefined => {
  if (one === undefined || other === undefined) return one ?? other
  const parts = ["input", "output", "cacheRead", "cacheWrite", "totalTokens"] as const
  const costs = ["input", "output", "cacheRead", "cacheWrite", "total"] as const
  const sum = (a: number | undefined, b: number | undefined) => (a ?? 0) + (b ?? 0)
  return {
    ...Object.fromEntries(parts.map((part) => [part, sum(one[part], other[part])])),
    cost: Object.fromEntries(costs.map((part) => [part, sum(one.cost?.[part], other.cost?.[part])]))
  }
}
