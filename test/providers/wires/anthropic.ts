/** Anthropic's Messages API, streamed, as its reference and its errors page show it. */
import * as Anthropic from "@cutpoint/ai/Anthropic"
import * as Redacted from "effect/Redacted"
import type { Json } from "../server.js"
import { jsonAnswer, type Reply, used, type Wire, words } from "../wire.js"

const event = (fields: { readonly type: string; readonly [key: string]: unknown }): string =>
  `event: ${fields.type}\ndata: ${JSON.stringify(fields)}\n\n`

const model = "claude-sonnet-4-5-20250929"

const start = event({
  type: "message_start",
  message: {
    model,
    id: "msg_013Zva2CMHLNnXjNJJKqJ2EF",
    type: "message",
    role: "assistant",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    container: null,
    usage: {
      input_tokens: used.input,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
      output_tokens: 1,
      service_tier: "standard",
      inference_geo: "not_available"
    }
  }
})

const ping = `event: ping\ndata: {"type": "ping"}\n\n`

const block = (index: number, content_block: object, deltas: ReadonlyArray<object>): ReadonlyArray<string> => [
  event({ type: "content_block_start", index, content_block }),
  ...deltas.map((delta) => event({ type: "content_block_delta", index, delta })),
  event({ type: "content_block_stop", index })
]

const blocks = ({ calls, text, thinking }: Reply): ReadonlyArray<string> => [
  ...(thinking === undefined
    ? []
    : [
        ...block(0, { type: "thinking", thinking: "", signature: "" }, [
          ...words(thinking).map((one) => ({ type: "thinking_delta", thinking: one })),
          { type: "signature_delta", signature: "EqQBCgIYAhIM1gbcDa9GJwZA2b3h" }
        ]),
        ...block(1, { type: "redacted_thinking", data: "EmwKAhgBEgy3va3pzix" }, [])
      ]),
  ...(text === undefined
    ? []
    : block(
        2,
        { type: "text", text: "" },
        words(text).map((one) => ({ type: "text_delta", text: one }))
      )),
  ...(calls === true
    ? block(
        3,
        {
          type: "tool_use",
          id: "toolu_01T1x1fJ34qAmk2tNTrN7Up6",
          name: "get_weather",
          input: {},
          caller: { type: "direct" }
        },
        [
          { type: "input_json_delta", partial_json: '{"location":' },
          { type: "input_json_delta", partial_json: ' "Paris"}' }
        ]
      )
    : [])
]

const ends = {
  stop: "end_turn",
  length: "max_tokens",
  toolUse: "tool_use",
  refusal: "refusal",
  unknown: "weary_of_it_all"
} as const

const end = (stop: NonNullable<Reply["end"]>): ReadonlyArray<string> => [
  event({
    type: "message_delta",
    delta: { stop_reason: ends[stop], stop_sequence: null, stop_details: null, container: null },
    usage: {
      input_tokens: used.input,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      output_tokens: used.output,
      output_tokens_details: { thinking_tokens: 0 }
    },
    context_management: { applied_edits: [] }
  }),
  event({ type: "message_stop" })
]

const error = (type: string, message: string) => ({
  type: "error",
  error: { type, message, details: null },
  request_id: "req_011CSHoEeqs5C35K2UUqR7Fy"
})

const beforeEnd = (reply: Reply): ReadonlyArray<string> => [start, ping, ...blocks(reply)]

export const anthropic: Wire = {
  name: `anthropic/${model}`,
  contentType: "text/event-stream; charset=utf-8",
  layer: (apiUrl, key, name = model) => Anthropic.layer({ model: name, apiUrl, apiKey: Redacted.make(key) }),
  beforeEnd,
  usedSoFar: { input: used.input, output: 1 },
  reply: (reply) => [...beforeEnd(reply), ...end(reply.end ?? "stop")],
  failure: (failure, echo = "") => {
    switch (failure) {
      case "auth":
        return jsonAnswer(401, error("authentication_error", `invalid x-api-key ${echo}`), {
          "x-should-retry": "false"
        })
      case "rateLimited":
        return jsonAnswer(
          429,
          error(
            "rate_limit_error",
            `This request would exceed your organization's rate limit of 30,000 input tokens per minute; reduce the prompt length. ${echo}`
          )
        )
      case "unavailable":
        return jsonAnswer(529, error("overloaded_error", `Overloaded ${echo}`))
      case "overflow":
        return jsonAnswer(
          400,
          error("invalid_request_error", `prompt is too long: 215000 tokens > 200000 maximum ${echo}`)
        )
      case "badRequest":
        return jsonAnswer(404, error("not_found_error", `model: ${model} ${echo}`))
    }
  },
  interjection: (kind, echo = "") => {
    const types = { unavailable: "overloaded_error", rateLimited: "rate_limit_error", unknown: "weather_error" }
    return event(error(types[kind], `It is ${kind}. ${echo}`))
  },
  noJson: `event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta"\n\n`,
  sent: ({ body, headers }) => ({
    system: textOf(body.system),
    prompt: body.messages.map((message: Json) => textOf(message.content)).join(""),
    model: body.model,
    maxOutputTokens: body.max_tokens,
    routingId: body.metadata?.user_id,
    temperature: body.temperature,
    key: String(headers["x-api-key"])
  })
}

const textOf = (content: Json): string =>
  typeof content === "string" ? content : content.map((block: Json) => block.text).join("")
