import * as Pieces from "@cutpoint/gpt-tokenizer/Pieces"
import * as FastCheck from "effect/FastCheck"
import { describe, expect, it } from "vitest"

/** Any UTF-16 code units, and long rows of one kind. */
const anyText = FastCheck.array(
  FastCheck.oneof(
    FastCheck.string({ unit: "binary", maxLength: 40 }),
    FastCheck.array(FastCheck.integer({ min: 0xd7ff, max: 0xe000 }), { maxLength: 20 }).map((units) =>
      String.fromCharCode(...units)
    ),
    FastCheck.tuple(
      FastCheck.constantFrom(
        "a",
        "Ж",
        "字",
        "7",
        "𝟟",
        " ",
        "\n",
        "/",
        "-",
        "\u0301",
        "😀",
        "𠀀",
        "\ud83d",
        "\ude00",
        "/\n",
        "!\u0301"
      ),
      FastCheck.integer({ min: 1, max: 700 })
    ).map(([unit, times]) => unit.repeat(times))
  ),
  { maxLength: 8 }
).map((parts) => parts.join(""))

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff

const longest = (text: string, pattern: RegExp): number =>
  Math.max(0, ...Array.from(text.matchAll(pattern), ([run]) => Array.from(run).length))

describe("Pieces.cut", () => {
  it("gives pieces that joined are the text, none of them empty", () => {
    FastCheck.assert(
      FastCheck.property(anyText, (text) => {
        const pieces = Pieces.cut(text)
        return pieces.join("") === text && pieces.every((piece) => piece !== "")
      })
    )
  })

  it("never cuts inside a surrogate pair", () => {
    FastCheck.assert(
      FastCheck.property(anyText, (text) => {
        let end = 0
        return Pieces.cut(text).every((piece) => {
          end += piece.length
          return !(isHigh(text.charCodeAt(end - 1)) && isLow(text.charCodeAt(end)))
        })
      })
    )
  })

  it.each([
    ["letters and marks", /[\p{L}\p{M}]+/gu, 256],
    ["digits", /\p{N}+/gu, 255],
    ["symbols and marks", /[^\s\p{L}\p{N}]+/gu, 256],
    ["whitespace", /\s+/gu, 256],
    ["line ends and slashes", /[\r\n/]+/gu, 256]
  ])("leaves no longer row of %s than its limit", (_, pattern, limit) => {
    FastCheck.assert(
      FastCheck.property(anyText, (text) => Pieces.cut(text).every((piece) => longest(piece, pattern) <= limit))
    )
  })

  it("leaves a text whose rows are short in one piece, however long it is", () => {
    const text = "const total = items.reduce((sum, item) => sum + item.price, 0) // 合計 😀\n".repeat(5_000)
    expect(Pieces.cut(text)).toEqual([text])
  })

  it("cuts a row at its limit, and the rest at the next one", () => {
    expect(Pieces.cut("x ".repeat(10) + "y".repeat(600)).map((piece) => piece.length)).toEqual([276, 256, 88])
    expect(Pieces.cut("1".repeat(600)).map((piece) => piece.length)).toEqual([255, 255, 90])
  })

  it("counts a surrogate pair as one character", () => {
    expect(Pieces.cut("😀".repeat(300)).map((piece) => piece.length)).toEqual([512, 88])
  })

  it("gives no pieces of the empty text", () => {
    expect(Pieces.cut("")).toEqual([])
  })
})
