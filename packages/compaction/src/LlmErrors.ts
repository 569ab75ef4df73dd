/**
 * Why a model gave no reply, by what can be done about it. `detail` is the
 * provider's own word, without keys, prompts or transcripts.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

const fields = {
  /** `provider/model`. */
  model: Schema.String,
  detail: Schema.String
}

/** The request does not fit the model's window. */
export class LlmOverflow extends Schema.TaggedError<LlmOverflow>()("LlmOverflow", fields) {
  override get message(): string {
    return `${this.model} says that the request is too large: ${this.detail}`
  }
}

/** Too many requests for now. */
export class LlmRateLimited extends Schema.TaggedError<LlmRateLimited>()("LlmRateLimited", {
  ...fields,
  /** How long the provider asks to wait, in milliseconds. */
  retryAfter: Schema.optional(Schema.Number)
}) {
  override get message(): string {
    return `${this.model} takes no more requests for now: ${this.detail} Wait a while and try again.`
  }
}

/** The provider cannot answer for now, or the connection broke. */
export class LlmUnavailable extends Schema.TaggedError<LlmUnavailable>()("LlmUnavailable", {
  ...fields,
  retryAfter: Schema.optional(Schema.Number)
}) {
  override get message(): string {
    return `${this.model} cannot be reached for now: ${this.detail} Try again later.`
  }
}

/** The key is missing, wrong, or may not do this. */
export class LlmAuth extends Schema.TaggedError<LlmAuth>()("LlmAuth", fields) {
  override get message(): string {
    return `${this.model} does not accept the key: ${this.detail} Check the key and what it may be used for.`
  }
}

/** The provider refuses this content. */
export class LlmRefused extends Schema.TaggedError<LlmRefused>()("LlmRefused", fields) {
  override get message(): string {
    return `${this.model} refuses the request: ${this.detail} Try another model.`
  }
}

/** The provider takes the request for wrong. */
export class LlmBadRequest extends Schema.TaggedError<LlmBadRequest>()("LlmBadRequest", fields) {
  override get message(): string {
    return `${this.model} does not take the request: ${this.detail} Check the model's name and settings.`
  }
}

/** The reply cannot be read, or ended in the middle. */
export class LlmMalformed extends Schema.TaggedError<LlmMalformed>()("LlmMalformed", fields) {
  override get message(): string {
    return `${this.model} sent a reply that cannot be used: ${this.detail} Try again, or another model.`
  }
}

/** Nothing came for too long. */
export class LlmTimeout extends Schema.TaggedError<LlmTimeout>()("LlmTimeout", fields) {
  override get message(): string {
    return `${this.model} sent nothing for too long: ${this.detail} Try again, or set a longer cutpoint.stallTimeout.`
  }
}

/** Why a model gave no reply. */
export type LlmError =
  | LlmOverflow
  | LlmRateLimited
  | LlmUnavailable
  | LlmAuth
  | LlmRefused
  | LlmBadRequest
  | LlmMalformed
  | LlmTimeout
