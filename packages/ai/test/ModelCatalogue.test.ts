import * as ModelCatalogue from "@cutpoint/ai/ModelCatalogue"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"

const find = (name: string) => Effect.runPromise(ModelCatalogue.find(name))

describe("the facts of a model", () => {
  it.each([
    ["anthropic/claude-sonnet-4-5", 200_000],
    ["anthropic/claude-sonnet-4-5-20250929", 200_000],
    ["anthropic/claude-sonnet-4-5-latest", 200_000],
    ["anthropic/claude-haiku-4-5", 200_000],
    ["anthropic/claude-haiku-4-5-20251001", 200_000],
    ["openai/gpt-5.1", 400_000],
    ["openai/gpt-5.1-2025-11-13", 400_000],
    ["openai-codex/gpt-5.1", 400_000],
    ["google/gemini-2.5-pro", 1_048_576],
    ["google/models/gemini-2.5-pro", 1_048_576],
    ["openrouter/anthropic/claude-sonnet-4.5", 200_000],
    ["openrouter/anthropic/claude-sonnet-4.5:beta", 200_000],
    ["openrouter/google/gemini-2.5-pro", 1_048_576],
    ["amazon-bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0", 200_000],
    ["amazon-bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0", 200_000],
    ["amazon-bedrock/global.anthropic.claude-haiku-4-5-20251001-v1:0", 200_000]
  ])("are found however it is spelled: %s", async (name, contextWindow) => {
    expect(await find(name)).toMatchObject({ contextWindow, thinks: true })
  })

  it.each([
    "",
    "/",
    "openai",
    "openai/",
    "nobody/gpt-5.1",
    "openai/claude-sonnet-4-5",
    "openai/gpt-5.1-never",
    "openrouter/gpt-5.1",
    "ollama/qwen3:8b",
    "__proto__/constructor"
  ])("are empty where it is not known: %j", async (name) => {
    expect(await find(name)).toEqual({})
  })

  it("have the prices of who is paid", async () => {
    const cost = { input: 3, output: 15, cacheRead: expect.closeTo(0.3) }
    expect((await find("anthropic/claude-sonnet-4-5")).cost).toEqual(cost)
    expect((await find("openrouter/anthropic/claude-sonnet-4.5")).cost).toEqual(cost)
    expect((await find("amazon-bedrock/anthropic.claude-sonnet-4-5-v1:0")).cost).toBe(undefined)
  })
})
