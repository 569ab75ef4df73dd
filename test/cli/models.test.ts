/** `cutpoint compact` with a model behind a real HTTP server, spawned as a user would. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, describe, expect, it } from "vitest"
import { conversation as talk, summaryOf } from "../providers/run.js"
import { type Answer, listen, type Script } from "../providers/server.js"
import { answerOf, type Wire } from "../providers/wire.js"
import { anthropic } from "../providers/wires/anthropic.js"
import { compatible } from "../providers/wires/chat.js"
import { conversation, fingerprint, header, makeWorkspace, readLines, type Workspace } from "./cutpoint.js"
import { put } from "./settingsFiles.js"

const closers: Array<() => Promise<void>> = []

afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

const serve = async (script: Script) => {
  const { close, server } = await listen(script)
  closers.push(close)
  return server
}

const replies =
  (wire: Wire): Script =>
  (received) =>
    answerOf(wire, { text: summaryOf(wire.sent(received).prompt, /Question 0/g) })

const keep = ["--keep-recent-tokens", "500", "--tokenizer", "heuristic"]

/** A session of four turns of 1,000 tokens, and the settings that a person has. */
const arrange = (lines: ReadonlyArray<object> = conversation(4, 1000), settings?: object) => {
  const workspace = makeWorkspace()
  const session = workspace.write("session.jsonl", [header({ cwd: workspace.cwd }), ...lines])
  if (settings !== undefined) put(join(workspace.home, ".pi", "agent", "settings.json"), settings)
  return { workspace, session }
}

/** A session by a model of the catalogue. */
const ofModel = (provider: string, model: string) =>
  conversation(4, 1000).map((line) =>
    JSON.parse(JSON.stringify(line).replaceAll('"maker"', `"${provider}"`).replaceAll('"thinker"', `"${model}"`))
  )

const stored = (session: string) => readLines(session).at(-1)

describe("a model at OPENAI_BASE_URL", () => {
  it("writes the summary; which model and why, and how far it is, is told on stderr", async () => {
    const { origin, received } = await serve(replies(compatible))
    const { session, workspace } = arrange()
    const env = { OPENAI_BASE_URL: `${origin}/v1`, OPENAI_API_KEY: "sk-local-1234567890" }
    const ran = await workspace.run(["compact", session, "--model", "openai/qwen3", ...keep], { env })
    expect(ran).toMatchObject({ code: 0 })
    expect(ran.stderr).toContain("Summarizer: openai/qwen3 (--model)")
    expect(ran.stderr).toContain("Summarizing the history: request 1 of 1")
    expect(ran.stderr.match(/window of openai\/qwen3 is not known and taken to be 128000/g)).toHaveLength(1)
    expect(stored(session)).toMatchObject({ type: "compaction", summary: expect.stringContaining("Question 0") })
    expect(received).toHaveLength(1)
    expect(received[0]?.url).toBe("/v1/chat/completions")
    expect(received[0]?.headers.authorization).toBe("Bearer sk-local-1234567890")
  })

  it("is the session's own, of a provider that nobody knows, and needs no key", async () => {
    const { origin, received } = await serve(replies(compatible))
    const { session, workspace } = arrange()
    const document = await workspace.json(["compact", session, ...keep], 0, {
      env: { OPENAI_BASE_URL: `${origin}/v1/` }
    })
    expect(document).toMatchObject({
      status: "compacted",
      result: { summarizer: "maker/thinker", requests: 1, usage: { input: 1200, output: 80 } }
    })
    expect(received[0]?.body.model).toBe("thinker")
    expect(received[0]?.headers.authorization).toBe(undefined)
  })

  it("says once that its window is not known, where it is the session's own", async () => {
    const { origin } = await serve(replies(compatible))
    const { session, workspace } = arrange()
    const ran = await workspace.run(["compact", session, ...keep], { env: { OPENAI_BASE_URL: `${origin}/v1` } })
    expect(ran.stderr).toContain("Summarizer: maker/thinker (the session's own model)")
    expect(ran.stderr.match(/128000/g)).toHaveLength(1)
  })

  it("tells nothing on stderr but who summarizes with --json", async () => {
    const { origin } = await serve(replies(compatible))
    const { session, workspace } = arrange()
    const ran = await workspace.run(["compact", session, "--json", ...keep], {
      env: { OPENAI_BASE_URL: `${origin}/v1` }
    })
    expect(JSON.parse(ran.stdout)).toMatchObject({ status: "compacted" })
    expect(ran.stderr).toBe("Summarizer: maker/thinker (the session's own model)\n")
  })

  it("writes the summary of a branch", async () => {
    const { origin } = await serve(replies(compatible))
    const { session, workspace } = arrange()
    const env = { OPENAI_BASE_URL: `${origin}/v1` }
    const document = await workspace.json(["tree", session, "--to", "a0", "--summarize"], 0, { env })
    expect(document).toMatchObject({ status: "navigated" })
    expect(stored(session)).toMatchObject({ type: "branch_summary" })
  })
})

describe("the address of a model", () => {
  it("is that of the user's own settings, for a provider of one's own", async () => {
    const { origin, received } = await serve(replies(compatible))
    const { session, workspace } = arrange(undefined, {
      cutpoint: {
        model: "mine/qwen3",
        models: { "mine/qwen3": { baseUrl: `${origin}/v1`, contextWindow: 32_000, maxOutput: 4000 } }
      }
    })
    const env = { OPENAI_API_KEY: "sk-not-for-this-one-1", MINE_API_KEY: "mine-1" }
    const ran = await workspace.run(["compact", session, ...keep], { env })
    expect(ran).toMatchObject({ code: 0 })
    expect(ran.stderr).toContain("Summarizer: mine/qwen3 (cutpoint.model in your settings)")
    expect(ran.stderr).not.toContain("window of mine/qwen3")
    expect(received[0]?.headers.authorization).toBe("Bearer mine-1")
    expect(received[0]?.body.max_tokens).toBe(4000)
  })

  it("can be set for a provider that is known, whose model is the session's own", async () => {
    const { origin, received } = await serve(replies(anthropic))
    const { session, workspace } = arrange(ofModel("anthropic", "claude-sonnet-4-5"), {
      cutpoint: { models: { "anthropic/claude-sonnet-4-5": { baseUrl: origin } } }
    })
    const ran = await workspace.run(["compact", session, ...keep], { env: { ANTHROPIC_API_KEY: "sk-ant-1" } })
    expect(ran).toMatchObject({ code: 0 })
    expect(ran.stderr).toContain("Summarizer: anthropic/claude-sonnet-4-5 (the session's own model)")
    expect(received[0]?.url).toBe("/v1/messages")
    expect(received[0]?.headers["x-api-key"]).toBe("sk-ant-1")
    expect(stored(session).usage.cost.total).toBeCloseTo((1200 * 3 + 80 * 15) / 1_000_000)
  })

  it("cannot be set by a project, nor can the model", async () => {
    const { origin, received } = await serve(replies(compatible))
    const { session, workspace } = arrange()
    put(join(workspace.cwd, ".pi", "settings.json"), {
      cutpoint: {
        model: "openai/evil",
        models: { "maker/thinker": { baseUrl: `${origin}/v1` }, "openai/evil": { baseUrl: `${origin}/v1` } }
      }
    })
    const before = fingerprint(session)
    const ran = await workspace.run(["compact", session, ...keep], { env: { OPENAI_API_KEY: "sk-1" } })
    expect(ran).toMatchObject({ code: 1 })
    expect(ran.stderr).toContain("There is nothing to summarize with.")
    expect(received).toEqual([])
    expect(fingerprint(session)).toBe(before)
  })
})

describe("what is missing", () => {
  it.each([
    ["a key", "anthropic/claude-sonnet-4-5", {}, "ANTHROPIC_API_KEY"],
    ["a key that is empty", "google/gemini-2.5-flash", { GEMINI_API_KEY: " " }, "GEMINI_API_KEY"],
    [
      "one of two keys",
      "amazon-bedrock/anthropic.claude-sonnet-4-5-v1:0",
      { AWS_ACCESS_KEY_ID: "AKIAX" },
      "AWS_SECRET_ACCESS_KEY"
    ],
    ["an address", "openai-compatible/qwen3", { OPENAI_API_KEY: "sk-1" }, "OPENAI_BASE_URL"],
    ["a provider", "nobody/knows", { OPENAI_API_KEY: "sk-1" }, "anthropic/"]
  ] as const)("is named: %s", async (_, model, env, named) => {
    const { session, workspace } = arrange()
    const before = fingerprint(session)
    const ran = await workspace.run(["compact", session, "--model", model, ...keep], { env })
    expect(ran).toMatchObject({ code: 1, stdout: "" })
    expect(ran.stderr).toContain(named)
    const document = await workspace.json(["compact", session, "--model", model, ...keep], 1, { env })
    expect(document.error.message).toContain(named)
    expect(fingerprint(session)).toBe(before)
  })
})

describe("a dry run", () => {
  it("needs no key, and says what it would cost", async () => {
    const { session, workspace } = arrange(ofModel("anthropic", "claude-sonnet-4-5"))
    const document = await workspace.json(["compact", session, "--dry-run", ...keep])
    const { estimatedCost, estimatedInputTokens, requests } = document.preparation
    expect(document.contextWindow).toBe(200_000)
    expect(requests).toBe(1)
    // Three dollars a million for what goes in, fifteen for a reply of a usual length.
    expect(estimatedCost).toBeCloseTo((estimatedInputTokens * 3 + 2000 * 15) / 1_000_000)
    const ran = await workspace.run(["compact", session, "--dry-run", ...keep])
    expect(ran.stdout).toMatch(/\$0\.0\d/)
  })

  it("goes by the prices and sizes that the user's settings give", async () => {
    const { session, workspace } = arrange(undefined, {
      cutpoint: { models: { "mine/m": { contextWindow: 9000, cost: { input: 1000, output: 0 } } } }
    })
    const document = await workspace.json([
      "compact",
      session,
      "--dry-run",
      "--model",
      "mine/m",
      ...keep,
      "--reserve-tokens",
      "1000"
    ])
    const { estimatedCost, estimatedInputTokens } = document.preparation
    expect(estimatedCost).toBeCloseTo(estimatedInputTokens / 1000)
  })
})

/** Runs until an answer hangs, then interrupts as Ctrl-C does; says what the server saw of it, and when. */
const interrupted = async (workspace: Workspace, session: string, json: boolean) => {
  const hanging: Answer = {
    headers: { "content-type": "text/event-stream" },
    pieces: compatible.beforeEnd({ text: "## Goal\nto hang" }),
    end: "hang"
  }
  const server = await serve(() => hanging)
  const seen: { closed?: Promise<string> } = {}
  const ran = await workspace.run(["compact", session, ...keep, ...(json ? ["--json"] : [])], {
    env: { OPENAI_BASE_URL: `${server.origin}/v1` },
    meanwhile: (child) => {
      seen.closed = server.hanging.then(() => {
        child.kill("SIGINT")
        // The deadline, of a second; nothing is measured.
        const deadline = new Promise<string>((resolve) => void setTimeout(() => resolve("still open"), 1000))
        return Promise.race([server.received[0]?.over ?? deadline, deadline])
      })
    }
  })
  return { ran, closed: await seen.closed }
}

describe("Ctrl-C in mid-stream", () => {
  it.each([false, true])(
    "closes the connection within a second, ends with 130 and leaves the file as it was (--json: %s)",
    async (json) => {
      const { session, workspace } = arrange()
      const before = fingerprint(session)
      const { closed, ran } = await interrupted(workspace, session, json)
      expect(closed).toBe("closed")
      expect(ran.code).toBe(130)
      expect(fingerprint(session)).toBe(before)
      if (json) expect(JSON.parse(ran.stdout)).toMatchObject({ error: { _tag: "Interrupted" } })
      else expect(ran.stderr).toContain("Interrupted.")
    }
  )
})

describe("what a server echoes", () => {
  const key = "sk-KEYMARKER-8Qz7Xw5Vu3Ts1Rp9"
  const markers = ["KEYMARKER-8Qz7Xw5Vu3Ts1Rp9", "FOCUSMARKER-4f6d8b2a", "TALKMARKER-9c3e7a1d"]

  const echoes: ReadonlyArray<readonly [string, (echo: string, index: number) => Answer]> = [
    // What is told of the first is told in passing, while it is asked again.
    [
      "an overload, then an error's body",
      (echo, index) => compatible.failure(index % 2 === 0 ? "unavailable" : "badRequest", echo)
    ],
    ["a page", (echo) => ({ headers: { "content-type": "text/html" }, pieces: [`<html><body>${echo}</body></html>`] })],
    ["a reply that is cut off", (echo) => answerOf(compatible, { text: echo, end: "length" })],
    [
      "an event that is no JSON",
      (echo) => ({ headers: { "content-type": "text/event-stream" }, pieces: [`data: {${echo}\n\n`] })
    ],
    ["an error's body", (echo) => compatible.failure("badRequest", echo)],
    ["a wrong key's", (echo) => compatible.failure("auth", echo)],
    ["a text", (echo) => ({ status: 400, headers: { "content-type": "text/plain" }, pieces: [echo] })],
    ["an overflow's", (echo) => compatible.failure("overflow", echo)],
    ["a refused reply", (echo) => answerOf(compatible, { text: echo, end: "refusal" })],
    ["a reply without sections", (echo) => answerOf(compatible, { text: echo })],
    [
      "the middle of a stream",
      (echo) => ({
        headers: { "content-type": "text/event-stream" },
        pieces: [`data: ${JSON.stringify({ error: { code: "content_filter", message: echo } })}\n\n`]
      })
    ]
  ]

  it.each(echoes)("is not on the terminal: %s", async (_, answer) => {
    const { origin, received } = await serve((one, index) =>
      answer(
        `${markers.join(" ")} ${key} ${JSON.stringify(one.headers)} ${one.body.messages[1].content} ${JSON.stringify(one.body)}`,
        index
      )
    )
    const workspace = makeWorkspace()
    const session = workspace.write("session.jsonl", talk(8, "TALKMARKER-9c3e7a1d"))
    const before = readFileSync(session, "utf8")
    const env = { OPENAI_BASE_URL: `${origin}/v1`, OPENAI_API_KEY: key }
    for (const more of [[], ["--json"]]) {
      const ran = await workspace.run(["compact", session, "-i", "FOCUSMARKER-4f6d8b2a", ...keep, ...more], { env })
      expect(ran.code).toBe(1)
      for (const marker of markers) expect(`${ran.stdout}${ran.stderr}`).not.toContain(marker)
    }
    expect(JSON.stringify(received.map(({ body, headers }) => [body, headers]))).toContain("TALKMARKER-9c3e7a1d")
    expect(readFileSync(session, "utf8")).toBe(before)
  })
})
