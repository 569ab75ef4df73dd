import * as Tokenizer from "@cutpoint/compaction/Tokenizer"
import * as GptTokenizer from "@cutpoint/gpt-tokenizer/GptTokenizer"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as cl100k from "gpt-tokenizer/encoding/cl100k_base"
import * as o200k from "gpt-tokenizer/encoding/o200k_base"
import * as p50k from "gpt-tokenizer/encoding/p50k_base"
import { describe, expect, it } from "vitest"

const library = { o200k_base: o200k, cl100k_base: cl100k, p50k_base: p50k }
const encodings: ReadonlyArray<GptTokenizer.Encoding> = ["o200k_base", "cl100k_base", "p50k_base"]

const load = (encoding: GptTokenizer.Encoding) => Effect.runPromise(GptTokenizer.make(encoding))

const prose = `The harbour master kept two ledgers. One was for the ships that came in, and nobody
but the auditors ever asked for it; the other was for the ships that didn't, and he'd been
adding to it since the winter of '84. "You can't owe duty on a cargo that never landed," he'd say.\n\n`

const code = `export const retry = async <A>(run: () => Promise<A>, times = 3): Promise<A> => {
\tfor (let attempt = 1; ; attempt++) {
\t\ttry {
\t\t\treturn await run() // e.g. \`fetch("https://api.example.com/v1/items?limit=50")\`
\t\t} catch (error) {
\t\t\tif (attempt >= times) throw error
\t\t\tawait new Promise((resolve) => setTimeout(resolve, 2 ** attempt * 100))
\t\t}
\t}
}
/* ---------------------------------------------------------------- */\r\n`

const json = JSON.stringify(
  Array.from({ length: 40 }, (_, id) => ({
    id,
    uuid: "3f2b8c1e-77aa-4d09-9c55-0b6e1f2a4d33",
    price: id * 1.25,
    tags: ["new", "à la carte", null],
    nested: { ok: true, at: "2026-03-01T09:30:00.000Z" }
  })),
  null,
  2
)

const chinese =
  "港口管理员保留了两本账簿。一本记录进港的船只，除了审计员以外没有人查阅；另一本记录那些没有回来的船，从八四年冬天起他就一直在写。\n"

const emoji = "Ship it 🚀🚀 — thanks 👩‍👩‍👧‍👦, see you 🇩🇪 👍🏽!\n"

const texts: ReadonlyArray<readonly [string, string]> = [
  ["English prose", prose],
  ["code", code],
  ["JSON", json],
  ["Chinese prose", chinese],
  ["emoji", emoji],
  ["all of them, at length", (prose + code + json + chinese + emoji).repeat(20)],
  ["the empty text", ""]
]

describe.each(encodings)("GptTokenizer over %s", (encoding) => {
  it.each(texts)("counts as the library does: %s", async (_, text) => {
    const { count } = await load(encoding)
    expect(count(text)).toBe(library[encoding].countTokens(text))
  })

  it("counts any text without long rows as the library does", async () => {
    const { count } = await load(encoding)
    const everythingIsText = { disallowedSpecial: new Set<string>() }
    FastCheck.assert(
      FastCheck.property(
        FastCheck.string({ unit: "binary", maxLength: 200 }),
        (text) => count(text) === library[encoding].countTokens(text, everythingIsText)
      )
    )
  })

  it.each(["<|endoftext|>", "<|fim_prefix|>", "<|im_start|>", "<|endofprompt|>"])(
    "takes %s for ordinary text",
    async (special) => {
      const { count } = await load(encoding)
      expect(count(special)).toBeGreaterThan(1)
      expect(count(`before ${special} after`.repeat(100))).toBeGreaterThan(300)
    }
  )

  it("gives a whole number of any string, lone surrogates included", async () => {
    const { count } = await load(encoding)
    const units = FastCheck.array(FastCheck.integer({ min: 0, max: 0xffff }), { maxLength: 400 })
    const surrogates = FastCheck.array(FastCheck.integer({ min: 0xd800, max: 0xdfff }), { maxLength: 400 })
    FastCheck.assert(
      FastCheck.property(FastCheck.oneof(units, surrogates), (codes) => {
        const tokens = count(String.fromCharCode(...codes))
        return Number.isSafeInteger(tokens) && tokens >= 0 && tokens > 0 === codes.length > 0
      })
    )
  })

  it("stays within one percent of the library where a row is cut", async () => {
    const { count } = await load(encoding)
    for (const text of [
      scrambled("abcdefghijklmnopqrstuvwxyz", 3_000),
      scrambled("的一是不了人我在有他这中大来上", 2_000)
    ]) {
      const exact = library[encoding].countTokens(text)
      expect(Math.abs(count(text) - exact) / exact).toBeLessThan(0.01)
    }
  })

  it("goes by the vocabulary's name", async () => {
    const program = Effect.map(Tokenizer.Tokenizer, (tokenizer) => tokenizer.name)
    expect(await Effect.runPromise(Effect.provide(program, GptTokenizer.layer(encoding)))).toBe(encoding)
  })
})

const scrambled = (alphabet: string, length: number): string => {
  const characters = Array.from(alphabet)
  let state = 1
  let text = ""
  for (let i = 0; i < length; i++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    text += characters[(state >>> 8) % characters.length]
  }
  return text
}

const range = (first: number, last: number): string =>
  Array.from({ length: last - first + 1 }, (_, index) => String.fromCodePoint(first + index)).join("")

const monotonous = (length: number): ReadonlyArray<readonly [string, string]> => [
  ["one letter", "a".repeat(length)],
  ["base64", scrambled("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", length)],
  ["lower-case letters", scrambled("abcdefghijklmnopqrstuvwxyz", length)],
  ["Chinese", scrambled(range(0x4e00, 0x5e00), length)],
  ["spaces", " ".repeat(length)],
  ["digits", scrambled("0123456789", length)],
  ["punctuation", scrambled("!@#$%^&*()-_=+[]{};:',.<>?", length)],
  ["line ends and slashes", "/\n".repeat(length / 2)],
  ["symbols with marks", "!\u0301".repeat(length / 2)],
  ["emoji", "😀".repeat(length / 2)],
  ["lone surrogates", "\ud800".repeat(length)]
]

/** Over a quarter of a megabyte of letters a quadratic counter takes minutes, over a whole one half an hour. */
const lengths: ReadonlyArray<readonly [GptTokenizer.Encoding, number]> = [
  ["o200k_base", 2 ** 20],
  ["cl100k_base", 2 ** 18],
  ["p50k_base", 2 ** 18]
]

describe.each(lengths)("GptTokenizer over %s takes linear time over %i characters", (encoding, length) => {
  it.each(monotonous(length))("of %s", async (_, text) => {
    const { count } = await load(encoding)
    const tokens = count(text)
    expect(tokens).toBeGreaterThan(text.length / 256)
    expect(tokens).toBeLessThanOrEqual(text.length * 3)
  })
})
