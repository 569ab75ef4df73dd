/**
 * What a provider said went wrong, and what kind of failure that is. Sorted
 * once, here, for every provider.
 *
 * The order of the rules matters: too many requests are never taken for a
 * request that is too large, whatever the wording; and a wording that says the
 * request is too large counts whatever the status, since servers differ.
 *
 * @since 0.1.0
 */
import * as Llm from "@cutpoint/compaction/Llm"
import { isOverflow } from "./OverflowWordings.js"

/** What a provider said went wrong. */
export interface Fault {
  /** The HTTP status; left out where it came in the middle of a reply. */
  readonly status?: number | undefined
  /** The provider's names for the kind of failure. */
  readonly codes: ReadonlyArray<string>
  readonly message: string
  /** How long it asks to wait, in milliseconds. */
  readonly retryAfter?: number | undefined
}

/** The kinds of failure. */
export type Kind = Exclude<Llm.LlmError["_tag"], "LlmTimeout">

interface Rule {
  readonly kind: Kind
  readonly statuses?: ReadonlyArray<number>
  /** Without regard to case and to what stands between the words. */
  readonly codes?: ReadonlyArray<string>
  readonly wordings?: (text: string) => boolean
}

const says = (pattern: RegExp) => (text: string) => pattern.test(text)

/** The first that fits decides. */
const rules: ReadonlyArray<Rule> = [
  { kind: "LlmMalformed", codes: ["malformed"] },
  // Quota that is used up does not come back by waiting.
  { kind: "LlmAuth", codes: ["insufficient_quota", "billing_error", "billing_hard_limit_reached"] },
  {
    kind: "LlmRateLimited",
    statuses: [429],
    codes: ["rate_limit_error", "rate_limit_exceeded", "too_many_requests", "resource_exhausted", "throttling"]
  },
  {
    kind: "LlmRateLimited",
    codes: ["throttling_exception", "too_many_requests_exception", "model_not_ready_exception"]
  },
  { kind: "LlmRefused", wordings: says(/requires moderation|input was flagged/i) },
  {
    kind: "LlmAuth",
    statuses: [401, 402, 403],
    codes: [
      "authentication_error",
      "permission_error",
      "invalid_api_key",
      "api_key_invalid",
      "unauthenticated",
      "permission_denied",
      "access_denied_exception",
      "unrecognized_client_exception",
      "expired_token_exception",
      "invalid_signature_exception",
      "missing_authentication_token_exception"
    ]
  },
  {
    kind: "LlmOverflow",
    statuses: [413],
    codes: ["request_too_large", "context_length_exceeded", "exceed_context_size_error"],
    wordings: isOverflow
  },
  {
    kind: "LlmRefused",
    codes: ["content_filter", "content_policy_violation", "responsible_ai_policy_violation", "invalid_prompt"],
    wordings: says(/content (?:management|filter\w*) policy|usage polic(?:y|ies)/i)
  },
  {
    kind: "LlmUnavailable",
    statuses: [408, 409, 424, 425],
    codes: [
      "overloaded_error",
      "api_error",
      "timeout_error",
      "server_error",
      "internal_error",
      "internal_server_error",
      "internal",
      "unavailable",
      "deadline_exceeded",
      "internal_server_exception",
      "service_unavailable_exception",
      "model_stream_error_exception",
      "model_timeout_exception",
      "model_error_exception"
    ]
  },
  {
    kind: "LlmBadRequest",
    codes: [
      "invalid_request_error",
      "not_found_error",
      "invalid_argument",
      "not_found",
      "validation_exception",
      "resource_not_found_exception"
    ]
  }
]

/** The kind of a failure. One in the middle of a reply that nothing is known of may pass. */
export const kindOf = ({ codes, message, status }: Fault): Kind => {
  const names = new Set(codes.map(folded))
  const found = rules.find(
    (rule) =>
      (status !== undefined && rule.statuses?.includes(status)) ||
      rule.codes?.some((code) => names.has(folded(code))) ||
      rule.wordings?.(message)
  )
  if (found !== undefined) return found.kind
  return status === undefined || status >= 500 ? "LlmUnavailable" : "LlmBadRequest"
}

/** `serviceUnavailableException`, `service_unavailable_exception` and the like are one. */
const folded = (code: string): string => code.toLowerCase().replace(/[^a-z0-9]/g, "")

/** The failure as those who asked are told of it. `detail` is what may be shown of the message. */
export const toError = (fault: Fault, model: string, detail: string): Llm.LlmError => {
  const fields = { model, detail }
  const { retryAfter } = fault
  switch (kindOf(fault)) {
    case "LlmOverflow":
      return new Llm.LlmOverflow(fields)
    case "LlmRateLimited":
      return new Llm.LlmRateLimited({ ...fields, retryAfter })
    case "LlmUnavailable":
      return new Llm.LlmUnavailable({ ...fields, retryAfter })
    case "LlmAuth":
      return new Llm.LlmAuth(fields)
    case "LlmRefused":
      return new Llm.LlmRefused(fields)
    case "LlmBadRequest":
      return new Llm.LlmBadRequest(fields)
    case "LlmMalformed":
      return new Llm.LlmMalformed(fields)
  }
}
