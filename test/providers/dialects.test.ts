/** Chat completions as the servers stream them that one runs oneself. */
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { describe } from "vitest"
import { compactBy, fact, summaryOf } from "./run.js"
import type { Piece } from "./server.js"
import { used, type Wire } from "./wire.js"
import { chatReply, compatible, type Dialect, vllmDialect } from "./wires/chat.js"

const usage = (fields: object = {}) => ({
  input: used.input,
  output: used.output,
  totalTokens: used.totalTokens,
  ...fields
})

const dialects: ReadonlyArray<readonly [string, Partial<Dialect>, object | undefined]> = [
  ["vLLM: usage in a last chunk without choices", {}, usage()],
  ["vLLM: usage in each chunk", { usage: "each" }, usage()],
  [
    "Ollama: no usage, a name without a maker, thoughts beside the words",
    {
      base: {
        id: "chatcmpl-1",
        object: "chat.completion.chunk",
        created: 1,
        model: "qwen3:8b",
        system_fingerprint: "fp_ollama"
      },
      thinkingKey: "reasoning",
      usage: "none"
    },
    undefined
  ],
  [
    "llama.cpp: no role but in the first chunk, timings, no [DONE]",
    {
      base: {
        created: 1,
        id: "chatcmpl-2",
        model: "gpt-oss",
        system_fingerprint: "b6000-x",
        object: "chat.completion.chunk",
        timings: { prompt_n: 1200 }
      },
      opening: { role: "assistant", content: null },
      usage: "last",
      after: []
    },
    usage()
  ],
  [
    "LM Studio: the end with the last words",
    { opening: undefined, endsWithWords: true, choice: { logprobs: null }, usage: "none" },
    undefined
  ],
  [
    "CRLF, comments, and how soon to come back",
    {
      lineEnd: "\r\n",
      before: [":\r\n\r\n", "retry: 5000\r\n\r\n", ": keep-alive\r\n\r\n", "event: ping\r\ndata: \r\n\r\n"]
    },
    usage()
  ],
  ["nothing but what is needed", { base: {}, opening: undefined, choice: {}, usage: "none", after: [] }, undefined],
  ["a [DONE] that nothing follows", { after: ["data: [DONE]"] }, usage()]
]

/** As much at a time as a network might bring. */
const cuts: ReadonlyArray<readonly [string, (pieces: ReadonlyArray<Piece>) => ReadonlyArray<Piece>]> = [
  ["an event at a time", (pieces) => pieces],
  ["all at once", (pieces) => [pieces.join("")]],
  [
    "seven bytes at a time",
    (pieces) => {
      const bytes = Buffer.from(pieces.join(""))
      return Array.from({ length: Math.ceil(bytes.length / 7) }, (_, n) => bytes.subarray(n * 7, n * 7 + 7))
    }
  ]
]

const replying = (dialect: Partial<Dialect>): Wire => ({
  ...compatible,
  reply: (reply) => chatReply({ ...vllmDialect, ...dialect }, reply)
})

describe.each(dialects)("a server that streams as %s", (_, dialect, expected) => {
  const wire = replying(dialect)
  it.effect.each(cuts)("is understood, %s", ([, cut]) =>
    Effect.gen(function* () {
      const ran = yield* compactBy(wire, (received) => ({
        headers: { "content-type": "text/event-stream" },
        pieces: cut(
          wire.reply({ thinking: "Hm. \u{1F914}", text: `${summaryOf(wire.sent(received).prompt)}\n\u{1F600}` })
        )
      }))
      if (Exit.isFailure(ran.exit)) return expect.fail(String(ran.exit.cause))
      const result = ran.exit.value
      if (result._tag !== "Compacted") return expect.fail(result._tag)
      expect(result.requests).toBe(1)
      expect(result.entry.summary).toContain(fact)
      expect(result.entry.summary).toContain("\u{1F600}")
      // Thoughts are no part of it.
      expect(result.entry.summary).not.toContain("Hm.")
      if (expected === undefined) expect(result.usage).toBe(undefined)
      else expect(result.usage).toMatchObject(expected)
    })
  )
})
