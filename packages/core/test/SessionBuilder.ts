/** Builds entries and messages tersely, for tests. */
import type * as Entry from "../src/Entry.js"
import type * as Message from "../src/Message.js"
import * as Rules from "../src/Rules.js"
import * as Tokens from "../src/Tokens.js"

/** Counts by the heuristic, under the standard rules. */
export const count = Tokens.counter(Tokens.heuristic, Rules.standard)

/** A text of so many tokens by the heuristic. */
export const tokens = (amount: number, unit = "x"): string => unit.repeat(amount * 4)

export const header: Entry.Header = {
  type: "session",
  version: 3,
  id: "session-1",
  timestamp: "2026-01-01T00:00:00.000Z",
  cwd: "/w"
}

/** Each entry follows the one before it; the first stands under `parentId`. */
export const chain = (
  entries: ReadonlyArray<Entry.Entry>,
  parentId: string | null = null
): ReadonlyArray<Entry.Entry> =>
  entries.map((entry, index) => ({ ...entry, parentId: entries[index - 1]?.id ?? parentId }))

/** The same with some fields changed. */
export const changed = <A extends object, B extends { readonly [key in keyof A]?: unknown }>(
  base: A,
  fields: B
): Omit<A, keyof B> & B => ({ ...base, ...fields })

const base = (id: string) => ({ id, parentId: null, timestamp: "2026-01-01T00:00:01.000Z" })

export const entryOf = (id: string, message: Message.Message): Entry.MessageEntry => ({
  type: "message",
  ...base(id),
  message
})

// Messages

export const text = (text: string): Message.TextBlock => ({ type: "text", text })

export const call = (id: string, name = "bash", args: unknown = {}): Message.ToolCallBlock => ({
  type: "toolCall",
  id,
  name,
  arguments: args
})

export const said = (content: Message.UserContent): Message.UserMessage => ({ role: "user", content })

export const answered = (
  content: string | ReadonlyArray<Message.AssistantBlock>,
  fields: Partial<Message.AssistantMessage> = {}
): Message.AssistantMessage => ({
  role: "assistant",
  content: typeof content === "string" ? [text(content)] : content,
  stopReason: "stop",
  ...fields
})

export const gave = (
  callId: string,
  output: string,
  fields: Partial<Message.ToolResultMessage> = {}
): Message.ToolResultMessage => ({
  role: "toolResult",
  toolCallId: callId,
  toolName: "bash",
  content: [text(output)],
  isError: false,
  ...fields
})

export const ran = (
  command: string,
  output: string,
  fields: Partial<Message.BashExecutionMessage> = {}
): Message.BashExecutionMessage => ({ role: "bashExecution", command, output, exitCode: 0, ...fields })

// Entries

export const user = (id: string, content: Message.UserContent = id) => entryOf(id, said(content))

export const reply = (
  id: string,
  content: string | ReadonlyArray<Message.AssistantBlock> = id,
  fields: Partial<Message.AssistantMessage> = {}
) => entryOf(id, answered(content, fields))

export const result = (id: string, callId: string, output = "ok", fields: Partial<Message.ToolResultMessage> = {}) =>
  entryOf(id, gave(callId, output, fields))

export const bash = (id: string, command: string, output = "", fields: Partial<Message.BashExecutionMessage> = {}) =>
  entryOf(id, ran(command, output, fields))

export const system = (id: string, content: string, fields: Partial<Message.SystemMessage> = {}) =>
  entryOf(id, { role: "system", content, ...fields })

export const custom = (id: string, content: Message.UserContent): Entry.CustomMessageEntry => ({
  type: "custom_message",
  ...base(id),
  customType: "test",
  content,
  display: true
})

export const compaction = (
  id: string,
  firstKeptEntryId: string,
  summary = "old summary",
  fields: Partial<Entry.CompactionEntry> = {}
): Entry.CompactionEntry => ({
  type: "compaction",
  ...base(id),
  summary,
  firstKeptEntryId,
  tokensBefore: 1000,
  ...fields
})

export const branchSummary = (
  id: string,
  summary: string,
  fields: Partial<Entry.BranchSummaryEntry> = {}
): Entry.BranchSummaryEntry => ({ type: "branch_summary", ...base(id), fromId: null, summary, ...fields })

/** Hides the target (null), or replaces its content. */
export const edit = (id: string, targetId: string, content: Message.Content | null): Entry.ContextEditEntry => ({
  type: "context_edit",
  ...base(id),
  targetId,
  replacement: content === null ? null : { content }
})

export const label = (id: string, targetId: string, label = "here"): Entry.LabelEntry => ({
  type: "label",
  ...base(id),
  targetId,
  label
})

export const modelChange = (id: string): Entry.ModelChangeEntry => ({
  type: "model_change",
  ...base(id),
  provider: "openai",
  modelId: "gpt"
})

export const note = (id: string, customType = "test"): Entry.CustomEntry => ({
  type: "custom",
  ...base(id),
  customType
})

export const usageEntry = (id: string, usage: Message.Usage): Entry.UsageEntry => ({
  type: "usage",
  ...base(id),
  usage
})
