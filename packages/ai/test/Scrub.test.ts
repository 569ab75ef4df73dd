import * as Scrub from "@cutpoint/ai/Scrub"
import * as FastCheck from "effect/FastCheck"
import { describe, expect, it } from "vitest"

/** So many characters in a row of what was sent are never shown. */
const quoted = 12

const runsOf = (text: string): ReadonlyArray<string> =>
  Array.from({ length: Math.max(0, text.length - quoted + 1) }, (_, at) => text.slice(at, at + quoted))

/** The ways in which a text comes back in a message. */
const echoes: ReadonlyArray<(text: string) => string> = [
  (text) => text,
  (text) => JSON.stringify(text),
  (text) => JSON.stringify(JSON.stringify(text)),
  (text) => text.replace(/\s+/g, " "),
  (text) => encodeURIComponent(text.toWellFormed())
]

const echo = FastCheck.constantFrom(...echoes)
const around = FastCheck.stringMatching(/^[ -~]{0,700}$/)
const key = FastCheck.stringMatching(/^(?:sk-ant-|gsk_|AIza|)[A-Za-z0-9_-]{16,60}$/)
/** Text as it stands in transcripts: code, prose, line breaks, quotation marks, characters of all kinds. */
const sent = FastCheck.oneof(
  FastCheck.string({ unit: "binary", minLength: quoted, maxLength: 300 }),
  FastCheck.array(
    FastCheck.constantFrom("const", ' = "', "\n", "\t", "path\\to", "secret", "\u{1F600}", "n\u00e9", "\r\n", "50%25"),
    { minLength: 8, maxLength: 60 }
  ).map((parts) => parts.join(""))
)

describe("what is shown of a provider's words", () => {
  it("never has a key in it, nor a part of one that says anything, wherever the message is cut", () => {
    FastCheck.assert(
      FastCheck.property(key, around, around, (secret, before, after) => {
        const shown = Scrub.scrubbed(`${before} ${secret} ${after}`, { keys: [secret], texts: [] })
        for (const run of runsOf(secret))
          if (!before.includes(run) && !after.includes(run)) expect(shown).not.toContain(run)
      }),
      { numRuns: 1000 }
    )
  })

  it("never has twelve characters in a row of what was sent in it", () => {
    FastCheck.assert(
      FastCheck.property(sent, around, echo, around, (text, before, as, after) => {
        const shown = Scrub.scrubbed(`${before}${as(text)}${after}`, { keys: [], texts: [text] })
        for (const run of runsOf(text)) expect(shown).not.toContain(run)
        // Line breaks come back as spaces, and are no way around it.
        for (const run of runsOf(text.replace(/[\s\p{C}]+/gu, " "))) expect(shown).not.toContain(run)
      }),
      { numRuns: 1000 }
    )
  })

  it("has none of a text's many short lines in it", () => {
    const text = Array.from({ length: 40 }, (_, n) => `key${n}: pw${n}`).join("\n")
    for (const as of echoes.slice(0, 4)) {
      const shown = Scrub.scrubbed(`invalid input: ${as(text)}`, { keys: [], texts: [text] })
      expect(shown).toContain("invalid input:")
      expect(shown).not.toMatch(/pw\d/)
    }
  })

  it("is well formed, bounded and on one line", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.string({ unit: "binary", maxLength: 1500 }), (message) => {
        const shown = Scrub.scrubbed(message, { keys: [], texts: [] })
        expect(shown.isWellFormed()).toBe(true)
        expect(shown.length).toBeLessThanOrEqual(301)
        expect(shown).not.toMatch(/[\n\r\p{Cc}]/u)
      })
    )
    expect(Scrub.scrubbed(`${"x".repeat(299)}\u{1F600}${"y".repeat(50)}`, { keys: [], texts: [] }).isWellFormed()).toBe(
      true
    )
  })

  it.each([
    [
      "Incorrect API key provided: sk-proj-aB3dE6gH9jK2mN5pQ8sT. You can find",
      "Incorrect API key provided: [key]. You can find"
    ],
    ["key: AIzaSyA1234567890abcdefghijklmnop.", "key: [key]"],
    ["Authorization: Bearer eyJhbGciOiJIUzI1NiJ9", "Authorization: [key]"],
    ["the model `x` does not exist", "the model `x` does not exist"]
  ])("hides what looks like a key of another's: %s", (message, shown) => {
    expect(Scrub.scrubbed(message, { keys: [], texts: [] })).toContain(shown.replace(/\.$/, ""))
  })

  it("takes no time to speak of over a large prompt", () => {
    const text = "words of no weight ".repeat(60_000)
    const shown = Scrub.scrubbed(`too long: ${text}`, { keys: [], texts: [text] })
    expect(shown).toBe("too long:[\u2026]\u2026")
  })
})
