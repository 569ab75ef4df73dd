import { describe, expect, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import * as LineReader from "../src/LineReader.js"

const split = (bytes: Uint8Array, chunkBytes: number, limit?: number) => {
  const splitter = LineReader.makeSplitter(limit)
  const lines: Array<LineReader.Line> = []
  for (let start = 0; start < bytes.length; start += chunkBytes) {
    lines.push(...splitter.push(bytes.slice(start, start + chunkBytes)))
  }
  const last = splitter.end()
  return last === undefined ? lines : [...lines, last]
}

const bytesOf = (text: string) => new TextEncoder().encode(text)

describe("LineReader", () => {
  it("gives the same lines whatever the chunks are", () => {
    fc.assert(
      fc.property(fc.array(fc.fullUnicodeString()), fc.integer({ min: 1, max: 9 }), (texts, chunkBytes) => {
        const text = texts.join("\n")
        const expected = text.endsWith("\n") ? text.slice(0, -1).split("\n") : text === "" ? [] : text.split("\n")
        expect(split(bytesOf(text), chunkBytes).map((line) => line.text)).toEqual(expected)
      })
    )
  })

  it("splits on line feeds only and keeps marks", () => {
    const found = split(bytesOf("\uFEFFa\r\nb\u2028c\u0085d\n\ne"), 1)
    expect(found.map((line) => line.text)).toEqual(["\uFEFFa\r", "b\u2028c\u0085d", "", "e"])
    expect(found.map((line) => line.terminated)).toEqual([true, true, true, false])
    expect(found.map((line) => line.number)).toEqual([1, 2, 3, 4])
  })

  it("gives up a line that is too long, and only that", () => {
    for (const chunkBytes of [1, 3, 100]) {
      const found = split(bytesOf("abcd\nabcde\nab\nabcdefgh"), chunkBytes, 4)
      expect(found.map((line) => [line.text, line.tooLong])).toEqual([
        ["abcd", false],
        ["", true],
        ["ab", false],
        ["", true]
      ])
    }
  })
})
