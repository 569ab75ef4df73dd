/**
 * The summary that a compaction stores: of the history, and of a split turn's
 * start; written by a summarizer, or brought along by a hook.
 *
 * @since 0.1.0
 */
import * as FileOps from "@cutpoint/core/FileOps"
import type * as Message from "@cutpoint/core/Message"
import type * as Preparation from "@cutpoint/core/Preparation"
import * as SummaryCheck from "@cutpoint/core/SummaryCheck"
import * as SummaryFormat from "@cutpoint/core/SummaryFormat"
import * as Tokens from "@cutpoint/core/Tokens"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Errors from "./CompactionErrors.js"
import type { SuppliedCompaction } from "./CompactionHooks.js"
import type * as SettingsValues from "./SettingsValues.js"
import type * as Summarizer from "./SummarizerPort.js"
import * as UsageSum from "./UsageSum.js"

/** What the summary should look at, and the settings in force. */
export interface Options {
  readonly customInstructions: string | undefined
  readonly values: SettingsValues.Values["cutpoint"]
}

/** A compaction's summary without its pins, which are added when it is stored. */
export interface Written {
  readonly text: string
  readonly firstKeptEntryId: string
  /** In tokens; undefined for what the context has when the entry is stored. */
  readonly tokensBefore: number | undefined
  readonly details: unknown
  readonly writer: string
  readonly usage: Message.Usage | undefined
  readonly requests: number
}

/** What a hook's summary is told to be written by. */
export const hookWriter = "hook"

/** The least that a summary is given, in tokens, however long the file blocks or short the messages are. */
const minSummaryTokens = 300

/** How much of the room the start of a split turn gets beside a history. */
const turnPrefixShare = 0.3

/** What the rule and the heading between two summaries cost at most, in tokens. */
const joinTokens = 20

/** What the summaries may cost in all, in tokens. */
interface Room {
  readonly maxTokens: number
  readonly limitTokens: number | undefined
}

/** Two summaries are written side by side where a turn is split, one where none is. */
const requestsOf = (
  preparation: Preparation.Preparation,
  options: Options,
  room: Room
): ReadonlyArray<Summarizer.Request> => {
  const { isSplitTurn, messagesToSummarize, turnPrefixMessages } = preparation
  const hasHistory = messagesToSummarize.length > 0
  const prefixShare = !isSplitTurn ? 0 : hasHistory ? turnPrefixShare : 1
  const shareOf = (share: number) => ({
    maxTokens: Math.floor(room.maxTokens * share),
    limitTokens: room.limitTokens === undefined ? undefined : Math.floor(room.limitTokens * share),
    customInstructions: options.customInstructions,
    cwd: preparation.settings.cwd,
    includeThinking: options.values.includeThinking,
    onRejected: options.values.onRejected,
    stallTimeout: options.values.stallTimeout
  })
  const history: Summarizer.Request = {
    ...shareOf(1 - prefixShare),
    kind: "history",
    messages: messagesToSummarize,
    previousSummary: previousOf(preparation)
  }
  const prefix: Summarizer.Request = { ...shareOf(prefixShare), kind: "turnPrefix", messages: turnPrefixMessages }
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
  const room: Room = { maxTokens: options.values.offlineSummaryTokens, limitTokens: undefined }
  const requests = Option.isNone(preparation) ? [] : requestsOf(preparation.value, options, room)
  const plans = requests.map(summarizer.plan)
  const sum = (of: (plan: Summarizer.Plan) => number) => plans.reduce((total, each) => total + of(each), 0)
  return {
    requests: sum((each) => each.requests),
    mostRequests: sum((each) => each.mostRequests),
    inputTokens: sum((each) => each.inputTokens)
  }
}

/**
 * Writes the summary with its file blocks. `freeTokens` is what text and
 * blocks may cost if the context is to become smaller.
 */
export const write = Effect.fnUntraced(function* (
  summarizer: Summarizer.Service,
  count: Tokens.Count,
  preparation: Preparation.Preparation,
  options: Options,
  freeTokens: number
) {
  const files = FileOps.lists(preparation.fileOps)
  const blocks = count(SummaryFormat.withFileBlocks("", files)) + joinTokens
  const wanted = options.values.offlineSummaryTokens - blocks
  const room: Room = {
    maxTokens: Math.max(minSummaryTokens, Math.min(wanted, materialTokens(preparation, count, wanted * 2) / 2)),
    limitTokens: freeTokens - blocks
  }
  const requests = requestsOf(preparation, options, room)
  const summaries = yield* Effect.forEach(requests, summarizer.summarize, { concurrency: "unbounded" })
  // Each part must say something: joined, the one would hide that the other does not.
  for (const summary of summaries) {
    const problem = SummaryCheck.reply(summary.text, "stop", [])
    if (Option.isSome(problem)) return yield* new Errors.SummaryRejected({ ...problem.value, ...summary })
  }
  const written: Written = {
    text: SummaryFormat.withFileBlocks(joined(preparation, summaries), files),
    firstKeptEntryId: preparation.firstKeptEntryId,
    tokensBefore: undefined,
    details: files,
    writer: [...new Set(summaries.map(({ writer }) => writer))].join(", "),
    usage: summaries.map(({ usage }) => usage).reduce(UsageSum.add, undefined),
    requests: summaries.reduce((sum, summary) => sum + summary.requests, 0)
  }
  return written
})

/** The summary that a hook brings along. */
export const supplied = (summary: SuppliedCompaction): Written => ({
  text: summary.summary,
  firstKeptEntryId: summary.firstKeptEntryId,
  tokensBefore: summary.tokensBefore,
  details: summary.details,
  writer: hookWriter,
  usage: summary.usage,
  requests: 0
})

/**
 * What the summary stands for, in tokens, the newest first and counted up to
 * `most`: one that is not much shorter is of no use.
 */
const materialTokens = (preparation: Preparation.Preparation, count: Tokens.Count, most: number): number => {
  let total = count(preparation.previousSummary ?? "")
  for (const messages of [preparation.turnPrefixMessages, preparation.messagesToSummarize]) {
    for (let index = messages.length - 1; index >= 0 && total < most; index--) {
      const message = messages[index]
      if (message !== undefined) total += Tokens.ofMessage(message, count, preparation.settings.rules)
    }
  }
  return Math.min(total, most)
}

const joined = (preparation: Preparation.Preparation, summaries: ReadonlyArray<Summarizer.Summary>): string => {
  // A model may copy blocks that stand in the transcript; the summary gets its own.
  const texts = summaries.map(({ text }) => SummaryFormat.withoutBlocks(text).trim())
  if (!preparation.isSplitTurn) return texts.join("")
  const prefix = texts.at(-1) ?? ""
  const history = texts.length > 1 ? texts[0] : previousOf(preparation)
  return SummaryFormat.join(history ?? SummaryFormat.noHistory, prefix)
}
