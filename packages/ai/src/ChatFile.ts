/**
 * Files of a prompt as JSON, and back.
 *
 * A file's data can be bytes, an address, or a text that only the provider
 * understands, such as a file's id there. In a session it is always a text; which
 * of these it was is kept in the part's own options, under `cutpoint`.
 *
 * @since 0.1.0
 */
import * as Json from "@cutpoint/core/Json"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"

const mark = "cutpoint"

/** A part of a prompt, or a prompt's message, as JSON. */
export const toJson = (part: Json.JsonObject): Json.JsonObject => {
  if (part.type !== "file") return part
  const { data } = part
  if (data instanceof Uint8Array) return marked(part, Encoding.encodeBase64(data), "bytes")
  return data instanceof URL ? marked(part, data.href, "address") : marked(part, data, "text")
}

/** The part that became this JSON. An image of a session is bytes. */
export const fromJson = (part: Json.JsonObject): Json.JsonObject => {
  if (part.type !== "file") return part
  const { [mark]: how, ...options } = Json.isObject(part.options) ? part.options : {}
  return { ...part, options, data: dataOf(Json.stringOr(part.data, ""), Json.isObject(how) ? how.data : "bytes") }
}

const marked = (part: Json.JsonObject, data: unknown, kind: string): Json.JsonObject => ({
  ...part,
  data,
  options: { ...(Json.isObject(part.options) ? part.options : {}), [mark]: { data: kind } }
})

const dataOf = (text: string, kind: unknown): string | Uint8Array | URL => {
  if (kind === "address" && URL.canParse(text)) return new URL(text)
  return kind === "bytes" ? Either.getOrElse(Encoding.decodeBase64(text), () => text) : text
}
