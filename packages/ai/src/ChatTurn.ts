/**
 * One call of a chat, step by step: the prompt is appended, the model asked, its
 * reply appended, its calls run and each result appended.
 *
 * Laws. Every step is in the session before the next one begins, and a step is
 * there whole or not at all. What follows a reply stays on its branch, wherever
 * somebody else has gone meanwhile. A request that the provider finds too large
 * is made once more after a compaction, and only where nothing was said yet.
 *
 * @since 0.1.0
 */
import type * as AutoCompaction from "@cutpoint/compaction/AutoCompaction"
import type * as OpenSession from "@cutpoint/compaction/OpenSession"
import * as Entry from "@cutpoint/core/Entry"
import * as JsonDifference from "@cutpoint/core/JsonDifference"
import type * as Message from "@cutpoint/core/Message"
import * as Projection from "@cutpoint/core/Projection"
import * as AiError from "@effect/ai/AiError"
import * as Model from "@effect/ai/Model"
import * as Prompt from "@effect/ai/Prompt"
import type * as Toolkit from "@effect/ai/Toolkit"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as ChatMessages from "./ChatMessages.js"
import * as ChatReply from "./ChatReply.js"
import * as ChatTools from "./ChatTools.js"
import type * as ChatTyping from "./ChatTyping.js"
import * as Fault from "./Fault.js"
import * as LanguageModelParts from "./LanguageModelParts.js"

/** What a chat is held with. */
export interface Means {
  readonly auto: AutoCompaction.Service
  readonly session: OpenSession.OpenSession
  readonly compaction: AutoCompaction.Options
  /** The model that was named for this chat, if one was. */
  readonly named: () => Named | undefined
}

/** A model by name. */
export interface Named {
  readonly provider: string
  readonly modelId: string
}

/** The model that was named for a chat, as `provider/model`. */
export const nameOf = (model: Named | undefined): string | undefined =>
  model === undefined ? undefined : `${model.provider}/${model.modelId}`

/** A call under way. */
export interface Turn {
  readonly means: Means
  /** The chat's method, for errors. */
  readonly method: string
  readonly toolkit: Toolkit.WithHandler<ChatTyping.Tools> | undefined
  readonly options: ChatTyping.Options
  /** The model that was named when the call began. */
  readonly named: Named | undefined
  /** The newest entry of this call: what follows goes on its branch. */
  lastId: string | null
}

/** One request of a call: its reply, and the options that it is made with. */
export interface Request {
  readonly reply: ChatReply.Gathered
  /** Tools do not run before the reply is stored. */
  readonly toolkit: ChatTyping.Options["toolkit"]
}

/** A new request. */
export const request = ({ toolkit }: Turn): Request => {
  const asked = toolkit && ChatTools.asked(toolkit)
  const again = (call: ChatTyping.Call) => ChatTools.argumentsOf(toolkit, call)
  const written = (index: number, call: ChatTyping.Call) =>
    asked !== undefined && index < asked.written.length ? asked.written[index] : again(call)
  return { reply: new ChatReply.Gathered(again, written), toolkit: asked?.toolkit }
}

/** The prompt as the model is to see it. */
export const promptOf = ({ means }: Turn): Prompt.Prompt => contextOf(means.session)

/** A session as a model is to see it. */
export const contextOf = (session: OpenSession.OpenSession): Prompt.Prompt =>
  ChatMessages.toPrompt({ items: session.context().items() })

/**
 * Appends a prompt: below the leaf, or as what the session is from now on. What
 * was said last and got no reply is not said again: who retries, asks once.
 */
export const say = Effect.fnUntraced(function* (means: Means, prompt: Prompt.Prompt, place: "leaf" | "root") {
  const timestamp = yield* Clock.currentTimeMillis
  const given = ChatMessages.ofPrompt(prompt)
  const said = place === "leaf" && isSaid(means, given) ? [] : given.filter((message) => !isMadeUp(message, place))
  const bodies = [...modelChange(means), ...said.map((message) => bodyOf(stamped(message, timestamp)))]
  const [first = place === "root" ? nothing : undefined, ...rest] = bodies
  if (first !== undefined) yield* means.session.append([first, ...rest], place)
})

/** What a session is from now on that begins anew. */
const nothing = { type: "custom", customType: Entry.leafMarker } as const

/** A history that comes back has results for calls that got none; the real ones may be there as well, or come later. */
const isMadeUp = (message: Message.Message, place: "leaf" | "root"): boolean =>
  place === "root" && Projection.isMissingResult(message)

/** Of so many of the newest entries it is looked whether they say something already. */
const lookedBack = 50

const isSaid = ({ session }: Means, messages: ReadonlyArray<Message.Message>): boolean => {
  const items = session
    .context()
    .items()
    .slice(-lookedBack - messages.length)
  const unstamped = (message: Message.Message) => stamped(message, 0)
  const last = ChatMessages.spoken(Projection.messages({ items })).slice(-messages.length).map(unstamped)
  return messages.length > 0 && JsonDifference.of(last, messages.map(unstamped)) === undefined
}

/** Appends what is asked, and compacts where that is due. */
export const begin = Effect.fnUntraced(function* (
  means: Means,
  method: string,
  options: ChatTyping.Options,
  toolkit: Turn["toolkit"]
) {
  const named = means.named()
  yield* inSession(method, say(means, Prompt.make(options.prompt), "leaf"))
  yield* means.auto.ifDue(means.session, means.compaction)
  const turn: Turn = { means, method, toolkit, options, named, lastId: means.session.session().tree.leafId }
  return turn
})

const stamped = (message: Message.Message, timestamp: number): Message.Message =>
  message.role === "unknown" ? message : { ...message, timestamp }

const bodyOf = (message: Message.Message) => ({ type: "message" as const, message })

/** Says that from here on another model answers, where that is so. */
const modelChange = ({ named, session }: Means) => {
  const [next, last] = [named(), session.model()]
  if (next === undefined) return []
  const isSame = last?.provider === next.provider && last.modelId === next.modelId
  return isSame ? [] : [{ type: "model_change" as const, ...next }]
}

/** Appends messages on the branch of the call. */
const append = Effect.fnUntraced(function* (turn: Turn, message: Message.Message) {
  const { lastId, means, method } = turn
  const place = lastId === null ? "leaf" : { onBranchOf: lastId }
  const entries = yield* inSession(method, means.session.append([bodyOf(message)], place))
  turn.lastId = entries.at(-1)?.id ?? lastId
})

/** Keeps a reply, as it ended or as it was ended: once, and whole or not at all. */
export const keep = Effect.fnUntraced(function* (turn: Turn, reply: ChatReply.Gathered, end?: ChatReply.End) {
  const { named } = turn
  const provider = named?.provider ?? Option.getOrUndefined(yield* Effect.serviceOption(Model.ProviderName))
  const timestamp = yield* Clock.currentTimeMillis
  yield* append(turn, reply.message({ provider, model: named?.modelId }, timestamp, end))
  reply.isKept = true
}, Effect.uninterruptible)

/** Runs the calls of a reply that is kept, unless their results are to come from elsewhere. */
export const runTools = (
  turn: Turn,
  reply: ChatReply.Gathered
): Effect.Effect<ReadonlyArray<ChatTyping.Result>, unknown> => {
  const { options, toolkit } = turn
  if (toolkit === undefined || options.disableToolCallResolution === true) return Effect.succeed([])
  const run = ({ call, written }: ChatReply.Gathered["toRun"][number]) =>
    ChatTools.run(toolkit, call, written, (message) =>
      Effect.flatMap(Clock.currentTimeMillis, (timestamp) => append(turn, stamped(message, timestamp)))
    )
  return Effect.forEach(reply.toRun, run, { concurrency: options.concurrency })
}

/** The end of a turn: compacts where that is due. */
export const end = ({ means }: Turn): Effect.Effect<void> =>
  Effect.asVoid(means.auto.ifDue(means.session, means.compaction))

/** Keeps an attempt that failed; whether the request is to be made again. */
export const failed = Effect.fnUntraced(function* (
  turn: Turn,
  reply: ChatReply.Gathered,
  error: unknown,
  isRetry: boolean
) {
  const fault = yield* faultOf(error)
  const { message: errorMessage } = Fault.toError(fault, nameOf(turn.named) ?? "The model", "what it said is not kept.")
  yield* keep(turn, reply, { stopReason: "error", errorMessage })
  return Fault.kindOf(fault) === "LlmOverflow" && reply.isEmpty && (yield* makesRoom(turn, isRetry))
})

/** Keeps a reply that the provider cut off before anything was said; whether the request is to be made again. */
export const cut = Effect.fnUntraced(function* (turn: Turn, reply: ChatReply.Gathered, isRetry: boolean) {
  yield* keep(turn, reply)
  return yield* makesRoom(turn, isRetry)
})

/** Compacts after an overflow, the attempt being hidden; whether that was done. */
const makesRoom = Effect.fnUntraced(function* (turn: Turn, isRetry: boolean) {
  const { auto, compaction, session } = turn.means
  const failedEntryIds = turn.lastId === null ? [] : [turn.lastId]
  const outcome = yield* auto.onOverflow(session, { ...compaction, failedEntryIds, isRetry })
  turn.lastId = session.session().tree.leafId
  return outcome._tag === "Compacted"
})

/** What went wrong, by an error that may hold a key and is not kept. */
export const faultOf = (error: unknown): Effect.Effect<Fault.Fault> =>
  Effect.map(Clock.currentTimeMillis, (now) =>
    AiError.isAiError(error)
      ? LanguageModelParts.faultOf(error, now)
      : { codes: ["malformed"], message: "the reply is not what was expected." }
  )

/** A session's error as those expect it who call a `Chat`; the error itself is its `cause`. */
export const inSession = <A, E extends Error, R>(
  method: string,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, AiError.AiError, R> =>
  Effect.mapError(
    effect,
    (cause) => new AiError.UnknownError({ module: "SessionChat", method, description: cause.message, cause })
  )
