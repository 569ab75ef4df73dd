/** Chat completions, streamed: as OpenRouter does it, and as servers do that one runs oneself. */
import * as OpenAiCompatible from "@cutpoint/ai/OpenAiCompatible"
import * as OpenRouter from "@cutpoint/ai/OpenRouter"
import * as Redacted from "effect/Redacted"
import type { Json, Received } from "../server.js"
import { jsonAnswer, type Reply, type Sent, used, type Wire, words } from "../wire.js"

/** How a server's chunks differ from others'. */
export interface Dialect {
  /** What every chunk has besides its choices. */
  readonly base: object
  readonly lineEnd: string
  /** What the first chunk's delta has. */
  readonly opening: object | undefined
  readonly thinkingKey: "reasoning" | "reasoning_content"
  readonly usage: "none" | "last" | "own" | "each"
  /** What a choice has besides its delta and its end. */
  readonly choice: object
  /** Whether the end comes along with the last words. */
  readonly endsWithWords: boolean
  /** What stands between and after the chunks. */
  readonly before: ReadonlyArray<string>
  readonly after: ReadonlyArray<string>
}

export const openRouterDialect: Dialect = {
  base: {
    id: "gen-1761054747-aRXhxlwVNm3mtTObq3p8",
    provider: "Anthropic",
    model: "anthropic/claude-sonnet-4.5",
    object: "chat.completion.chunk",
    created: 1_767_225_600
  },
  lineEnd: "\n",
  opening: { role: "assistant", content: "" },
  thinkingKey: "reasoning",
  usage: "own",
  choice: { native_finish_reason: null, logprobs: null },
  endsWithWords: false,
  before: [": OPENROUTER PROCESSING\n\n", ": OPENROUTER PROCESSING\n\n"],
  after: ["data: [DONE]\n\n"]
}

const usage = {
  prompt_tokens: used.input,
  completion_tokens: used.output,
  total_tokens: used.totalTokens,
  prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0, audio_tokens: 0, video_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0, image_tokens: 0 }
}

const deltas = ({ thinkingKey }: Dialect, { calls, text, thinking }: Reply): ReadonlyArray<object> => [
  ...words(thinking ?? "").map((one) => ({ role: "assistant", content: null, [thinkingKey]: one })),
  ...words(text ?? "").map((content) => ({ content })),
  ...(calls === true
    ? [
        {
          tool_calls: [
            { index: 0, id: "call_5k", type: "function", function: { name: "get_weather", arguments: "{}" } }
          ]
        }
      ]
    : [])
]

const ends = {
  stop: "stop",
  length: "length",
  toolUse: "tool_calls",
  refusal: "content_filter",
  unknown: "weary_of_it_all"
} as const

const chunks = (dialect: Dialect) => {
  const event = (fields: object): string =>
    `data: ${JSON.stringify({ ...dialect.base, ...fields })}${dialect.lineEnd}${dialect.lineEnd}`
  const chunk = (delta: object, finish_reason: string | null): string =>
    event({
      choices: [{ index: 0, delta, finish_reason, ...dialect.choice }],
      ...(dialect.usage === "each" ? { usage } : {})
    })
  return { event, chunk }
}

const beforeEnd = (dialect: Dialect, reply: Reply): ReadonlyArray<string> => [
  ...dialect.before,
  ...(dialect.opening === undefined ? [] : [chunks(dialect).chunk(dialect.opening, null)]),
  ...deltas(dialect, reply)
    .slice(0, dialect.endsWithWords ? -1 : undefined)
    .map((delta) => chunks(dialect).chunk(delta, null))
]

/** A reply in a server's dialect. */
export const chatReply = (dialect: Dialect, reply: Reply): ReadonlyArray<string> => {
  const { chunk, event } = chunks(dialect)
  const last = dialect.endsWithWords ? deltas(dialect, reply).at(-1) : undefined
  return [
    ...beforeEnd(dialect, reply),
    chunk(last ?? { role: "assistant", content: "" }, ends[reply.end ?? "stop"]),
    ...(dialect.usage === "own"
      ? [
          event({
            choices: [{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }],
            usage: { ...usage, is_byok: false, cost: 0.0048, cost_details: { upstream_inference_cost: null } }
          })
        ]
      : []),
    ...(dialect.usage === "last" ? [event({ choices: [], usage })] : []),
    ...dialect.after
  ]
}

const sent = ({ body, headers }: Received, routingId: unknown): Sent => {
  const textOf = (role: string): string =>
    body.messages
      .filter((message: Json) => message.role === role)
      .map(({ content }: Json) =>
        typeof content === "string" ? content : content.map((part: Json) => part.text).join("")
      )
      .join("")
  return {
    system: textOf("system"),
    prompt: textOf("user"),
    model: body.model,
    maxOutputTokens: body.max_tokens,
    routingId: typeof routingId === "string" ? routingId : undefined,
    temperature: body.temperature,
    key: headers.authorization?.replace("Bearer ", "")
  }
}

const error = (code: number | string, message: string, metadata?: object) => ({
  error: { message, code, ...(metadata === undefined ? {} : { metadata }) },
  user_id: "user_2tAbCdEf"
})

export const openRouter: Wire = {
  name: "openrouter/anthropic/claude-sonnet-4.5",
  contentType: "text/event-stream",
  layer: (origin, key, model = "anthropic/claude-sonnet-4.5") =>
    OpenRouter.layer({ model, apiUrl: `${origin}/api/v1`, apiKey: Redacted.make(key) }),
  usedSoFar: undefined,
  beforeEnd: (reply) => beforeEnd(openRouterDialect, reply),
  reply: (reply) => chatReply(openRouterDialect, reply),
  failure: (failure, echo = "") => {
    switch (failure) {
      case "auth":
        return jsonAnswer(401, error(401, `No cookie auth credentials found ${echo}`))
      case "rateLimited":
        return jsonAnswer(
          429,
          error(429, "Provider returned error", {
            raw: `anthropic/claude-sonnet-4.5 is temporarily rate-limited upstream: prompt is too long for this minute. ${echo}`,
            provider_name: "Anthropic"
          })
        )
      case "unavailable":
        return jsonAnswer(503, error(503, `No instances available ${echo}`))
      case "overflow":
        return jsonAnswer(
          400,
          error(
            400,
            `This endpoint's maximum context length is 200000 tokens. However, you requested about 215000 tokens (206808 of text input, 8192 in the output). Please reduce the length of either one, or use the "middle-out" transform to compress your prompt automatically. ${echo}`,
            { provider_name: null }
          )
        )
      case "badRequest":
        return jsonAnswer(400, error(400, `anthropic/claude-x is not a valid model ID ${echo}`))
    }
  },
  interjection: (kind, echo = "") => {
    const codes = { unavailable: "server_error", rateLimited: 429, unknown: "weather_error" }
    return chunks(openRouterDialect).event({
      error: { code: codes[kind], message: `It is ${kind}. ${echo}` },
      choices: [{ index: 0, delta: { content: "" }, finish_reason: "error" }]
    })
  },
  noJson: `data: {"id":"gen-1761054747","choices":[{"index":0,\n\n`,
  sent: (received) => sent(received, received.body.session_id)
}

/** As vLLM does it: CRLF nowhere, usage last, nothing of OpenRouter's own. */
export const vllmDialect: Dialect = {
  base: {
    id: "chatcmpl-5b3c",
    object: "chat.completion.chunk",
    created: 1_767_225_600,
    model: "qwen3-coder",
    system_fingerprint: null
  },
  lineEnd: "\n",
  opening: { role: "assistant", content: "", reasoning_content: null },
  thinkingKey: "reasoning_content",
  usage: "last",
  choice: { logprobs: null, stop_reason: null, token_ids: null },
  endsWithWords: false,
  before: [],
  after: ["data: [DONE]\n\n"]
}

export const compatible: Wire = {
  name: "openai-compatible/qwen3-coder",
  contentType: "text/event-stream; charset=utf-8",
  layer: (origin, key, model = "qwen3-coder") =>
    OpenAiCompatible.layer({ model, apiUrl: `${origin}/v1`, apiKey: Redacted.make(key) }),
  usedSoFar: undefined,
  beforeEnd: (reply) => beforeEnd(vllmDialect, reply),
  reply: (reply) => chatReply(vllmDialect, reply),
  failure: (failure, echo = "") => {
    const vllm = (status: number, type: string, message: string) =>
      jsonAnswer(status, { error: { message: `${message} ${echo}`, type, param: null, code: status } })
    switch (failure) {
      case "auth":
        return jsonAnswer(401, { error: "Unauthorized", detail: echo })
      case "rateLimited":
        return vllm(429, "rate_limit_error", "Too many requests: the context size of all is too large.")
      case "unavailable":
        return vllm(503, "unavailable_error", "Loading model")
      case "overflow":
        return jsonAnswer(400, {
          error: {
            code: 400,
            message: `request (215000 tokens) exceeds the available context size (131072 tokens), try increasing it ${echo}`,
            type: "exceed_context_size_error",
            n_prompt_tokens: 215_000,
            n_ctx: 131_072
          }
        })
      case "badRequest":
        return vllm(404, "NotFoundError", "The model `qwen3` does not exist.")
    }
  },
  interjection: (kind, echo = "") => {
    const codes = { unavailable: 500, rateLimited: 429, unknown: 799 }
    return chunks(vllmDialect).event({
      error: {
        object: "error",
        message: `It is ${kind}. ${echo}`,
        type: "TrafficError",
        param: null,
        code: codes[kind]
      }
    })
  },
  noJson: `data: {"id":"chatcmpl-5b3c","choices":[{"index":0,\n\n`,
  sent: (received) => sent(received, received.headers["x-session-id"])
}
