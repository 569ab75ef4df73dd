import * as Providers from "@cutpoint/ai/Providers"
import * as Llm from "@cutpoint/compaction/Llm"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import { it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { afterEach, describe, expect, vi } from "vitest"

const request: Llm.Request = { system: "s", prompt: "p", maxOutputTokens: 10, routingId: "r" }

/** Where a model is asked, and with which key, in an environment. */
const askedAt = (name: string, env: Record<string, string>, overrides: Providers.Overrides = {}) => {
  const seen: Array<{ url: string; headers: Record<string, string> }> = []
  const client = HttpClient.make((sent, url) => {
    seen.push({ url: String(url), headers: { ...sent.headers } })
    return Effect.succeed(HttpClientResponse.fromWeb(sent, new Response("", { status: 401 })))
  })
  return Effect.flatMap(Llm.Llm, (llm) => Stream.runDrain(llm.stream(request))).pipe(
    Effect.provide(Layer.provide(Providers.layer(name, overrides), Layer.succeed(HttpClient.HttpClient, client))),
    Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(env)))),
    Effect.either,
    Effect.map((outcome) => ({ outcome, host: seen[0] && new URL(seen[0].url).host, sent: JSON.stringify(seen) }))
  )
}

const keys = {
  ANTHROPIC_API_KEY: "key-of-anthropic",
  OPENAI_API_KEY: "key-of-openai",
  GEMINI_API_KEY: "key-of-gemini",
  OPENROUTER_API_KEY: "key-of-openrouter",
  AWS_ACCESS_KEY_ID: "key-of-aws",
  AWS_SECRET_ACCESS_KEY: "secret-of-aws",
  GROQ_API_KEY: "key-of-groq"
}

const local = { OPENAI_BASE_URL: "http://127.0.0.1:9/v1" }
const proxy = { apiUrl: "http://proxy.test/v1" }

describe("a model is asked", () => {
  it.effect.each([
    ["anthropic/claude-x", {}, {}, "api.anthropic.com", "key-of-anthropic"],
    ["openai/gpt-x", {}, {}, "api.openai.com", "key-of-openai"],
    ["google/gemini-x", {}, {}, "generativelanguage.googleapis.com", "key-of-gemini"],
    ["openrouter/a/b", {}, {}, "openrouter.ai", "key-of-openrouter"],
    ["amazon-bedrock/x", {}, {}, "bedrock-runtime.us-east-1.amazonaws.com", "key-of-aws"],
    ["amazon-bedrock/x", { AWS_REGION: "eu-west-1" }, {}, "bedrock-runtime.eu-west-1.amazonaws.com", "key-of-aws"],
    ["openai-compatible/x", local, {}, "127.0.0.1:9", "key-of-openai"],
    // Who sets this address does not want to be sent elsewhere.
    ["openai/gpt-x", local, {}, "127.0.0.1:9", "key-of-openai"],
    ["openai/gpt-x", { OPENAI_BASE_URL: " http://127.0.0.1:9/v1/\r\n" }, {}, "127.0.0.1:9", "key-of-openai"],
    ["openai/gpt-x", { OPENAI_BASE_URL: "https://api.openai.com/v1" }, {}, "api.openai.com", "key-of-openai"],
    [
      "openai/gpt-x",
      { OPENAI_BASE_URL: "https://api.openai.com.evil.test/v1" },
      {},
      "api.openai.com.evil.test",
      "key-of-openai"
    ],
    ["maker/x", local, {}, "127.0.0.1:9", "key-of-openai"],
    // It is the address of OpenAI's models, and of those that have none.
    ["anthropic/claude-x", local, {}, "api.anthropic.com", "key-of-anthropic"],
    ["openrouter/a/b", local, {}, "openrouter.ai", "key-of-openrouter"],
    // What is said of one model goes before what the environment says of all.
    ["openai/gpt-x", local, proxy, "proxy.test", "key-of-openai"],
    ["anthropic/claude-x", {}, proxy, "proxy.test", "key-of-anthropic"],
    ["groq/x", local, proxy, "proxy.test", "key-of-groq"],
    ["maker/x", local, proxy, "proxy.test", undefined],
    ["openai-compatible/x", local, proxy, "proxy.test", undefined]
  ] as const)("%s with %j and %j", ([name, env, overrides, host, key]) =>
    Effect.gen(function* () {
      const asked = yield* askedAt(name, { ...keys, ...env }, overrides)
      expect(asked.host).toBe(host)
      // Its own key, and no other one.
      for (const other of Object.values(keys))
        expect([other, asked.sent.includes(other)]).toEqual([other, other === key])
    })
  )

  it.effect.each(["localhost:11434/v1", "127.0.0.1:11434/v1", "http://", "file:///etc", "no address"])(
    "nowhere where the address is none: %s",
    (apiUrl) =>
      Effect.gen(function* () {
        for (const name of ["openai/x", "amazon-bedrock/x", "mine/x"]) {
          const { host, outcome } = yield* askedAt(name, keys, { apiUrl })
          expect(outcome).toMatchObject({
            left: { _tag: "LlmBadRequest", detail: expect.stringContaining("https://") }
          })
          expect(host).toBe(undefined)
        }
      })
  )

  it.effect("with a key that has no line end, as files leave it there", () =>
    Effect.gen(function* () {
      const { sent } = yield* askedAt("anthropic/claude-x", { ANTHROPIC_API_KEY: "abc123\r\n" })
      expect(sent).toContain('"x-api-key":"abc123"')
    })
  )
})

describe("what is missing", () => {
  it.effect.each([
    ["anthropic/x", {}, ["ANTHROPIC_API_KEY"]],
    ["openai/x", {}, ["OPENAI_API_KEY"]],
    ["google/x", { GEMINI_API_KEY: "" }, ["GEMINI_API_KEY"]],
    ["openrouter/x", { OPENROUTER_API_KEY: " \n" }, ["OPENROUTER_API_KEY"]],
    ["amazon-bedrock/x", {}, ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"]],
    ["amazon-bedrock/x", { AWS_ACCESS_KEY_ID: "a" }, ["AWS_SECRET_ACCESS_KEY"]],
    ["openai-compatible/x", {}, ["OPENAI_BASE_URL"]]
  ] as const)("is named: %s", ([name, env, variables]) =>
    Effect.gen(function* () {
      const { host, outcome } = yield* askedAt(name, env)
      expect(outcome).toMatchObject({ left: { _tag: "MissingKey", model: name, variables } })
      for (const variable of variables) expect(String(outcome)).toContain(variable)
      expect(host).toBe(undefined)
    })
  )

  it.effect.each(["nobody/x", "x", "/x", "", "OpenAI/x", "constructor/x"])("may be the provider: %j", (name) =>
    Effect.gen(function* () {
      // OpenAI's own address is no reason to take any name for one of its models.
      for (const env of [{}, { OPENAI_BASE_URL: "https://api.openai.com/v1" }]) {
        const { outcome } = yield* askedAt(name, { ...keys, ...env })
        expect(outcome).toMatchObject({ left: { _tag: "UnknownProvider", model: name } })
      }
    })
  )

  it.effect("is known without asking anybody", () =>
    Effect.gen(function* () {
      const inEnvironment = (env: Record<string, string>) =>
        Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(env))))
      expect(yield* inEnvironment({})(Providers.isReady("openai/x"))).toBe(false)
      expect(yield* inEnvironment({ OPENAI_API_KEY: "k" })(Providers.isReady("openai/x"))).toBe(true)
      expect(yield* inEnvironment(local)(Providers.isReady("openai/x"))).toBe(true)
      expect(yield* inEnvironment(local)(Providers.isReady("google/x"))).toBe(false)
      expect(yield* inEnvironment({})(Providers.isReady("maker/x", proxy))).toBe(true)
      expect(yield* Effect.flip(inEnvironment({})(Providers.check("openai/x")))).toMatchObject({ _tag: "MissingKey" })
    })
  )
})

describe("a provider", () => {
  const modules = ["Anthropic", "OpenAi", "Google", "OpenRouter", "Bedrock", "OpenAiCompatible"]

  afterEach(() => {
    for (const name of modules) vi.doUnmock(`@cutpoint/ai/${name}`)
    vi.resetModules()
  })

  it("is loaded only when it is used", async () => {
    const loaded: Array<string> = []
    for (const name of modules) {
      vi.doMock(`@cutpoint/ai/${name}`, () => {
        loaded.push(name)
        return { layerConfig: () => Layer.empty }
      })
    }
    vi.resetModules()
    const fresh = await import("@cutpoint/ai/Providers")
    const env = Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(keys))))
    await Effect.runPromise(env(fresh.check("google/x")))
    expect(loaded).toEqual([])
    const client = Layer.succeed(
      HttpClient.HttpClient,
      HttpClient.make(() => Effect.die("nobody is asked"))
    )
    await Effect.runPromise(env(Effect.scoped(Layer.build(Layer.provide(fresh.layer("google/x"), client)))))
    expect(loaded).toEqual(["Google"])
  })
})
