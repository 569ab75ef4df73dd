/**
 * What a compaction summarizes, keeps, and leaves for the model to see. Each
 * law takes a path, a tokenizer's `count` and the settings of a preparation,
 * and throws `LawBroken` where it does not hold.
 *
 * @since 0.1.0
 */
import type * as Entry from "@cutpoint/core/Entry"
import * as FileOps from "@cutpoint/core/FileOps"
import * as Message from "@cutpoint/core/Message"
import * as Preparation from "@cutpoint/core/Preparation"
import * as Projection from "@cutpoint/core/Projection"
import * as Tokens from "@cutpoint/core/Tokens"
import * as Option from "effect/Option"
import * as Law from "./Law.js"
import type * as Steps from "./Steps.js"

type Path = ReadonlyArray<Entry.Entry>

const prepare = (path: Path, count: Tokens.Count, settings: Preparation.Settings) =>
  Option.getOrUndefined(Preparation.prepare(path, Tokens.counter(count, settings.rules), settings))

/** Whether a message is summarized or kept at all: prompt state is neither, nor is what the user kept to himself. */
const counts = (message: Message.Message, { rules }: Preparation.Settings): boolean =>
  message.role !== "system" && !(rules.excludedBashIsSilent && Message.isExcludedBash(message))

/** The path with a compaction at its end. */
const compacted = (path: Path, { firstKeptEntryId, systemMessage, tokensBefore }: Preparation.Preparation): Path => [
  ...path,
  {
    type: "compaction",
    id: "the-compaction-of-a-law",
    parentId: path.at(-1)?.id ?? null,
    timestamp: "2026-02-01T00:00:00.000Z",
    summary: "What was said.",
    firstKeptEntryId,
    tokensBefore,
    ...(systemMessage === undefined ? {} : { systemMessage })
  }
]

/**
 * Summarized, turn prefix and kept, one after the other, are the visible
 * messages since the last compaction, prompt state left out: none is lost,
 * none is there twice, none out of order.
 */
export const nothingIsLost = (path: Path, count: Tokens.Count, settings: Preparation.Settings): void => {
  const preparation = prepare(path, count, settings)
  if (preparation === undefined) return
  const { keptMessages, messagesToSummarize, turnPrefixMessages } = preparation
  const visible = Projection.range(Projection.project(path)).flatMap(({ messages }) => messages.slice(-1))
  Law.same(
    "Summarized, turn prefix and kept are the visible messages: none lost, none twice, in order.",
    "Of all of them",
    [...messagesToSummarize, ...turnPrefixMessages, ...keptMessages],
    visible.filter((message) => counts(message, settings))
  )
}

/** An entry to put in before that number of the path; it must be one that says nothing to a model. */
export interface Aside {
  readonly before: number
  readonly body: Steps.Body
}

const asideTypes: ReadonlySet<Entry.Entry["type"]> = new Set<Entry.Entry["type"]>([
  "model_change",
  "thinking_level_change",
  "label",
  "session_info",
  "custom",
  "usage",
  "unknown"
])

/**
 * Labels, changes of model and thinking level, names, an extension's state and
 * usage make no difference, wherever they stand: with more of them, or with
 * none, the same messages are summarized, in the prefix, and kept.
 */
export const asidesChangeNothing = (
  path: Path,
  count: Tokens.Count,
  settings: Preparation.Settings,
  added: ReadonlyArray<Aside>
): void => {
  const law = "Labels, changes of model, names and the like never change what is summarized and what is kept."
  const expected = partsOf(path, count, settings)
  Law.same(law, "Without them", partsOf(withoutAsides(path), count, settings), expected)
  Law.same(law, "With more of them", partsOf(withAsides(path, added), count, settings), expected)
}

const partsOf = (path: Path, count: Tokens.Count, settings: Preparation.Settings): ReadonlyArray<unknown> => {
  const preparation = prepare(path, count, settings)
  return [preparation?.messagesToSummarize, preparation?.turnPrefixMessages, preparation?.keptMessages]
}

/** Those from which a compaction keeps stay: without them it would keep nothing. */
const withoutAsides = (path: Path): Path => {
  const kept = new Set(path.map((entry) => (entry.type === "compaction" ? entry.firstKeptEntryId : "")))
  return linked(path.filter((entry) => !asideTypes.has(entry.type) || kept.has(entry.id)))
}

const withAsides = (path: Path, added: ReadonlyArray<Aside>): Path => {
  const entries = [...path]
  added.forEach(({ before, body }, number) => {
    const base = { id: `aside-${number}`, parentId: null, timestamp: "2026-01-01T00:00:00.000Z" }
    if (asideTypes.has(body.type)) entries.splice(before % (entries.length + 1), 0, { ...body, ...base })
  })
  return linked(entries)
}

const linked = (path: Path): Path => path.map((entry, index) => ({ ...entry, parentId: path[index - 1]?.id ?? null }))

/**
 * Once the compaction is written, the model sees the prompt state as it was
 * before, if there was any, then the summary, then exactly what was kept.
 */
export const contextIsSummaryAndKept = (path: Path, count: Tokens.Count, settings: Preparation.Settings): void => {
  const law = "The context after a compaction is its prompt state, its summary, and exactly what was kept."
  const preparation = prepare(path, count, settings)
  if (preparation === undefined) return
  const after = Projection.project(compacted(path, preparation))
  const head = after.items[0]?.messages ?? []
  const state = Projection.systemMessage(Projection.project(path))
  Law.same(law, "The compaction's messages", head.slice(0, -1), state === undefined ? [] : [state])
  Law.same(law, "The prompt state", [Projection.systemMessage(after)], [state])
  Law.hold(law, head.at(-1)?.role === "compactionSummary", () => `The compaction yields ${Law.shown(head)}.`)
  const rest = Projection.messages(after).slice(head.length)
  const seen = rest.filter((message) => message.role === "system" || counts(message, settings))
  Law.same(law, "After the summary", seen, preparation.keptMessages)
}

/** Preparing changes nothing, and depends on nothing but what it is given. */
export const preparingTwiceIsTheSame = (path: Path, count: Tokens.Count, settings: Preparation.Settings): void => {
  const before = JSON.stringify(path)
  const [first, second] = [prepare(path, count, settings), prepare(path, count, settings)]
  const law = "Preparing twice gives the same."
  Law.same(law, "The second time", [second], [first])
  Law.same(law, "Its files", fileOpsOf(second), fileOpsOf(first))
  Law.hold(law, JSON.stringify(path) === before, () => "The path was changed.")
}

const fileOpsOf = (preparation: Preparation.Preparation | undefined): ReadonlyArray<unknown> => {
  const { edited, read, written } = preparation?.fileOps ?? FileOps.empty
  return [Array.from(read), Array.from(written), Array.from(edited)]
}

/** There is nothing to compact right after a compaction, with or without a name or a label after it. */
export const nothingToPrepareAfterCompaction = (
  path: Path,
  count: Tokens.Count,
  settings: Preparation.Settings,
  added: ReadonlyArray<Aside>
): void => {
  const preparation = prepare(path, count, settings)
  if (preparation === undefined) return
  const once = compacted(path, preparation)
  const named = withAsides(
    once,
    added.map(({ body }) => ({ before: once.length, body }))
  )
  for (const after of [once, named]) {
    const again = prepare(after, count, settings)
    const law = "Right after a compaction there is nothing to prepare."
    Law.hold(law, again === undefined, () => `It would keep from ${again?.firstKeptEntryId} on.`)
  }
}
