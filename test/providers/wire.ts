/** What a provider's wire format comes to in these tests. */
import type * as Llm from "@cutpoint/compaction/Llm"
import type * as HttpClient from "@effect/platform/HttpClient"
import type * as Layer from "effect/Layer"
import type { Answer, Piece, Received } from "./server.js"

/** A reply in the middle or at the end of which something may be amiss. */
export interface Reply {
  readonly text?: string
  readonly thinking?: string
  /** Whether it calls a tool that nobody offered. */
  readonly calls?: boolean
  readonly end?: "stop" | "length" | "toolUse" | "refusal" | "unknown"
}

/** Tokens that every reply is said to have used. */
export const used = { input: 1200, output: 80, totalTokens: 1280 }

/** What a provider says when it does not answer. */
export type Failure = "auth" | "rateLimited" | "unavailable" | "overflow" | "badRequest"

/** What a provider says in the middle of a stream. */
export type Interjection = "unavailable" | "rateLimited" | "unknown"

/** Where a request carries what. */
export interface Sent {
  readonly system: string
  readonly prompt: string
  readonly model: string
  readonly maxOutputTokens: number
  /** Undefined where the provider has no place for one. */
  readonly routingId: string | undefined
  readonly temperature: number | undefined
  readonly key: string | undefined
}

/** A provider's wire format. */
export interface Wire {
  /** `provider/model`. */
  readonly name: string
  readonly contentType: string
  readonly layer: (origin: string, key: string, model?: string) => Layer.Layer<Llm.Llm, never, HttpClient.HttpClient>
  /** The pieces of a reply, an event each. */
  readonly reply: (reply: Reply) => ReadonlyArray<Piece>
  /** How many of a reply's pieces come before any that says how it ends. */
  readonly beforeEnd: (reply: Reply) => ReadonlyArray<Piece>
  /** What a reply is said to have used before it has ended; undefined where nothing is said. */
  readonly usedSoFar: { readonly input: number; readonly output: number } | undefined
  /** The provider's own words; `echo` is what it repeats of what it was sent. */
  readonly failure: (failure: Failure, echo?: string) => Answer
  readonly interjection: (kind: Interjection, echo?: string) => Piece
  /** An event that is no JSON. */
  readonly noJson: Piece
  readonly sent: (received: Received) => Sent
}

/** A whole reply as an answer. */
export const answerOf = (wire: Wire, reply: Reply, end: Answer["end"] = "end"): Answer => ({
  headers: { "content-type": wire.contentType },
  pieces: wire.reply(reply),
  end
})

/** An error's body as an answer. */
export const jsonAnswer = (
  status: number,
  body: object,
  headers: { readonly [name: string]: string } = {}
): Answer => ({
  status,
  headers: { "content-type": "application/json", ...headers },
  pieces: [JSON.stringify(body)]
})

/** Text in pieces, as models write it. */
export const words = (text: string): ReadonlyArray<string> => text.match(/[\s\S]{1,40}/gu) ?? []
