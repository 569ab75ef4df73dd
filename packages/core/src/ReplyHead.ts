/**
 * What finding a cut takes from a reply (its calls, with the arguments that name
 * files, and how it ended), read off its line without making objects of all the
 * rest.
 *
 * Law. Where it is read, it says what parsing the whole line says. It is read
 * only of lines that are JSON from their first to their last byte, spelled as
 * agents spell them, without spaces and with their fields in the usual order; any
 * other line has to be parsed.
 *
 * @since 0.1.0
 */
import * as FileTools from "./FileTools.js"
import type * as Json from "./Json.js"
import type * as LineHead from "./LineHead.js"
import type * as Message from "./Message.js"

/** A reply by its calls and its end. */
export interface ReplyHead {
  readonly calls: ReadonlyArray<Message.ToolCallBlock>
  readonly stopReason: string | undefined
}

/** Longer lines are parsed, in characters: matching a long text takes room that parsing does not. */
const longest = 64 * 1024

const text = String.raw`"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})[^"\\\x00-\x1f]*)*"`
const number = String.raw`-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?`
const plain = `(?:${text}|${number}|true|false|null)`
const objectOf = (value: string): string => String.raw`\{(?:${text}:${value}(?:,${text}:${value})*)?\}`
const flat = objectOf(plain)
const nested = objectOf(`(?:${plain}|${flat})`)

const start = /,"content":\[/y

/** One block of the content; the name, id and arguments of a call. */
const block = new RegExp(
  String.raw`\{"type":"(?:` +
    [
      String.raw`text","text":${text}(?:,"textSignature":${text})?`,
      String.raw`thinking","thinking":${text}(?:,"thinkingSignature":${text})?(?:,"redacted":(?:true|false))?`,
      String.raw`toolCall","id":(${text}),"name":(${text}),"arguments":(${flat})(?:,"thoughtSignature":${text})?`
    ].join("|") +
    String.raw`)\}([,\]])`,
  "y"
)

/** All that follows the content; why the reply ended. */
const rest = new RegExp(
  String.raw`(?:,"(?:api|provider|model|responseModel|responseId)":${text})*(?:,"usage":${nested})?` +
    String.raw`(?:,"stopReason":(${text}))?(?:,"errorMessage":${text})?(?:,"timestamp":${number})?\}\}$`,
  "y"
)

/** The reply of a line whose head says that it is one; undefined where the line has to be parsed. */
export const read = (line: string, { end, role, type }: LineHead.LineHead): ReplyHead | undefined => {
  if (type !== "message" || role !== "assistant" || line.length > longest) return undefined
  start.lastIndex = end
  if (!start.test(line)) return undefined
  const calls: Array<Message.ToolCallBlock> = []
  let at = start.lastIndex
  for (let next = ","; next === ","; at = block.lastIndex) {
    block.lastIndex = at
    const found = block.exec(line)
    if (found === null) return undefined
    const [, id, name = "", args = "", end = ""] = found
    if (id !== undefined) calls.push(callOf(textOf(id), textOf(name), JSON.parse(args)))
    next = end
  }
  rest.lastIndex = at
  const found = rest.exec(line)
  return found === null ? undefined : { calls, stopReason: found[1] && textOf(found[1]) }
}

const callOf = (id: string, name: string, args: Json.JsonObject): Message.ToolCallBlock => ({
  type: "toolCall",
  id,
  name,
  arguments: FileTools.withoutTexts(name, args)
})

/** So many characters are copied by slicing; a longer slice would keep its whole line in memory. */
const copied = 12

/** The text that a JSON text spells. */
const textOf = (json: string): string =>
  json.length > copied + 2 || json.includes("\\") ? JSON.parse(json) : json.slice(1, -1)
