/**
 * What a model is shown of a conversation. Each law takes the messages of a
 * context, and throws `LawBroken` where it does not hold.
 *
 * @since 0.1.0
 */
import * as Json from "@cutpoint/core/Json"
import * as Message from "@cutpoint/core/Message"
import * as Projection from "@cutpoint/core/Projection"
import * as SummaryPrompt from "@cutpoint/core/SummaryPrompt"
import * as Transcript from "@cutpoint/core/Transcript"
import * as Law from "./Law.js"

type Messages = ReadonlyArray<Message.Message>

/** The text is well-formed UTF-16, whatever the messages hold: no half of a pair stands alone. */
export const isWellFormed = (messages: Messages, options: Transcript.Options = Transcript.forModel): void => {
  const text = Transcript.serialize(Projection.convertToLlm(messages), options)
  const at = text.search(/\p{Surrogate}/u)
  const law = "A transcript is well-formed UTF-16."
  Law.hold(
    law,
    text.isWellFormed(),
    () => `Half a pair stands alone in ${Law.shown(text.slice(Math.max(0, at - 20), at + 20))}.`
  )
}

/**
 * A text without its middle keeps its start and its end to the character, says
 * how much is missing between them, and splits no surrogate pair.
 */
export const cutsBetweenCharacters = (text: string, max: number, head: number): void => {
  const law = "A cut leaves out the middle, says how much of it, and splits no surrogate pair."
  const cut = Transcript.withoutMiddle(text, max, head)
  if (text.length <= max) return Law.hold(law, cut === text, () => `${Law.shown(text)} was cut, and is short enough.`)
  const found = /^([\s\S]*?)\n\n\[\.\.\. (\d+) characters left out \.\.\.\]\n\n/.exec(cut.slice(Math.max(0, head - 1)))
  Law.hold(law, found !== null, () => `It does not say how much is missing: ${Law.shown(cut)}.`)
  const start = cut.slice(0, Math.max(0, head - 1)) + (found?.[1] ?? "")
  const end = cut.slice(Math.max(0, head - 1) + (found?.[0].length ?? 0))
  const isWhole =
    text.startsWith(start) && text.endsWith(end) && start.length + end.length + Number(found?.[2]) === text.length
  Law.hold(law, isWhole, () => `${Law.shown(start)} and ${Law.shown(end)} are not start and end.`)
  Law.hold(law, start.length <= head && end.length <= max - head, () => `It keeps ${start.length} and ${end.length}.`)
  const isClean = !text.isWellFormed() || cut.isWellFormed()
  Law.hold(law, isClean, () => `A pair is split: ${Law.shown(start.slice(-4))}, ${Law.shown(end.slice(0, 4))}.`)
}

/** The room for the line that says how much was left out, in UTF-16 code units. */
const marker = 64

const limit = Transcript.maxPart + marker

/** No tool result and no argument is longer than its limit and the line that says how much was left out. */
export const staysWithinLimits = (messages: Messages, options: Transcript.Options = Transcript.forModel): void => {
  const law = `No tool result and no argument is longer than ${Transcript.maxPart} characters and a marker.`
  for (const message of Projection.convertToLlm(messages)) {
    for (const part of Transcript.parts(message, options)) {
      const most = mostOf(message, part)
      Law.hold(law, part.length <= most, () => `A part has ${part.length}, ${most} at most: ${Law.shown(part)}`)
    }
  }
}

/** How long a part may be: none but results and calls are limited. */
const mostOf = (message: Projection.LlmMessage, part: string): number => {
  if (message.role === "toolResult") return "[Tool result]: ".length + limit
  const label = "[Assistant tool calls]: "
  if (message.role !== "assistant" || !part.startsWith(label)) return Infinity
  return Message.toolCalls(message).reduce(
    (most, call) => most + call.name.length + "(); ".length + mostOfArguments(call.arguments),
    label.length
  )
}

const mostOfArguments = (args: unknown): number => {
  if (!Json.isObject(args)) return limit
  return Object.entries(args).reduce(
    (most, [key, value]) => most + key.length + "=, ".length + mostOfArgument(Json.textOf(value)),
    0
  )
}

const mostOfArgument = (text: string): number => (text.length <= Transcript.maxPart ? text.length : limit)

const tags = ["conversation", "previous-summary", "turn-prefix", "pinned", "read-files", "modified-files"]

const tag = new RegExp(`<\\s*/?\\s*(?:${tags.join("|")})(?![\\w-])`, "i")

const label = /\[(?:User|Assistant|Assistant thinking|Assistant tool calls|Tool result)\]\s*:/i

/**
 * Nothing that was said can end the fence it stands in, start another, or
 * pass for a part of its own.
 */
export const staysInItsFence = (messages: Messages, options: Transcript.Options = Transcript.forModel): void => {
  const law = "Nothing in a part can pass for a fence's tag or for another part."
  const parts = Projection.convertToLlm(messages).flatMap((message) => Transcript.parts(message, options))
  for (const part of parts) {
    const body = part.replace(/^\[[\w ]+\]: /, "")
    const found = tag.exec(body) ?? label.exec(body)
    Law.hold(law, found === null, () => `${Law.shown(found?.[0])} stands in ${Law.shown(body)}.`)
  }
  const text = parts.join("\n\n")
  Law.hold(law, !tag.test(text), () => "Two parts together make a tag.")
  const labels = text.match(new RegExp(label, "gi"))?.length ?? 0
  Law.hold(law, labels === parts.length, () => `There are ${parts.length} parts and ${labels} labels.`)
}

/**
 * A request opens and closes each of its fences once, whatever stands in the
 * conversation and in the previous summary.
 */
export const requestKeepsItsFences = (messages: Messages, previousSummary: string): void => {
  const transcript = Transcript.serialize(Projection.convertToLlm(messages), Transcript.forModel)
  const prompt = SummaryPrompt.prompt({ kind: "history", transcript, previousSummary })
  const found = prompt.split("\n").filter((line) => /^\s*<\s*\/?\s*(conversation|previous-summary)\s*>\s*$/i.test(line))
  const expected = ["<conversation>", "</conversation>", "<previous-summary>", "</previous-summary>"]
  Law.same("A request opens and closes each of its fences once.", "Its fences", found, expected)
}
