/**
 * Entries and messages in a few words.
 *
 * @since 0.1.0
 */
import type * as Diagnostic from "@cutpoint/core/Diagnostic"
import * as Entry from "@cutpoint/core/Entry"
import * as Message from "@cutpoint/core/Message"
import * as Projection from "@cutpoint/core/Projection"
import * as Printable from "./Printable.js"

/** The role of the message that an entry holds by itself, or null. */
export const role = (entry: Entry.Entry): Message.Role | null => Projection.messagesOf(entry, true).at(-1)?.role ?? null

/** What an entry says, on one line. */
export const preview = (entry: Entry.Entry, max = 100): string => {
  const message = Projection.messagesOf(entry, true).at(-1)
  if (message !== undefined) return messagePreview(message, max)
  switch (entry.type) {
    case "model_change":
      return Printable.line(`${entry.provider}/${entry.modelId}`, max)
    case "thinking_level_change":
      return Printable.line(entry.thinkingLevel, max)
    case "label":
      return Printable.line(`${entry.label ?? "(removed)"} on ${entry.targetId}`, max)
    case "session_info":
      return Printable.line(entry.name ?? "", max)
    case "custom":
      return Printable.line(entry.customType, max)
    case "context_edit":
      return Printable.line(`${entry.replacement === null ? "hides" : "replaces"} ${entry.targetId}`, max)
    default:
      return ""
  }
}

/** What a message says, on one line. */
export const messagePreview = (message: Message.Message, max = 100): string => {
  switch (message.role) {
    case "assistant":
      return Printable.line(replyText(message), max)
    case "bashExecution":
      return Printable.line(`$ ${message.command}`, max)
    case "branchSummary":
    case "compactionSummary":
      return Printable.line(message.summary, max)
    case "unknown":
      return ""
    default:
      return Printable.line(Message.texts(message.content).join(" "), max)
  }
}

const replyText = (message: Message.AssistantMessage): string => {
  const text = Message.texts(message.content).join(" ")
  const calls = Message.toolCalls(message).map((call) => `${call.name}()`)
  const failed = Message.isBroken(message) ? `(${message.stopReason}) ${message.errorMessage ?? ""}` : ""
  return [failed, text, ...calls].filter((part) => part !== "").join(" ")
}

/** The kind of an entry as the tree shows it: a message's role, else the type. */
export const kind = (entry: Entry.Entry): string => role(entry) ?? Printable.line(Entry.typeName(entry), 40)

/** A diagnostic on a line. */
export const diagnostic = ({ line, message }: Diagnostic.Diagnostic): string =>
  Printable.line(line === undefined ? message : `line ${line}: ${message}`, 400)
