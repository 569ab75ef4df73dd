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
import type * as Message from "@cutpoint/core/Message"
import * as Projection from "@cutpoint/core/Projection"
import * as Prompt from "@effect/ai/Prompt"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as ChatFile from "./ChatFile.js"
import * as WireJson from "./WireJson.js"

/** A message of a prompt, in JSON. */
export type PromptMessage = Json.JsonObject

const encode = Schema.encodeSync(Prompt.Prompt)
const decode = Schema.decodeUnknownOption(Prompt.Prompt)

/** The messages of a session that a prompt is. */
export const ofPrompt = (prompt: Prompt.Prompt): ReadonlyArray<Message.Message> =>
  ofJson(WireJson.objects(encode(prompt).content))

/** The messages of a session that these are. */
export const ofJson = (messages: ReadonlyArray<PromptMessage>): ReadonlyArray<Message.Message> =>
  Histories.read(plain(messages.map(withParts(ChatFile.toJson))), "prompt")?.messages ?? []

/** As it will be read again. */
const plain = (value: unknown): unknown => WireJson.parse(Json.textOf(value))

/**
 * The prompt that a context is: its system messages folded into one, every call
 * with its result, and no reply that says nothing.
 */
export const toPrompt = (context: Pick<Projection.Projection, "items">): Prompt.Prompt => {
  const system = Projection.systemMessage(context)
  const said = Projection.messages(context).filter((message) => message.role !== "system" && saysSomething(message))
  const messages = Projection.convertToLlm(system === undefined ? said : [system, ...said])
  const repaired = Projection.repairToolPairs(messages).messages
  // What an import kept need not be what `@effect/ai` takes; then only what the session itself says is sent.
  return Option.getOrElse(
    Option.orElse(read(repaired), () => read(repaired.map(withoutDetails))),
    () => Prompt.empty
  )
}

const read = (messages: ReadonlyArray<Message.Message>): Option.Option<Prompt.Prompt> => {
  const { document } = Histories.write(messages, "prompt")
  const content = Json.isObject(document) ? WireJson.objects(document.content) : []
  return decode({ content: content.map(withParts(ChatFile.fromJson)) })
}

const withoutDetails = (message: Message.Message): Message.Message =>
  "details" in message ? { ...message, details: undefined } : message

/** Providers refuse a reply without content, as one that failed at once leaves it. */
const saysSomething = (message: Message.Message): boolean =>
  message.role !== "assistant" || message.content.some((block) => block.type !== "text" || block.text !== "")

const withParts =
  (change: (part: Json.JsonObject) => Json.JsonObject) =>
  (message: PromptMessage): PromptMessage =>
    Array.isArray(message.content)
      ? { ...message, content: message.content.map((part: unknown) => (Json.isObject(part) ? change(part) : part)) }
      : message
