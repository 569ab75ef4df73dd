/**
 * What the model sees of a path: the last compaction in place of what it
 * stands for, entries hidden or replaced by edits, the rest in order.
 *
 * Law: the context after a compaction is its system message, if there is one,
 * its summary, and exactly the kept messages that are no system messages.
 *
 * @since 0.1.0
 */
import * as Diagnostic from "./Diagnostic.js"
import type * as Entry from "./Entry.js"
import * as Message from "./Message.js"
import type * as Rules from "./Rules.js"
import * as SessionTree from "./SessionTree.js"
import * as SystemReplay from "./SystemReplay.js"
import type * as Tokens from "./Tokens.js"

export { convertToLlm, isMissingResult, type LlmMessage, repairToolPairs } from "./LlmMessages.js"

/** An entry of the projected order and what the model sees of it. */
export interface ProjectedEntry {
  readonly entry: Entry.Entry
  /** None for labels, hidden entries, older compactions …; two for a compaction that carries a system message. */
  readonly messages: ReadonlyArray<Message.Message>
  /** Whether an edit hides the entry. */
  readonly hidden: boolean
}

/** A path as the model sees it. */
export interface Projection {
  readonly path: ReadonlyArray<Entry.Entry>
  /** The last compaction first, if there is one, then what it keeps, then what follows it. */
  readonly items: ReadonlyArray<ProjectedEntry>
  /** The last compaction of the path. */
  readonly compaction: Entry.CompactionEntry | undefined
  readonly model: { readonly provider: string; readonly modelId: string } | undefined
  /** A first kept entry that is not before its compaction on the path. */
  readonly diagnostics: ReadonlyArray<Diagnostic.Diagnostic>
}

/** The projections of trees at their leaves that have been made. */
const atLeaves = new WeakMap<SessionTree.SessionTree, Projection>()

/** The path to a tree's leaf, projected. It is made once for a tree, however often it is asked for. */
export const atLeaf = (tree: SessionTree.SessionTree): Projection => {
  const projection = atLeaves.get(tree) ?? project(SessionTree.leafPath(tree))
  atLeaves.set(tree, projection)
  return projection
}

/** Projects a path (from a root to the leaf). */
export const project = (path: ReadonlyArray<Entry.Entry>): Projection => {
  const at = path.findLastIndex((entry) => entry.type === "compaction")
  const compaction = path[at]
  const head = compaction?.type === "compaction" ? compaction : undefined
  const { selected, diagnostics } = head === undefined ? { selected: path, diagnostics: [] } : select(path, at, head)
  const edits = latestEdits(selected)
  return {
    path,
    items: selected.map((entry) => projected(entry, entry === head, edits.get(entry.id))),
    compaction: head,
    model: latestModel(path),
    diagnostics
  }
}

/** The messages of a projection, in order: the context. */
export const messages = (projection: Pick<Projection, "items">): ReadonlyArray<Message.Message> => {
  const found: Array<Message.Message> = []
  for (const item of projection.items) found.push(...item.messages)
  return found
}

/** The system messages of the context folded into one; undefined where there are none. */
export const systemMessage = (projection: Pick<Projection, "items">): Message.SystemMessage | undefined => {
  const found: Array<Message.SystemMessage> = []
  for (const item of projection.items) {
    for (const message of item.messages) if (message.role === "system") found.push(message)
  }
  return SystemReplay.fold(found)
}

/** The entries that follow the compaction at the head: what can still be cut. */
export const range = (projection: Projection): ReadonlyArray<ProjectedEntry> =>
  projection.compaction === undefined ? projection.items : projection.items.slice(1)

/**
 * The tokens of the context: the last usage that can be trusted plus the
 * estimate of every message after it; without one, the estimate of all
 * messages, of the system messages only their replay. A usage from before the
 * last compaction or edit (by tree order) is not trusted, nor one of a reply
 * that was aborted or failed.
 */
export const contextTokens = (projection: Projection, count: Tokens.CountMessage): number => {
  const trusted = trustedUsage(projection)
  if (trusted === undefined) return estimatedTokens(projection, count)
  let total = trusted.tokens
  for (const item of projection.items.slice(trusted.index + 1)) {
    for (const message of item.messages) total += count(message)
  }
  return total
}

/**
 * The tokens of the context by estimate alone, whatever providers said. Where
 * it is enough to know that there are more than `most`, no more are counted,
 * the newest first.
 */
export const estimatedTokens = (projection: Projection, count: Tokens.CountMessage, most = Infinity): number => {
  const replay = systemMessage(projection)
  let total = replay === undefined ? 0 : count(replay)
  for (let index = projection.items.length - 1; index >= 0 && total <= most; index--) {
    for (const message of projection.items[index]?.messages ?? []) {
      if (message.role !== "system") total += count(message)
    }
  }
  return total
}

/** The newest usage that can be trusted: where it stands among the items, and its tokens. */
export const trustedUsage = (
  projection: Projection
): { readonly index: number; readonly tokens: number } | undefined => {
  const { items, path } = projection
  const distrusted = path.findLastIndex((entry) => entry.type === "compaction" || entry.type === "context_edit")
  // What follows the last compaction is the same in the path and in the projected order.
  const first = items.length - (path.length - 1 - distrusted)
  for (let index = items.length - 1; index >= first; index--) {
    const message = items[index]?.messages[0]
    if (message?.role !== "assistant" || message.usage === undefined || Message.isBroken(message)) continue
    const tokens = Message.usageTotal(message.usage)
    if (tokens > 0) return { index, tokens }
  }
  return undefined
}

/** The compaction, the entries it keeps without their system messages, and what follows it. */
const select = (path: ReadonlyArray<Entry.Entry>, at: number, compaction: Entry.CompactionEntry) => {
  const firstKept = path.findIndex((entry) => entry.id === compaction.firstKeptEntryId)
  const isSound = firstKept >= 0 && firstKept < at
  const kept = isSound ? path.slice(firstKept, at).filter((entry) => !isSystem(entry)) : []
  return {
    selected: [compaction, ...kept, ...path.slice(at + 1)],
    // A compaction may name itself to keep nothing from before it.
    diagnostics: isSound || firstKept === at ? [] : [dangling(compaction)]
  }
}

const dangling = (compaction: Entry.CompactionEntry): Diagnostic.Diagnostic =>
  Diagnostic.make(
    "DanglingBoundary",
    `The compaction ${compaction.id} keeps messages from ${compaction.firstKeptEntryId || "nowhere"} on, which does not stand before it on its path; nothing from before it is kept.`,
    { entryId: compaction.id }
  )

const isSystem = (entry: Entry.Entry): boolean => entry.type === "message" && entry.message.role === "system"

/** The edits in force among entries: the latest of each target. */
export const latestEdits = (entries: ReadonlyArray<Entry.Entry>): ReadonlyMap<string, Entry.ContextEditEntry> => {
  const edits = new Map<string, Entry.ContextEditEntry>()
  for (const entry of entries) if (entry.type === "context_edit") edits.set(entry.targetId, entry)
  return edits
}

/** An entry with the edit that applies to it. */
export const projected = (
  entry: Entry.Entry,
  isHead: boolean,
  edit: Entry.ContextEditEntry | undefined
): ProjectedEntry => {
  if (edit?.replacement === null) return { entry, messages: [], hidden: true }
  const seen = messagesOf(entry, isHead)
  const replacement = edit?.replacement
  const messages = replacement ? seen.map((message) => withContent(message, replacement.content)) : seen
  return { entry, messages, hidden: false }
}

/** The messages that an entry yields by itself. */
export const messagesOf = (entry: Entry.Entry, isHead: boolean): ReadonlyArray<Message.Message> => {
  switch (entry.type) {
    case "message":
      return entry.message.role === "unknown" ? [] : [entry.message]
    case "custom_message":
      return [customMessage(entry)]
    case "branch_summary":
      return entry.summary === "" ? [] : [branchSummary(entry)]
    case "compaction":
      return isHead ? compactionMessages(entry) : []
    default:
      return []
  }
}

const customMessage = (entry: Entry.CustomMessageEntry): Message.CustomMessage => ({
  role: "custom",
  customType: entry.customType,
  content: entry.content,
  ...(entry.display === undefined ? {} : { display: entry.display }),
  ...(entry.details === undefined ? {} : { details: entry.details }),
  timestamp: entry.timestamp
})

const branchSummary = (entry: Entry.BranchSummaryEntry): Message.BranchSummaryMessage => ({
  role: "branchSummary",
  summary: entry.summary,
  fromId: entry.fromId,
  timestamp: entry.timestamp
})

const compactionMessages = (entry: Entry.CompactionEntry): ReadonlyArray<Message.Message> => [
  ...(entry.systemMessage === undefined ? [] : [entry.systemMessage]),
  compactionSummary(entry)
]

/** The message that stands for a compaction. */
export const compactionSummary = (entry: Entry.CompactionEntry): Message.CompactionSummaryMessage => ({
  role: "compactionSummary",
  summary: entry.summary,
  tokensBefore: entry.tokensBefore,
  timestamp: entry.timestamp
})

/** The message with another content; messages of other roles stay as they are. */
export const withContent = (message: Message.Message, content: Message.Content): Message.Message => {
  const blocks: ReadonlyArray<Message.Block> = typeof content === "string" ? [{ type: "text", text: content }] : content
  switch (message.role) {
    case "user":
    case "custom":
      return { ...message, content: typeof content === "string" ? content : content.filter(Message.isUserBlock) }
    case "toolResult":
      return { ...message, content: blocks.filter(Message.isUserBlock) }
    case "assistant":
      return { ...message, content: blocks.filter(Message.isAssistantBlock) }
    default:
      return message
  }
}

/** The model that the latest entry of a path names, or undefined. */
export const latestModel = (path: ReadonlyArray<Entry.Entry>): Projection["model"] => {
  for (let index = path.length - 1; index >= 0; index--) {
    const entry = path[index]
    if (entry?.type === "model_change") return { provider: entry.provider, modelId: entry.modelId }
    if (entry?.type !== "message" || entry.message.role !== "assistant") continue
    const { model, provider } = entry.message
    if (provider !== undefined && model !== undefined) return { provider, modelId: model }
  }
  return undefined
}

/** The thinking level that the latest entry of a path names, or undefined. */
export const latestThinkingLevel = (path: ReadonlyArray<Entry.Entry>): string | undefined => {
  const change = path.findLast((entry) => entry.type === "thinking_level_change")
  return change?.type === "thinking_level_change" ? change.thinkingLevel : undefined
}

/**
 * The message by which an entry takes part in the context; undefined where it
 * has none, or where the user kept it from the model.
 */
export const visible = (item: ProjectedEntry, rules: Rules.Rules): Message.Message | undefined => {
  const message = item.messages.at(-1)
  return message !== undefined && rules.excludedBashIsSilent && Message.isExcludedBash(message) ? undefined : message
}
