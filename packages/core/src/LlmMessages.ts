/**
 * Turns the messages of a context into those that a provider takes.
 *
 * @since 0.1.0
 */
import * as Diagnostic from "./Diagnostic.js"
import * as Message from "./Message.js"
import * as Skimmed from "./Skimmed.js"

/** The messages that go to a model. */
export type LlmMessage =
  | Message.SystemMessage
  | Message.UserMessage
  | Message.AssistantMessage
  | Message.ToolResultMessage

/**
 * Bash executions and summaries become user text that says what they are,
 * custom messages user content; bash executions kept from the model and
 * messages of unknown roles are left out.
 */
export const convertToLlm = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<LlmMessage> =>
  messages.flatMap(convert)

const convert = (message: Message.Message): ReadonlyArray<LlmMessage> => {
  switch (message.role) {
    case "system":
    case "user":
    case "assistant":
    case "toolResult":
      return [Skimmed.whole(message)]
    case "custom":
      return [userMessage(message.content, message.timestamp)]
    case "bashExecution":
      return message.excludeFromContext === true ? [] : [userMessage(bashText(message), message.timestamp)]
    case "branchSummary":
      return [userMessage(`Summary of a branch that was left:\n\n${message.summary}`, message.timestamp)]
    case "compactionSummary":
      return [userMessage(`Summary of the conversation up to here:\n\n${message.summary}`, message.timestamp)]
    case "unknown":
      return []
  }
}

const userMessage = (content: Message.UserContent, timestamp: number | string | undefined): Message.UserMessage => ({
  role: "user",
  content,
  ...(timestamp === undefined ? {} : { timestamp })
})

const bashText = (message: Message.BashExecutionMessage): string => {
  const failed = typeof message.exitCode === "number" && message.exitCode !== 0
  const output = message.output === "" ? "It printed nothing." : `It printed:\n${message.output}`
  return `The user ran: ${message.command}\n${output}${failed ? `\nIt ended with exit code ${message.exitCode}.` : ""}`
}

/** Messages in which every result has its call and every call its result, and what had to be done for it. */
export interface Repaired {
  readonly messages: ReadonlyArray<LlmMessage>
  readonly diagnostics: ReadonlyArray<Diagnostic.Diagnostic>
}

/**
 * Drops tool results whose call is not there, and gives a call that never got
 * its result one that says so, right after the results its message did get.
 * Each is reported.
 */
export const repairToolPairs = (messages: ReadonlyArray<LlmMessage>): Repaired => {
  const diagnostics: Array<Diagnostic.Diagnostic> = []
  const repaired: Array<LlmMessage> = []
  const taken = new Set<LlmMessage>()
  messages.forEach((message, index) => {
    if (message.role === "toolResult") {
      if (!taken.has(message)) diagnostics.push(orphaned(message))
      return
    }
    repaired.push(message)
    if (message.role !== "assistant") return
    for (const call of Message.toolCalls(message)) {
      const result = resultOf(call, messages, index, taken)
      if (result === undefined) diagnostics.push(unanswered(call))
      else taken.add(result)
      repaired.push(result ?? missingResult(call))
    }
  })
  return { messages: repaired, diagnostics }
}

/** The first later result of a call, up to where another call takes the same id. */
const resultOf = (
  call: Message.ToolCallBlock,
  messages: ReadonlyArray<LlmMessage>,
  from: number,
  taken: ReadonlySet<LlmMessage>
): Message.ToolResultMessage | undefined => {
  for (let index = from + 1; index < messages.length; index++) {
    const message = messages[index]
    if (message?.role === "toolResult" && message.toolCallId === call.id && !taken.has(message)) return message
    if (message?.role === "assistant" && Message.toolCalls(message).some(({ id }) => id === call.id)) return undefined
  }
  return undefined
}

const missing = "This call got no result."

const missingResult = (call: Message.ToolCallBlock): Message.ToolResultMessage => ({
  role: "toolResult",
  toolCallId: call.id,
  toolName: call.name,
  content: [{ type: "text", text: missing }],
  isError: true
})

/** Whether a message is a result that was made up for a call without one. */
export const isMissingResult = (message: Message.Message): boolean =>
  message.role === "toolResult" && message.isError && Message.texts(message.content).join("") === missing

const orphaned = (result: Message.ToolResultMessage) =>
  Diagnostic.make(
    "OrphanedResult",
    `A result of ${result.toolName} answers the call ${result.toolCallId}, which is not there; it was left out.`
  )

const unanswered = (call: Message.ToolCallBlock) =>
  Diagnostic.make(
    "UnansweredCall",
    `The call ${call.id} of ${call.name} never got a result; it was given one that says so.`
  )
