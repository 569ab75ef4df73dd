/**
 * Navigation: going to another place in a session's tree, with a summary of
 * what is left behind.
 *
 * @since 0.1.0
 */
import * as Branch from "@cutpoint/core/Branch"
import * as Entry from "@cutpoint/core/Entry"
import * as FileOps from "@cutpoint/core/FileOps"
import * as Message from "@cutpoint/core/Message"
import * as Rules from "@cutpoint/core/Rules"
import * as SessionTree from "@cutpoint/core/SessionTree"
import * as SummaryFormat from "@cutpoint/core/SummaryFormat"
import * as SummaryPrompt from "@cutpoint/core/SummaryPrompt"
import * as Tokens from "@cutpoint/core/Tokens"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Compaction from "./Compaction.js"
import * as Errors from "./CompactionErrors.js"
import * as NewEntry from "./NewEntry.js"
import * as SessionStore from "./SessionStore.js"
import * as Summarizer from "./Summarizer.js"
import * as Tokenizer from "./Tokenizer.js"

/** How a branch is summarized. Sizes are in tokens. */
export interface BranchOptions {
  readonly customInstructions?: string | undefined
  /** Whether the instructions stand in place of the usual ones. */
  readonly replaceInstructions?: boolean | undefined
  /** The model's window; 128,000 where left out. */
  readonly contextWindow?: number | undefined
  /** What is kept free in it; 16,384 where left out. */
  readonly reserveTokens?: number | undefined
  /** How much of the branch is taken; 0 for all, the window less the reserve where left out. */
  readonly tokenBudget?: number | undefined
  /** Whether the oldest messages are dropped where not all fit; else all are taken. */
  readonly dropOldest?: boolean | undefined
  /** The most that a summary without a model may cost; 2,000 where left out. */
  readonly summaryTokens?: number | undefined
  readonly rules?: Rules.Rules | undefined
  /** Where the branch ends; the leaf where left out. */
  readonly fromId?: string | undefined
}

/** How to go to another entry. */
export interface Options extends BranchOptions {
  /** Whether what is left behind is summarized and carried along. */
  readonly summarize?: boolean | undefined
  /** A label for the summary, or without one for the target. */
  readonly label?: string | undefined
}

/** A branch that would be left, and what of it would be summarized. */
export interface Prepared extends Branch.Collected, Branch.Prepared {
  readonly session: SessionStore.Session
  readonly oldLeafId: string | null
  /** Where one would stand: the target, or before a user's message. */
  readonly newLeafId: string | null
  /** The text of the message one would stand before, for editing. */
  readonly editText: string | undefined
}

/** A branch's summary, ready to be stored. */
export interface BranchSummary {
  readonly text: string
  readonly files: FileOps.FileLists
  readonly usage: Message.Usage | undefined
  readonly requests: number
}

/** What a navigation did. */
export interface Navigated {
  readonly _tag: "Navigated" | "Unchanged"
  readonly prepared: Prepared
  readonly session: SessionStore.Session
  readonly newLeafId: string | null
  readonly summaryEntry: Entry.BranchSummaryEntry | undefined
  /** Where the original of a session in an older format was kept. */
  readonly backup: string | undefined
}

/** Why a branch cannot be prepared. */
export type PrepareError = Compaction.PrepareError | Errors.EntryNotFound

/** Why a navigation can fail. */
export type NavigateError = PrepareError | Errors.SummarizeError | SessionStore.AppendError

/** Goes from place to place in sessions. */
export interface Service {
  /** What going to an entry would leave behind. Writes nothing. */
  readonly prepare: (key: string, targetId: string, options?: BranchOptions) => Effect.Effect<Prepared, PrepareError>
  /** The summary of what going to an entry would leave behind; undefined where that is nothing. Writes nothing. */
  readonly summarize: (
    key: string,
    targetId: string,
    options?: BranchOptions
  ) => Effect.Effect<BranchSummary | undefined, PrepareError | Errors.SummarizeError>
  /** Goes to an entry. On any failure leaf and session are as they were. */
  readonly navigate: (key: string, targetId: string, options?: Options) => Effect.Effect<Navigated, NavigateError>
}

/** Goes from place to place in sessions. */
export class Navigation extends Context.Tag("@cutpoint/compaction/Navigation")<Navigation, Service>() {}

const make = Effect.gen(function* () {
  const store = yield* SessionStore.SessionStore
  const tokenizer = yield* Tokenizer.Tokenizer
  const summarizer = yield* Summarizer.Summarizer

  const prepare = Effect.fn("Navigation.prepare")(function* (
    key: string,
    targetId: string,
    options: BranchOptions = {}
  ) {
    const session = yield* store.open(key)
    const target = yield* entryOf(session, targetId)
    const oldLeafId = options.fromId ?? session.tree.leafId
    if (oldLeafId !== null) yield* entryOf(session, oldLeafId)
    const tokenBudget = yield* budgetOf(options)
    const rules = options.rules ?? Rules.standard
    const collected = Branch.collect(session.tree, oldLeafId, targetId)
    const dropOldest = options.dropOldest ?? false
    const settings: Branch.Settings = { tokenBudget, dropOldest, cwd: session.tree.header.cwd, rules }
    const branch = Branch.prepare(collected.entries, Tokens.counter(tokenizer.count, rules), settings)
    const prepared: Prepared = { ...collected, ...branch, session, oldLeafId, ...destination(target) }
    return prepared
  })

  const summarizePrepared = Effect.fnUntraced(function* (prepared: Prepared, options: BranchOptions) {
    const messages = prepared.messages.filter((message) => message.role !== "system")
    if (messages.length === 0) return undefined
    const files = FileOps.lists(prepared.fileOps)
    const blocks = tokenizer.count(SummaryFormat.withFileBlocks(SummaryPrompt.branchPreamble, files))
    const summary = yield* summarizer.summarize({
      kind: "branch",
      messages,
      customInstructions: options.customInstructions,
      replaceInstructions: options.replaceInstructions,
      maxTokens: Math.max(minSummaryTokens, (options.summaryTokens ?? Compaction.defaults.summaryTokens) - blocks),
      cwd: prepared.session.tree.header.cwd
    })
    const text = SummaryFormat.withFileBlocks(`${SummaryPrompt.branchPreamble}\n\n${summary.text.trim()}`, files)
    const branchSummary: BranchSummary = { ...summary, text, files }
    return branchSummary
  })

  const summarize = Effect.fn("Navigation.summarize")(function* (
    key: string,
    targetId: string,
    options: BranchOptions = {}
  ) {
    return yield* summarizePrepared(yield* prepare(key, targetId, options), options)
  })

  const navigate = Effect.fn("Navigation.navigate")(function* (key: string, targetId: string, options: Options = {}) {
    const prepared = yield* prepare(key, targetId, options)
    const { session, newLeafId } = prepared
    if (targetId === session.tree.leafId) return unchanged(prepared)
    const summary = options.summarize === true ? yield* summarizePrepared(prepared, options) : undefined
    const move =
      summary === undefined
        ? yield* plainMove(prepared, targetId, options.label)
        : yield* summarizedMove(prepared, summary, options.label)
    const appended = yield* Effect.uninterruptible(store.append(session, move.entries))
    const navigated: Navigated = {
      _tag: "Navigated",
      prepared,
      session: appended.session,
      newLeafId: move.summaryEntry?.id ?? newLeafId,
      summaryEntry: move.summaryEntry,
      backup: appended.backup
    }
    return navigated
  })

  return Navigation.of({ prepare, summarize, navigate })
})

/** Navigates sessions of the store in context, by its tokenizer and summarizer. */
export const layer: Layer.Layer<
  Navigation,
  never,
  SessionStore.SessionStore | Tokenizer.Tokenizer | Summarizer.Summarizer
> = Layer.effect(Navigation, make)

/** The least that a summary is given, in tokens, however long the file blocks are. */
const minSummaryTokens = 300

const entryOf = (session: SessionStore.Session, entryId: string): Effect.Effect<Entry.Entry, Errors.EntryNotFound> => {
  const entry = SessionTree.get(session.tree, entryId)
  return entry === undefined ? new Errors.EntryNotFound({ session: session.key, entryId }) : Effect.succeed(entry)
}

const budgetOf = (options: BranchOptions): Effect.Effect<number, Errors.SettingsInvalid> => {
  if (options.tokenBudget !== undefined) return Effect.succeed(options.tokenBudget)
  const { contextWindow, reserveTokens } = Compaction.defaults
  return Compaction.thresholdOf(
    "branchSummary.reserveTokens",
    options.contextWindow ?? contextWindow,
    options.reserveTokens ?? reserveTokens
  )
}

/** A user's or an extension's message is gone back before, so that it can be said differently. */
const destination = (target: Entry.Entry): Pick<Prepared, "newLeafId" | "editText"> => {
  const content = saidContent(target)
  return content === undefined
    ? { newLeafId: target.id, editText: undefined }
    : { newLeafId: target.parentId, editText: Message.texts(content).join("") }
}

const saidContent = (entry: Entry.Entry): Message.UserContent | undefined => {
  if (entry.type === "custom_message") return entry.content
  if (entry.type !== "message") return undefined
  const { message } = entry
  return message.role === "user" || message.role === "custom" ? message.content : undefined
}

const unchanged = (prepared: Prepared): Navigated => ({
  _tag: "Unchanged",
  prepared,
  session: prepared.session,
  newLeafId: prepared.session.tree.leafId,
  summaryEntry: undefined,
  backup: undefined
})

/** Entries to append: the last of them decides where one stands. */
interface Move {
  readonly entries: readonly [Entry.Entry, ...ReadonlyArray<Entry.Entry>]
  readonly summaryEntry: Entry.BranchSummaryEntry | undefined
}

/** Without a summary the move is made durable by a mark, which must come last. */
const plainMove = Effect.fnUntraced(function* (prepared: Prepared, targetId: string, label: string | undefined) {
  const { newLeafId, session } = prepared
  const mark: Entry.Entry = {
    type: "custom",
    ...(yield* NewEntry.base(session.tree, newLeafId)),
    customType: Entry.leafMarker
  }
  const move: Move = { entries: withLabel(yield* labelEntry(prepared, targetId, label), mark), summaryEntry: undefined }
  return move
})

/** The summary becomes the leaf, so a label for it is written before it. */
const summarizedMove = Effect.fnUntraced(function* (
  prepared: Prepared,
  summary: BranchSummary,
  label: string | undefined
) {
  const { newLeafId, oldLeafId, session } = prepared
  const summaryEntry: Entry.BranchSummaryEntry = {
    type: "branch_summary",
    ...(yield* NewEntry.base(session.tree, newLeafId)),
    fromId: oldLeafId,
    summary: summary.text,
    details: summary.files,
    ...(summary.usage === undefined ? {} : { usage: summary.usage })
  }
  const move: Move = {
    entries: withLabel(yield* labelEntry(prepared, summaryEntry.id, label), summaryEntry),
    summaryEntry
  }
  return move
})

const labelEntry = Effect.fnUntraced(function* (prepared: Prepared, targetId: string, label: string | undefined) {
  if (label === undefined || label === "") return undefined
  const entry: Entry.LabelEntry = {
    type: "label",
    ...(yield* NewEntry.base(prepared.session.tree, prepared.newLeafId)),
    targetId,
    label
  }
  return entry
})

const withLabel = (label: Entry.LabelEntry | undefined, last: Entry.Entry): Move["entries"] =>
  label === undefined ? [last] : [label, last]
