/**
 * Laws of whole runs: interrupted anywhere, answered by anything, forgetful
 * summarizers. Each takes the services from context, so that it holds one's
 * own store, tokenizer or summarizer to the law.
 *
 * @since 0.1.0
 */
import * as Compaction from "@cutpoint/compaction/Compaction"
import type * as CompactionErrors from "@cutpoint/compaction/CompactionErrors"
import * as Navigation from "@cutpoint/compaction/Navigation"
import * as Pinning from "@cutpoint/compaction/Pinning"
import * as SessionStore from "@cutpoint/compaction/SessionStore"
import * as Settings from "@cutpoint/compaction/Settings"
import * as Summarizer from "@cutpoint/compaction/Summarizer"
import type * as Entry from "@cutpoint/core/Entry"
import * as Message from "@cutpoint/core/Message"
import * as Projection from "@cutpoint/core/Projection"
import * as SessionTree from "@cutpoint/core/SessionTree"
import * as SummaryCheck from "@cutpoint/core/SummaryCheck"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"
import * as Scheduler from "effect/Scheduler"
import * as TestClock from "effect/TestClock"
import * as Law from "./Law.js"
import * as Steps from "./Steps.js"

/** What is under way when it is interrupted. */
export type Doing =
  | { readonly doing: "compact"; readonly keepRecentTokens: number }
  | {
      readonly doing: "navigate"
      readonly to: number
      readonly summarize: boolean
      /** A labelled move appends two entries, both or none. */
      readonly label?: string | undefined
    }

/** How an interrupted run ended. */
export type Ended = "unchanged" | "written"

const interruption =
  "Interrupting a compaction or a move at any point leaves everything unchanged, or exactly one whole entry more."

type Services = SessionStore.SessionStore | Compaction.Compaction | Navigation.Navigation

/** How many steps a run may take to end once it has been interrupted. */
const mostSteps = 1000

/**
 * Interrupts after so many steps; then the session must be as it was or have
 * one whole entry more, and be free again. A step ends where a fiber yields:
 * build the services over `yielding` ports, so that each call of a port is two.
 */
export const interruptionIsClean = (
  key: string,
  doing: Doing,
  steps: number
): Effect.Effect<Ended, unknown, Services> =>
  Effect.gen(function* () {
    const store = yield* SessionStore.SessionStore
    const before = yield* store.open(key)
    yield* interruptedAfter(carriedOut(before, doing), steps)
    const after = yield* store.open(key)
    const added = after.tree.entries.slice(before.tree.entries.length)
    yield* Law.check(() => {
      Law.same(
        interruption,
        "The entries before",
        after.tree.entries.slice(0, before.tree.entries.length),
        before.tree.entries
      )
      const whole = doing.doing === "navigate" && doing.label !== undefined ? 2 : 1
      const isWhole = added.length === 0 || added.length === whole
      Law.hold(interruption, isWhole, () => `There are ${added.length} entries more, and not ${whole}.`)
      if (added.length === 0) Law.same(interruption, "The leaf", [after.tree.leafId], [before.tree.leafId])
    })
    const again = yield* Effect.exit(carriedOut(after, doing))
    yield* Law.check(() =>
      Law.hold(interruption, !isBusy(again), () => "The session is still held after the interruption.")
    )
    return added.length === 0 ? "unchanged" : "written"
  })

const isBusy = (exit: Exit.Exit<unknown, unknown>): boolean =>
  Exit.isFailure(exit) && exit.cause._tag === "Fail" && isTagged(exit.cause.error) && exit.cause.error._tag === "Busy"

const isTagged = (value: unknown): value is { readonly _tag: string } =>
  typeof value === "object" && value !== null && "_tag" in value

const carriedOut = (session: SessionStore.Session, doing: Doing): Effect.Effect<unknown, unknown, Services> =>
  Effect.gen(function* () {
    const compaction = yield* Compaction.Compaction
    const navigation = yield* Navigation.Navigation
    if (doing.doing === "compact") return yield* compaction.compact(session.key, doing)
    const { entries } = session.tree
    const target = entries[doing.to % Math.max(1, entries.length)]
    return target === undefined ? undefined : yield* navigation.navigate(session.key, target.id, doing)
  })

/** Runs on a scheduler of its own that is stepped by hand. */
const interruptedAfter = <A, E, R>(effect: Effect.Effect<A, E, R>, steps: number): Effect.Effect<void, never, R> =>
  Effect.gen(function* () {
    const runtime = yield* Effect.runtime<R>()
    const scheduler = new Scheduler.ControlledScheduler()
    const fiber = Runtime.runFork(runtime)(effect, { scheduler })
    // What waits for the world (a file, a timer) goes on between steps.
    const step = Effect.zipRight(
      Effect.sync(() => scheduler.step()),
      Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
    )
    const stepWhile = (most: number) =>
      Effect.iterate(0, {
        while: (done) => done < most && fiber.unsafePoll() === null,
        body: (done) => Effect.as(step, done + 1)
      })
    yield* stepWhile(steps)
    yield* Fiber.interruptFork(fiber)
    const taken = yield* stepWhile(mostSteps)
    yield* Effect.orDie(
      Law.check(() => Law.hold(interruption, taken < mostSteps, () => "The run did not end after its interruption."))
    )
  })

/** A port whose methods yield before and after each call, so that a run can be interrupted there. */
const yielding = <Port extends object>(port: Port): Port =>
  new Proxy(port, {
    get: (target, name, receiver) => {
      const member: unknown = Reflect.get(target, name, receiver)
      return typeof member === "function" ? yieldingMethod(member) : member
    }
  })

const yieldingMethod =
  (method: Function) =>
  (...args: ReadonlyArray<unknown>): unknown => {
    const result: unknown = Reflect.apply(method, undefined, args)
    return Effect.isEffect(result) ? yieldingEffect(result) : result
  }

const yieldingEffect = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.zipLeft(Effect.zipRight(Effect.yieldNow(), effect), Effect.yieldNow())

/** The ports in context, each call of which yields before and after. */
export const yieldingPorts: Layer.Layer<
  SessionStore.SessionStore | Settings.Settings | Summarizer.Summarizer,
  never,
  SessionStore.SessionStore | Settings.Settings | Summarizer.Summarizer
> = Layer.mergeAll(
  Layer.effect(SessionStore.SessionStore, Effect.map(SessionStore.SessionStore, yielding)),
  Layer.effect(Settings.Settings, Effect.map(Settings.Settings, yielding)),
  Layer.effect(Summarizer.Summarizer, Effect.map(Summarizer.Summarizer, yielding))
)

const acceptance =
  "Whatever a model answers, the session is unchanged or holds an accepted summary, within the requests announced."

/** How a run that a model answered ended. */
export type Answered = "unchanged" | "written"

/**
 * Compacts by a scripted model, on a test clock; then the session must be as
 * it was, or hold a summary in the form asked for, and no more requests may
 * have been made than were announced.
 */
export const onlyAcceptedIsWritten = (
  key: string,
  options: Compaction.Options,
  requestsMade: Effect.Effect<number>
): Effect.Effect<Answered, unknown, Services> =>
  Effect.gen(function* () {
    const store = yield* SessionStore.SessionStore
    const compaction = yield* Compaction.Compaction
    const before = yield* store.open(key)
    const { plan } = yield* compaction.prepare(key, options)
    const exit = yield* onTestClock(compaction.compact(key, options))
    const after = yield* store.open(key)
    const made = yield* requestsMade
    yield* Law.check(() => {
      Law.hold(
        acceptance,
        made <= plan.mostRequests,
        () => `${made} requests were made, ${plan.mostRequests} announced.`
      )
      const added = after.tree.entries.slice(before.tree.entries.length)
      if (Exit.isSuccess(exit) && exit.value._tag === "Compacted") isAccepted(added)
      else Law.same(acceptance, "The entries", after.tree.entries, before.tree.entries)
    })
    return after.tree.entries.length === before.tree.entries.length ? "unchanged" : "written"
  })

const isAccepted = (added: ReadonlyArray<Entry.Entry>): void => {
  const [entry] = added
  Law.hold(acceptance, added.length === 1 && entry?.type === "compaction", () => `Added were ${Law.shown(added)}.`)
  if (entry?.type !== "compaction") return
  // A split turn that is all there is to summarize has no history beside it.
  const kinds = ["history", "turnPrefix"] as const
  const hasForm = kinds.some((kind) =>
    Option.isNone(SummaryCheck.reply(entry.summary, "stop", SummaryCheck.requiredSections(kind)))
  )
  Law.hold(acceptance, hasForm, () => `Stored was ${Law.shown(entry.summary)}.`)
}

/** How many turns a run is given to end by itself before time passes: most need no time, and a test clock's is slow. */
const turns = 2000

/** Lets time pass until it has ended. */
const onTestClock = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<Exit.Exit<A, E>, never, R> =>
  Effect.gen(function* () {
    const fiber = yield* Effect.fork(effect)
    const hasEnded = Effect.map(Fiber.poll(fiber), Option.isSome)
    while (!(yield* hasEnded)) {
      for (let turn = 0; turn < turns && !(yield* hasEnded); turn++) yield* Effect.yieldNow()
      if (!(yield* hasEnded)) yield* TestClock.adjust("10 minutes")
    }
    return yield* Fiber.await(fiber)
  })

/** What happens to a session with pins. */
export type PinAction =
  | { readonly action: "turn"; readonly steps: ReadonlyArray<Steps.Step> }
  | { readonly action: "compact"; readonly keepRecentTokens: number }
  | { readonly action: "pinText"; readonly text: string }
  | { readonly action: "pinEntry"; readonly entry: number }
  | { readonly action: "unpin"; readonly pin: number }

const pinning = "After any number of compactions, every live pin's text is in the context, word for word."

/** Runs the actions, and looks after each compaction whether every live pin is there. Gives how many compactions there were. */
export const pinsSurvive = (
  key: string,
  actions: ReadonlyArray<PinAction>
): Effect.Effect<number, unknown, Services | Pinning.Pinning> =>
  Effect.gen(function* () {
    const store = yield* SessionStore.SessionStore
    const pins = yield* Pinning.Pinning
    let compactions = 0
    for (const action of actions) {
      const did = yield* act(yield* store.open(key), action)
      if (did !== "compacted") continue
      compactions++
      const live = yield* pins.list(key)
      const context = contextText(yield* store.open(key))
      yield* Law.check(() => {
        for (const { text } of live) Law.hold(pinning, context.includes(text), () => `Missing is ${Law.shown(text)}.`)
      })
    }
    return compactions
  })

const act = Effect.fnUntraced(function* (session: SessionStore.Session, action: PinAction) {
  const store = yield* SessionStore.SessionStore
  const pins = yield* Pinning.Pinning
  const compaction = yield* Compaction.Compaction
  switch (action.action) {
    case "turn": {
      const [first, ...rest] = Steps.run(action.steps, session.tree)
      if (first !== undefined) yield* store.append(session, [first, ...rest])
      return "other"
    }
    case "compact":
      return yield* compaction.compact(session.key, action).pipe(
        Effect.map(({ _tag }) => (_tag === "Compacted" ? "compacted" : "other")),
        // Too little to summarize beside the pins, or nothing at all: nothing was written.
        Effect.catchTags({ SummaryRejected: () => other, CannotShrink: () => other })
      )
    case "pinText":
      return yield* Effect.zipRight(ignoring(pins.pinText(session.key, action.text)), other)
    case "pinEntry": {
      const path = SessionTree.leafPath(session.tree)
      const target = path[action.entry % Math.max(1, path.length)]
      return target === undefined
        ? "other"
        : yield* Effect.zipRight(ignoring(pins.pinEntries(session.key, [target.id])), other)
    }
    case "unpin": {
      const live = yield* pins.list(session.key)
      const pin = live[action.pin % Math.max(1, live.length)]
      if (pin !== undefined) yield* pins.unpin(session.key, [pin.id])
      return "other"
    }
  }
})

const other = Effect.succeed("other" as const)

/** An entry or a text with nothing in it cannot be pinned, and changes nothing. */
const ignoring = <A, E>(effect: Effect.Effect<A, E | CompactionErrors.NothingToPin>): Effect.Effect<void, E> =>
  Effect.asVoid(
    Effect.catchIf(
      effect,
      (error): error is CompactionErrors.NothingToPin => isTagged(error) && error._tag === "NothingToPin",
      () => Effect.void
    )
  )

const contextText = ({ tree }: SessionStore.Session): string =>
  Projection.messages(Projection.project(SessionTree.leafPath(tree)))
    .map((message) => {
      if (message.role === "branchSummary" || message.role === "compactionSummary") return message.summary
      return "content" in message ? Message.texts(message.content).join("\n") : ""
    })
    .join("\n\n")
