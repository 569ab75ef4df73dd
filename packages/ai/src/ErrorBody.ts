/**
 * Reads what providers answer when they do not answer: the bodies of their
 * errors, which each writes in a way of its own.
 *
 * @since 0.1.0
 */
import * as Json from "@cutpoint/core/Json"
import type { Fault } from "./Fault.js"
import * as WireJson from "./WireJson.js"

/** What an answer that is no reply says. */
export interface Answer {
  readonly status: number
  readonly headers: { readonly [name: string]: string | undefined }
  readonly body: string
  /** The time it came, in milliseconds since 1970. */
  readonly now: number
}

/** What went wrong, by an answer's status, headers and body. */
export const read = ({ body, headers, now, status }: Answer): Fault => {
  const json = WireJson.parse(body)
  const inBody = ofJson(Array.isArray(json) ? json[0] : json)
  // Some servers say what went wrong with a status that says nothing did.
  if (status < 300 && inBody.message === undefined) return noStream(headers["content-type"])
  // Bedrock names the kind in a header, with an address behind it.
  const inHeader = headers["x-amzn-errortype"]?.split(":", 1)[0]
  return {
    status,
    codes: [...(inHeader === undefined ? [] : [inHeader]), ...inBody.codes],
    message: inBody.message ?? `status ${status}${plainText(body)}`,
    retryAfter: waitOf(headers, now) ?? inBody.retryAfter
  }
}

const noStream = (type = "of no type"): Fault => ({
  codes: ["malformed"],
  message: `the answer is ${type}, not a stream of events.`
})

/** What an error that came in the middle of a reply says; undefined where it says nothing. */
export const ofEvent = (error: unknown): Fault => {
  const { codes, message, retryAfter } = ofJson(error)
  const status = codes.map(Number).find((code) => code >= 400 && code < 600)
  return { status, codes, message: message ?? "an error without a message.", retryAfter }
}

interface Said {
  readonly codes: ReadonlyArray<string>
  readonly message: string | undefined
  readonly retryAfter: number | undefined
}

const nothing: Said = { codes: [], message: undefined, retryAfter: undefined }

/** `{error: {…}}`, `{error: "…"}`, `{message}`, `{detail}`; the innermost says most. */
const ofJson = (json: unknown): Said => {
  if (typeof json === "string") return { ...nothing, message: json }
  if (!Json.isObject(json)) return nothing
  const inner = json["error"] ?? json["response"]
  if (inner !== undefined && inner !== null) return withOuter(ofJson(inner), json)
  const details = WireJson.objects(json["details"])
  const codes = [json["code"], json["type"], json["status"], ...details.map((one) => one["reason"])]
  const texts = [json["message"] ?? json["Message"] ?? json["detail"], upstream(json["metadata"])]
  const message = texts.filter((one) => typeof one === "string").join(" ")
  return {
    codes: codes.filter((code) => typeof code === "string" || typeof code === "number").map(String),
    message: message === "" ? undefined : message,
    retryAfter: details.map(({ retryDelay }) => seconds(retryDelay)).find((wait) => wait !== undefined)
  }
}

/** A kind that only the outside names, as in `{type: "error", code: …, error: {…}}`. */
const withOuter = (inner: Said, { code }: Json.JsonObject): Said =>
  typeof code === "string" ? { ...inner, codes: [...inner.codes, code] } : inner

/** OpenRouter passes on what the provider behind it said. */
const upstream = (metadata: unknown): string | undefined => {
  const raw = Json.isObject(metadata) ? metadata["raw"] : undefined
  return typeof raw === "string" ? (ofJson(WireJson.parse(raw)).message ?? raw) : undefined
}

/** A body that is no JSON, if it is a sentence and not a page. */
const plainText = (body: string): string =>
  body === "" || /<(?:!doctype|\?xml|\/?[a-z][\w-]*[\s>/])/i.test(body) ? "" : `: ${body}`

/** `retry-after-ms`, or `retry-after` in seconds or as a date; in milliseconds. */
const waitOf = (headers: Answer["headers"], now: number): number | undefined => {
  const exact = Number(headers["retry-after-ms"] ?? Number.NaN)
  if (exact >= 0) return exact
  const given = headers["retry-after"]
  if (given === undefined) return undefined
  if (/^\d+(?:\.\d+)?$/.test(given)) return Number(given) * 1000
  const until = Date.parse(given)
  return Number.isNaN(until) ? undefined : Math.max(0, until - now)
}

/** `"34s"`, in milliseconds. */
const seconds = (value: unknown): number | undefined => {
  const found = typeof value === "string" ? /^(\d+(?:\.\d+)?)s$/.exec(value) : null
  return found === null ? undefined : Number(found[1]) * 1000
}
