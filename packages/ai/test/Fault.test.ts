import * as ErrorBody from "@cutpoint/ai/ErrorBody"
import * as Fault from "@cutpoint/ai/Fault"
import { describe, expect, it } from "vitest"

const now = Date.UTC(2026, 0, 1)

const read = (status: number, body: unknown, headers: { readonly [name: string]: string } = {}) =>
  ErrorBody.read({ status, headers, body: typeof body === "string" ? body : JSON.stringify(body), now })

const error = (fields: object) => ({ error: fields })

describe("an answer that is no reply", () => {
  it.each([
    [401, "", "LlmAuth"],
    [402, "", "LlmAuth"],
    [403, "", "LlmAuth"],
    [
      403,
      error({ message: "openai/gpt-5 requires moderation on OpenAI. Your input was flagged for: violence" }),
      "LlmRefused"
    ],
    [400, error({ code: "content_filter", message: "no" }), "LlmRefused"],
    [
      400,
      error({ code: "invalid_prompt", message: "flagged as potentially violating our usage policy" }),
      "LlmRefused"
    ],
    [
      400,
      error({ message: "Output blocked by content filtering policy", type: "invalid_request_error" }),
      "LlmRefused"
    ],
    [
      400,
      error({ code: 400, status: "INVALID_ARGUMENT", message: "no", details: [{ reason: "API_KEY_INVALID" }] }),
      "LlmAuth"
    ],
    [
      400,
      error({ type: "invalid_request_error", message: "messages: at least one message is required" }),
      "LlmBadRequest"
    ],
    [404, error({ type: "not_found_error", message: "model: x" }), "LlmBadRequest"],
    [405, "", "LlmBadRequest"],
    [408, "", "LlmUnavailable"],
    [409, "", "LlmUnavailable"],
    [413, "", "LlmOverflow"],
    [422, error({ message: "Unprocessable" }), "LlmBadRequest"],
    [429, "", "LlmRateLimited"],
    [429, error({ code: "insufficient_quota", message: "You exceeded your current quota" }), "LlmAuth"],
    [429, error({ type: "rate_limit_error", message: "prompt is too long: 1 tokens > 0 maximum" }), "LlmRateLimited"],
    [500, "", "LlmUnavailable"],
    [502, "<html>Bad Gateway</html>", "LlmUnavailable"],
    [503, error({ code: 503, status: "UNAVAILABLE", message: "overloaded" }), "LlmUnavailable"],
    [504, error({ code: 504, status: "DEADLINE_EXCEEDED", message: "late" }), "LlmUnavailable"],
    [520, "", "LlmUnavailable"],
    [529, error({ type: "overloaded_error", message: "Overloaded" }), "LlmUnavailable"],
    [200, error({ type: "overloaded_error", message: "Overloaded" }), "LlmUnavailable"],
    [200, error({ message: "no such model" }), "LlmBadRequest"],
    [200, { choices: [] }, "LlmMalformed"],
    [200, "<html></html>", "LlmMalformed"]
  ] as const)("of status %i with %j is %s", (status, body, kind) => {
    const fault = read(status, body)
    expect(Fault.kindOf(fault)).toBe(kind)
    expect(Fault.toError(fault, "p/m", "detail")).toMatchObject({ _tag: kind, model: "p/m", detail: "detail" })
  })

  it.each([
    ["UnrecognizedClientException", 400, "LlmAuth"],
    ["ExpiredTokenException", 403, "LlmAuth"],
    ["ThrottlingException", 400, "LlmRateLimited"],
    ["ModelNotReadyException", 400, "LlmRateLimited"],
    ["ModelTimeoutException", 408, "LlmUnavailable"],
    ["ModelErrorException", 424, "LlmUnavailable"],
    ["ValidationException", 400, "LlmBadRequest"],
    ["ResourceNotFoundException", 404, "LlmBadRequest"]
  ] as const)("of Amazon's, named %s in a header, is sorted by that name", (name, status, kind) => {
    const headers = { "x-amzn-errortype": `${name}:http://internal.amazon.com/coral/com.amazon.bedrock/` }
    expect(Fault.kindOf(read(status, { message: "no" }, headers))).toBe(kind)
  })

  it.each([
    [{ "retry-after": "7" }, 7000],
    [{ "retry-after": "1.5" }, 1500],
    [{ "retry-after-ms": "250", "retry-after": "1" }, 250],
    [{ "retry-after-ms": "soon", "retry-after": "1" }, 1000],
    [{ "retry-after": "Thu, 01 Jan 2026 00:01:00 GMT" }, 60_000],
    [{ "retry-after": "Wed, 31 Dec 2025 23:59:00 GMT" }, 0],
    [{ "retry-after": "soon" }, undefined],
    [{ "retry-after": "" }, undefined],
    [{}, undefined]
  ] as const)("with %j asks to wait %s ms", (headers, wait) => {
    expect(read(429, "", headers).retryAfter).toBe(wait)
  })

  it.each([
    ["34s", 34_000],
    ["34.0748s", 34_074.8],
    ["0.5s", 500],
    [34, undefined],
    ["a while", undefined]
  ])("with a retryDelay of %j asks to wait %s ms", (retryDelay, wait) => {
    const body = error({ code: 429, message: "no", details: [{}, { "@type": "RetryInfo", retryDelay }] })
    expect(read(429, body).retryAfter).toBe(wait)
    expect(read(429, [body]).retryAfter).toBe(wait)
  })

  it("shows a sentence, but no page", () => {
    expect(read(500, "upstream request timeout").message).toContain("upstream request timeout")
    expect(read(502, "<html><body>Bad Gateway</body></html>").message).toBe("status 502")
  })

  it("of any shape is sorted all the same", () => {
    for (const body of [
      "null",
      "[]",
      "7",
      '"no"',
      "{",
      "{}",
      '{"error":null}',
      '{"error":[]}',
      '{"error":{"message":7}}',
      "\u0000"
    ]) {
      expect(Fault.kindOf(read(400, body))).toBe("LlmBadRequest")
      expect(Fault.kindOf(read(500, body))).toBe("LlmUnavailable")
      expect(typeof read(400, body).message).toBe("string")
    }
  })
})

describe("an error in the middle of a reply", () => {
  it.each([
    [{ type: "error", error: { type: "overloaded_error", message: "Overloaded" } }, "LlmUnavailable"],
    [{ type: "error", code: "rate_limit_exceeded", message: "slow down", param: null }, "LlmRateLimited"],
    [{ error: { code: 429, message: "slow down" } }, "LlmRateLimited"],
    [{ error: { code: 502, message: "Provider disconnected" } }, "LlmUnavailable"],
    [{ error: { code: 401, message: "User not found." } }, "LlmAuth"],
    [{ status: "failed", error: { code: "context_length_exceeded", message: "too much" } }, "LlmOverflow"],
    [{ error: { code: "weather_error", message: "It rains." } }, "LlmUnavailable"],
    [{ error: {} }, "LlmUnavailable"],
    [undefined, "LlmUnavailable"]
  ] as const)("that says %j is %s", (event, kind) => {
    expect(Fault.kindOf(ErrorBody.ofEvent(event))).toBe(kind)
  })
})
