import * as Compaction from "@cutpoint/compaction/Compaction"
import * as Llm from "@cutpoint/compaction/Llm"
import * as Navigation from "@cutpoint/compaction/Navigation"
import * as Pinning from "@cutpoint/compaction/Pinning"
import * as SessionStore from "@cutpoint/compaction/SessionStore"
import * as Settings from "@cutpoint/compaction/Settings"
import * as Summarizer from "@cutpoint/compaction/Summarizer"
import * as Tokenizer from "@cutpoint/compaction/Tokenizer"
import type * as Entry from "@cutpoint/core/Entry"
import * as SummaryFormat from "@cutpoint/core/SummaryFormat"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Layer from "effect/Layer"
import * as TestContext from "effect/TestContext"
import { expect, it } from "vitest"
import * as RunLaws from "../src/RunLaws.js"
import * as ScriptedLlm from "../src/ScriptedLlm.js"
import * as Sessions from "../src/Sessions.js"
import { calling, result, runs, seed, session, user } from "./laws.js"

const header: Entry.Header = { type: "session", version: 3, id: "s", cwd: "/work" }

const talk = session(
  user("first ".repeat(200)),
  calling("a"),
  result("a", "found ".repeat(200)),
  user("second ".repeat(200)),
  calling("b"),
  result("b", "more ".repeat(200)),
  user("third")
)

const ports = (entries: ReadonlyArray<Entry.Entry>, llm: ScriptedLlm.ScriptedLlm, settings: Settings.Given = {}) => {
  const tokenizer = Tokenizer.layerHeuristic
  const summarizer = Layer.provide(Summarizer.layerLlm, Layer.merge(llm.layer, tokenizer))
  const store = SessionStore.layerMemory([{ header, entries }])
  return Layer.mergeAll(summarizer, store, tokenizer, Settings.layerMemory(settings))
}

const useCases = Layer.mergeAll(Compaction.layer, Navigation.layer)

const asserted = <Given>(
  arbitrary: FastCheck.Arbitrary<Given>,
  check: (given: Given) => Promise<void>,
  numRuns = runs
): Promise<void> => FastCheck.assert(FastCheck.asyncProperty(arbitrary, check), { numRuns, seed })

const doing: FastCheck.Arbitrary<RunLaws.Doing> = FastCheck.oneof(
  FastCheck.record({
    doing: FastCheck.constant("compact" as const),
    keepRecentTokens: FastCheck.constantFrom(0, 100, 400)
  }),
  FastCheck.record({
    doing: FastCheck.constant("navigate" as const),
    to: FastCheck.nat(6),
    summarize: FastCheck.boolean(),
    label: FastCheck.constantFrom(undefined, "here")
  })
)

/** Every call of a port is a place to be interrupted at. */
const stepped = (entries: ReadonlyArray<Entry.Entry>, llm: ScriptedLlm.ScriptedLlm) =>
  useCases.pipe(Layer.provideMerge(Layer.provideMerge(RunLaws.yieldingPorts, ports(entries, llm))))

it("interrupting at any point leaves everything unchanged, or one whole entry more", async () => {
  const ended = { unchanged: 0, written: 0 }
  await asserted(FastCheck.tuple(doing, FastCheck.nat(40)), async ([what, steps]) => {
    const program = Effect.gen(function* () {
      const llm = yield* ScriptedLlm.make({ reply: (asked) => ScriptedLlm.says(ScriptedLlm.summaryFor(asked)) })
      return yield* Effect.provide(RunLaws.interruptionIsClean("s", what, steps), stepped(talk, llm))
    })
    ended[await Effect.runPromise(program)]++
  })
  // Neither outcome is there by chance only.
  expect(Math.min(ended.unchanged, ended.written)).toBeGreaterThan(runs / 20)
})

const model = "scripted/model"
const detail = "scripted."
const usage = { totalTokens: 3 }

/** What a model may do, by name, so that a counterexample can be read. */
const replies = {
  good: (asked: Llm.Request) => ScriptedLlm.says(ScriptedLlm.summaryFor(asked), { usage }),
  blank: () => ScriptedLlm.says(" \n", { usage }),
  thinking: () => ScriptedLlm.says("", { thinking: "hm", usage }),
  cutOff: (asked: Llm.Request) => ScriptedLlm.says(ScriptedLlm.summaryFor(asked), { stopReason: "length", usage }),
  toolCall: () => ScriptedLlm.says("", { stopReason: "toolUse" }),
  refusal: () => ScriptedLlm.says("I can't help with that.", { usage }),
  refused: () => ScriptedLlm.says("", { stopReason: "refusal" }),
  long: (asked: Llm.Request) => ScriptedLlm.says(ScriptedLlm.summaryFor(asked, ["long ".repeat(2000)]), { usage }),
  overflow: () => ScriptedLlm.fails(new Llm.LlmOverflow({ model, detail })),
  limited: () => ScriptedLlm.fails(new Llm.LlmRateLimited({ model, detail, retryAfter: 5000 })),
  down: () => ScriptedLlm.fails(new Llm.LlmUnavailable({ model, detail })),
  auth: () => ScriptedLlm.fails(new Llm.LlmAuth({ model, detail })),
  broken: () => ScriptedLlm.breaksOff("## Goal"),
  hangs: () => ScriptedLlm.hangs("## Goal"),
  slow: (asked: Llm.Request) => ScriptedLlm.says(ScriptedLlm.summaryFor(asked), { delay: "1 second" })
}

const names: ReadonlyArray<keyof typeof replies> = [
  "good",
  "blank",
  "thinking",
  "cutOff",
  "toolCall",
  "refusal",
  "refused",
  "long",
  "overflow",
  "limited",
  "down",
  "auth",
  "broken",
  "hangs",
  "slow"
]

it("whatever a model answers, only an accepted summary is written, within the requests announced", async () => {
  const ended = { unchanged: 0, written: 0 }
  const script = FastCheck.array(FastCheck.constantFrom(...names), { minLength: 1, maxLength: 8 })
  const given = FastCheck.record({
    script,
    onRejected: FastCheck.constantFrom("fail" as const, "offline" as const),
    keepRecentTokens: FastCheck.constantFrom(0, 100, 400),
    contextWindow: FastCheck.constantFrom(200_000, 4000)
  })
  await asserted(given, async ({ contextWindow, keepRecentTokens, onRejected, script }) => {
    const program = Effect.gen(function* () {
      const llm = yield* ScriptedLlm.make({
        contextWindow,
        reply: (asked, index) => replies[script[Math.min(index, script.length - 1)] ?? "good"](asked)
      })
      const made = Effect.map(llm.requests, (requests) => requests.length)
      const layer = Layer.provideMerge(useCases, ports(talk, llm, { cutpoint: { onRejected } }))
      return yield* Effect.provide(RunLaws.onlyAcceptedIsWritten("s", { keepRecentTokens }, made), layer)
    })
    ended[await Effect.runPromise(Effect.provide(program, TestContext.TestContext))]++
  })
  expect(Math.min(ended.unchanged, ended.written)).toBeGreaterThan(runs / 20)
})

/** Answers the bare form: what is still there afterwards was put there. */
const forgetful = Layer.succeed(Summarizer.Summarizer, {
  name: "forgetful/model",
  plan: () => ({ requests: 1, mostRequests: 1, inputTokens: 0 }),
  summarize: ({ kind }) =>
    Effect.succeed({
      text:
        kind === "turnPrefix"
          ? SummaryFormat.printTurnPrefix({ asked: [], doneSoFar: [], needed: [] })
          : SummaryFormat.print(SummaryFormat.empty),
      writer: "forgetful/model",
      usage: undefined,
      requests: 1
    })
})

const pinActions: FastCheck.Arbitrary<ReadonlyArray<RunLaws.PinAction>> = FastCheck.array(
  FastCheck.oneof(
    { weight: 4, arbitrary: FastCheck.record({ action: FastCheck.constant("turn" as const), steps: Sessions.turn }) },
    {
      weight: 3,
      arbitrary: FastCheck.record({
        action: FastCheck.constant("compact" as const),
        keepRecentTokens: FastCheck.constantFrom(0, 20, 200)
      })
    },
    { weight: 1, arbitrary: FastCheck.record({ action: FastCheck.constant("pinText" as const), text: Sessions.text }) },
    {
      weight: 2,
      arbitrary: FastCheck.record({ action: FastCheck.constant("pinEntry" as const), entry: FastCheck.nat(40) })
    },
    { weight: 1, arbitrary: FastCheck.record({ action: FastCheck.constant("unpin" as const), pin: FastCheck.nat(5) }) }
  ),
  { maxLength: 14, size: "max" }
)

it("every live pin's text is in the context after any number of compactions", async () => {
  let compactions = 0
  await asserted(pinActions, async (actions) => {
    const layer = Layer.mergeAll(Compaction.layer, Navigation.layer, Pinning.layer).pipe(
      Layer.provideMerge(
        Layer.mergeAll(
          forgetful,
          SessionStore.layerMemory([{ header, entries: talk }]),
          Tokenizer.layerHeuristic,
          Settings.layerMemory()
        )
      )
    )
    compactions += await Effect.runPromise(Effect.provide(RunLaws.pinsSurvive("s", actions), layer))
  })
  expect(compactions).toBeGreaterThan(runs / 4)
})
