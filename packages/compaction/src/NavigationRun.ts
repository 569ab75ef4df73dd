/**
 * One move from reading to writing, given what it is done with.
 *
 * @since 0.1.0
 */
import * as Branch from "@cutpoint/core/Branch"
import type * as Entry from "@cutpoint/core/Entry"
import * as FileOps from "@cutpoint/core/FileOps"
import * as Message from "@cutpoint/core/Message"
import * as PinBlock from "@cutpoint/core/PinBlock"
import * as Pins from "@cutpoint/core/Pins"
import * as Projection from "@cutpoint/core/Projection"
import * as SessionTree from "@cutpoint/core/SessionTree"
import * as SummaryCheck from "@cutpoint/core/SummaryCheck"
import * as SummaryFormat from "@cutpoint/core/SummaryFormat"
import * as SummaryPrompt from "@cutpoint/core/SummaryPrompt"
import * as Tokens from "@cutpoint/core/Tokens"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Errors from "./CompactionErrors.js"
import type * as Hooks from "./CompactionHooks.js"
import type * as CompactionRun from "./CompactionRun.js"
import * as CompactionSettings from "./CompactionSettings.js"
import * as NewEntry from "./NewEntry.js"
import * as NavigationMove from "./NavigationMove.js"
import type { BranchOptions, BranchSummary, Navigated, Options, Prepared } from "./NavigationResult.js"
import type * as SessionStore from "./SessionStore.js"
import type * as Summarizer from "./SummarizerPort.js"

/** What moves are done with. */
export type Means = Omit<CompactionRun.Means, "counterOf">

/** A branch with the settings it is summarized by. */
export interface Ready {
  readonly prepared: Prepared
  readonly settings: CompactionSettings.Resolved
}

/** Reads a session and prepares the branch that would be left. */
export const prepare = Effect.fnUntraced(function* (
  means: Means,
  key: string,
  targetId: string,
  options: BranchOptions
) {
  const session = yield* means.store.open(key)
  const target = yield* entryOf(session, targetId)
  const oldLeafId = options.fromId ?? session.tree.leafId
  if (oldLeafId !== null) yield* entryOf(session, oldLeafId)
  const { cwd } = session.tree.header
  const { model } = Projection.project(SessionTree.path(session.tree, oldLeafId))
  const sources = { loaded: yield* means.settings.load(cwd), facts: means.facts }
  const settings = yield* CompactionSettings.ofBranch(sources, options, model)
  const collected = Branch.collect(session.tree, oldLeafId, targetId)
  const { count } = means.tokenizer
  const branchSettings = yield* branchSettingsOf(options, settings, cwd)
  const branch = Branch.prepare(collected.entries, Tokens.counter(count, settings.rules), branchSettings)
  const request = requestOf({ ...branch, cwd }, options, settings, count)
  const prepared: Prepared = {
    ...collected,
    ...branch,
    session,
    oldLeafId,
    ...destination(session.tree, target),
    plan: request === undefined ? nothing : means.summarizer.plan(request),
    notices: settings.notices
  }
  const ready: Ready = { prepared, settings }
  return ready
})

/** Writes the summary of a branch; undefined where there is nothing to summarize. */
export const summarize = Effect.fnUntraced(function* (means: Means, ready: Ready, options: BranchOptions) {
  const { prepared, settings } = ready
  const branch = { ...prepared, cwd: prepared.session.tree.header.cwd }
  const request = requestOf(branch, options, settings, means.tokenizer.count)
  if (request === undefined) return undefined
  const summary = yield* means.summarizer.summarize(request)
  const problem = SummaryCheck.reply(summary.text, "stop", [])
  if (Option.isSome(problem)) return yield* new Errors.SummaryRejected({ ...problem.value, ...summary })
  const files = FileOps.lists(prepared.fileOps)
  // A model may copy blocks that stand in the transcript; the summary gets its own.
  const body = SummaryFormat.withoutBlocks(summary.text).trim()
  const text = SummaryFormat.withFileBlocks(`${SummaryPrompt.branchPreamble}\n\n${body}`, files)
  const branchSummary: BranchSummary = { ...summary, text, files }
  return branchSummary
})

/** Goes to an entry. */
export const navigate = Effect.fnUntraced(function* (means: Means, key: string, targetId: string, given: Options) {
  const ready = yield* prepare(means, key, targetId, given)
  const { prepared } = ready
  const { oldLeafId, session } = prepared
  if (targetId === session.tree.leafId) return stayed("Unchanged", prepared, undefined)
  yield* NewEntry.requireWritable(session)
  const decision = yield* means.hooks.beforeTree(eventOf(prepared, targetId, given))
  if (decision._tag === "Cancel") return stayed("Canceled", prepared, decision.reason)
  const options = decision._tag === "GoOn" ? { ...given, ...changesOf(decision) } : given
  const carried = yield* carriedOf(means, ready, options, decision)
  const way: NavigationMove.Way = { tree: session.tree, oldLeafId, newLeafId: prepared.newLeafId }
  const move =
    carried === undefined
      ? yield* NavigationMove.plain(way, targetId, options.label)
      : yield* NavigationMove.summarized(way, carried, options.label)
  const { backup, session: moved } = yield* Effect.uninterruptible(means.store.append(session, move.entries))
  const { summaryEntry } = move
  const newLeafId = summaryEntry?.id ?? prepared.newLeafId
  yield* means.hooks.afterTree({ oldLeafId, newLeafId, summaryEntry })
  const navigated: Navigated = {
    _tag: "Navigated",
    prepared,
    session: moved,
    newLeafId,
    summaryEntry,
    backup,
    why: undefined
  }
  return navigated
})

/** What is carried along: a hook's summary, or one that is written; nothing where none is wanted. */
const carriedOf = Effect.fnUntraced(function* (
  means: Means,
  ready: Ready,
  options: Options,
  decision: Hooks.TreeDecision
) {
  if (options.summarize !== true) return undefined
  const pins = pinsLeft(ready.prepared)
  if (decision._tag === "Use") {
    const { details, summary, usage } = decision.summary
    const carried: NavigationMove.Carried = { text: PinBlock.append(summary, pins), details, usage, fromHook: true }
    return carried
  }
  const summary = yield* summarize(means, ready, options)
  if (summary === undefined) return undefined
  const { files: details, text, usage } = summary
  const carried: NavigationMove.Carried = { text: PinBlock.append(text, pins), details, usage, fromHook: false }
  return carried
})

/** The pins that were live where one was, and would not be where one goes. */
const pinsLeft = ({ newLeafId, oldLeafId, session }: Prepared): ReadonlyArray<PinBlock.Pin> => {
  const there = new Set(Pins.live(SessionTree.path(session.tree, newLeafId)).map((pin) => pin.id))
  return Pins.live(SessionTree.path(session.tree, oldLeafId)).filter((pin) => !there.has(pin.id))
}

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

/**
 * What of a branch is taken. A budget that is given bounds it; else all of it
 * is, or what fits the window where the settings say so. Only a budget of 0
 * that was asked for means that there is no limit.
 */
const branchSettingsOf = (
  options: BranchOptions,
  { contextWindow, reserveTokens, rules, values }: CompactionSettings.Resolved,
  cwd: string | undefined
): Effect.Effect<Branch.Settings, Errors.SettingsInvalid> => {
  const tokenBudget = options.tokenBudget ?? contextWindow - reserveTokens
  if (!(tokenBudget >= 0)) return badBudget(tokenBudget)
  const dropOldest =
    options.dropOldest ?? (options.tokenBudget !== undefined || values.cutpoint.branchOverflow === "drop-oldest")
  return Effect.succeed({ tokenBudget, dropOldest, cwd, rules })
}

const badBudget = (tokenBudget: number) =>
  new Errors.SettingsInvalid({
    setting: "tokenBudget",
    problem: `a budget of ${tokenBudget} tokens leaves nothing of the branch.`,
    remedy: "Give a larger one, or 0 for no limit."
  })

const entryOf = (session: SessionStore.Session, entryId: string): Effect.Effect<Entry.Entry, Errors.EntryNotFound> => {
  const entry = SessionTree.get(session.tree, entryId)
  return entry === undefined ? new Errors.EntryNotFound({ session: session.key, entryId }) : Effect.succeed(entry)
}

/** A user's or an extension's message is gone back before, so that it can be said differently. */
const destination = (tree: SessionTree.SessionTree, target: Entry.Entry): Pick<Prepared, "newLeafId" | "editText"> => {
  const content = saidContent(target)
  if (content === undefined || target.id === tree.leafId) return { newLeafId: target.id, editText: undefined }
  // Where the path really comes from: a parent may be missing, or lead in a circle.
  const newLeafId = SessionTree.path(tree, target.id).at(-2)?.id ?? null
  return { newLeafId, editText: Message.texts(content).join("") }
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
