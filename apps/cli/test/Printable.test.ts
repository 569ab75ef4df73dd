import * as FastCheck from "effect/FastCheck"
import { describe, expect, it } from "vitest"
import * as Printable from "../src/Printable.js"

const dangerous = /(?![\n\t])[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u

/** Text with a great share of what terminals listen to. */
const hostile = FastCheck.string({
  unit: FastCheck.oneof(
    FastCheck.constantFrom(
      "\u001b",
      "\u001b[",
      "\u001b]",
      "\u001bP",
      "\u009b",
      "\u009d",
      "\u0007",
      "\u001b\\",
      "\u202e",
      "\r"
    ),
    FastCheck.constantFrom("0", ";", "m", "?", " ", "\n", "\t", "é", "漢", "🎉", "\ud83c"),
    FastCheck.string({ minLength: 1, maxLength: 1 })
  )
})

describe("text", () => {
  it.each([
    ["colours", "a\u001b[1;31mb\u001b[0mc", "abc"],
    ["C1 control sequences", "a\u009b2Jb", "ab"],
    ["titles and links", "a\u001b]0;title\u0007b\u001b]8;;x\u001b\\c\u009d0;t\u009cd", "abcd"],
    ["strings for devices", "a\u001bPq#0\u001b\\b", "ab"],
    ["short escapes", "a\u001bcb\u001b(0c", "abc"],
    ["control characters", "a\rb\bc\u0000d\u007fe", "abcde"],
    ["marks of direction", "a\u202eb\u202cc\u2066d\u2069e\u200ff\u061cg", "abcdefg"],
    ["lone surrogates", "a\ud800b", "a\ufffdb"]
  ])("has no %s", (_, given, printed) => expect(Printable.text(given)).toBe(printed))

  it("keeps line breaks and tabs", () => expect(Printable.text("a\n\tb")).toBe("a\n\tb"))

  it("keeps what follows a sequence that never ends", () => {
    expect(Printable.text("a\u001b]0;rest\nof it")).toBe("a0;rest\nof it")
    expect(Printable.text("a\u001bPrest")).toBe("arest")
  })

  it("never holds what drives a terminal, and stays as it is a second time", () => {
    FastCheck.assert(
      FastCheck.property(hostile, (value) => {
        const printed = Printable.text(value)
        return !dangerous.test(printed) && printed.isWellFormed() && Printable.text(printed) === printed
      }),
      { numRuns: 2000 }
    )
  })
})

describe("line", () => {
  it("folds white space, line separators included", () => expect(Printable.line(" a\n\n b\u2028c\t")).toBe("a b c"))

  it("is cut to its width with a sign", () => {
    expect(Printable.line("abcde", 5)).toBe("abcde")
    expect(Printable.line("abcdef", 5)).toBe("abcd…")
  })

  it("counts wide characters twice", () => {
    expect(Printable.line("漢字漢", 6)).toBe("漢字漢")
    expect(Printable.line("漢字漢字", 6)).toBe("漢字…")
    expect(Printable.line("🎉🎉", 3)).toBe("🎉…")
  })

  it("does not look at all of a long text", () => {
    expect(Printable.line("a".repeat(50_000_000), 10)).toBe("aaaaaaaaa…")
  })

  it("is never longer than asked for, and always one line", () => {
    FastCheck.assert(
      FastCheck.property(hostile, FastCheck.integer({ min: 1, max: 30 }), (value, max) => {
        const line = Printable.line(value, max)
        return Array.from(line).length <= max && !/[\n\t]/u.test(line) && !dangerous.test(line)
      }),
      { numRuns: 2000 }
    )
  })
})

describe("count", () => {
  it.each([
    [0, "0 entries"],
    [1, "1 entry"],
    [1234, "1,234 entries"]
  ])("of %i says %s", (value, said) => expect(Printable.count(value, "entry", "entries")).toBe(said))
})

describe("json", () => {
  it("is the same value, and has nothing that drives a terminal", () => {
    FastCheck.assert(
      FastCheck.property(hostile, (value) => {
        const document = Printable.json({ value })
        return !dangerous.test(document) && !/[\u2028\u2029]/u.test(document) && JSON.parse(document).value === value
      }),
      { numRuns: 2000 }
    )
  })
})
