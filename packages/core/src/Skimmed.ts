/**
 * Messages of which not all is known: by the heads of their lines, so that it is
 * clear who speaks and which call is answered, or without the text around
 * their calls. Enough to find a cut, not to say what was said.
 *
 * Law. Nothing that needs what a message says takes it from a skimmed one:
 * counting and converting fail instead, which is a defect of whoever asked.
 *
 * @since 0.1.0
 */
import type * as Entry from "./Entry.js"
import type * as LineHead from "./LineHead.js"
import * as Message from "./Message.js"

const skimmed = new WeakSet<Message.Message>()

/** The entry of a head; undefined where more of it has to be known. */
export const entryOf = (head: LineHead.LineHead): Entry.MessageEntry | undefined => {
  const message = head.type === "message" ? messageOf(head) : undefined
  if (message === undefined) return undefined
  skimmed.add(message)
  const { id, parentId } = head
  return { type: "message", id, parentId, timestamp: "", message }
}

const messageOf = ({ role, toolCallId, toolName }: LineHead.LineHead): Message.Message | undefined => {
  if (role === "user") return { role, content: "" }
  if (role !== "toolResult" || toolCallId === undefined || toolName === undefined) return undefined
  return { role, toolCallId, toolName, content: [], isError: false }
}

/** A reply's entry without its text and thinking; any other entry as it is. */
export const callsOnly = (entry: Entry.Entry): Entry.Entry => {
  if (entry.type !== "message" || entry.message.role !== "assistant") return entry
  const message = { ...entry.message, content: Message.toolCalls(entry.message) }
  skimmed.add(message)
  return { ...entry, message }
}

/** Whether not all of a message is known. */
export const is = (message: Message.Message): boolean => skimmed.has(message)

/** The message, which must be known as a whole. */
export const whole = <M extends Message.Message>(message: M): M => {
  if (skimmed.has(message)) throw new Error("A message that was only skimmed is asked for what it says.")
  return message
}
