/**
 * What a compaction would do: which messages are summarized, which stay.
 *
 * Laws. Summarized, turn prefix and kept are the visible messages of the
 * range that are no system messages: none lost, none twice, in order.
 * Preparing twice gives the same; right after a compaction there is none.
 *
 * @since 0.1.0
 */
import * as Option from "effect/Option"
import * as CutPoint from "./CutPoint.js"
import type * as Entry from "./Entry.js"
import * as FileOps from "./FileOps.js"
import type * as Message from "./Message.js"
import * as Projection from "./Projection.js"
import type * as Rules from "./Rules.js"
import * as Skimmed from "./Skimmed.js"
import * as Tokens from "./Tokens.js"

/** What a preparation depends on besides the path. */
export interface Settings {
  /** About how many of the newest tokens stay as they are. */
  readonly keepRecentTokens: number
  /** The session's folder, for file names. */
  readonly cwd?: string | undefined
  readonly rules: Rules.Rules
}

/** What a compaction would do. It refers to the session's messages, and holds no text of its own. */
export interface Preparation {
  readonly firstKeptEntryId: string
  /** Without the split turn's prefix. */
  readonly messagesToSummarize: ReadonlyArray<Message.Message>
  /** The start of the turn that the cut splits; empty where it splits none. */
  readonly turnPrefixMessages: ReadonlyArray<Message.Message>
  readonly isSplitTurn: boolean
  /** The entry that starts the split turn. */
  readonly turnStartEntryId: string | undefined
  /** What stays, system messages left out. */
  readonly keptMessages: ReadonlyArray<Message.Message>
  /** What stays costs so much, in tokens. */
  readonly keptTokens: number
  /** The tokens of the context as it is now. */
  readonly tokensBefore: number
  /** The summary of the compaction at the head, as stored. */
  readonly previousSummary: string | undefined
  /** What the compaction entry must carry, so that prompt state outlives the cut. */
  readonly systemMessage: Message.SystemMessage | undefined
  readonly fileOps: FileOps.FileOps
  readonly settings: Settings
}

/**
 * Prepares a compaction at the end of a path. None where nothing has been said
 * since the last compaction, or no message other than system messages would be
 * summarized.
 */
export const prepare = (
  path: ReadonlyArray<Entry.Entry>,
  count: Tokens.CountMessage,
  settings: Settings
): Option.Option<Preparation> => prepareProjection(Projection.project(path), count, settings)

/** As `prepare`, of a path that has been projected. */
export const prepareProjection = (
  projection: Projection.Projection,
  count: Tokens.CountMessage,
  settings: Settings
): Option.Option<Preparation> => {
  if (endsInCompaction(projection.path)) return Option.none()
  const items = Projection.range(projection)
  const cut = CutPoint.find(CutPoint.range(items, count), settings.keepRecentTokens, settings.rules)
  return Option.flatMap(cut, (cut) => fromCut(projection, items, cut, count, settings))
}

/**
 * Whether what is counted was read, of a path of which some messages were only
 * skimmed: what follows the last usage that can be trusted, and so many of the
 * newest tokens.
 */
export const isKnown = (
  projection: Projection.Projection,
  count: Tokens.CountMessage,
  newestTokens: number
): boolean => {
  const newestSkimmed = projection.items.findLastIndex((item) => item.messages.some(Skimmed.is))
  if (newestSkimmed < 0) return true
  const trusted = Projection.trustedUsage(projection)?.index ?? -1
  let total = 0
  for (let index = projection.items.length - 1; index > newestSkimmed; index--) {
    total += CutPoint.tokensOf(projection.items[index], count)
    if (index <= trusted + 1 && total > 0 && total >= newestTokens) return true
  }
  return false
}

const fromCut = (
  projection: Projection.Projection,
  items: ReadonlyArray<Projection.ProjectedEntry>,
  cut: CutPoint.CutPoint,
  count: Tokens.CountMessage,
  settings: Settings
): Option.Option<Preparation> => {
  const firstKept = items[cut.index]
  const { rules } = settings
  const summarized = items.slice(0, cut.index)
  const messagesToSummarize = messagesOf(items, rules, 0, cut.turnStart)
  const turnPrefixMessages = messagesOf(items, rules, cut.turnStart, cut.index)
  const keptMessages = messagesOf(items, rules, cut.index, items.length)
  if (firstKept === undefined || messagesToSummarize.length + turnPrefixMessages.length === 0) return Option.none()
  return Option.some({
    firstKeptEntryId: firstKept.entry.id,
    messagesToSummarize,
    turnPrefixMessages,
    isSplitTurn: cut.isSplitTurn,
    turnStartEntryId: cut.isSplitTurn ? items[cut.turnStart]?.entry.id : undefined,
    keptMessages,
    keptTokens: Tokens.sum(keptMessages, count),
    tokensBefore: Projection.contextTokens(projection, count),
    previousSummary: projection.compaction?.summary,
    systemMessage: Projection.systemMessage(projection),
    fileOps: fileOpsOf(projection.compaction, summarized, settings),
    settings
  })
}

/** Entries that say nothing to the model and change nothing it sees. */
const isAside = (entry: Entry.Entry): boolean =>
  entry.type !== "message" &&
  entry.type !== "custom_message" &&
  entry.type !== "branch_summary" &&
  entry.type !== "compaction" &&
  entry.type !== "context_edit"

const endsInCompaction = (path: ReadonlyArray<Entry.Entry>): boolean =>
  path.findLast((entry) => !isAside(entry))?.type === "compaction"

/** The messages that are summarized or kept: what the model sees, prompt state left out. */
const messagesOf = (
  items: ReadonlyArray<Projection.ProjectedEntry>,
  rules: Rules.Rules,
  from: number,
  to: number
): ReadonlyArray<Message.Message> => {
  const found: Array<Message.Message> = []
  for (let index = from; index < to; index++) {
    const message = spokenOf(items[index], rules)
    if (message !== undefined) found.push(message)
  }
  return found
}

const spokenOf = (item: Projection.ProjectedEntry | undefined, rules: Rules.Rules): Message.Message | undefined => {
  const message = item === undefined ? undefined : Projection.visible(item, rules)
  return message === undefined || message.role === "system" ? undefined : message
}

const fileOpsOf = (
  previous: Entry.CompactionEntry | undefined,
  summarized: ReadonlyArray<Projection.ProjectedEntry>,
  settings: Settings
): FileOps.FileOps => {
  const all = FileOps.collector({ cwd: settings.cwd, fold: settings.rules.foldFileNames })
  if (previous !== undefined) all.details(previous)
  for (const { entry, messages } of summarized) {
    if (settings.rules.fileOpsOfRange && isSummary(entry)) all.details(entry)
    for (const message of messages) all.message(message)
  }
  return all.collected()
}

const isSummary = (entry: Entry.Entry): entry is Entry.CompactionEntry | Entry.BranchSummaryEntry =>
  entry.type === "compaction" || entry.type === "branch_summary"

/** Whether a context is over the threshold: the window less the reserve, all in tokens. */
export const shouldCompact = (
  contextTokens: number,
  contextWindow: number,
  settings: { readonly reserveTokens: number }
): boolean => contextTokens > contextWindow - settings.reserveTokens

/**
 * What an automatic compaction keeps, in tokens: at most half of the room that
 * there is. With more the context would be over the threshold again at once, and
 * every turn would be paid for with another summary.
 */
export const keptWithin = (keepRecentTokens: number, room: number): number =>
  Math.min(keepRecentTokens, Math.max(0, Math.floor(room / 2)))
