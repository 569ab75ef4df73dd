/**
 * One request of a summary: asked, tried again where that can help, checked,
 * and once more with a correction where the reply cannot be accepted.
 *
 * @since 0.1.0
 */
import type * as Message from "@cutpoint/core/Message"
import * as SummaryCheck from "@cutpoint/core/SummaryCheck"
import * as SummaryPrompt from "@cutpoint/core/SummaryPrompt"
import type * as Tokens from "@cutpoint/core/Tokens"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import * as Errors from "./CompactionErrors.js"
import { IdGenerator } from "./IdGenerator.js"
import * as Llm from "./Llm.js"
import * as Port from "./SummarizerPort.js"
import { SummaryProgress } from "./SummaryProgress.js"
import * as UsageSum from "./UsageSum.js"

/** What a summary has taken so far. */
export interface Spent {
  readonly requests: number
  readonly usage: Message.Usage | undefined
}

/** A request of a summary. */
export interface Asked {
  readonly llm: Llm.Service
  readonly count: Tokens.Count
  readonly spent: Ref.Ref<Spent>
  readonly request: Port.Request
  readonly transcript: string
  /** The most of the reply, in tokens, if the window has the room. */
  readonly replyTokens: number
  /** Whether the reply is the summary, and not only carried into the next request. */
  readonly isLast: boolean
  /** Which request of the summary this is, 1-based, and how many there will be. */
  readonly number: number
  readonly of: number
}

/** How often a request that failed for a passing reason is tried again. */
export const maxRetries = 4

/** A provider that wants to be left alone longer than this, in milliseconds, is not waited for. */
const longestWait = 120_000

const defaultStallTimeout = 120_000

/** No token stands for more than this many UTF-16 code units on average. */
const longestToken = 32

/** Asks, and gives an accepted reply. */
export const ask = Effect.fn("Summarizer.request")(function* (asked: Asked) {
  yield* Effect.annotateCurrentSpan({ request: asked.number, of: asked.of, kind: Port.kindOf(asked.request) })
  const progress = yield* SummaryProgress
  const kind = Port.kindOf(asked.request)
  yield* progress.report({ _tag: "Request", kind, request: asked.number, of: asked.of })
  const prompt = SummaryPrompt.prompt({ ...asked.request, kind, transcript: asked.transcript })
  const first = yield* replyTo(asked, prompt)
  const problem = problemOf(asked, first)
  if (Option.isNone(problem)) return first.text.trim()
  yield* progress.report({ _tag: "Again", kind, why: problem.value.problem })
  const second = yield* replyTo(asked, `${prompt}\n\n${SummaryPrompt.correction(problem.value.problem)}`)
  const still = problemOf(asked, second)
  if (Option.isNone(still)) return second.text.trim()
  return yield* new Errors.SummaryRejected({ ...still.value, writer: asked.llm.name, ...(yield* Ref.get(asked.spent)) })
})

interface Reply {
  readonly text: string
  readonly stopReason: SummaryCheck.StopReason
}

const problemOf = ({ count, isLast, request }: Asked, reply: Reply): Option.Option<SummaryCheck.Rejection> => {
  const isReplaced = request.replaceInstructions === true && (request.customInstructions ?? "").trim() !== ""
  const sections = isReplaced ? [] : SummaryCheck.requiredSections(Port.kindOf(request))
  const limit = isLast ? request.limitTokens : undefined
  return Option.orElse(SummaryCheck.reply(reply.text, reply.stopReason, sections), () =>
    limit === undefined ? Option.none() : SummaryCheck.length(count(reply.text), limit)
  )
}

/** A reply, tried again where the failure may pass. */
const replyTo = (asked: Asked, prompt: string): Effect.Effect<Reply, Errors.SummarizerFailed> =>
  Effect.gen(function* () {
    const progress = yield* SummaryProgress
    const again = (error: Llm.LlmError) =>
      progress.report({ _tag: "Again", kind: Port.kindOf(asked.request), why: error.message })
    return yield* Effect.retry(attempt(asked, prompt), {
      while: (error) => (isPassing(error) ? Effect.as(again(error), true) : Effect.succeed(false)),
      schedule: backoffFromOneSecond
    })
  }).pipe(
    Effect.catchAll((error) =>
      Effect.flatMap(
        Ref.get(asked.spent),
        (spent) => new Errors.SummarizerFailed({ reason: error._tag, problem: error.message, ...spent })
      )
    )
  )

/** Failures that may pass: too many requests, a provider that is down, a connection that broke. */
const isPassing = (error: Llm.LlmError): boolean =>
  (error._tag === "LlmRateLimited" || error._tag === "LlmUnavailable") && (error.retryAfter ?? 0) <= longestWait

/** 1, 2, 4, 8 seconds with jitter, or as long as the provider asks for if that is longer. */
const backoffFromOneSecond = Schedule.identity<Llm.LlmError>().pipe(
  Schedule.intersect(Schedule.jittered(Schedule.exponential("1 second"))),
  Schedule.intersect(Schedule.recurs(maxRetries)),
  Schedule.modifyDelay(([[error]], delay) =>
    Duration.max(delay, "retryAfter" in error ? Duration.millis(error.retryAfter ?? 0) : Duration.zero)
  )
)

const attempt = Effect.fnUntraced(function* (asked: Asked, prompt: string) {
  const ids = yield* IdGenerator
  const { count, llm, request, spent } = asked
  const input = count(SummaryPrompt.system) + count(prompt)
  const maxOutputTokens = Math.min(asked.replyTokens, llm.contextWindow - input)
  if (maxOutputTokens < 1) return yield* tooLarge(llm, input)
  yield* Ref.update(spent, (before) => ({ ...before, requests: before.requests + 1 }))
  const used = yield* Ref.make<Message.Usage | undefined>(undefined)
  const parts = llm.stream({ system: SummaryPrompt.system, prompt, maxOutputTokens, routingId: yield* ids.uuid })
  const stallTimeout = request.stallTimeout ?? defaultStallTimeout
  const reply = yield* parts.pipe(
    Stream.timeoutFail(() => stalled(llm, stallTimeout), stallTimeout),
    Stream.runFoldWhileEffect(
      nothingYet,
      ({ text }) => text.length <= maxOutputTokens * longestToken,
      (reply, part) => take(asked, used, reply, part)
    ),
    // However it ends: what is broken off or turned down has been paid for all the same.
    Effect.ensuring(
      Effect.flatMap(Ref.get(used), (usage) =>
        Ref.update(spent, (before) => ({ ...before, usage: UsageSum.add(before.usage, usage) }))
      )
    )
  )
  // A reply that does not stop where it should is stopped, and counts as cut off.
  if (reply.text.length > maxOutputTokens * longestToken) return { ...reply, stopReason: "length" as const }
  if (reply.stopReason === undefined) return yield* broken(llm)
  return { text: reply.text, stopReason: reply.stopReason }
})

interface PartialReply {
  readonly text: string
  readonly stopReason: SummaryCheck.StopReason | undefined
}

const nothingYet: PartialReply = { text: "", stopReason: undefined }

const take = (
  asked: Asked,
  used: Ref.Ref<Message.Usage | undefined>,
  reply: PartialReply,
  part: Llm.Part
): Effect.Effect<PartialReply> => {
  switch (part._tag) {
    case "Text":
      return received(asked, { ...reply, text: reply.text + part.text })
    case "Thinking":
      return Effect.succeed(reply)
    case "Usage":
      return Effect.as(Ref.set(used, part.usage), reply)
    case "Finish":
      return Effect.as(
        Ref.update(used, (before) => part.usage ?? before),
        { ...reply, stopReason: part.stopReason }
      )
  }
}

const received = (asked: Asked, reply: PartialReply): Effect.Effect<PartialReply> =>
  Effect.gen(function* () {
    const progress = yield* SummaryProgress
    const tokens = Math.ceil(reply.text.length / 4)
    yield* progress.report({ _tag: "Received", kind: Port.kindOf(asked.request), tokens })
    return reply
  })

const tooLarge = (llm: Llm.Service, input: number) =>
  new Llm.LlmOverflow({
    model: llm.name,
    detail: `${input} tokens, by count, leave no room for a reply in a window of ${llm.contextWindow}.`
  })

const stalled = (llm: Llm.Service, milliseconds: number) =>
  new Llm.LlmTimeout({ model: llm.name, detail: `nothing came for ${milliseconds} ms.` })

/** The stream ended before the reply did, as when a connection breaks. */
const broken = (llm: Llm.Service) => new Llm.LlmUnavailable({ model: llm.name, detail: "the reply broke off." })
