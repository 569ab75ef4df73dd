/**
 * A chat over any `LanguageModel` of `@effect/ai` whose history is a session:
 * every message is stored as it happens, and when the context gets too large it
 * is compacted. It reads as `Chat` of `@effect/ai` does; a program moves from
 * one to the other by the line that makes the chat.
 *
 * What differs. Tools run when the reply is complete and stored, so that their
 * results come last, before a stream's finish. A reply that is interrupted or
 * breaks off is kept as far as it came. An error of the session comes as an
 * `UnknownError`, with the error itself as its `cause`.
 *
 * @since 0.1.0
 */
import * as AutoCompaction from "@cutpoint/compaction/AutoCompaction"
import * as Compaction from "@cutpoint/compaction/Compaction"
import { Busy } from "@cutpoint/compaction/CompactionErrors"
import * as Navigation from "@cutpoint/compaction/Navigation"
import * as SessionStore from "@cutpoint/compaction/SessionStore"
import * as AiError from "@effect/ai/AiError"
import type * as Chat from "@effect/ai/Chat"
import type * as LanguageModel from "@effect/ai/LanguageModel"
import * as Prompt from "@effect/ai/Prompt"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { ParseError } from "effect/ParseResult"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import * as ChatMessages from "./ChatMessages.js"
import * as ChatReplies from "./ChatReplies.js"
import * as ChatSpan from "./ChatSpan.js"
import * as ChatTools from "./ChatTools.js"
import * as ChatTurn from "./ChatTurn.js"
import * as ChatTyping from "./ChatTyping.js"

/** How a chat is held. */
export interface Options {
  /**
   * `provider/model`: whose window and settings hold, and what replies are
   * stored under. Where it is left out, the provider is the one that the model's
   * layer names, and the model the one that the reply names.
   */
  readonly model?: string | undefined
  /** How the session is compacted; what is left out comes from the settings. */
  readonly compaction?: AutoCompaction.Options | undefined
}

/** How a new session is held. */
export interface NewOptions extends Options {
  /** The folder that the session belongs to; `.` where left out. */
  readonly cwd?: string | undefined
}

/**
 * A chat whose history is a session. `history` is what the model would be sent.
 * Setting it begins a new branch that holds what was set; what was before stays
 * in the session. One call is made at a time.
 */
export interface Service extends Chat.Service {
  /** What the store opens the session by. */
  readonly key: string
  /** The session as this chat last read or wrote it. */
  readonly session: Effect.Effect<SessionStore.Session>
  /** From the next call on, another model (`provider/model`) replies: its window holds. */
  readonly changeModel: (model: string) => Effect.Effect<void>
  /** Compacts the session now, as `Compaction` does; waits for a call that is under way. */
  readonly compact: (
    options?: Compaction.Options
  ) => Effect.Effect<Compaction.Compacted | Compaction.NotCompacted, Compaction.CompactError>
  /**
   * Goes to another entry, with a summary of what is left behind where one is
   * wanted. `Busy` while a call or a compaction is under way.
   */
  readonly navigate: (
    targetId: string,
    options?: Navigation.Options
  ) => Effect.Effect<Navigation.Navigated, Navigation.NavigateError>
}

/** What a chat works with. */
export type Services =
  | AutoCompaction.AutoCompaction
  | Compaction.Compaction
  | Navigation.Navigation
  | SessionStore.SessionStore

/** A chat in a new session. */
export const make = Effect.fnUntraced(function* (
  options: NewOptions = {}
): Effect.fn.Return<Service, SessionStore.AppendError, Services> {
  return yield* fromPrompt(Prompt.empty, options)
})

/** A chat in a new session of the current folder; in place of `Chat.empty`. */
export const empty: Effect.Effect<Service, SessionStore.AppendError, Services> = Effect.suspend(() => make())

/** A chat in a new session that begins with a prompt; in place of `Chat.fromPrompt`. */
export const fromPrompt = Effect.fnUntraced(function* (
  prompt: Prompt.RawInput,
  options: NewOptions = {}
): Effect.fn.Return<Service, SessionStore.AppendError, Services> {
  const store = yield* SessionStore.SessionStore
  const { key } = yield* store.create({ cwd: options.cwd ?? "." })
  return yield* over(key, options, Prompt.make(prompt))
})

/** A chat in a new session that begins with what `export` gave; in place of `Chat.fromExport`. */
export const fromExport = (
  data: unknown,
  options: NewOptions = {}
): Effect.Effect<Service, ParseError | SessionStore.AppendError, Services> =>
  Effect.flatMap(Schema.decodeUnknown(Prompt.Prompt)(data), (prompt) => fromPrompt(prompt, options))

/** A chat in a new session that begins with what `exportJson` gave; in place of `Chat.fromJson`. */
export const fromJson = (
  data: string,
  options: NewOptions = {}
): Effect.Effect<Service, ParseError | SessionStore.AppendError, Services> =>
  Effect.flatMap(Schema.decode(Prompt.FromJson)(data), (prompt) => fromPrompt(prompt, options))

/** The chat of a session that is there: by its key, its id, or the start of its id. */
export const resume = Effect.fnUntraced(function* (
  query: string,
  options: Options = {}
): Effect.fn.Return<Service, SessionStore.AmbiguousSession | SessionStore.AppendError, Services> {
  const store = yield* SessionStore.SessionStore
  return yield* over(yield* store.find(query), options, Prompt.empty)
})

/** A chat, seen from inside. */
interface Chatting {
  readonly means: ChatTurn.Means
  readonly history: Ref.Ref<Prompt.Prompt>
  /** What `history` was last set to here, and the model that was named. */
  readonly held: { history: Prompt.Prompt; model: string | undefined }
  readonly oneAtATime: Effect.Semaphore
  /** What was there when the chat was made, for tools that need it. */
  readonly context: Context.Context<never>
}

const over = Effect.fnUntraced(function* (key: string, { compaction = {}, model }: Options, prompt: Prompt.Prompt) {
  const auto = yield* AutoCompaction.AutoCompaction
  const session = yield* auto.open(key)
  const held = { history: Prompt.empty, model }
  const chatting: Chatting = {
    means: { auto, session, compaction, named: () => namedBy(held.model) },
    history: yield* Ref.make(Prompt.empty),
    held,
    oneAtATime: yield* Effect.makeSemaphore(1),
    context: yield* Effect.context<never>()
  }
  if (prompt.content.length > 0) yield* ChatTurn.say(chatting.means, prompt, "leaf")
  yield* show(chatting)
  const { history } = chatting
  const chat: Service = {
    ...callsOf(chatting),
    ...(yield* changesOf(chatting)),
    history,
    export: exported("export", Ref.get(history)),
    exportJson: Effect.map(exported("exportJson", Ref.get(history)), (prompt) => JSON.stringify(prompt)),
    key: session.key,
    session: Effect.sync(() => session.session())
  }
  return chat
})

/** Sets `history` to what the session is now, unless somebody has set it meanwhile. */
const show = ({ held, history, means }: Chatting): Effect.Effect<void> =>
  Ref.update(history, (now) => {
    if (now !== held.history) return now
    held.history = ChatTurn.contextOf(means.session)
    return held.history
  })

/** What `history` was set to becomes a branch; where nobody has set it, what others wrote is read. */
const settle = ({ held, history, means }: Chatting) =>
  Effect.flatMap(Ref.get(history), (now) =>
    now === held.history
      ? means.session.refresh
      : Effect.map(ChatTurn.say(means, now, "root"), () => void (held.history = now))
  )

const begin = Effect.fnUntraced(function* (chatting: Chatting, method: string, options: ChatTyping.Options) {
  const toolkit = yield* ChatTools.toolkitOf(options)
  yield* ChatTurn.inSession(method, settle(chatting))
  return yield* ChatTurn.begin(chatting.means, method, options, toolkit)
})

const callsOf = (chatting: Chatting): Pick<Chat.Service, keyof ChatTyping.Calls> => {
  const { context, oneAtATime } = chatting
  const inTurn = <A, E, R>(method: string, call: Effect.Effect<A, E, R>) =>
    oneAtATime
      .withPermits(1)(Effect.ensuring(call, show(chatting)))
      .pipe(
        Effect.mapInputContext((input: Context.Context<R>) => Context.merge(context, input)),
        ChatSpan.around(`SessionChat.${method}`)
      )
  return ChatTyping.typed({
    generateText: (options) =>
      inTurn("generateText", Effect.flatMap(begin(chatting, "generateText", options), ChatReplies.text)),
    generateObject: (options) =>
      inTurn(
        "generateObject",
        Effect.flatMap(begin(chatting, "generateObject", options), (turn) => ChatReplies.object(turn, options))
      ),
    streamText: (options) =>
      Stream.unwrapScoped(
        Effect.gen(function* () {
          const span = yield* ChatSpan.scoped("SessionChat.streamText")
          yield* scopedPermit(oneAtATime, show(chatting))
          const begun = Effect.flatMap(begin(chatting, "streamText", options), ChatReplies.stream)
          return Stream.provideService(yield* Effect.withParentSpan(begun, span), Tracer.ParentSpan, span)
        })
      ).pipe(
        Stream.mapInputContext((input: Context.Context<LanguageModel.LanguageModel>) => Context.merge(context, input))
      )
  })
}

/** What is done to the session as a whole; a call that comes later sees it. */
const changesOf = Effect.fnUntraced(function* (chatting: Chatting) {
  const navigation = yield* Navigation.Navigation
  const { compact } = yield* Compaction.Compaction
  const { held, means, oneAtATime } = chatting
  const { compaction, session } = means
  const between = <A, E, R>(change: Effect.Effect<A, E, R>) =>
    settle(chatting).pipe(Effect.zipRight(change), Effect.zipLeft(session.refresh), Effect.ensuring(show(chatting)))
  const changes: Pick<Service, "changeModel" | "compact" | "navigate"> = {
    changeModel: (model) => Effect.sync(() => void (held.model = model)),
    compact: Effect.fn("SessionChat.compact")((options) =>
      oneAtATime.withPermits(1)(
        between(compact(session.key, { model: ChatTurn.nameOf(means.named()), ...compaction, ...options }))
      )
    ),
    navigate: Effect.fn("SessionChat.navigate")(function* (targetId, options) {
      const going = between(navigation.navigate(session.key, targetId, options))
      const done = yield* oneAtATime.withPermitsIfAvailable(1)(going)
      return yield* Option.match(done, { onNone: () => new Busy({ session: session.key }), onSome: Effect.succeed })
    })
  }
  return changes
})

/** The one permit for as long as the scope lasts; waiting for it can be interrupted. */
const scopedPermit = (oneAtATime: Effect.Semaphore, before: Effect.Effect<void>) =>
  Effect.uninterruptibleMask((restore) =>
    Effect.zipRight(
      restore(oneAtATime.take(1)),
      Effect.addFinalizer(() => Effect.zipRight(before, oneAtATime.release(1)))
    )
  )

const namedBy = (model: string | undefined) => {
  const [, provider, modelId] = /^([^/]+)\/(.+)$/s.exec(model ?? "") ?? []
  return provider === undefined || modelId === undefined ? undefined : { provider, modelId }
}

const exported = (
  method: string,
  history: Effect.Effect<Prompt.Prompt>
): Effect.Effect<typeof Prompt.Prompt.Encoded, AiError.MalformedOutput> =>
  Effect.flatMap(history, (prompt) =>
    Effect.map(Schema.encode(Prompt.Prompt)(prompt), (encoded) => ChatMessages.toJson(prompt, encoded))
  ).pipe(
    Effect.mapError((error) =>
      AiError.MalformedOutput.fromParseError({
        module: "SessionChat",
        method,
        description: "The history has something in it that JSON cannot say; it was not exported.",
        error
      })
    ),
    Effect.withSpan(`SessionChat.${method}`)
  )
