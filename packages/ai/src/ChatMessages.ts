/**
 * Messages of a session as a `Prompt` of `@effect/ai`, and back.
 *
 * Law. What was appended comes back as it was given: provider options, such as
 * the signature of a thought, structured results, and files of any kind. Where
 * the session format has no place for something, the message keeps it in its
 * `details` (see `Histories` of `@cutpoint/core`), and a placeholder such as
 * `[file]` tells other programs that there is something.
 *
 * @since 0.1.0
 */
import * as Histories from "@cutpoint/core/Histories"
import * as Json from "@cutpoint/core/Json"
import * as Message from "@cutpoint/core/Message"
import * as Projection from "@cutpoint/core/Projection"
import * as Prompt from "@effect/ai/Prompt"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as ChatFile from "./ChatFile.js"
import * as ChatTyping from "./ChatTyping.js"
import * as WireJson from "./WireJson.js"

/** A message of a prompt, in JSON. */
export type PromptMessage = Json.JsonObject

const decode = Schema.decodeUnknownOption(Prompt.Prompt)

/** The messages of a session that a prompt is. */
export const ofPrompt = (prompt: Prompt.Prompt): ReadonlyArray<Message.Message> =>
  ofJson(prompt.content.map(messageJson))

/**
 * A prompt in JSON. The schema of `@effect/ai` writes of a message of several
 * texts only the first, and of a text no options: those are written as they are.
 */
export const toJson = (prompt: Prompt.Prompt, encoded: typeof Prompt.Prompt.Encoded): typeof Prompt.Prompt.Encoded => ({
  content: encoded.content.map((message, index) => {
    const original = prompt.content[index]
    const isWhole = original === undefined || isPlain(original) || typeof message.content !== "string"
    return isWhole || original.role === "system" ? message : ChatTyping.encoded(messageJson(original))
  })
})

/** Whether a message is one text and nothing else. */
const isPlain = ({ content }: Prompt.Message): boolean => {
  if (typeof content === "string") return true
  const [only] = content
  return content.length === 1 && only?.type === "text" && Object.keys(only.options).length === 0
}

const messageJson = (message: Prompt.Message): PromptMessage => {
  const { content, options, role } = message
  if (typeof content === "string") return { role, content, options }
  const [only] = content
  return { role, content: isPlain(message) && only?.type === "text" ? only.text : content.map(fieldsOf), options }
}

/** Without what marks it as a part of a prompt. */
const fieldsOf = (part: Prompt.Part): Json.JsonObject =>
  Object.fromEntries(Object.entries(part).filter(([key]) => !key.startsWith("~")))

/** The messages of a session that these are. */
export const ofJson = (messages: ReadonlyArray<PromptMessage>): ReadonlyArray<Message.Message> =>
  Histories.read(plain(messages.map(withParts(partToJson))), "prompt")?.messages ?? []

/** A tool that gives nothing gives null. */
const partToJson = (part: Json.JsonObject): Json.JsonObject =>
  part.type === "tool-result" && part.result === undefined ? { ...part, result: null } : ChatFile.toJson(part)

/** As it will be read again. */
const plain = (value: unknown): unknown => WireJson.parse(Json.textOf(value))

/**
 * The prompt that a context is: its system messages as one, and every call with
 * its result.
 */
export const toPrompt = (context: Pick<Projection.Projection, "items">): Prompt.Prompt => {
  const said = spoken(Projection.messages(context)).filter((message) => message.role !== "system")
  const repaired = Projection.repairToolPairs(Projection.convertToLlm([...systemOf(context), ...said])).messages
  // What an import kept need not be what `@effect/ai` takes; then only what the session itself says is sent.
  return Option.getOrElse(
    Option.orElse(read(repaired), () => read(repaired.map(withoutDetails))),
    () => Prompt.empty
  )
}

/** One alone stays as it came, with its provider's options. */
const systemOf = (context: Pick<Projection.Projection, "items">): ReadonlyArray<Message.SystemMessage> => {
  const systems = Projection.messages(context).filter((message) => message.role === "system")
  const folded = Projection.systemMessage(context)
  return folded === undefined || systems.length === 1 ? systems : [folded]
}

/**
 * Messages as they may go to a provider. A reply that was broken off or failed
 * says its text, and the calls that got results: providers refuse replies
 * without content, and thoughts that stop half-way.
 */
export const spoken = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<Message.Message> => {
  const answered = new Set(messages.map((message) => (message.role === "toolResult" ? message.toolCallId : undefined)))
  const lasts = (block: Message.AssistantBlock): boolean =>
    block.type === "toolCall" ? answered.has(block.id) : block.type === "text" && !isBlank(block)
  return messages.flatMap((message): ReadonlyArray<Message.Message> => {
    if (message.role !== "assistant") return [message]
    const content = Message.isBroken(message) ? message.content.filter(lasts) : message.content
    return content.every(isBlank) ? [] : [{ ...message, content }]
  })
}

const isBlank = (block: Message.AssistantBlock): boolean => block.type === "text" && block.text.trim() === ""

const read = (messages: ReadonlyArray<Message.Message>): Option.Option<Prompt.Prompt> => {
  const { document } = Histories.write(messages, "prompt")
  const content = Json.isObject(document) ? WireJson.objects(document.content) : []
  return decode({ content: together(content.map(withParts(ChatFile.fromJson))) })
}

/** Results of one reply's calls stand in one message, as some providers demand. */
const together = (messages: ReadonlyArray<PromptMessage>): ReadonlyArray<PromptMessage> => {
  const joined: Array<PromptMessage> = []
  for (const message of messages) {
    const before = joined.at(-1)
    if (before?.role !== "tool" || message.role !== "tool") joined.push(message)
    else joined[joined.length - 1] = { ...before, content: [before.content, message.content].flat() }
  }
  return joined
}

const withoutDetails = (message: Message.Message): Message.Message =>
  "details" in message ? { ...message, details: undefined } : message

const withParts =
  (change: (part: Json.JsonObject) => Json.JsonObject) =>
  (message: PromptMessage): PromptMessage =>
    Array.isArray(message.content)
      ? { ...message, content: message.content.map((part: unknown) => (Json.isObject(part) ? change(part) : part)) }
      : message
