/** Measures functions in one process and prints what each takes, in microseconds: `functionsProgram SHORT LONG`. */
import * as ContextIndex from "@cutpoint/core/ContextIndex"
import type * as Entry from "@cutpoint/core/Entry"
import * as Preparation from "@cutpoint/core/Preparation"
import * as Projection from "@cutpoint/core/Projection"
import * as Rules from "@cutpoint/core/Rules"
import * as SessionLines from "@cutpoint/core/SessionLines"
import * as Tokens from "@cutpoint/core/Tokens"
import * as GptTokenizer from "@cutpoint/gpt-tokenizer/GptTokenizer"
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import { Bench } from "tinybench"

const [short = "", long = ""] = process.argv.slice(2)

const rules = Rules.standard

/** An open session of a file, to which entries are appended without end. */
const openSession = (file: string) => {
  const entries = SessionLines.parse(readFileSync(file, "utf8"))?.entries ?? []
  const index = ContextIndex.make(entries, Tokens.counter(Tokens.heuristic, rules), rules)
  let next = 0
  const append = () => {
    const message: Entry.MessageEntry["message"] = {
      role: "user",
      content: `Go on with step ${next} of the plan, please.`
    }
    index.append({
      type: "message",
      id: `n${next++}`,
      parentId: index.path().at(-1)?.id ?? null,
      timestamp: "",
      message
    })
  }
  return { index, append }
}

const bench = new Bench({ time: 1500, warmupTime: 300 })

for (const [name, file] of [
  ["short", short],
  ["long", long]
] as const) {
  const checked = openSession(file)
  bench.add(`check ${name}`, () => {
    checked.append()
    Preparation.shouldCompact(checked.index.contextTokens(), 200_000, { reserveTokens: 16_384 })
  })
  const cut = openSession(file)
  bench.add(`cut ${name}`, () => {
    cut.append()
    cut.index.cut(20_000)
  })
  const shown = openSession(file)
  const before = shown.index.items().length
  bench.add(`context ${name}`, () => {
    shown.append()
    // The same number of messages each time, however many have been appended.
    Projection.messages({ items: shown.index.items().slice(0, before) })
  })
}

const { count } = await Effect.runPromise(GptTokenizer.make("o200k_base"))

const texts = {
  "one character": (length: number) => "a".repeat(length),
  base64: (length: number) =>
    Buffer.from(Uint8Array.from({ length }, (_, at) => (at * 7919) % 251))
      .toString("base64")
      .slice(0, length),
  Chinese: (length: number) =>
    "我们需要修改服务器的配置文件然后重新启动".repeat(Math.ceil(length / 20)).slice(0, length)
}

for (const [name, make] of Object.entries(texts)) {
  for (const length of [100_000, 1_000_000]) {
    const text = make(length)
    bench.add(`o200k ${name} ${length}`, () => count(text))
  }
}

await bench.run()
const taken = bench.tasks.map(({ name, result }) => {
  if (result.state !== "completed") throw new Error(`${name} ended as ${result.state}.`)
  // Every million characters merges are forgotten, which the mean spreads evenly over texts of all lengths.
  return [name, (name.startsWith("o200k") ? result.latency.mean : result.latency.p50) * 1000]
})
console.log(JSON.stringify(Object.fromEntries(taken)))
