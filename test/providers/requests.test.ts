/** What providers are sent, and how long they are left alone: over a real HTTP server, by what it received. */
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { describe } from "vitest"
import { failing, good, scriptOf } from "./outcomes.js"
import { compactBy, compactingBy, now } from "./run.js"
import type { Answer, Script } from "./server.js"
import { type Failure, jsonAnswer, type Wire } from "./wire.js"
import { wires } from "./wires/index.js"

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

const goodScript =
  (wire: Wire): Script =>
  (received) =>
    good(wire, wire.sent(received).prompt)

/** The output limits that the catalogue has of the models asked here, in tokens. */
const outputLimits: { readonly [provider: string]: number } = {
  anthropic: 64_000,
  openai: 128_000,
  google: 65_536,
  openrouter: 64_000,
  "openai-compatible": 8192,
  "amazon-bedrock": 64_000
}

const providerOf = ({ name }: Wire): string => name.split("/", 1)[0] ?? ""

/** The places where the routing id goes; Google has none. */
const hasPlaceForId = (wire: Wire): boolean => providerOf(wire) !== "google"

describe.each(wires)("a request to $name", (wire) => {
  it.effect("has the prompts in their places, the output limit, a routing id, and nothing that it need not have", () =>
    Effect.gen(function* () {
      const ran = yield* compactBy(wire, goodScript(wire), { key: "k-123", instructions: "mind the ports" }).pipe(
        // A trace that is under way is none of a provider's business.
        Effect.withSpan("a user's own")
      )
      expect(Exit.isSuccess(ran.exit)).toBe(true)
      const [received] = ran.received
      if (received === undefined) return expect.fail("Nothing was sent.")
      const sent = wire.sent(received)
      expect(sent.system).toContain("You write hand-over notes for coding agents.")
      expect(sent.prompt).toMatch(/^<conversation>\n\[User\]: FACT-0 [\s\S]*\n<\/conversation>\n/)
      expect(sent.prompt).toContain("mind the ports")
      expect(sent.prompt).not.toContain("You write hand-over notes")
      expect(sent.maxOutputTokens).toBe(outputLimits[providerOf(wire)])
      expect(wire.name).toBe(`${providerOf(wire)}/${sent.model}`)
      if (sent.key !== undefined) expect(sent.key).toBe("k-123")
      if (hasPlaceForId(wire)) expect(sent.routingId).toMatch(uuid)
      const body = JSON.stringify(received.body)
      for (const field of [
        "tools",
        "tool_choice",
        "toolConfig",
        "cache_control",
        "cachePoint",
        "cachedContent",
        "functions"
      ]) {
        expect(body).not.toContain(`"${field}"`)
      }
      expect(Object.keys(received.headers).filter((name) => /trace|^b3$|^x-b3|baggage/.test(name))).toEqual([])
      expect(sent.temperature).toBe(undefined)
    })
  )

  it.effect("is another one each time it is made, but for its prompts", () =>
    Effect.gen(function* () {
      const { received } = yield* compactBy(
        wire,
        scriptOf(wire, { answers: () => [failing("unavailable")(wire)], recovers: true })
      )
      const [one, other] = received.map(wire.sent)
      expect(other?.prompt).toBe(one?.prompt)
      expect(one?.prompt).not.toBe(undefined)
      if (hasPlaceForId(wire)) expect(other?.routingId).not.toBe(one?.routingId)
    })
  )
})

const wireOf = (provider: string): Wire => {
  const wire = wires.find((wire) => providerOf(wire) === provider)
  if (wire === undefined) throw new Error(`There is no ${provider}.`)
  return wire
}

const bodyOf = (provider: string, model: string) =>
  Effect.map(compactBy(wireOf(provider), goodScript(wireOf(provider)), { model }), ({ received }) => received[0]?.body)

describe("what only some models take", () => {
  it.effect.each([
    ["openai", "gpt-4.1", { temperature: 0.2, store: false, reasoning: undefined, prompt_cache_options: undefined }],
    [
      "openai",
      "gpt-5.1",
      { temperature: undefined, store: false, reasoning: { effort: "low" }, prompt_cache_options: undefined }
    ],
    ["openai", "gpt-5.6", { store: false, prompt_cache_options: { mode: "explicit" } }],
    ["openai", "gpt-5.10", { store: false, prompt_cache_options: { mode: "explicit" } }],
    ["openai", "gpt-6", { store: false, prompt_cache_options: { mode: "explicit" } }],
    [
      "openai",
      "never-heard-of",
      { temperature: undefined, store: false, reasoning: undefined, prompt_cache_options: undefined }
    ],
    [
      "openrouter",
      "openai/gpt-5.6",
      { temperature: undefined, reasoning: { effort: "low" }, prompt_cache_options: { mode: "explicit" } }
    ],
    ["openrouter", "openai/gpt-4.1", { temperature: 0.2, reasoning: undefined, prompt_cache_options: undefined }],
    ["anthropic", "claude-sonnet-5", { temperature: undefined, thinking: undefined }],
    ["anthropic", "claude-never-heard-of", { temperature: undefined, thinking: undefined }],
    ["openai-compatible", "qwen3", { temperature: undefined, reasoning: undefined, session_id: undefined }]
  ] as const)("%s/%s", ([provider, model, fields]) =>
    Effect.gen(function* () {
      const body = yield* bodyOf(provider, model)
      expect(body.model).toBe(model)
      for (const [name, value] of Object.entries(fields)) expect([name, body[name]]).toEqual([name, value])
    })
  )
})

describe("the name of a model at Amazon Bedrock", () => {
  it.effect("may be an ARN, whose slash is no part of the path", () =>
    Effect.gen(function* () {
      const wire = wireOf("amazon-bedrock")
      const model = "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-sonnet-4-5-v1:0"
      const { exit, received } = yield* compactBy(wire, goodScript(wire), { model })
      expect(received[0]?.url).toBe(`/model/${model.replace("/", "%2F")}/converse-stream`)
      if (Exit.isFailure(exit)) return expect.fail(String(exit.cause))
      expect(exit.value).toMatchObject({ writer: `amazon-bedrock/${model}` })
    })
  )
})

/** How long a provider asks to be left alone, in its many ways. */
const waits: ReadonlyArray<readonly [string, (wire: Wire) => Answer, number]> = [
  ["retry-after in seconds", failing("rateLimited", { "retry-after": "30" }), 30_000],
  ["retry-after as a date", failing("rateLimited", { "retry-after": "Thu, 01 Jan 2026 00:00:45 GMT" }), 45_000],
  ["retry-after-ms", failing("rateLimited", { "retry-after-ms": "12500", "retry-after": "13" }), 12_500],
  ["retry-after with an overload", failing("unavailable", { "retry-after": "20" }), 20_000]
]

/** A wait of about so many milliseconds, give or take a fifth. */
const about = (milliseconds: number) => ({ from: milliseconds * 0.8, to: milliseconds * 1.2 })

describe.each(wires)("case 29: $name is left alone", (wire) => {
  const waitsAfter = (answers: ReadonlyArray<Answer>, requests: number) =>
    Effect.map(compactBy(wire, scriptOf(wire, { answers: () => answers, recovers: true })), (ran) => {
      expect(ran.received).toHaveLength(requests)
      return ran
    })

  it.effect.each(waits)("for as long as it asks: %s", ([, answer, milliseconds]) =>
    Effect.gen(function* () {
      expect((yield* waitsAfter([answer(wire)], 2)).waits).toEqual([milliseconds])
    })
  )

  it.effect("for longer each time where it does not say for how long", () =>
    Effect.gen(function* () {
      const past = failing("rateLimited", { "retry-after": "Wed, 31 Dec 2025 00:00:00 GMT" })(wire)
      const nonsense = failing("rateLimited", { "retry-after": "soon" })(wire)
      const { waits } = yield* waitsAfter(
        [failing("rateLimited")(wire), past, nonsense, failing("rateLimited")(wire)],
        5
      )
      expect(waits).toHaveLength(4)
      for (const [index, wait] of waits.entries()) {
        const { from, to } = about(1000 * 2 ** index)
        expect(wait).toBeGreaterThanOrEqual(from)
        expect(wait).toBeLessThanOrEqual(to)
      }
    })
  )

  it.effect("for good where it asks for an hour", () =>
    Effect.gen(function* () {
      const ran = yield* waitsAfter([failing("rateLimited", { "retry-after": "3600" })(wire)], 1)
      expect(ran.waits).toEqual([])
      expect(Exit.isFailure(ran.exit)).toBe(true)
      expect(ran.after).toBe(ran.before)
    })
  )
})

describe("Google", () => {
  it.effect("is left alone for as long as its RetryInfo says", () =>
    Effect.gen(function* () {
      const wire = wireOf("google")
      const answer = jsonAnswer(429, {
        error: {
          code: 429,
          status: "RESOURCE_EXHAUSTED",
          message: "You exceeded your current quota.",
          details: [
            { "@type": "type.googleapis.com/google.rpc.Help", links: [] },
            { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34.5s" }
          ]
        }
      })
      const ran = yield* compactBy(wire, scriptOf(wire, { answers: () => [answer], recovers: true }))
      expect(ran.waits).toEqual([34_500])
      expect(Date.parse(now)).toBe(Date.UTC(2026, 0, 1))
    })
  )
})

const hanging = (wire: Wire): Answer => ({
  headers: { "content-type": wire.contentType },
  pieces: wire.beforeEnd({ text: "## Goal\nto hang" }),
  end: "hang"
})

describe.each(wires)("case 27: a request to $name that hangs", (wire) => {
  it.effect("ends as a timeout, and its connection is closed", () =>
    Effect.gen(function* () {
      const ran = yield* compactBy(wire, () => hanging(wire), { hangs: true })
      const failure = Exit.match(ran.exit, { onFailure: JSON.stringify, onSuccess: () => "none" })
      expect(failure).toContain('"reason":"LlmTimeout"')
      expect(ran.received).toHaveLength(1)
      expect(ran.after).toBe(ran.before)
      expect(yield* Effect.promise(async () => ran.received[0]?.over)).toBe("closed")
    })
  )

  it.effect("before it has said anything ends as a timeout too", () =>
    Effect.gen(function* () {
      const ran = yield* compactBy(wire, () => ({ ...hanging(wire), pieces: [] }), { hangs: true })
      const failure = Exit.match(ran.exit, { onFailure: JSON.stringify, onSuccess: () => "none" })
      expect(failure).toContain('"reason":"LlmTimeout"')
      expect(ran.after).toBe(ran.before)
    })
  )

  it.effect("is closed when the run is interrupted, and the file is as it was", () =>
    compactingBy(
      wire,
      () => hanging(wire),
      (compact, ran) =>
        Effect.gen(function* () {
          const fiber = yield* Effect.fork(compact)
          const { server } = yield* ran
          yield* Effect.promise(() => server.hanging)
          const exit = yield* Fiber.interrupt(fiber)
          expect(Exit.isInterrupted(exit)).toBe(true)
          const { after, before, received } = yield* ran
          expect(yield* Effect.promise(async () => received[0]?.over)).toBe("closed")
          expect(after).toBe(before)
        })
    )
  )
})

// Google's last event says nothing of being the last.
describe.each(wires.filter((wire) => providerOf(wire) !== "google"))("a whole reply of $name", (wire) => {
  it.effect("is waited for no longer than it takes, though the connection stays open", () =>
    Effect.gen(function* () {
      const ran = yield* compactBy(wire, (received) => ({ ...goodScript(wire)(received, 0), end: "hang" }))
      if (Exit.isFailure(ran.exit)) return expect.fail(String(ran.exit.cause))
      expect(ran.exit.value).toMatchObject({ _tag: "Compacted", requests: 1, usage: { input: 1200, output: 80 } })
      expect(yield* Effect.promise(async () => ran.received[0]?.over)).toBe("closed")
    })
  )
})

describe.each(wires)("case 26: $name refusing, where the policy is to do without a model", (wire) => {
  const filtered = jsonAnswer(400, {
    error: { code: "content_filter", message: "Filtered by the content management policy." }
  })
  it.effect.each([
    [
      "in a reply",
      (wire: Wire) => ({
        headers: { "content-type": wire.contentType },
        pieces: wire.reply({ text: "No.", end: "refusal" })
      }),
      2
    ],
    ["by an error", () => filtered, 1]
  ] as const)("%s leaves it to the offline summarizer", ([, answer, requests]) =>
    Effect.gen(function* () {
      const ran = yield* compactBy(wire, () => answer(wire), { onRejected: "offline" })
      if (Exit.isFailure(ran.exit)) return expect.fail(String(ran.exit.cause))
      expect(ran.exit.value).toMatchObject({ _tag: "Compacted", writer: "offline", requests })
    })
  )

  it.effect.each<Failure>(["auth", "badRequest", "overflow"])("is another thing than %s, which fails", (failure) =>
    Effect.gen(function* () {
      const ran = yield* compactBy(wire, () => wire.failure(failure), { onRejected: "offline" })
      expect(Exit.isFailure(ran.exit)).toBe(true)
      expect(ran.after).toBe(ran.before)
    })
  )
})
