/** Amazon Bedrock's ConverseStream: binary frames, as its API reference and its SDKs have them. */
import * as Bedrock from "@cutpoint/ai/Bedrock"
import { EventStreamCodec } from "@smithy/eventstream-codec"
import { fromUtf8, toUtf8 } from "@smithy/util-utf8"
import * as Redacted from "effect/Redacted"
import type { Json } from "../server.js"
import { jsonAnswer, type Reply, used, type Wire, words } from "../wire.js"

const model = "anthropic.claude-sonnet-4-5-20250929-v1:0"

const codec = new EventStreamCodec(toUtf8, fromUtf8)

const frame = (kind: "event" | "exception", name: string, body: string): Uint8Array =>
  codec.encode({
    headers: {
      [`:${kind}-type`]: { type: "string", value: name },
      ":content-type": { type: "string", value: "application/json" },
      ":message-type": { type: "string", value: kind }
    },
    body: fromUtf8(body)
  })

/** Every event is padded, so that its length says nothing. */
const event = (name: string, fields: object): Uint8Array =>
  frame("event", name, JSON.stringify({ ...fields, p: "abcdefghijklmnopqrstuv" }))

const delta = (contentBlockIndex: number, fields: object): Uint8Array =>
  event("contentBlockDelta", { contentBlockIndex, delta: fields })

const stopped = (contentBlockIndex: number): Uint8Array => event("contentBlockStop", { contentBlockIndex })

const beforeEnd = ({ calls, text, thinking }: Reply): ReadonlyArray<Uint8Array> => [
  event("messageStart", { role: "assistant" }),
  ...(thinking === undefined
    ? []
    : [
        ...words(thinking).map((one) => delta(0, { reasoningContent: { text: one } })),
        delta(0, { reasoningContent: { signature: "EqQBCgIYAhIM1gbcDa9GJwZA2b3h" } }),
        stopped(0)
      ]),
  ...(text === undefined ? [] : [...words(text).map((one) => delta(1, { text: one })), stopped(1)]),
  ...(calls === true
    ? [
        event("contentBlockStart", {
          contentBlockIndex: 2,
          start: { toolUse: { toolUseId: "tooluse_k", name: "get_weather" } }
        }),
        delta(2, { toolUse: { input: "{}" } }),
        stopped(2)
      ]
    : [])
]

const ends = {
  stop: "end_turn",
  length: "max_tokens",
  toolUse: "tool_use",
  refusal: "content_filtered",
  unknown: "weary_of_it_all"
} as const

const failed = (status: number, type: string, message: string) =>
  jsonAnswer(
    status,
    { message },
    { "x-amzn-errortype": `${type}:http://internal.amazon.com/coral/com.amazon.bedrock/` }
  )

export const bedrock: Wire = {
  name: `amazon-bedrock/${model}`,
  contentType: "application/vnd.amazon.eventstream",
  layer: (apiUrl, key, name = model) =>
    Bedrock.layer({ model: name, apiUrl, apiKey: Redacted.make(key), accessKeyId: "AKIAIOSFODNN7EXAMPLE" }),
  beforeEnd,
  usedSoFar: undefined,
  reply: (reply) => [
    ...beforeEnd(reply),
    event("messageStop", { stopReason: ends[reply.end ?? "stop"], additionalModelResponseFields: null }),
    event("metadata", {
      metrics: { latencyMs: 1234 },
      usage: {
        inputTokens: used.input,
        outputTokens: used.output,
        totalTokens: used.totalTokens,
        serverToolUsage: {},
        cacheReadInputTokens: 0,
        cacheWriteInputTokens: 0
      }
    })
  ],
  failure: (failure, echo = "") => {
    switch (failure) {
      case "auth":
        return failed(
          403,
          "UnrecognizedClientException",
          `The security token included in the request is invalid. ${echo}`
        )
      case "rateLimited":
        return failed(429, "ThrottlingException", `Too many tokens, please wait before trying again. ${echo}`)
      case "unavailable":
        return failed(503, "ServiceUnavailableException", `Bedrock is unable to process your request. ${echo}`)
      case "overflow":
        return failed(400, "ValidationException", `Input is too long for requested model. ${echo}`)
      case "badRequest":
        return failed(400, "ValidationException", `The provided model identifier is invalid. ${echo}`)
    }
  },
  interjection: (kind, echo = "") => {
    const names = {
      unavailable: "serviceUnavailableException",
      rateLimited: "throttlingException",
      unknown: "weatherException"
    }
    return frame("exception", names[kind], JSON.stringify({ message: `It is ${kind}. ${echo}` }))
  },
  noJson: frame("event", "contentBlockDelta", `{"contentBlockIndex":0,"delta"`),
  sent: ({ body, headers, url }) => ({
    system: body.system.map((block: Json) => block.text).join(""),
    prompt: body.messages.flatMap((message: Json) => message.content.map((block: Json) => block.text)).join(""),
    model: decodeURIComponent(url.split("/")[2] ?? ""),
    maxOutputTokens: body.inferenceConfig.maxTokens,
    routingId: body.requestMetadata?.routingId,
    temperature: body.inferenceConfig.temperature,
    // The secret key signs and is not sent.
    key: headers.authorization?.includes("Credential=AKIAIOSFODNN7EXAMPLE/") === true ? undefined : "unsigned"
  })
}
