/** OpenAI's Responses API, streamed, as its reference shows it. */
import * as OpenAi from "@cutpoint/ai/OpenAi"
import * as Redacted from "effect/Redacted"
import type { Json } from "../server.js"
import { jsonAnswer, type Reply, used, type Wire, words } from "../wire.js"

const model = "gpt-5.1-2025-11-13"

const response = (fields: object) => ({
  id: "resp_67ccd3a9da748190baa7f1570fe91ac604becb25c45c1d41",
  object: "response",
  created_at: 1_767_225_600,
  background: false,
  billing: { payer: "developer" },
  error: null,
  incomplete_details: null,
  instructions: null,
  max_output_tokens: 2048,
  model,
  output: [],
  parallel_tool_calls: true,
  prompt_cache_retention: null,
  reasoning: { effort: "low", summary: null },
  service_tier: "default",
  store: false,
  text: { format: { type: "text" }, verbosity: "medium" },
  tool_choice: "auto",
  tools: [],
  truncation: "disabled",
  usage: null,
  metadata: {},
  ...fields
})

/** Events are numbered as they go out. */
const numbered = (events: ReadonlyArray<{ readonly type: string; readonly [key: string]: unknown }>) =>
  events.map(
    (fields, sequence_number) => `event: ${fields.type}\ndata: ${JSON.stringify({ ...fields, sequence_number })}\n\n`
  )

const item_id = "msg_67ccd3acc8d48190a77525dc6de64b4104becb25c45c1d41"

const thoughts = (thinking: string) => [
  {
    type: "response.output_item.added",
    output_index: 0,
    item: { id: "rs_1", type: "reasoning", encrypted_content: "gAAAAABo", summary: [] }
  },
  ...words(thinking).map((delta) => ({
    type: "response.reasoning_summary_text.delta",
    item_id: "rs_1",
    output_index: 0,
    summary_index: 0,
    delta,
    obfuscation: "x8Kd"
  })),
  {
    type: "response.output_item.done",
    output_index: 0,
    item: { id: "rs_1", type: "reasoning", encrypted_content: "gAAAAABo", summary: [] }
  }
]

const written = (text: string, isRefused: boolean) => {
  const at = { item_id, output_index: 1, content_index: 0 }
  const part = isRefused
    ? { type: "refusal", refusal: "" }
    : { type: "output_text", annotations: [], logprobs: [], text: "" }
  const item = {
    id: item_id,
    type: "message",
    status: "in_progress",
    content: [],
    phase: "final_answer",
    role: "assistant"
  }
  const kind = isRefused ? "refusal" : "output_text"
  return [
    { type: "response.output_item.added", output_index: 1, item },
    { type: "response.content_part.added", ...at, part },
    ...words(text).map((delta) => Object.assign({ type: `response.${kind}.delta`, delta, logprobs: [] }, at)),
    { type: `response.${kind}.done`, ...at, text, refusal: text, logprobs: [] },
    { type: "response.content_part.done", ...at, part: { ...part, text } },
    { type: "response.output_item.done", output_index: 1, item: { ...item, status: "completed" } }
  ]
}

const call = {
  id: "fc_1",
  type: "function_call",
  status: "in_progress",
  arguments: "",
  call_id: "call_unLAR8MvFNptuiZK6K6HCy5k",
  name: "get_weather"
}

const called = [
  { type: "response.output_item.added", output_index: 2, item: call },
  { type: "response.function_call_arguments.delta", item_id: "fc_1", output_index: 2, delta: "{}", obfuscation: "a" },
  { type: "response.function_call_arguments.done", item_id: "fc_1", output_index: 2, arguments: "{}" },
  { type: "response.output_item.done", output_index: 2, item: { ...call, status: "completed", arguments: "{}" } }
]

const begun = ({ calls, end, text, thinking }: Reply) => [
  { type: "response.created", response: response({ status: "in_progress" }) },
  { type: "response.in_progress", response: response({ status: "in_progress" }) },
  { type: "response.rate_limits.updated", rate_limits: [] },
  ...(thinking === undefined ? [] : thoughts(thinking)),
  ...(text === undefined ? [] : written(text, end === "refusal")),
  ...(calls === true ? called : [])
]

const usage = {
  input_tokens: used.input,
  input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
  output_tokens: used.output,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: used.totalTokens
}

const ended = (end: NonNullable<Reply["end"]>) => {
  const reasons: { readonly [end: string]: string } = { length: "max_output_tokens", unknown: "weary_of_it_all" }
  const reason = reasons[end]
  return reason === undefined
    ? { type: "response.completed", response: response({ status: "completed", usage }) }
    : {
        type: "response.incomplete",
        response: response({ status: "incomplete", incomplete_details: { reason }, usage })
      }
}

const error = (type: string, code: string | null, message: string) => ({ error: { message, type, param: null, code } })

export const openAi: Wire = {
  name: `openai/${model}`,
  contentType: "text/event-stream; charset=utf-8",
  layer: (origin, key, name = model) =>
    OpenAi.layer({ model: name, apiUrl: `${origin}/v1`, apiKey: Redacted.make(key) }),
  usedSoFar: undefined,
  beforeEnd: (reply) => numbered(begun(reply)),
  reply: (reply) => numbered([...begun(reply), ended(reply.end ?? "stop")]),
  failure: (failure, echo = "") => {
    switch (failure) {
      case "auth":
        return jsonAnswer(
          401,
          error("invalid_request_error", "invalid_api_key", `Incorrect API key provided: ${echo}.`)
        )
      case "rateLimited":
        return jsonAnswer(
          429,
          error(
            "tokens",
            "rate_limit_exceeded",
            `Request too large for ${model} on tokens per min (TPM): Limit 30000, Requested 60000. The input or output tokens must be reduced in order to run successfully. ${echo}`
          )
        )
      case "unavailable":
        return jsonAnswer(
          503,
          error("server_error", null, `The server is currently overloaded with other requests. ${echo}`)
        )
      case "overflow":
        return jsonAnswer(
          400,
          error(
            "invalid_request_error",
            "context_length_exceeded",
            `Your input exceeds the context window of this model. Please adjust your input and try again. ${echo}`
          )
        )
      case "badRequest":
        return jsonAnswer(
          400,
          error("invalid_request_error", "unsupported_parameter", `Unsupported parameter: 'temperature'. ${echo}`)
        )
    }
  },
  interjection: (kind, echo = "") => {
    const codes = { unavailable: "server_error", rateLimited: "rate_limit_exceeded", unknown: "weather_error" }
    const fields = { code: codes[kind], message: `It is ${kind}. ${echo}` }
    return kind === "unavailable"
      ? numbered([{ type: "error", ...fields, param: null }]).join("")
      : numbered([{ type: "response.failed", response: response({ status: "failed", error: fields }) }]).join("")
  },
  noJson: `event: response.output_text.delta\ndata: {"type":"response.output_text.delta",\n\n`,
  sent: ({ body, headers }) => ({
    system: body.input
      .filter((item: Json) => item.role === "system" || item.role === "developer")
      .map((item: Json) => item.content)
      .join(""),
    prompt: body.input
      .filter((item: Json) => item.role === "user")
      .flatMap((item: Json) => item.content.map((part: Json) => part.text))
      .join(""),
    model: body.model,
    maxOutputTokens: body.max_output_tokens,
    routingId: body.prompt_cache_key,
    temperature: body.temperature,
    key: headers.authorization?.replace("Bearer ", "")
  })
}
