import * as SessionChat from "@cutpoint/ai/SessionChat"
import type * as Settings from "@cutpoint/compaction/Settings"
import * as Summarizer from "@cutpoint/compaction/Summarizer"
import * as SummaryProgress from "@cutpoint/compaction/SummaryProgress"
import * as PromptLaws from "@cutpoint/testing/PromptLaws"
import * as Model from "@cutpoint/testing/ScriptedLanguageModel"
import * as ScriptedLlm from "@cutpoint/testing/ScriptedLlm"
import type * as LanguageModel from "@effect/ai/LanguageModel"
import * as Prompt from "@effect/ai/Prompt"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/TestClock"
import * as TestContext from "effect/TestContext"
import { describe, expect, it } from "vitest"
import { inMemory, onFiles, said, sizes, stored, Tools } from "./services.js"

const turns = 300
const window = 16_000

/** How many agents there are of each kind. */
const agents = Number(process.env.CUTPOINT_AGENTS ?? 1)

const seed = Number(process.env.CUTPOINT_SEED ?? FastCheck.sample(FastCheck.noBias(FastCheck.nat()), 1)[0])

console.log(`CUTPOINT_SEED=${seed}`)

/** What may go wrong on the way. */
interface Weather {
  /** How often a provider says that the request is too large, whatever its size. */
  readonly overflows?: number
  /** How often a call is interrupted, wherever it has come to. */
  readonly interruptions?: number
  /** Whether the chat is made anew from the store after each turn. */
  readonly isResumed?: boolean
}

/** Chance that can be had again: mulberry32. */
const chances = (seed: number) => {
  let state = seed
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
  return { hit: (chance: number) => next() < chance, below: (most: number) => Math.floor(next() * most) }
}

type Chances = ReturnType<typeof chances>

const words = (tokens: number): string => "some".repeat(tokens)

/** An agent of many turns with tools, under the weather, and what is seen of it. */
const agent = ({ interruptions = 0, isResumed = false, overflows = 0 }: Weather, seed: number) =>
  Effect.gen(function* () {
    const chance = chances(seed)
    const pauses = pausing(chance, interruptions)
    const model = modelOf(chance, overflows, pauses)
    const tools = Tools.toLayer({
      look: ({ at }) => Effect.as(pauses.point, { found: `${at} ${words(chance.below(700))}` })
    })
    let chat = yield* SessionChat.empty
    const completed: Array<string> = []
    for (let turn = 0; turn < turns; turn++) {
      // What a provider's refusal held up for a while may be tried again.
      yield* TestClock.adjust("1 hour")
      const request = `REQ-${turn}.`
      const ended = yield* pauses.within(
        Effect.either(oneTurn(chat, `${request} ${words(chance.below(500))}`, chance)).pipe(
          Effect.provide(Layer.merge(model.layer, tools)),
          Effect.provideService(SummaryProgress.SummaryProgress, { report: () => pauses.point })
        )
      )
      if (ended) completed.push(request)
      if (isResumed) chat = yield* SessionChat.resume(chat.key)
    }
    yield* Effect.either(chat.generateText({ prompt: "the end" })).pipe(Effect.provide(model.layer))
    return { asked: model.requests, completed, session: yield* stored(chat.key), last: yield* chat.history }
  })

/** Asks, and goes on as long as tools are called. */
const oneTurn = (
  chat: SessionChat.Service,
  prompt: string,
  chance: Chances
): Effect.Effect<
  void,
  unknown,
  LanguageModel.LanguageModel | (typeof Tools extends Effect.Effect<unknown, unknown, infer R> ? R : never)
> =>
  Effect.gen(function* () {
    let next: Prompt.RawInput = prompt
    for (let step = 0; step < 5; step++) {
      let calls = 0
      if (chance.hit(0.5)) {
        const parts = chat.streamText({ prompt: next, toolkit: Tools })
        yield* Stream.runForEach(parts, (part) => Effect.sync(() => (calls += part.type === "tool-call" ? 1 : 0)))
      } else {
        calls = (yield* chat.generateText({ prompt: next, toolkit: Tools, concurrency: 2 })).toolCalls.length
      }
      if (calls === 0) return
      next = Prompt.empty
    }
  })

const modelOf = (chance: Chances, overflows: number, { point }: Pausing) => {
  let calls = 0
  return Model.make({
    window,
    before: () => point,
    reply: () => {
      if (chance.hit(overflows)) return Model.tooLarge(window + 1, window)
      const text = Model.text(words(1 + chance.below(200)))
      const asks = Array.from({ length: chance.hit(0.5) ? 1 + chance.below(3) : 0 }, () =>
        Model.call(`call-${calls++}`, "look", { at: words(chance.below(30)) })
      )
      return Effect.as(point, [text, ...asks])
    }
  })
}

interface Pausing {
  /** Where a call may be interrupted. */
  readonly point: Effect.Effect<void>
  /** Runs to the end, or to where it is interrupted; whether it came to its end. */
  readonly within: <A, E, R>(run: Effect.Effect<A, E, R>) => Effect.Effect<boolean, E, R>
}

/** Interrupts a run at one of the points it comes by, chosen by chance. */
const pausing = (chance: Chances, interruptions: number): Pausing => {
  let left = Infinity
  let reached = Deferred.unsafeMake<void>(Fiber.id(Fiber.void))
  return {
    point: Effect.suspend(() =>
      left-- > 0 ? Effect.void : Effect.zipRight(Deferred.succeed(reached, undefined), Effect.never)
    ),
    within: (run) =>
      Effect.gen(function* () {
        left = chance.hit(interruptions) ? chance.below(8) : Infinity
        reached = yield* Deferred.make<void>()
        const running = yield* Effect.fork(run)
        const ended = yield* Effect.raceFirst(
          Effect.as(Fiber.join(running), true),
          Effect.as(Deferred.await(reached), false)
        )
        yield* Fiber.interrupt(running)
        left = Infinity
        return ended
      })
  }
}

type Ended = Effect.Effect.Success<ReturnType<typeof agent>>

const check = ({ asked, completed, last, session }: Ended, summaries: number, weather: Weather): void => {
  for (const { prompt } of asked) {
    PromptLaws.fits(prompt, window)
    PromptLaws.pairsAreWhole(prompt)
    PromptLaws.nothingIsEmpty(prompt)
  }
  // A turn has five steps at most, and each is asked once more at most.
  expect(asked.length).toBeLessThanOrEqual(turns * 5 * 2)
  const spoken = session.tree.entries.length * 350
  const refusals = asked.length * (weather.overflows ?? 0) * 3
  expect(summaries).toBeGreaterThan(10)
  expect(summaries).toBeLessThanOrEqual(20 + spoken / 2000 + refusals)
  expect(session.diagnostics).toEqual([])
  // Every request that was stored, in the context or in its summary: what the model is sent names them all.
  const sent = JSON.stringify(last)
  const kept = session.tree.entries.flatMap((entry) =>
    entry.type === "message" && entry.message.role === "user"
      ? (JSON.stringify(entry.message.content).match(/REQ-\d+\./g) ?? [])
      : []
  )
  expect(new Set(kept).size).toBe(kept.length)
  expect(kept).toEqual(expect.arrayContaining(completed))
  expect(kept.filter((request) => !sent.includes(request))).toEqual([])
  expect(said(session).length).toBeGreaterThan(0)
}

const held = (name: string, weather: Weather, services: typeof inMemory) =>
  it(name, { timeout: 600_000 }, () =>
    FastCheck.assert(
      FastCheck.asyncProperty(FastCheck.nat(), async (seed) => {
        const summarizer = await Effect.runPromise(ScriptedLlm.make({ reply: ScriptedLlm.carriesOver(/REQ-\d+\./g) }))
        const settings: Settings.Given = sizes
        const layer = services(settings, Summarizer.layerLlm.pipe(Layer.provide(summarizer.layer)))
        const ended = await Effect.runPromise(
          Effect.either(agent(weather, seed)).pipe(Effect.provide(layer), Effect.provide(TestContext.TestContext))
        )
        const summaries = await Effect.runPromise(summarizer.requests)
        check(Either.getOrThrow(ended), summaries.length, weather)
      }),
      { numRuns: agents, seed, endOnFailure: true }
    )
  )

describe(`an agent of ${turns} turns with tools in a window of ${window} tokens`, () => {
  held("goes on", {}, inMemory)
  held("goes on, resumed from its file after each turn", { isResumed: true }, onFiles)
  held("goes on, with overflow errors at random", { overflows: 0.1 }, inMemory)
  held("goes on, with overflow errors at random, resumed after each", { overflows: 0.1, isResumed: true }, onFiles)
  held("goes on, interrupted at random", { interruptions: 0.3 }, inMemory)
  held("goes on, interrupted at random, resumed after each", { interruptions: 0.3, isResumed: true }, onFiles)
  held("goes on, with all of it at once", { overflows: 0.1, interruptions: 0.3, isResumed: true }, onFiles)
})
