/**
 * What a compaction did or would do, as JSON and as text.
 *
 * @since 0.1.0
 */
import type * as Compaction from "@cutpoint/compaction/Compaction"
import * as Tokenizer from "@cutpoint/compaction/Tokenizer"
import * as FileOps from "@cutpoint/core/FileOps"
import * as Message from "@cutpoint/core/Message"
import type * as Preparation from "@cutpoint/core/Preparation"
import * as Projection from "@cutpoint/core/Projection"
import * as Tokens from "@cutpoint/core/Tokens"
import * as Transcript from "@cutpoint/core/Transcript"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Bar from "./Bar.js"
import * as EntryView from "./EntryView.js"
import * as Output from "./Output.js"
import * as PlanView from "./PlanView.js"
import * as Printable from "./Printable.js"

/** How a run ended. */
export type Status = "prepared" | "compacted" | "nothing-to-compact" | "below-threshold" | "disabled"

/** All there is to show. */
export interface View {
  readonly prepared: Compaction.Prepared
  readonly status: Status
  readonly result: Compaction.Compacted | undefined
  readonly reason: Compaction.Reason
  /** What the requests would cost, in US dollars; undefined where the prices are not known. */
  readonly estimatedCost: number | undefined
  readonly withTranscript: boolean
  readonly includeThinking: boolean
}

type Shown = Pick<View, "estimatedCost" | "includeThinking" | "withTranscript">

/** The JSON document of `compact --json`. */
export const toJson = ({ prepared, reason, result, status, ...shown }: View) => ({
  status,
  session: prepared.session.key,
  leafId: (result ?? prepared).session.tree.leafId,
  reason,
  contextTokens: prepared.check.contextTokens,
  contextWindow: prepared.check.contextWindow,
  threshold: prepared.check.threshold,
  preparation: Option.getOrNull(
    Option.map(prepared.preparation, (preparation) => preparationJson(prepared, preparation, shown))
  ),
  ...(result === undefined ? {} : { result: resultJson(result) }),
  diagnostics: (result ?? prepared).diagnostics
})

const roles = (messages: ReadonlyArray<Message.Message>) => messages.map((message) => message.role)

const preparationJson = (
  { plan, session }: Compaction.Prepared,
  preparation: Preparation.Preparation,
  shown: Shown
) => ({
  firstKeptEntryId: preparation.firstKeptEntryId,
  firstKeptIndex: session.tree.positions.get(preparation.firstKeptEntryId) ?? null,
  isSplitTurn: preparation.isSplitTurn,
  turnStartEntryId: preparation.turnStartEntryId ?? null,
  tokensBefore: preparation.tokensBefore,
  summarizedRoles: roles(preparation.messagesToSummarize),
  turnPrefixRoles: roles(preparation.turnPrefixMessages),
  previousSummary: preparation.previousSummary ?? null,
  ...FileOps.lists(preparation.fileOps),
  requests: plan.requests,
  estimatedInputTokens: plan.inputTokens,
  estimatedCost: shown.estimatedCost ?? null,
  ...(shown.withTranscript ? { transcript: transcripts(preparation, shown) } : {})
})

const transcripts = (preparation: Preparation.Preparation, { includeThinking }: Pick<View, "includeThinking">) => {
  const options = { includeThinking, guarded: preparation.settings.rules.guardedTranscript }
  const serialize = (messages: ReadonlyArray<Message.Message>) =>
    Transcript.serialize(Projection.convertToLlm(messages), options)
  return {
    summarized: serialize(preparation.messagesToSummarize),
    turnPrefix: serialize(preparation.turnPrefixMessages)
  }
}

const resultJson = (result: Compaction.Compacted) => ({
  entryId: result.entry.id,
  summary: result.entry.summary,
  summarizer: result.writer,
  tokensBefore: result.tokensBefore,
  tokensAfter: result.tokensAfter,
  requests: result.requests,
  durationMs: result.durationMs,
  usage: result.usage ?? null,
  cost: result.usage?.cost === undefined ? null : Message.usageCost(result.usage)
})

/** The text of `compact`: how full the context is, where the cut falls, what came of it. */
export const toText = Effect.fnUntraced(function* (view: View) {
  const { prepared } = view
  const { check, session } = prepared
  const lines = [
    `Session   ${Printable.line(session.key, 1000)}`,
    `Context   ${Printable.number(check.contextTokens)} of ${Printable.number(check.contextWindow)} tokens; compaction is due over ${Printable.number(check.threshold)}`
  ]
  if (Option.isSome(prepared.preparation)) {
    const preparation = prepared.preparation.value
    lines.push(...cutLines(prepared, preparation, view.estimatedCost), yield* bar(prepared, preparation))
    if (view.withTranscript) lines.push(...transcriptLines(preparation, view))
  }
  return [...lines, ...outcome(view)].join("\n")
})

const cutLines = (
  { plan, session }: Compaction.Prepared,
  preparation: Preparation.Preparation,
  estimatedCost: number | undefined
): ReadonlyArray<string> => {
  const first = session.tree.entries.findLast((entry) => entry.id === preparation.firstKeptEntryId)
  const { modifiedFiles, readFiles } = FileOps.lists(preparation.fileOps)
  const kept = first === undefined ? "" : ` ${EntryView.kind(first)} "${EntryView.preview(first, 60)}"`
  const split = preparation.isSplitTurn
    ? `, and ${preparation.turnPrefixMessages.length} from the start of the turn that is split`
    : ""
  return [
    `Cut       keeps ${Printable.count(preparation.keptMessages.length, "message")} from ${Printable.line(preparation.firstKeptEntryId, 60)}${kept} on`,
    `Summary   of ${Printable.count(preparation.messagesToSummarize.length, "message")}${split}${preparation.previousSummary === undefined ? "" : ", on top of the previous summary"}`,
    `Files     ${modifiedFiles.length} modified, ${readFiles.length} only read`,
    `Requests  ${PlanView.requests(plan, estimatedCost)}`
  ]
}

/** What is summarized is what the context has besides: it is not counted once more. */
const bar = Effect.fnUntraced(function* ({ check }: Compaction.Prepared, preparation: Preparation.Preparation) {
  const { count } = yield* Tokenizer.Tokenizer
  const output = yield* Output.Output
  const counter = Tokens.counter(count, preparation.settings.rules)
  const kept = preparation.keptTokens
  const turnPrefix = Tokens.sum(preparation.turnPrefixMessages, counter)
  const summarized = Math.max(0, check.contextTokens - kept - turnPrefix)
  const parts: ReadonlyArray<Bar.Part> = [
    { label: "summarized", tokens: summarized, sign: "▒", color: 33 },
    { label: "turn prefix", tokens: turnPrefix, sign: "▓", color: 35 },
    { label: "kept", tokens: kept, sign: "█", color: 32 }
  ]
  return `\n${Bar.draw(parts, check.contextWindow, output.columns, output.hasColors)}`
})

const transcriptLines = (preparation: Preparation.Preparation, view: View): ReadonlyArray<string> => {
  const { summarized, turnPrefix } = transcripts(preparation, view)
  const prefix = turnPrefix === "" ? [] : ["", "--- turn prefix ---", "", Printable.text(turnPrefix)]
  return ["", "--- summarized ---", "", Printable.text(summarized), ...prefix]
}

const outcome = ({ prepared, result, status }: View): ReadonlyArray<string> => {
  if (result === undefined)
    return ["", status === "nothing-to-compact" && prepared.check.isOver ? stuck : outcomes[status]]
  const requests = Printable.count(result.requests, "request")
  const used = result.usage === undefined ? "" : `, ${Printable.count(Message.usageTotal(result.usage), "token")} used`
  const cost = result.usage === undefined ? "" : PlanView.price(" for ", Message.usageCost(result.usage))
  return [
    "",
    Printable.text(result.entry.summary),
    "",
    `Compacted ${Printable.number(result.tokensBefore)} -> ${Printable.number(result.tokensAfter)} tokens in ${result.durationMs} ms, by ${Printable.line(result.writer)}, ${requests}${used}${cost}; entry ${result.entry.id}`
  ]
}

const stuck = "The context is over the threshold, and there is nothing in it that could be summarized."

const outcomes: { readonly [status in Status]: string } = {
  prepared: "Nothing was written (dry run).",
  compacted: "Compacted.",
  "nothing-to-compact":
    "There is nothing to compact: what could be summarized has been, or is within the tokens to keep.",
  disabled: "Automatic compaction is turned off (compaction.enabled is false); nothing was written.",
  "below-threshold": "The context is below the threshold; nothing was written."
}
