/**
 * A reply as it comes in, gathered into the messages that a session keeps of it.
 *
 * What has come of a reply can be asked for at any time: of one that breaks off,
 * what was said so far.
 *
 * @since 0.1.0
 */
import * as Json from "@cutpoint/core/Json"
import type * as Message from "@cutpoint/core/Message"
import type * as Response from "@effect/ai/Response"
import * as Option from "effect/Option"
import * as ChatMessages from "./ChatMessages.js"
import type * as ChatTyping from "./ChatTyping.js"
import * as LanguageModelParts from "./LanguageModelParts.js"
import * as ReplyUsage from "./ReplyUsage.js"

/** How a reply ended. */
export interface End {
  readonly stopReason: string
  /** Without keys and prompts. */
  readonly errorMessage?: string | undefined
}

/** Who replies; what is not given is taken from what the reply says of itself. */
export interface Speaker {
  readonly provider?: string | undefined
  readonly model?: string | undefined
}

/** A piece of a text or of a thought. */
interface Piece {
  readonly type: string
  readonly delta?: string
  readonly metadata: Response.ProviderMetadata
}

/** A part of a message, as a prompt has it in JSON. */
interface Part extends Json.JsonObject {
  readonly type: string
}

/** A call that the program runs, and its place among those of the reply. */
interface HeldCall {
  readonly call: ChatTyping.Call
  /** Where it stands among the parts. */
  readonly at: number
}

/**
 * Gathers the parts of one reply. `argumentsOf` gives the arguments of a call that
 * the provider ran itself, `writtenOf` those of the nth other call, as the model
 * wrote them.
 */
export class Gathered {
  /** Whether it is in the session. */
  isKept = false
  private readonly parts: Array<Part> = []
  /** Where texts and thoughts stand that are still coming in. */
  private readonly open = new Map<string, number>()
  private readonly calls: Array<HeldCall> = []
  private modelId: string | undefined
  private finish: Response.FinishPart | undefined

  constructor(
    private readonly argumentsOf: (call: ChatTyping.Call) => unknown,
    private readonly writtenOf: (index: number, call: ChatTyping.Call) => unknown
  ) {}

  /** Whether anything has been said that could not be said again. */
  get isEmpty(): boolean {
    return this.parts.length === 0
  }

  /** Whether the provider has said that it is complete. */
  get isFinished(): boolean {
    return this.finish !== undefined
  }

  /** Whether the provider cut it off before a token came of it: the request itself left no room. */
  get isCut(): boolean {
    return this.isEmpty && this.finish?.reason === "length" && (this.finish.usage.outputTokens ?? 0) === 0
  }

  /** The calls that the program runs, with their arguments as the model wrote them. */
  get toRun(): ReadonlyArray<{ readonly call: ChatTyping.Call; readonly written: unknown }> {
    return this.calls.map(({ call }, index) => ({ call, written: this.writtenOf(index, call) }))
  }

  /** Takes the next part. */
  take(part: Response.AnyPart): void {
    switch (part.type) {
      case "text":
      case "reasoning":
        this.parts.push({ type: part.type, text: part.text, options: part.metadata })
        return
      case "text-start":
      case "text-delta":
      case "text-end":
        return this.extend(`text ${part.id}`, "text", part)
      case "reasoning-start":
      case "reasoning-delta":
      case "reasoning-end":
        return this.extend(`reasoning ${part.id}`, "reasoning", part)
      case "tool-call":
        if (!part.providerExecuted) this.calls.push({ call: part, at: this.parts.length })
        this.parts.push(callOf(part, part.providerExecuted ? this.argumentsOf(part) : undefined))
        return
      case "tool-result":
        // What the provider ran itself belongs to the reply; other results are messages of their own.
        if (part.providerExecuted) this.parts.push(resultOf(part))
        return
      case "file":
        this.parts.push({ type: "file", mediaType: part.mediaType, data: part.data, options: part.metadata })
        return
      case "response-metadata":
        this.modelId = Option.getOrUndefined(part.modelId)
        return
      case "finish":
        this.finish = part
        return
      default:
        return
    }
  }

  private extend(key: string, type: "text" | "reasoning", { delta = "", metadata, type: kind }: Piece): void {
    const isLast = kind === "text-end" || kind === "reasoning-end"
    const at = this.open.get(key) ?? this.parts.length
    const before = this.parts[at] ?? { type, text: "", options: {} }
    this.open.set(key, at)
    this.parts[at] = {
      type,
      text: `${Json.stringOr(before.text, "")}${delta}`,
      options: merged(Json.isObject(before.options) ? before.options : {}, metadata)
    }
    if (isLast) this.open.delete(key)
  }

  /** The reply as it is kept. `end` says how it ended, where it does not say so itself. */
  message(speaker: Speaker, timestamp: number, end: End | undefined): Message.AssistantMessage {
    const content = this.parts.map((part) => ({ ...part }))
    for (const [index, { at, call }] of this.calls.entries()) {
      content[at] = callOf(call, this.writtenOf(index, call))
    }
    const [read] = ChatMessages.ofJson([{ role: "assistant", content, options: {} }])
    const usage = this.finish && ReplyUsage.of(this.finish)
    const model = speaker.model ?? this.modelId
    const base = read?.role === "assistant" ? read : undefined
    const { errorMessage, stopReason } = end ?? this.end()
    return {
      role: "assistant",
      content: base?.content ?? [],
      ...(base?.details === undefined ? {} : { details: base.details }),
      ...(speaker.provider === undefined ? {} : { provider: speaker.provider }),
      ...(model === undefined ? {} : { model }),
      ...(usage === undefined ? {} : { usage }),
      stopReason,
      ...(errorMessage === undefined ? {} : { errorMessage }),
      timestamp
    }
  }

  private end(): End {
    if (this.finish === undefined) return { stopReason: "error", errorMessage: "The reply broke off." }
    const { reason } = this.finish
    if (reason === "error") return { stopReason: "error", errorMessage: "The provider ended the reply with an error." }
    if (reason === "content-filter") return { stopReason: "error", errorMessage: "The provider filtered the reply." }
    return { stopReason: LanguageModelParts.stopReasonOf(reason) }
  }
}

const callOf = (part: ChatTyping.Call, params: unknown): Part => ({
  type: "tool-call",
  id: part.id,
  name: part.providerName ?? part.name,
  params,
  providerExecuted: part.providerExecuted,
  options: part.metadata
})

/** A result as a prompt has it. */
export const resultOf = (part: ChatTyping.Result): Part => ({
  type: "tool-result",
  id: part.id,
  name: part.providerName ?? part.name,
  isFailure: part.isFailure,
  result: part.encodedResult,
  providerExecuted: part.providerExecuted,
  options: part.metadata
})

/** What a provider says of a part comes with its start, its pieces and its end. */
const merged = (before: Json.JsonObject, more: Json.JsonObject): Json.JsonObject => {
  const providers = new Set([...Object.keys(before), ...Object.keys(more)])
  return Object.fromEntries(
    [...providers].map((provider) => {
      const [old, next] = [before[provider], more[provider]]
      return [provider, Json.isObject(old) && Json.isObject(next) ? { ...old, ...next } : (next ?? old)]
    })
  )
}
