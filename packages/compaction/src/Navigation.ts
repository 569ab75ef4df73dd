/**
 * Navigation: going to another place in a session's tree, with a summary of
 * what is left behind.
 *
 * @since 0.1.0
 */
import * as Branch from "@cutpoint/core/Branch"
import type * as Entry from "@cutpoint/core/Entry"
import * as FileOps from "@cutpoint/core/FileOps"
import * as Message from "@cutpoint/core/Message"
import * as Pins from "@cutpoint/core/Pins"
import * as Projection from "@cutpoint/core/Projection"
import type * as Rules from "@cutpoint/core/Rules"
import * as SessionTree from "@cutpoint/core/SessionTree"
import * as SummaryCheck from "@cutpoint/core/SummaryCheck"
import * as SummaryFormat from "@cutpoint/core/SummaryFormat"
import * as SummaryPrompt from "@cutpoint/core/SummaryPrompt"
import * as Tokens from "@cutpoint/core/Tokens"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Compaction from "./Compaction.js"
import * as Errors from "./CompactionErrors.js"
import { CompactionHooks } from "./CompactionHooks.js"
import type * as Hooks from "./CompactionHooks.js"
import * as CompactionSettings from "./CompactionSettings.js"
import * as NavigationMove from "./NavigationMove.js"
import * as SessionLocks from "./SessionLocks.js"
import * as SessionStore from "./SessionStore.js"
import * as Settings from "./Settings.js"
import * as Summarizer from "./SummarizerPort.js"
import * as Tokenizer from "./Tokenizer.js"

/** How a branch is summarized; what is left out comes from the settings. Sizes are in tokens. */
export interface BranchOptions {
  readonly customInstructions?: string | undefined
  /** Whether the instructions stand in place of the usual ones. */
  readonly replaceInstructions?: boolean | undefined
  /** The model's window. */
  readonly contextWindow?: number | undefined
  /** What is kept free in it. */
  readonly reserveTokens?: number | undefined
  /** How much of the branch is taken; 0 for all, the window less the reserve where left out. */
  readonly tokenBudget?: number | undefined
  /** Whether the oldest messages are dropped where not all fit; else all are taken, in several requests. */
  readonly dropOldest?: boolean | undefined
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
  /** What summarizing would take; nothing where nothing is left behind. */
  readonly plan: Summarizer.Plan
  /** Sentences for the user. */
  readonly notices: ReadonlyArray<string>
}

/** A branch's summary, with what it took. */
export interface BranchSummary extends Summarizer.Summary {
  readonly files: FileOps.FileLists
}

/** What a navigation did. */
export interface Navigated {
  readonly _tag: "Navigated" | "Unchanged" | "Canceled"
  readonly prepared: Prepared
  readonly session: SessionStore.Session
  readonly newLeafId: string | null
  readonly summaryEntry: Entry.BranchSummaryEntry | undefined
  /** Where the original of a session in an older format was kept. */
  readonly backup: string | undefined
  /** Why a hook canceled it. */
  readonly why: string | undefined
}

/** Why a branch cannot be prepared. */
export type PrepareError = Compaction.PrepareError | Errors.EntryNotFound

/** Why a navigation can fail. */
export type NavigateError =
  | PrepareError
  | Errors.SummarizeError
  | Errors.HookFailed
  | Errors.Busy
  | SessionStore.AppendError

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

/** A branch with the settings it is summarized by. */
interface Ready {
  readonly prepared: Prepared
  readonly settings: CompactionSettings.Resolved
}

const make = Effect.gen(function* () {
  const store = yield* SessionStore.SessionStore
  const tokenizer = yield* Tokenizer.Tokenizer
  const summarizer = yield* Summarizer.Summarizer
  const loading = yield* Settings.Settings
  const locks = yield* SessionLocks.SessionLocks
  const hooks = yield* CompactionHooks

  const prepareWith = Effect.fnUntraced(function* (key: string, targetId: string, options: BranchOptions) {
    const session = yield* store.open(key)
    const target = yield* entryOf(session, targetId)
    const oldLeafId = options.fromId ?? session.tree.leafId
    if (oldLeafId !== null) yield* entryOf(session, oldLeafId)
    const { cwd } = session.tree.header
    const { model } = Projection.project(SessionTree.path(session.tree, oldLeafId))
    const settings = yield* CompactionSettings.ofBranch(yield* loading.load(cwd), options, model)
    const collected = Branch.collect(session.tree, oldLeafId, targetId)
    const tokenBudget = yield* budgetOf(options, settings)
    const branch = Branch.prepare(collected.entries, Tokens.counter(tokenizer.count, settings.rules), {
      tokenBudget,
      dropOldest: options.dropOldest ?? settings.values.cutpoint.branchOverflow === "drop-oldest",
      cwd,
      rules: settings.rules
    })
    const request = requestOf({ ...branch, cwd }, options, settings, tokenizer.count)
    const prepared: Prepared = {
      ...collected,
      ...branch,
      session,
      oldLeafId,
      ...destination(target),
      plan: request === undefined ? nothing : summarizer.plan(request),
      notices: settings.notices
    }
    const ready: Ready = { prepared, settings }
    return ready
  })

  const prepare = Effect.fn("Navigation.prepare")(function* (
    key: string,
    targetId: string,
    options: BranchOptions = {}
  ) {
    return (yield* prepareWith(key, targetId, options)).prepared
  })

  const summarizeReady = Effect.fnUntraced(function* ({ prepared, settings }: Ready, options: BranchOptions) {
    const branch = { ...prepared, cwd: prepared.session.tree.header.cwd }
    const request = requestOf(branch, options, settings, tokenizer.count)
    if (request === undefined) return undefined
    const summary = yield* summarizer.summarize(request)
    const problem = SummaryCheck.reply(summary.text, "stop", [])
    if (Option.isSome(problem)) return yield* new Errors.SummaryRejected({ ...problem.value, ...summary })
    const files = FileOps.lists(prepared.fileOps)
    // A model may copy blocks that stand in the transcript; the summary gets its own.
    const body = SummaryFormat.withoutBlocks(summary.text).trim()
    const text = SummaryFormat.withFileBlocks(`${SummaryPrompt.branchPreamble}\n\n${body}`, files)
    const branchSummary: BranchSummary = { ...summary, text, files }
    return branchSummary
  })

  const summarize = Effect.fn("Navigation.summarize")(function* (
    key: string,
    targetId: string,
    options: BranchOptions = {}
  ) {
    return yield* summarizeReady(yield* prepareWith(key, targetId, options), options)
  })

  /** What is carried along: a hook's summary, or one that is written; nothing where none is wanted. */
  const carriedOf = Effect.fnUntraced(function* (ready: Ready, options: Options, decision: Hooks.TreeDecision) {
    if (options.summarize !== true) return undefined
    const pins = Pins.live(ready.prepared.entries)
    const withPins = (text: string) => SummaryFormat.withPins(text, pins.map((pin) => pin.text))
    if (decision._tag === "Use") {
      const { details, summary, usage } = decision.summary
      const carried: NavigationMove.Carried = { text: withPins(summary), details, usage, fromHook: true }
      return carried
    }
    const summary = yield* summarizeReady(ready, options)
    if (summary === undefined) return undefined
    const details = pins.length === 0 ? summary.files : { ...summary.files, pins }
    const carried: NavigationMove.Carried = {
      text: withPins(summary.text),
      details,
      usage: summary.usage,
      fromHook: false
    }
    return carried
  })

  const go = Effect.fnUntraced(function* (key: string, targetId: string, given: Options) {
    const ready = yield* prepareWith(key, targetId, given)
    const { prepared } = ready
    const { session } = prepared
    if (targetId === session.tree.leafId) return stayed("Unchanged", prepared, undefined)
    const decision = yield* hooks.beforeTree(eventOf(prepared, targetId, given))
    if (decision._tag === "Cancel") return stayed("Canceled", prepared, decision.reason)
    const options = decision._tag === "GoOn" ? { ...given, ...changesOf(decision) } : given
    const carried = yield* carriedOf(ready, options, decision)
    const way: NavigationMove.Way = { tree: session.tree, oldLeafId: prepared.oldLeafId, newLeafId: prepared.newLeafId }
    const move =
      carried === undefined
        ? yield* NavigationMove.plain(way, targetId, options.label)
        : yield* NavigationMove.summarized(way, carried, options.label)
    // As in `Compaction`: a cancellation is heard before anything is written.
    yield* Effect.repeatN(Effect.sleep(0), 1)
    const appended = yield* Effect.uninterruptible(store.append(session, move.entries))
    const { summaryEntry } = move
    const newLeafId = summaryEntry?.id ?? prepared.newLeafId
    yield* hooks.afterTree({ oldLeafId: prepared.oldLeafId, newLeafId, summaryEntry })
    const navigated: Navigated = {
      _tag: "Navigated",
      prepared,
      session: appended.session,
      newLeafId,
      summaryEntry,
      backup: appended.backup,
      why: undefined
    }
    return navigated
  })

  const navigate = Effect.fn("Navigation.navigate")(function* (key: string, targetId: string, options: Options = {}) {
    yield* Effect.annotateCurrentSpan({ session: key })
    return yield* locks.exclusive(key, go(key, targetId, options))
  })

  return Navigation.of({ prepare, summarize, navigate })
})

/** Navigates sessions of the store in context, by its tokenizer, summarizer and settings. */
export const layer: Layer.Layer<
  Navigation,
  never,
  SessionStore.SessionStore | Tokenizer.Tokenizer | Summarizer.Summarizer | Settings.Settings
> = Layer.effect(Navigation, make).pipe(Layer.provide(SessionLocks.layer))

/** The least that a summary is given, in tokens, however long the file blocks are. */
const minSummaryTokens = 300

const nothing: Summarizer.Plan = { requests: 0, mostRequests: 0, inputTokens: 0 }

/** The request for a branch's summary; undefined where there is nothing to summarize. */
const requestOf = (
  branch: Branch.Prepared & { readonly cwd: string | undefined },
  options: BranchOptions,
  { values }: CompactionSettings.Resolved,
  count: Tokens.Count
): Summarizer.Request | undefined => {
  const messages = branch.messages.filter((message) => message.role !== "system")
  if (messages.length === 0) return undefined
  const blocks = SummaryFormat.withFileBlocks(SummaryPrompt.branchPreamble, FileOps.lists(branch.fileOps))
  const { includeThinking, offlineSummaryTokens, onRejected, stallTimeout } = values.cutpoint
  return {
    kind: "branch",
    messages,
    customInstructions: options.customInstructions,
    replaceInstructions: options.replaceInstructions,
    maxTokens: Math.max(minSummaryTokens, offlineSummaryTokens - count(blocks)),
    cwd: branch.cwd,
    includeThinking,
    onRejected,
    stallTimeout
  }
}

/** Only a budget of 0 that was asked for means that there is no limit. */
const budgetOf = (
  { tokenBudget }: BranchOptions,
  { threshold }: CompactionSettings.Resolved
): Effect.Effect<number, Errors.SettingsInvalid> =>
  tokenBudget === undefined || tokenBudget >= 0
    ? Effect.succeed(tokenBudget ?? threshold)
    : new Errors.SettingsInvalid({
        setting: "tokenBudget",
        problem: `a budget of ${tokenBudget} tokens leaves nothing of the branch.`,
        remedy: "Give a larger one, or 0 for no limit."
      })

const entryOf = (session: SessionStore.Session, entryId: string): Effect.Effect<Entry.Entry, Errors.EntryNotFound> => {
  const entry = SessionTree.get(session.tree, entryId)
  return entry === undefined ? new Errors.EntryNotFound({ session: session.key, entryId }) : Effect.succeed(entry)
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

const stayed = (_tag: "Unchanged" | "Canceled", prepared: Prepared, why: string | undefined): Navigated => ({
  _tag,
  prepared,
  session: prepared.session,
  newLeafId: prepared.session.tree.leafId,
  summaryEntry: undefined,
  backup: undefined,
  why
})

const eventOf = (prepared: Prepared, targetId: string, options: Options): Hooks.BeforeTree => ({
  targetId,
  oldLeafId: prepared.oldLeafId,
  commonAncestorId: prepared.commonAncestorId,
  entriesToSummarize: prepared.entries,
  userWantsSummary: options.summarize === true,
  customInstructions: options.customInstructions
})

const changesOf = ({ customInstructions, label, replaceInstructions }: Hooks.GoOnTree): Partial<Options> => ({
  ...(customInstructions === undefined ? {} : { customInstructions }),
  ...(replaceInstructions === undefined ? {} : { replaceInstructions }),
  ...(label === undefined ? {} : { label })
})
