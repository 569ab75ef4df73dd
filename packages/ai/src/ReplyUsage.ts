/**
 * What a reply of `@effect/ai` has used, in a session's terms.
 *
 * @since 0.1.0
 */
import type * as Message from "@cutpoint/core/Message"
import type * as Response from "@effect/ai/Response"
import * as WireJson from "./WireJson.js"

/**
 * The usage of a reply, in tokens; undefined where none was told. Most providers
 * count what came from a cache as input; Anthropic and Bedrock count it apart,
 * and say beside the usage what was written to the cache.
 */
export const of = ({ metadata, usage }: Pick<Response.FinishPart, "metadata" | "usage">): Message.Usage | undefined => {
  const { cachedInputTokens, inputTokens, outputTokens } = usage
  const isApart = "anthropic" in metadata || "bedrock" in metadata
  return WireJson.usage({
    input: isApart ? inputTokens : WireJson.without(inputTokens, cachedInputTokens),
    output: outputTokens,
    cacheRead: cachedInputTokens,
    cacheWrite:
      WireJson.at(metadata, "anthropic", "usage")["cache_creation_input_tokens"] ??
      WireJson.at(metadata, "bedrock", "usage")["cacheWriteInputTokens"]
  })
}
