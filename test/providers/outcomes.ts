/** What providers can answer, and what a compaction then ends with. */
import { type Answer, inOrder, type Script } from "./server.js"
import { answerOf, type Failure, jsonAnswer, type Reply, used, type Wire } from "./wire.js"
import { summaryOf } from "./run.js"

/** What a run ends with. */
export interface Expected {
  /** The tag of the error; none where the session is compacted. */
  readonly tag?: "SummarizerFailed" | "SummaryRejected"
  readonly reason?: string
  readonly requests: number
  /** How many whole replies were given. */
  readonly replies?: number
  /** How many were broken off after their first words. */
  readonly broken?: number
}

export interface Outcome {
  readonly title: string
  /** The answers but the last good one. */
  readonly answers: (wire: Wire) => ReadonlyArray<Answer>
  /** Whether a good reply follows. */
  readonly recovers?: boolean
  readonly expected: Expected
}

/** A reply that can be accepted. */
export const good = (wire: Wire, prompt: string): Answer =>
  answerOf(wire, { thinking: "Let me see.", text: summaryOf(prompt) })

/** Gives the answers in order, and a good reply, or the last answer, from then on. */
export const scriptOf = (wire: Wire, { answers, recovers }: Pick<Outcome, "answers" | "recovers">): Script => {
  const first = answers(wire)
  return (received, index) =>
    recovers === true && index >= first.length
      ? good(wire, wire.sent(received).prompt)
      : inOrder(first)(received, index)
}

/** The provider's own words for a failure, with headers besides. */
export const failing =
  (failure: Failure, headers: { readonly [name: string]: string } = {}) =>
  (wire: Wire): Answer => {
    const answer = wire.failure(failure)
    return { ...answer, headers: { ...answer.headers, ...headers } }
  }

const page = "<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"
const pageAnswer = (status: number): Answer => ({ status, headers: { "content-type": "text/html" }, pieces: [page] })

const text = "## Goal\nto be cut short"

/** Of an answer that is no reply. */
const refused: ReadonlyArray<Outcome> = [
  {
    title: "a wrong key",
    answers: (wire) => [wire.failure("auth")],
    expected: { tag: "SummarizerFailed", reason: "LlmAuth", requests: 1 }
  },
  {
    title: "401 and nothing else",
    answers: () => [{ status: 401, pieces: [] }],
    expected: { tag: "SummarizerFailed", reason: "LlmAuth", requests: 1 }
  },
  {
    title: "too many requests, always",
    answers: (wire) => [wire.failure("rateLimited")],
    expected: { tag: "SummarizerFailed", reason: "LlmRateLimited", requests: 5 }
  },
  {
    title: "429 without a body, then a reply",
    answers: () => [{ status: 429, pieces: [] }],
    recovers: true,
    expected: { requests: 2, replies: 1 }
  },
  {
    title: "overloaded, then a reply",
    answers: (wire) => [wire.failure("unavailable")],
    recovers: true,
    expected: { requests: 2, replies: 1 }
  },
  {
    title: "529, 503, 500 and 502, then a reply",
    answers: () => [529, 503, 500, 502].map((status) => ({ status, pieces: [] })),
    recovers: true,
    expected: { requests: 5, replies: 1 }
  },
  {
    title: "overloaded, always",
    answers: (wire) => [wire.failure("unavailable")],
    expected: { tag: "SummarizerFailed", reason: "LlmUnavailable", requests: 5 }
  },
  {
    title: "a model that is not there",
    answers: (wire) => [wire.failure("badRequest")],
    expected: { tag: "SummarizerFailed", reason: "LlmBadRequest", requests: 1 }
  },
  {
    title: "a page with status 200",
    answers: () => [pageAnswer(200)],
    expected: { tag: "SummarizerFailed", reason: "LlmMalformed", requests: 1 }
  },
  {
    title: "a page with status 502, then a reply",
    answers: () => [pageAnswer(502)],
    recovers: true,
    expected: { requests: 2, replies: 1 }
  },
  {
    title: "an error in a word with status 200",
    answers: () => [jsonAnswer(200, { error: "Unauthorized" })],
    expected: { tag: "SummarizerFailed", reason: "LlmBadRequest", requests: 1 }
  },
  {
    title: "a whole reply that is no stream",
    answers: () => [
      jsonAnswer(200, { type: "message", object: "chat.completion", status: "completed", choices: [], content: [] })
    ],
    expected: { tag: "SummarizerFailed", reason: "LlmMalformed", requests: 1 }
  }
]

/** Of requests that are too large, however often they are made smaller. */
const tooLarge: ReadonlyArray<Outcome> = [
  {
    title: "too large, always",
    answers: (wire) => [wire.failure("overflow")],
    expected: { tag: "SummarizerFailed", reason: "LlmOverflow", requests: 5 }
  },
  {
    title: "413 and nothing else",
    answers: () => [{ status: 413, pieces: [] }],
    expected: { tag: "SummarizerFailed", reason: "LlmOverflow", requests: 5 }
  },
  {
    title: "an error with status 200",
    answers: (wire) => [{ ...wire.failure("overflow"), status: 200 }],
    expected: { tag: "SummarizerFailed", reason: "LlmOverflow", requests: 5 }
  },
  {
    title: "too large, said in mid-stream",
    answers: (wire) => [
      streamed(wire, [wire.interjection("unknown", "prompt is too long: 208310 tokens > 200000 maximum")], "end")
    ],
    expected: { tag: "SummarizerFailed", reason: "LlmOverflow", requests: 5 }
  }
]

const rejected = (title: string, reason: string, reply: Reply): Outcome => ({
  title,
  answers: (wire) => [answerOf(wire, reply)],
  expected: { tag: "SummaryRejected", reason, requests: 2, replies: 2 }
})

/** Of replies that say nothing, or not all. */
const blank: ReadonlyArray<Outcome> = [
  rejected("a stop at the token cap", "cut-off", { text, end: "length" }),
  rejected("a stop at the token cap after all sections", "cut-off", { text: summaryOf("FACT-0"), end: "length" }),
  rejected("a stop at the token cap while thinking", "cut-off", { thinking: "Hm, hm, hm.", end: "length" }),
  rejected("an empty reply", "blank", {}),
  rejected("a reply of spaces", "blank", { text: " \n " }),
  rejected("thinking only", "blank", { thinking: "Let me think about this." }),
  rejected("a stop reason that nobody knows, and half of it", "missing-section", { text, end: "unknown" }),
  {
    title: "an unacceptable reply, then a good one",
    answers: (wire) => [answerOf(wire, { text: "Sure!" })],
    recovers: true,
    expected: { requests: 2, replies: 2 }
  }
]

/** Of replies that do something else than to summarize. */
const evasive: ReadonlyArray<Outcome> = [
  rejected("a refusal", "refusal", { text: "I can't help with that.", end: "refusal" }),
  rejected("a refusal in words", "missing-section", { text: "I'm sorry, but I can't help with that." }),
  rejected("a tool call", "tool-call", { calls: true, end: "toolUse" }),
  rejected("a tool call after all sections", "tool-call", { text: summaryOf("FACT-0"), calls: true, end: "toolUse" }),
  {
    title: "content that is turned down",
    answers: () => [
      jsonAnswer(400, {
        error: { code: "content_filter", message: "The prompt triggered a content management policy." }
      })
    ],
    expected: { tag: "SummarizerFailed", reason: "LlmRefused", requests: 1 }
  }
]

const broken = (title: string, answer: (wire: Wire) => Answer, words = 1): Outcome => ({
  title,
  answers: (wire) => [answer(wire)],
  recovers: true,
  expected: { requests: 2, replies: 1, broken: words }
})

const streamed = (wire: Wire, pieces: Answer["pieces"], end: Answer["end"]): Answer => ({
  headers: { "content-type": wire.contentType },
  pieces,
  ...(end === undefined ? {} : { end })
})

const interjected = (kind: "unavailable" | "rateLimited" | "unknown") => (wire: Wire) =>
  streamed(wire, [...wire.beforeEnd({ text }), wire.interjection(kind)], "end")

/** Of streams that something happens to. */
const streams: ReadonlyArray<Outcome> = [
  broken("a stream that breaks off", (wire) => streamed(wire, wire.beforeEnd({ text }), "destroy")),
  broken("a stream that breaks off at once", (wire) => streamed(wire, [], "destroy"), 0),
  broken("a stream that ends without a finish", (wire) => streamed(wire, wire.beforeEnd({ text }), "end")),
  broken("a stream that ends before it begins", (wire) => streamed(wire, [], "end"), 0),
  broken("overloaded in mid-stream", interjected("unavailable")),
  broken("overloaded in mid-stream, and a connection that stays open", (wire) => ({
    ...interjected("unavailable")(wire),
    end: "hang"
  })),
  {
    title: "a whole reply, and a connection that breaks",
    answers: (wire) => [answerOf(wire, { text: summaryOf("FACT-0") }, "destroy")],
    expected: { requests: 1, replies: 1 }
  },
  broken("too many requests in mid-stream", interjected("rateLimited")),
  broken("a failure in mid-stream that nobody knows", interjected("unknown")),
  {
    title: "a failure after the first word, always",
    answers: (wire) => [interjected("rateLimited")(wire)],
    expected: { tag: "SummarizerFailed", reason: "LlmRateLimited", requests: 5, broken: 5 }
  },
  {
    title: "an event that is no JSON",
    answers: (wire) => [streamed(wire, [...wire.beforeEnd({ text }), wire.noJson, ...wire.reply({ text })], "end")],
    expected: { tag: "SummarizerFailed", reason: "LlmMalformed", requests: 1, broken: 1 }
  },
  {
    title: "a stop reason that nobody knows, and all sections",
    answers: (wire) => [answerOf(wire, { text: summaryOf("FACT-0"), end: "unknown" })],
    expected: { requests: 1, replies: 1 }
  }
]

/** What a provider can answer, with what comes of it, by the kind of fault. */
export const outcomes: ReadonlyArray<readonly [string, ReadonlyArray<Outcome>]> = [
  ["all is well", [{ title: "a reply", answers: () => [], recovers: true, expected: { requests: 1, replies: 1 } }]],
  ["case 25: blank, thinking only, cut off", blank],
  ["case 26: a refusal, a tool call", evasive],
  ["case 28: too large", tooLarge],
  ["case 29: failures that pass, and that do not", refused],
  ["case 29: failures in mid-stream", streams]
]

/** What the replies of a run are said to have used; undefined where nothing was said. */
export const usageOf = ({ usedSoFar }: Wire, { broken = 0, replies = 0 }: Expected) => {
  const soFar = usedSoFar ?? { input: 0, output: 0 }
  const input = used.input * replies + soFar.input * broken
  const output = used.output * replies + soFar.output * broken
  return input === 0 ? undefined : { input, output, totalTokens: input + output }
}
