/**
 * A language model that says what a script says: replies, delays, failures,
 * streams that break off or never end. The only fake of a model there is.
 *
 * @since 0.1.0
 */
import * as Llm from "@cutpoint/compaction/Llm"
import type * as Message from "@cutpoint/core/Message"
import type * as SummaryCheck from "@cutpoint/core/SummaryCheck"
import * as SummaryFormat from "@cutpoint/core/SummaryFormat"
import * as Tokens from "@cutpoint/core/Tokens"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Ref from "effect/Ref"
import * as Stream from "effect/Stream"

/** What the model does when it is asked. */
export type Reply =
  | {
      readonly _tag: "Says"
      readonly text: string
      readonly thinking?: string
      readonly stopReason?: SummaryCheck.StopReason
      readonly usage?: Message.Usage
      /** How long it takes before the first word. */
      readonly delay?: Duration.DurationInput
    }
  | { readonly _tag: "Fails"; readonly error: Llm.LlmError }
  /** The connection breaks after these words: the stream ends without a finish. */
  | { readonly _tag: "BreaksOff"; readonly text: string }
  /** Nothing comes after these words, ever. */
  | { readonly _tag: "Hangs"; readonly text: string }

/** The model says this. */
export const says = (text: string, more: Omit<Extract<Reply, { _tag: "Says" }>, "_tag" | "text"> = {}): Reply => ({
  _tag: "Says",
  text,
  ...more
})

/** The model fails. */
export const fails = (error: Llm.LlmError): Reply => ({ _tag: "Fails", error })

/** The connection breaks after these words. */
export const breaksOff = (text = ""): Reply => ({ _tag: "BreaksOff", text })

/** Nothing comes after these words. */
export const hangs = (text = ""): Reply => ({ _tag: "Hangs", text })

/** What a scripted model is. */
export interface Options {
  /** `provider/model`; `scripted/model` where left out. */
  readonly name?: string
  /** In tokens; 200,000 where left out. */
  readonly contextWindow?: number
  /** In tokens; 8,192 where left out. */
  readonly maxOutputTokens?: number
  /** Requests over this are refused as too large, in tokens of four characters. */
  readonly refuseOver?: number
  /** The reply to the nth request, counted from 0. */
  readonly reply: (request: Llm.Request, index: number) => Reply
}

/** A scripted model, and what it was asked. */
export interface ScriptedLlm {
  readonly layer: Layer.Layer<Llm.Llm>
  /** In order. */
  readonly requests: Effect.Effect<ReadonlyArray<Llm.Request>>
  /** How many replies were left before they ended, as on an interruption or a timeout. */
  readonly abandoned: Effect.Effect<number>
}

/** A model that follows the script. */
export const make = (options: Options): Effect.Effect<ScriptedLlm> =>
  Effect.gen(function* () {
    const asked = yield* Ref.make<ReadonlyArray<Llm.Request>>([])
    const abandoned = yield* Ref.make(0)
    const name = options.name ?? "scripted/model"
    const stream = (request: Llm.Request): Stream.Stream<Llm.Part, Llm.LlmError> =>
      Stream.unwrap(
        Effect.map(
          Ref.modify(asked, (before) => [before.length, [...before, request]]),
          (index) => partsOf(overflowOf(request, name, options) ?? options.reply(request, index))
        )
      ).pipe((parts) => countingAbandoned(parts, abandoned))
    const service = Llm.Llm.of({
      name,
      contextWindow: options.contextWindow ?? 200_000,
      maxOutputTokens: options.maxOutputTokens ?? 8192,
      stream
    })
    return {
      layer: Layer.succeed(Llm.Llm, service),
      requests: Ref.get(asked),
      abandoned: Ref.get(abandoned)
    }
  })

/** A model that gives these replies in order, and the last one from then on. */
export const ofReplies = (
  replies: readonly [Reply, ...ReadonlyArray<Reply>],
  options: Omit<Options, "reply"> = {}
): Effect.Effect<ScriptedLlm> =>
  make({ ...options, reply: (_, index) => replies[Math.min(index, replies.length - 1)] ?? replies[0] })

const countingAbandoned = <A, E>(parts: Stream.Stream<A, E>, abandoned: Ref.Ref<number>): Stream.Stream<A, E> =>
  Stream.unwrap(
    Effect.map(Ref.make(false), (hasEnded) => {
      const end = Ref.set(hasEnded, true)
      return Stream.concat(parts, Stream.execute(end)).pipe(
        Stream.tapError(() => end),
        Stream.ensuring(
          Effect.unlessEffect(
            Ref.update(abandoned, (n) => n + 1),
            Ref.get(hasEnded)
          )
        )
      )
    })
  )

const overflowOf = (request: Llm.Request, model: string, { refuseOver }: Options): Reply | undefined => {
  const tokens = Tokens.heuristic(request.system + request.prompt)
  if (refuseOver === undefined || tokens <= refuseOver) return undefined
  return fails(new Llm.LlmOverflow({ model, detail: `${tokens} tokens are more than ${refuseOver}.` }))
}

const partsOf = (reply: Reply): Stream.Stream<Llm.Part, Llm.LlmError> => {
  switch (reply._tag) {
    case "Fails":
      return Stream.fail(reply.error)
    case "BreaksOff":
      return Stream.fromIterable(words(reply.text))
    case "Hangs":
      return Stream.concat(Stream.fromIterable(words(reply.text)), Stream.never)
    case "Says": {
      const thinking: ReadonlyArray<Llm.Part> =
        reply.thinking === undefined ? [] : [{ _tag: "Thinking", text: reply.thinking }]
      const finish: Llm.Part = { _tag: "Finish", stopReason: reply.stopReason ?? "stop", usage: reply.usage }
      const parts = Stream.fromIterable([...thinking, ...words(reply.text), finish])
      const { delay } = reply
      return delay === undefined ? parts : Stream.concat(Stream.execute(Effect.sleep(delay)), parts)
    }
  }
}

const words = (text: string): ReadonlyArray<Llm.Part> =>
  (text.match(/\s*\S+\s*/gu) ?? (text === "" ? [] : [text])).map((word) => ({ _tag: "Text", text: word }))

/** Whether a request asks for the start of a split turn: by the form it asks for last, since a previous summary may hold others. */
export const asksForTurnPrefix = ({ prompt }: Llm.Request): boolean =>
  prompt.lastIndexOf("### Needed to Continue") > prompt.lastIndexOf("## Critical Context")

/** A summary in the form that a request asks for, with these facts in it. */
export const summaryFor = (request: Llm.Request, facts: ReadonlyArray<string> = []): string =>
  asksForTurnPrefix(request)
    ? SummaryFormat.printTurnPrefix({ asked: [], doneSoFar: [], needed: facts })
    : SummaryFormat.print({ ...SummaryFormat.empty, criticalContext: facts })

/** Answers with a summary of every fact that the request shows: what the pattern finds, each once. */
export const carriesOver =
  (pattern: RegExp) =>
  (request: Llm.Request): Reply =>
    says(summaryFor(request, [...new Set([...request.prompt.matchAll(pattern)].map(([fact]) => fact))]))
