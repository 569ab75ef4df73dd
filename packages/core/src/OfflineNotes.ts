/**
 * Takes notes of a conversation, one message at a time: what was asked, what
 * came of it, what is still open. What is kept is bounded, however long the
 * conversation.
 *
 * @since 0.1.0
 */
import * as FilePath from "./FilePath.js"
import * as FileTools from "./FileTools.js"
import * as Message from "./Message.js"
import * as Skimmed from "./Skimmed.js"
import * as SummaryFormat from "./SummaryFormat.js"
import * as ToolOutcome from "./ToolOutcome.js"
import * as UserStatements from "./UserStatements.js"

/** A question of the agent and what the user said to it. */
export interface Answer {
  readonly question: string
  readonly answer: string
}

/** How often a name or address came up, and when last. */
export interface Mention {
  readonly times: number
  readonly last: number
}

/** What has been noted. Maps are in the order of their latest change, the oldest first. */
export interface Notes {
  /** Summaries that came up: the previous one, and those of branches. */
  readonly earlier: Array<SummaryFormat.Summary>
  readonly requests: Array<string>
  readonly statements: Array<UserStatements.Statement>
  readonly answers: Array<Answer>
  readonly reportedErrors: Array<string>
  readonly remarks: Array<string>
  /** By the form that is equal for all spellings of a file. */
  readonly changed: Map<string, { readonly path: string; readonly times: number }>
  readonly commits: Array<string>
  readonly passed: Map<string, ToolOutcome.ToolOutcome>
  readonly failed: Map<string, ToolOutcome.ToolOutcome>
  /** The labels of what failed once and passed later, or was never open. */
  readonly settled: Set<string>
  readonly names: Map<string, Mention>
  readonly addresses: Map<string, Mention>
  readonly calls: Map<string, Message.ToolCallBlock>
  /** What was said and has not been looked into yet. */
  readonly heard: Array<Heard>
  lastReply: string
  /** The last reply that ended a turn. */
  lastAnswer: string
  /** Whether the latest request has not had a final reply yet. */
  isOpen: boolean
  /** The message that ended the last turn, by its number. */
  lastFinal: number
  messages: number
}

/** Something said, which is looked into when the notes are written up, if it has not become too old by then. */
interface Heard {
  readonly text: string
  readonly isUser: boolean
  /** What the agent had said before it. */
  readonly reply: string
  /** The number of the message. */
  readonly at: number
}

/** Nothing noted yet, besides what an earlier summary says. */
export const start = (previousSummary?: string): Notes => ({
  earlier: previousSummary === undefined ? [] : [SummaryFormat.parse(previousSummary)],
  requests: [],
  statements: [],
  answers: [],
  reportedErrors: [],
  remarks: [],
  changed: new Map(),
  commits: [],
  passed: new Map(),
  failed: new Map(),
  settled: new Set(),
  names: new Map(),
  addresses: new Map(),
  calls: new Map(),
  heard: [],
  lastReply: "",
  lastAnswer: "",
  isOpen: false,
  lastFinal: 0,
  messages: 0
})

/** The most of each kind that is held, the newest kept. */
const most = {
  requests: 60,
  statements: 200,
  answers: 40,
  remarks: 20,
  commits: 60,
  outcomes: 80,
  mentions: 400,
  heard: 1200
}

/** The most of a request that is kept, in UTF-16 code units. */
const maxRequest = 600

/** Takes note of a message. */
export const add = (notes: Notes, message: Message.Message): void => {
  notes.messages++
  switch (message.role) {
    case "user":
      return hear(notes, Message.texts(message.content).join("\n"), true)
    case "assistant":
      return addReply(notes, message)
    case "toolResult":
      return addResult(notes, message)
    case "bashExecution":
      return addCommand(notes, message)
    case "custom":
      return push(notes.remarks, ToolOutcome.oneLine(Message.texts(message.content).join(" "), 200), most.remarks)
    case "branchSummary":
    case "compactionSummary":
      notes.earlier.push(SummaryFormat.parse(message.summary))
      return
    case "system":
    case "unknown":
  }
}

/** Adds at the end; the first stays, and of the others the oldest go. */
const push = <A>(items: Array<A>, item: A, limit: number): void => {
  if (item === "") return
  items.push(item)
  if (items.length > limit) items.splice(1, 1)
}

/** Sets a key as the latest; the oldest goes when there are too many. */
const setLatest = <A>(map: Map<string, A>, key: string, value: A, limit: number): void => {
  map.delete(key)
  map.set(key, value)
  const oldest = map.size > limit ? map.keys().next() : undefined
  if (oldest !== undefined && oldest.done !== true) map.delete(oldest.value)
}

/** Keeps what was said first and last; of what lies between, only what is put very strongly. */
const hear = (notes: Notes, text: string, isUser: boolean): void => {
  notes.heard.push({ text, isUser, reply: notes.lastReply, at: notes.messages })
  if (notes.heard.length < most.heard * 2) return
  for (const old of notes.heard.splice(1, most.heard)) {
    if (!old.isUser || !UserStatements.mayBeAbsolute(old.text)) continue
    const said = UserStatements.directives(UserStatements.withoutPasted(old.text))
    const strong = said.filter(({ weight }) => weight >= UserStatements.absoluteWeight)
    for (const statement of strong) push(notes.statements, statement, most.statements)
  }
}

/** Looks into what has been heard, and says whether the latest request is open. To be called once, at the end. */
export const settleHeard = (notes: Notes): void => {
  let lastRequest = 0
  for (const heard of notes.heard) {
    if (!heard.isUser) mention(notes, heard.text, heard.at)
    else if (addUser(notes, heard)) lastRequest = heard.at
  }
  notes.isOpen = lastRequest > notes.lastFinal
  notes.heard.length = 0
}

/** Notes what the user said; says whether it was a request. */
const addUser = (notes: Notes, { at, reply, text }: Heard): boolean => {
  const prose = UserStatements.withoutPasted(text)
  const request = ToolOutcome.oneLine(prose.trim() === "" ? text : prose, maxRequest).replace(/^[-*•]\s+/u, "")
  const question = UserStatements.closingQuestion(reply)
  if (question !== undefined && request.length <= maxRequest / 2) {
    const answer: Answer = { question: ToolOutcome.oneLine(question, 200), answer: request }
    push(notes.answers, answer, most.answers)
  }
  const isRequest = UserStatements.isRequest(prose) || notes.requests.length === 0
  if (isRequest) push(notes.requests, request, most.requests)
  for (const statement of UserStatements.directives(prose)) {
    if (statement.text !== request || statement.weight > 2) push(notes.statements, statement, most.statements)
  }
  const error = UserStatements.pastedError(text)
  if (error !== undefined) push(notes.reportedErrors, ToolOutcome.oneLine(error, 240), 6)
  mention(notes, prose, at)
  return isRequest
}

const addReply = (notes: Notes, message: Message.AssistantMessage): void => {
  const text = Message.texts(message.content).join("\n").trim()
  const calls = Message.toolCalls(message)
  for (const call of calls) setLatest(notes.calls, call.id, call, most.mentions)
  if (text !== "") notes.lastReply = text
  if (Message.isBroken(message)) {
    if (message.errorMessage)
      push(notes.remarks, `A reply failed: ${ToolOutcome.oneLine(message.errorMessage, 200)}`, most.remarks)
    return
  }
  if (calls.length === 0 && text !== "") {
    notes.lastFinal = notes.messages
    // A thumbs-up alone says nothing.
    if (/\p{L}/u.test(text)) notes.lastAnswer = text
  }
  if (text !== "") hear(notes, text, false)
}

const addResult = (notes: Notes, message: Message.ToolResultMessage): void => {
  // What came of calls that long ago, nobody asks.
  if (Skimmed.is(message)) return
  const call = notes.calls.get(message.toolCallId)
  notes.calls.delete(message.toolCallId)
  const name = call?.name ?? message.toolName
  const args = call?.arguments
  const outcome = ToolOutcome.judge(name, args, Message.texts(message.content).join("\n"), message.isError)
  settle(notes, outcome, args)
  if (outcome.failed) return
  for (const { kind, path } of FileTools.operations(name, args, true)) {
    if (kind === "read") continue
    const key = FilePath.fold(path)
    const before = notes.changed.get(key)
    const after = { path: before?.path ?? path, times: (before?.times ?? 0) + 1 }
    setLatest(notes.changed, key, after, most.outcomes)
  }
}

const addCommand = (notes: Notes, message: Message.BashExecutionMessage): void => {
  const args = { command: message.command }
  const failed = typeof message.exitCode === "number" && message.exitCode !== 0
  settle(notes, ToolOutcome.judge("bash", args, message.output, failed), args)
}

/** A failure is open until the same thing succeeds. */
const settle = (notes: Notes, outcome: ToolOutcome.ToolOutcome, args: unknown): void => {
  if (outcome.failed) {
    notes.passed.delete(outcome.key)
    if (!outcome.looksAround) setLatest(notes.failed, outcome.key, outcome, most.outcomes)
    return
  }
  const failure = notes.failed.get(outcome.key)
  notes.failed.delete(outcome.key)
  notes.settled.add(failure?.label ?? outcome.label)
  const subject = commitSubject(args)
  if (subject !== undefined) push(notes.commits, subject, most.commits)
  else if (!outcome.looksAround && outcome.label.startsWith("`")) {
    setLatest(notes.passed, outcome.key, outcome, most.outcomes)
  }
}

const commitSubject = (args: unknown): string | undefined => {
  const command = typeof args === "object" && args !== null && "command" in args ? String(args.command) : ""
  const match = /\bgit\s+commit\b[^\n]*?-[a-z]*m\s+(?:"([^"\n]+)|'([^'\n]+))/u.exec(command)
  return match?.[1] ?? match?.[2]
}

const address = /\bhttps?:\/\/[^\s<>"'`)\]]+|\b(?:localhost|\d{1,3}(?:\.\d{1,3}){3}):\d{2,5}\b/gu

const quotedName = /`([^`\n]{2,60})`/gu

/** Notes addresses, and names that people put in backquotes. */
const mention = (notes: Notes, text: string, at: number): void => {
  for (const [found] of text.matchAll(address)) bump(notes.addresses, found.replace(/[.,;:!?]+$/u, ""), at)
  for (const match of text.matchAll(quotedName)) bump(notes.names, match[1] ?? "", at)
}

const bump = (mentions: Map<string, Mention>, name: string, last: number): void =>
  setLatest(mentions, name, { times: (mentions.get(name)?.times ?? 0) + 1, last }, most.mentions)
