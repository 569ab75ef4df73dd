/** Gemini's streamGenerateContent, as Google's reference shows it: events that end in CRLF. */
import * as Google from "@cutpoint/ai/Google"
import * as Redacted from "effect/Redacted"
import type { Json } from "../server.js"
import { jsonAnswer, type Reply, used, type Wire, words } from "../wire.js"

const model = "gemini-2.5-flash"

const event = (fields: object): string => `data: ${JSON.stringify(fields)}\r\n\r\n`

const usageMetadata = (output: number) => ({
  promptTokenCount: used.input,
  ...(output === 0 ? {} : { candidatesTokenCount: output }),
  totalTokenCount: used.input + output,
  promptTokensDetails: [{ modality: "TEXT", tokenCount: used.input }],
  serviceTier: "standard"
})

const chunk = (parts: ReadonlyArray<object>, output: number, more: object = {}): string =>
  event({
    candidates: [
      {
        ...(parts.length === 0 ? {} : { content: { parts, role: "model" } }),
        index: 0,
        ...more
      }
    ],
    usageMetadata: usageMetadata(output),
    modelVersion: model,
    responseId: "7-9UaPOkKOHVz7IPlKqQ8Ag"
  })

const beforeEnd = ({ calls, end, text, thinking }: Reply): ReadonlyArray<string> => [
  ...words(thinking ?? "").map((one) => chunk([{ text: one, thought: true }], 0)),
  ...words(end === "refusal" ? "" : (text ?? "")).map((one) => chunk([{ text: one }], 1)),
  ...(calls === true
    ? [
        chunk(
          [{ functionCall: { name: "get_weather", args: { location: "Paris" }, id: "x1" }, thoughtSignature: "EqQB" }],
          1
        )
      ]
    : [])
]

const ends = {
  stop: "STOP",
  length: "MAX_TOKENS",
  // Google says no more of calls than that they are there.
  toolUse: "STOP",
  refusal: "PROHIBITED_CONTENT",
  unknown: "WEARY_OF_IT_ALL"
} as const

const error = (code: number, status: string, message: string, details: ReadonlyArray<object> = []) => ({
  error: { code, message, status, details }
})

const quota = (echo: string) =>
  error(
    429,
    "RESOURCE_EXHAUSTED",
    `You exceeded your current quota, please check your plan and billing details. * Quota exceeded for metric: generate_content_free_tier_input_token_count, limit: 250000 ${echo}`,
    [
      {
        "@type": "type.googleapis.com/google.rpc.QuotaFailure",
        violations: [
          { quotaMetric: "generativelanguage.googleapis.com/x", quotaId: "GenerateContentInputTokensPerModelPerMinute" }
        ]
      },
      {
        "@type": "type.googleapis.com/google.rpc.Help",
        links: [{ description: "Learn more", url: "https://ai.google.dev/" }]
      }
    ]
  )

export const google: Wire = {
  name: `google/${model}`,
  contentType: "text/event-stream",
  layer: (apiUrl, key, name = model) => Google.layer({ model: name, apiUrl, apiKey: Redacted.make(key) }),
  beforeEnd,
  usedSoFar: { input: used.input, output: 1 },
  reply: (reply) => [
    ...beforeEnd(reply),
    chunk(reply.text === undefined ? [] : [{ text: "" }], used.output, { finishReason: ends[reply.end ?? "stop"] })
  ],
  failure: (failure, echo = "") => {
    switch (failure) {
      case "auth":
        return jsonAnswer(
          400,
          error(400, "INVALID_ARGUMENT", `API key not valid. Please pass a valid API key. ${echo}`, [
            { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID", domain: "googleapis.com" }
          ])
        )
      case "rateLimited":
        return jsonAnswer(429, quota(echo))
      case "unavailable":
        return jsonAnswer(503, error(503, "UNAVAILABLE", `The model is overloaded. Please try again later. ${echo}`))
      case "overflow":
        return jsonAnswer(
          400,
          error(
            400,
            "INVALID_ARGUMENT",
            `The input token count (1215000) exceeds the maximum number of tokens allowed (1048575). ${echo}`
          )
        )
      case "badRequest":
        return jsonAnswer(404, error(404, "NOT_FOUND", `models/${model} is not found for API version v1beta ${echo}`))
    }
  },
  interjection: (kind, echo = "") => {
    const said = {
      unavailable: [503, "UNAVAILABLE"],
      rateLimited: [429, "RESOURCE_EXHAUSTED"],
      unknown: [799, "WEATHER"]
    } as const
    const [code, status] = said[kind]
    return event(error(code, status, `It is ${kind}. ${echo}`))
  },
  noJson: `data: {"candidates": [{"content": \r\n\r\n`,
  sent: ({ body, headers, url }) => ({
    system: body.systemInstruction.parts.map((part: Json) => part.text).join(""),
    prompt: body.contents.flatMap((content: Json) => content.parts.map((part: Json) => part.text)).join(""),
    model: url.replace(/^.*\/models\//, "").replace(/:.*$/, ""),
    maxOutputTokens: body.generationConfig.maxOutputTokens,
    routingId: undefined,
    temperature: body.generationConfig.temperature,
    key: String(headers["x-goog-api-key"])
  })
}
