import * as ErrorBody from "@cutpoint/ai/ErrorBody"
import * as Fault from "@cutpoint/ai/Fault"
import { isOverflow, otherWordings, overflowWordings } from "@cutpoint/ai/OverflowWordings"
import { describe, expect, it } from "vitest"

/** The bodies in which such a message comes. */
const bodies: ReadonlyArray<readonly [string, (message: string) => unknown]> = [
  ["OpenAI's", (message) => ({ error: { message, type: "invalid_request_error", param: null, code: null } })],
  [
    "Anthropic's",
    (message) => ({ type: "error", error: { type: "invalid_request_error", message }, request_id: "req_1" })
  ],
  ["Google's", (message) => ({ error: { code: 400, message, status: "INVALID_ARGUMENT" } })],
  ["a list of Google's", (message) => [{ error: { code: 400, message, status: "INVALID_ARGUMENT" } }]],
  [
    "OpenRouter's, of a provider behind it",
    (message) => ({
      error: {
        code: 400,
        message: "Provider returned error",
        metadata: { raw: JSON.stringify({ error: { message } }) }
      }
    })
  ],
  ["Amazon's", (message) => ({ message })],
  ["vLLM's", (message) => ({ object: "error", message, type: "BadRequestError", param: null, code: 400 })],
  ["Ollama's", (message) => ({ error: message })],
  ["FastAPI's", (message) => ({ detail: message })]
]

const kindOf = (status: number, body: unknown) =>
  Fault.kindOf(
    ErrorBody.read({ status, headers: {}, body: typeof body === "string" ? body : JSON.stringify(body), now: 0 })
  )

describe.each(overflowWordings)("$provider: $example", ({ example, pattern, seen }) => {
  it("is matched, and says where it was seen", () => {
    expect(example).toMatch(pattern)
    expect(isOverflow(example)).toBe(true)
    expect(seen).not.toBe("")
    // A pattern with a state would match every other time.
    expect(pattern.flags).not.toMatch(/[gy]/)
  })

  it("is an overflow in every body, whatever the status, and never too many requests", () => {
    for (const [, bodyOf] of bodies) {
      for (const status of [400, 413, 422, 500]) expect(kindOf(status, bodyOf(example))).toBe("LlmOverflow")
      expect(kindOf(429, bodyOf(example))).toBe("LlmRateLimited")
    }
    expect(kindOf(400, example)).toBe("LlmOverflow")
    expect(Fault.kindOf(ErrorBody.ofEvent({ error: { message: example } }))).toBe("LlmOverflow")
    expect(Fault.kindOf(ErrorBody.ofEvent({ error: { message: example, code: 429 } }))).toBe("LlmRateLimited")
    expect(Fault.kindOf(ErrorBody.ofEvent({ error: { message: example, code: "rate_limit_exceeded" } }))).toBe(
      "LlmRateLimited"
    )
  })
})

describe.each(otherWordings)("$provider: $example", ({ example }) => {
  it("is no overflow", () => {
    expect(overflowWordings.filter(({ pattern }) => pattern.test(example))).toEqual([])
    for (const [, bodyOf] of bodies) expect(kindOf(400, bodyOf(example))).not.toBe("LlmOverflow")
  })
})
