/**
 * Summarizes without a model: the same sections, filled from the messages
 * themselves, in the user's own words. The same messages always give the same
 * summary.
 *
 * @since 0.1.0
 */
import type * as Message from "./Message.js"
import * as OfflineNotes from "./OfflineNotes.js"
import * as SummaryBudget from "./SummaryBudget.js"
import * as SummaryFormat from "./SummaryFormat.js"
import * as SummaryPrompt from "./SummaryPrompt.js"
import * as SummarySection from "./SummarySection.js"
import type * as Tokens from "./Tokens.js"
import * as ToolOutcome from "./ToolOutcome.js"
import * as Transcript from "./Transcript.js"

/** What is to be summarized, and how long the summary may be. */
export interface Options {
  readonly kind: SummaryPrompt.Kind
  readonly previousSummary?: string | undefined
  /** The session's folder: what lies in it is named from there. */
  readonly cwd?: string | undefined
  /** The user's focus; it is noted among the constraints, since nobody is there to follow it. */
  readonly customInstructions?: string | undefined
  /** The most that the summary may cost, in tokens by `count`. */
  readonly maxTokens: number
  readonly count: Tokens.Count
}

/** The summary of messages, at most `maxTokens` long. */
export const summarize = (messages: Iterable<Message.Message>, options: Options): string => {
  const notes = OfflineNotes.start(options.previousSummary)
  for (const message of messages) OfflineNotes.add(notes, message)
  return write(notes, options)
}

/** Writes the summary of what has been noted. */
export const write = (notes: OfflineNotes.Notes, options: Options): string => {
  OfflineNotes.settleHeard(notes)
  const candidates = guarded(candidatesOf(notes, options))
  const summary = SummaryBudget.fit(candidates, options.maxTokens, options.count)
  return options.kind === "turnPrefix" ? turnPrefix(summary) : SummaryFormat.print(summary)
}

const turnPrefix = (summary: SummaryFormat.Summary): string =>
  SummaryFormat.printTurnPrefix({
    asked: [...summary.goal, ...summary.constraints],
    doneSoFar: [...summary.done, ...summary.decisions.map(({ decision, rationale }) => `${decision} ${rationale}`)],
    needed: [...summary.blocked, ...summary.nextSteps, ...summary.criticalContext]
  })

/** How sentences start that only hold for the moment: of an older summary they are dropped. */
const latest = {
  request: "Latest request: ",
  answer: "The agent's last answer: ",
  reply: "The agent was saying: ",
  goOn: "Go on with the latest request: ",
  resolve: "Resolve what fails: ",
  awaited: "The user has not answered yet: ",
  planned: "Planned earlier, perhaps done since: ",
  changed: "Changed files: ",
  focus: "Asked of this summary: "
}

/** Sentences that say how an older summary was put together, and nothing of what it stands for. */
const formal: ReadonlySet<string> = new Set([SummaryFormat.noHistory, SummaryPrompt.branchPreamble])

const isStale = (item: string): boolean =>
  formal.has(item) || Object.values(latest).some((label) => item.startsWith(label))

/** How lists start that grow from summary to summary. */
const lists = { names: "Names that came up: ", addresses: "Addresses: " }

type Texts = ReadonlyArray<string>

const candidatesOf = (notes: OfflineNotes.Notes, options: Options): SummaryBudget.Candidates => {
  // Nobody but a model can tell which plans have been carried out since.
  const planned = (texts: Texts): Texts =>
    notes.requests.length === 0 ? texts : texts.map((text) => latest.planned + text)
  const earlier = (name: Exclude<SummarySection.Name, "decisions">): Texts =>
    notes.earlier
      .flatMap((summary) => summary[name])
      .filter((item) => !isStale(item) && !SummarySection.saysNothing(item))
  return {
    goal: goals(earlier("goal"), notes.requests),
    constraints: constraints(earlier("constraints"), notes, options),
    done: newestFirst([...earlier("done"), ...done(notes, options.cwd)]),
    inProgress: newestFirst([...planned(earlier("inProgress")), ...inProgress(notes, options.kind)]),
    blocked: newestFirst([...earlier("blocked").filter((item) => !isSettled(item, notes)), ...blocked(notes)]),
    decisions: newestFirst([...earlierDecisions(notes), ...answers(notes)]),
    nextSteps: newestFirst([...planned(earlier("nextSteps")), ...nextSteps(notes, options.kind)]),
    criticalContext: newestFirst([
      ...earlier("criticalContext").filter((item) => !isList(item)),
      ...criticalContext(notes, earlier("criticalContext").filter(isList))
    ])
  }
}

/** Each text once, at its last place, the last being the last to go. */
const newestFirst = (texts: Texts): ReadonlyArray<SummaryBudget.Item> => {
  const once = texts.filter((text, index) => text !== "" && texts.lastIndexOf(text) === index)
  return once.map((text, index) => ({ text, rank: once.length - index }))
}

/** What was asked first is as needed as what was asked last. */
const goals = (earlier: Texts, requests: Texts): ReadonlyArray<SummaryBudget.Item> => {
  const all = [...earlier, ...requests].filter((text, index, texts) => texts.indexOf(text) === index)
  return all.map((text, index) => ({ text, rank: index === 0 ? 1.5 : all.length - index }))
}

/** The strongest directives go last; statements of no strength only count where there are few others. */
const constraints = (
  earlier: Texts,
  notes: OfflineNotes.Notes,
  options: Options
): ReadonlyArray<SummaryBudget.Item> => {
  const strong = notes.statements.filter(({ weight }) => weight >= 2)
  const said = strong.length + earlier.length >= 3 ? strong : notes.statements
  const focus = (options.customInstructions ?? "").trim()
  const known = new Set<string>()
  const items = [
    // What an older summary kept competes with what is new, so that the list stays bounded.
    ...earlier.map((text, index) => ({ text, rank: 6500 - index })),
    ...said.map(({ text, weight }, index) => ({ text, rank: (10 - weight) * 1000 - index })),
    ...(focus === "" ? [] : [{ text: latest.focus + ToolOutcome.oneLine(focus, 400), rank: -1 }])
  ]
  return items.filter(({ text }) => !known.has(text) && known.add(text))
}

/** How many files are named one by one; the file blocks have all. */
const maxChangedFiles = 15

const done = (notes: OfflineNotes.Notes, cwd: string | undefined): Texts => {
  const files = [...notes.changed.values()].toReversed().slice(0, maxChangedFiles)
  const named = files.map(({ path, times }) => fromFolder(path, cwd) + (times > 1 ? ` (${times} times)` : ""))
  return [
    ...[...notes.passed.values()].map(
      ({ label, verdict }) => `${label} passed${verdict === "" ? "" : `: ${short(verdict)}`}`
    ),
    ...notes.commits.map((subject) => `Committed: ${ToolOutcome.oneLine(subject, 160)}`),
    ...(named.length === 0 ? [] : [latest.changed + named.join(", ")])
  ]
}

const fromFolder = (path: string, cwd: string | undefined): string =>
  cwd !== undefined && path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path

const short = (text: string): string => ToolOutcome.oneLine(text, 100)

const inProgress = (notes: OfflineNotes.Notes, kind: SummaryPrompt.Kind): Texts => {
  const request = notes.requests.at(-1)
  if (!notes.isOpen || request === undefined || kind === "turnPrefix") return []
  return [latest.request + ToolOutcome.oneLine(request, 300)]
}

const blocked = (notes: OfflineNotes.Notes): Texts =>
  [...notes.failed.values()].map(({ label, verdict }) => `${label} failed${verdict === "" ? "" : `: ${verdict}`}`)

/** Whether what an older summary calls blocked has succeeded since: the command, or any tool on the file. */
const isSettled = (item: string, notes: OfflineNotes.Notes): boolean =>
  [...notes.settled].some((label) =>
    label.startsWith("`")
      ? item.startsWith(`${label} failed`)
      : withoutTool(item).startsWith(`${withoutTool(label)} failed`)
  )

const withoutTool = (text: string): string => text.replace(/^\S+ /u, "")

const earlierDecisions = (notes: OfflineNotes.Notes): Texts =>
  notes.earlier.flatMap((summary) => summary.decisions.map(({ decision, rationale }) => `${decision}\n${rationale}`))

const answers = (notes: OfflineNotes.Notes): Texts =>
  notes.answers.map(({ question, answer }) => `${question}\n${answer}`)

const nextSteps = (notes: OfflineNotes.Notes, kind: SummaryPrompt.Kind): Texts => {
  const request = notes.requests.at(-1)
  const failure = [...notes.failed.values()].at(-1)
  const awaited = !notes.isOpen && /[?？]\s*$/u.test(notes.lastReply) ? notes.lastReply.split("\n").at(-1) : undefined
  return [
    ...openPoints(notes),
    ...(failure === undefined ? [] : [latest.resolve + failure.label]),
    ...(awaited === undefined ? [] : [latest.awaited + ToolOutcome.oneLine(awaited, 200)]),
    ...(notes.isOpen && request !== undefined && kind !== "turnPrefix"
      ? [latest.goOn + ToolOutcome.oneLine(request, 120)]
      : [])
  ]
}

/** The points that the agent last listed and has not ticked; of a reply in mid-turn its numbered plan too. */
const openPoints = (notes: OfflineNotes.Notes): Texts => {
  const point = notes.isOpen ? /^\s*(?:[-*]\s+\[ \]|\d+[.)])\s+(.+)$/gmu : /^\s*[-*]\s+\[ \]\s+(.+)$/gmu
  return [...notes.lastReply.matchAll(point)].slice(0, 8).map((match) => ToolOutcome.oneLine(match[1] ?? "", 200))
}

const criticalContext = (notes: OfflineNotes.Notes, earlierLists: Texts): Texts => {
  const saying = notes.isOpen && notes.lastReply.length > minReply ? notes.lastReply : ""
  return [
    ...notes.remarks.slice(-4),
    ...list(lists.addresses, ranked(notes.addresses, 1), earlierLists, 8),
    ...list(lists.names, ranked(notes.names, 2), earlierLists, 16),
    ...(notes.lastAnswer === "" ? [] : [latest.answer + ToolOutcome.oneLine(notes.lastAnswer, 500)]),
    ...(saying === "" ? [] : [latest.reply + ToolOutcome.oneLine(saying, 400)]),
    // Last, since the last is the last to go.
    ...notes.reportedErrors.slice(-3).map((error) => `The user reported: ${error}`)
  ]
}

/** A reply in mid-turn shorter than this, in UTF-16 code units, only announces the next call. */
const minReply = 80

/** Names that came up at least so often, the most frequent first, of equals the latest. */
const ranked = (mentions: ReadonlyMap<string, OfflineNotes.Mention>, least: number): Texts =>
  [...mentions]
    .filter(([, { times }]) => times >= least)
    .toSorted(([, a], [, b]) => b.times - a.times || b.last - a.last)
    .map(([name]) => name)

const isList = (item: string): boolean => Object.values(lists).some((label) => item.startsWith(label))

/** The names with those that the same list of an older summary had, the newer first. */
const list = (label: string, names: Texts, earlierLists: Texts, most: number): Texts => {
  const earlier = earlierLists
    .filter((item) => item.startsWith(label))
    .flatMap((item) => item.slice(label.length).split(", "))
  const all = [...new Set([...names, ...earlier])].slice(0, most)
  return all.length === 0 ? [] : [label + all.join(", ")]
}

/** Nothing that is quoted may end a fence or pass for another part. */
const guarded = (candidates: SummaryBudget.Candidates): SummaryBudget.Candidates => {
  const guard = (items: ReadonlyArray<SummaryBudget.Item>) =>
    items.map((item) => ({ ...item, text: Transcript.guard(item.text) }))
  return {
    goal: guard(candidates.goal),
    constraints: guard(candidates.constraints),
    done: guard(candidates.done),
    inProgress: guard(candidates.inProgress),
    blocked: guard(candidates.blocked),
    decisions: guard(candidates.decisions),
    nextSteps: guard(candidates.nextSteps),
    criticalContext: guard(candidates.criticalContext)
  }
}
