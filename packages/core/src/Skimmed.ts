/**
 * Messages of which not all is known: by the heads of their lines, so that only
 * who speaks is clear, or without the text around their calls. Enough to
 * find a cut after them, not to say what was said.
 *
 * Law. Nothing that needs what a message says takes it from a skimmed one:
 * counting and converting fail instead, which is a defect of whoever asked.
 *
 * @since 0.1.0
 */
import type * as Entry from "./Entry.js"
import type * as LineHead from "./LineHead.js"
import * as Message from "./Message.js"
import type * as ReplyHead from "./ReplyHead.js"

/** Marks what is skimmed; JSON and lists of keys do not show it. */
const mark = Symbol("skimmed")

interface Marked {
  readonly [mark]: true
}

/** What all skimmed requests, and all skimmed results, are: nothing tells them apart. */
const user: Message.UserMessage & Marked = { role: "user", content: "", [mark]: true }
const toolResult: Message.ToolResultMessage & Marked = {
  role: "toolResult",
  toolCallId: "",
  toolName: "",
  content: [],
  isError: false,
  [mark]: true
}

/** Which messages may be skimmed: all, or tool results alone. */
export type What = "messages" | "results"

/** The entry of a head; undefined where more of it has to be known. */
export const entryOf = (
  { id, parentId, role, type }: LineHead.LineHead,
  what: What
): Entry.MessageEntry | undefined => {
  const message = role === "toolResult" ? toolResult : role === "user" && what === "messages" ? user : undefined
  return type !== "message" || message === undefined ? undefined : { type, id, parentId, timestamp: "", message }
}

/** The entry of a reply by its calls and its end; what it used, and of which model it is, is not known. */
export const replyOf = (
  { id, parentId }: LineHead.LineHead,
  { calls, stopReason }: ReplyHead.ReplyHead
): Entry.MessageEntry => {
  const message: Message.AssistantMessage & Marked = { role: "assistant", content: calls, stopReason, [mark]: true }
  return { type: "message", id, parentId, timestamp: "", message }
}

/** A reply's entry without its text and thinking; any other entry as it is. */
export const callsOnly = (entry: Entry.Entry): Entry.Entry => {
  if (entry.type !== "message" || entry.message.role !== "assistant") return entry
  const message: Message.AssistantMessage & Marked = {
    ...entry.message,
    content: Message.toolCalls(entry.message),
    [mark]: true
  }
  return { ...entry, message }
}

/** Whether not all of a message is known. */
export const is = (message: Message.Message): boolean => mark in message

/** The message, which must be known as a whole. */
export const whole = <M extends Message.Message>(message: M): M => {
  if (is(message)) throw new Error("A message that was only skimmed is asked for what it says.")
  return message
}
