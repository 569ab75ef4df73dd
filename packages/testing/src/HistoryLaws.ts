/**
 * The laws of histories: what is read comes back, and only what still holds.
 *
 * @since 0.1.0
 */
import * as Histories from "@cutpoint/core/Histories"
import * as JsonDifference from "@cutpoint/core/JsonDifference"
import type * as Message from "@cutpoint/core/Message"
import * as MessageReader from "@cutpoint/core/MessageReader"
import * as Projection from "@cutpoint/core/Projection"
import * as Entry from "@cutpoint/core/Entry"
import { hold, LawBroken, same, shown } from "./Law.js"

/** The messages of a history after they have been a file's lines. */
const stored = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<Message.Message> =>
  messages.map((message) => {
    const entry = { type: "message", id: "a", parentId: null, timestamp: "", message } as const
    const line: unknown = JSON.parse(JSON.stringify(Entry.toJson(entry)))
    return MessageReader.read(typeof line === "object" && line !== null && "message" in line ? line.message : line)
  })

const equal = (law: string, actual: unknown, expected: unknown): void =>
  hold(
    law,
    JsonDifference.of(actual, expected) === undefined,
    () => `It is ${shown(actual)}, and should be ${shown(expected)}.`
  )

/** Whether the law had something to say: a list in which nothing can be read is no history. */
export const comesBack = (document: unknown, format: Histories.Name): boolean => {
  const imported = Histories.read(document, format)
  if (imported === undefined) return false
  const law = "An export after an import gives the same document."
  const exported = Histories.write(stored(imported.messages), format, imported.envelope)
  equal(law, exported.document, document)
  same(law, "What is left out", exported.leftOut, [])
  return true
}

/** What was read can be written in every other format, and what was written can be read there. */
export const canBeSaidElsewhere = (document: unknown, from: Histories.Name, to: Histories.Name): void => {
  const imported = Histories.read(document, from)
  if (imported === undefined) return
  const { document: written } = Histories.write(imported.messages, to)
  const back = Histories.read(written, to)
  const isEmpty = imported.messages.every((message) => message.role === "unknown" || message.role === "assistant")
  hold(
    "What was written can be read.",
    back !== undefined || isEmpty,
    () => `${shown(written)} is no history of ${to}.`
  )
}

/** What a format says of a message and what a session says of it, in the same words. */
const said = (message: Message.Message, has: Said): ReadonlyArray<unknown> => {
  switch (message.role) {
    case "user":
      return plain(message.content).length === 0 ? [] : [["user", plain(message.content)]]
    case "assistant": {
      const isCall = (block: Message.AssistantBlock) => block.type === "toolCall"
      const { content } = message
      const blocks = has.order ? content : [...content.filter((block) => !isCall(block)), ...content.filter(isCall)]
      return blocks.flatMap((block) => saidBy(block, has))
    }
    case "toolResult": {
      const texts = message.content.filter((block) => block.type === "text").map(({ text }) => text)
      return [["gives", message.toolCallId, texts.join("\n"), has.failures && message.isError]]
    }
    default:
      return []
  }
}

const saidBy = (block: Message.AssistantBlock, has: Said): ReadonlyArray<unknown> => {
  if (block.type === "text") return block.text === "" ? [] : [["says", block.text]]
  if (block.type === "thinking") return has.thinking ? [["thinks", block.thinking]] : []
  return [["calls", block.id, block.name, block.arguments ?? {}]]
}

const plain = (content: Message.UserContent): ReadonlyArray<unknown> =>
  (typeof content === "string" ? [{ type: "text" as const, text: content }] : content).map((block) =>
    block.type === "text" ? block.text : [block.data ?? "", block.mimeType ?? "image/png"]
  )

interface Said {
  readonly thinking: boolean
  readonly failures: boolean
  /** Whether texts may follow calls in one reply. */
  readonly order: boolean
}

const sayable: { readonly [N in Histories.Name]: Said } = {
  "openai-chat": { thinking: false, failures: false, order: false },
  "openai-responses": { thinking: false, failures: false, order: true },
  anthropic: { thinking: false, failures: true, order: true },
  prompt: { thinking: true, failures: true, order: true }
}

/**
 * What a context says (users, texts, thinking, calls, results) is said again
 * after it was written in a format and read from it, as far as that can say it.
 */
export const saysTheSame = (messages: ReadonlyArray<Message.Message>, format: Histories.Name): void => {
  const has = sayable[format]
  const { document } = Histories.write(messages, format)
  const json: unknown = JSON.parse(JSON.stringify(document))
  const back = Histories.read(json, format)
  const before = messages.flatMap((message) => said(message, has))
  if (back === undefined) {
    if (before.length > 0) throw new LawBroken("What was written can be read.", shown(json))
    return
  }
  const after = back.messages.flatMap((message) => said(message, has))
  const [lasting, found]: [unknown, unknown] = [JSON.parse(JSON.stringify(before)), JSON.parse(JSON.stringify(after))]
  equal("Importing an export says the same.", found, lasting)
}

const isUser = (message: Message.Message): boolean => message.role === "user"

/** A message that was edited comes back as edited, with nothing of what it was. */
export const editsWin = (document: unknown, format: Histories.Name, edited: string): void => {
  const imported = Histories.read(document, format)
  if (imported === undefined) return
  const messages = imported.messages.map((message) => Projection.withContent(message, edited)).filter(isUser)
  const { document: written } = Histories.write(messages, format)
  const back = Histories.read(JSON.parse(JSON.stringify(written)), format)
  for (const message of back?.messages ?? []) {
    if (message.role !== "user") continue
    equal("An edited message is written as edited.", plain(message.content), plain(edited))
  }
}
