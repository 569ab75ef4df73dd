import { NodeContext } from "@effect/platform-node"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import { expect, it } from "vitest"
import * as BackwardLines from "../src/BackwardLines.js"
import * as LineReader from "../src/LineReader.js"

/** Lines of a file, forward and backward, with where they start. */
const both = (text: string, firstBlock?: number) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = yield* fs.makeTempFileScoped()
    yield* fs.writeFileString(path, text)
    const file = yield* fs.open(path, { flag: "r" })
    const size = Number((yield* file.stat).size)
    const forward: Array<string> = []
    yield* LineReader.read(file, size, (line) => forward.push(line.text) > 0)
    const backward: Array<string> = []
    const offsets: Array<number> = []
    yield* BackwardLines.read(
      file,
      size,
      (line, offset) => {
        offsets.unshift(offset)
        return backward.unshift(line.text()) > 0
      },
      firstBlock
    )
    return { forward, backward, offsets }
  }).pipe(Effect.scoped, Effect.provide(NodeContext.layer))

const holds = async (text: string, firstBlock?: number) => {
  const { backward, forward, offsets } = await Effect.runPromise(both(text, firstBlock))
  expect(backward).toEqual(forward)
  const bytes = Buffer.from(text)
  expect(
    offsets.map((offset) => bytes.subarray(offset, bytes.indexOf("\n", offset) + 1 || undefined).toString("utf8"))
  ).toEqual(text.split(/(?<=\n)/u).filter((line) => line !== ""))
}

it("are the lines of reading forward, however the blocks fall", () =>
  FastCheck.assert(
    FastCheck.asyncProperty(
      FastCheck.array(FastCheck.oneof(FastCheck.constantFrom("", "é", "x".repeat(40)), FastCheck.fullUnicodeString()), {
        maxLength: 30
      }),
      FastCheck.boolean(),
      FastCheck.integer({ min: 1, max: 50 }),
      (lines, isEnded, block) =>
        holds(lines.map((line) => line.replaceAll("\n", "")).join("\n") + (isEnded ? "\n" : ""), block)
    ),
    { numRuns: 200 }
  ))

it("are those of a file of many blocks, near its end and far from it", () => {
  const line = (n: number) => `${n} ${"word ".repeat((n * 37) % 900)}`
  return holds(`${Array.from({ length: 4000 }, (_, n) => line(n)).join("\n")}\n${"long ".repeat(700_000)}\nlast`)
})
