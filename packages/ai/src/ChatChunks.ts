/**
 * The chunks of chat completions, as OpenRouter and many servers stream them.
 *
 * @since 0.1.0
 */
import type * as Message from "@cutpoint/core/Message"
import * as Json from "@cutpoint/core/Json"
import * as ErrorBody from "./ErrorBody.js"
import * as Said from "./Said.js"
import * as WireJson from "./WireJson.js"

const stopReasons = {
  length: "length",
  tool_calls: "toolUse",
  function_call: "toolUse",
  content_filter: "refusal"
} as const

/** Text and thinking pass, in a chunk that has all its decoder asks for. */
export const read: Said.Reader = (event) => {
  const { choices, error, object, usage } = WireJson.at(event)
  if ((error !== undefined && error !== null) || object === "error") return { fault: ErrorBody.ofEvent(event) }
  const choice = WireJson.at(WireJson.objects(choices)[0])
  if (choice["finish_reason"] === "error") return { fault: ErrorBody.ofEvent(choice) }
  const delta = WireJson.at(choice, "delta")
  const isCall = WireJson.objects(delta["tool_calls"]).length > 0
  const isRefusal = WireJson.text(delta["refusal"]) !== ""
  return {
    pass: chunkOf(WireJson.text(delta["content"]), thinkingOf(delta)),
    stopReason: isCall ? "toolUse" : isRefusal ? "refusal" : Said.stopReason(stopReasons, choice["finish_reason"]),
    usage: usageOf(WireJson.at(usage))
  }
}

/** Servers have different names for it. */
const thinkingOf = (delta: Json.JsonObject): string => WireJson.text(delta["reasoning"] ?? delta["reasoning_content"])

const chunkOf = (content: string, reasoning: string) => ({
  created: 0,
  choices: [{ index: 0, delta: { role: "assistant", content, reasoning } }]
})

/** OpenRouter says what it cost. */
const usageOf = (usage: Json.JsonObject): Message.Usage | undefined => {
  const cached = WireJson.at(usage, "prompt_tokens_details")["cached_tokens"]
  const tokens = WireJson.usage({
    input: WireJson.without(usage["prompt_tokens"], cached),
    output: usage["completion_tokens"],
    cacheRead: cached
  })
  const cost = Json.amountOf(usage["cost"])
  return tokens === undefined || cost === 0 ? tokens : Object.assign({}, tokens, { cost: { total: cost } })
}
