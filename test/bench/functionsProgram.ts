/** Measures functions in one process and prints the median of each, in microseconds: `functionsProgram SHORT LONG`. */
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
import { makeRandom } from "./generate.js"

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

/** Texts of a length, another one each time but for the first kind: what has been merged before is not merged again. */
const texts = {
  "one character": (length: number) => "a".repeat(length),
  base64: (length: number) => drawn(length, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"),
  Chinese: (length: number) => drawn(length, "我们需要修改服务器的配置文件然后重新启动它并且检查日志里有没有错误信息")
}

let seed = 0

/** Characters of an alphabet as if by chance, the same at every run of the program. */
const drawn = (length: number, alphabet: string): string => {
  const random = makeRandom(seed++)
  return Array.from({ length }, () => alphabet.charAt(random(alphabet.length))).join("")
}

const counting = new Bench({ iterations: 7, time: 0, warmup: false })

for (const [name, make] of Object.entries(texts)) {
  for (const length of [100_000, 1_000_000]) {
    let text = ""
    const renew = () => void (text = make(length))
    counting.add(`o200k ${name} ${length}`, () => count(text), { beforeEach: renew })
  }
}

await bench.run()
await counting.run()
const taken = [...bench.tasks, ...counting.tasks].map(({ name, result }) => {
  if (result.state !== "completed") throw new Error(`${name} ended as ${result.state}.`)
  return [name, result.latency.p50 * 1000]
})
console.log(JSON.stringify(Object.fromEntries(taken)))
