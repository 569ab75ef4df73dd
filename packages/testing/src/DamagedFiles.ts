/**
 * Arbitrary files of sessions in which something is wrong, as disks, programs
 * and people leave them: lines cut off, joined, doubled, in another order;
 * bits that flipped; ids that are missing, used twice, lead in circles or look
 * like paths; numbers, nesting and characters that upset readers.
 *
 * @since 0.1.0
 */
import * as Entry from "@cutpoint/core/Entry"
import type * as SessionTree from "@cutpoint/core/SessionTree"
import * as FastCheck from "effect/FastCheck"
import * as Sessions from "./Sessions.js"

/** One thing that goes wrong, at places that follow from the numbers. */
export interface Damage {
  readonly kind: string
  readonly at: number
  readonly by: number
}

/** Lines of a file, from which a kind of damage makes others. */
type Lines = ReadonlyArray<string>

type OnLines = (lines: Lines, at: number, by: number) => Lines

/** The most levels of nesting that damage makes. */
const maxNesting = 20_000

const place = (lines: Lines, number: number): number => number % Math.max(1, lines.length)

const changing =
  (change: (line: string, by: number, lines: Lines) => string): OnLines =>
  (lines, at, by) =>
    lines.with(place(lines, at), change(lines[place(lines, at)] ?? "", by, lines))

const inserting =
  (line: (by: number) => string): OnLines =>
  (lines, at, by) =>
    lines.toSpliced(place(lines, at) + 1, 0, line(by))

/** Another value for a field that a line has; a field in front where it has none. */
const field = (line: string, name: string, value: string): string => {
  const found = new RegExp(`"${name}":(?:"[^"]*"|null|\\d+)`).exec(line)?.[0]
  return found === undefined
    ? line.replace("{", () => `{"${name}":${value},`)
    : line.replace(found, () => `"${name}":${value}`)
}

const without = (name: string): OnLines =>
  changing((line) => line.replace(new RegExp(`"${name}":(?:"[^"]*"|null|\\d+),?`), ""))

const idOf = (lines: Lines, number: number): string =>
  /"id":("[^"]*")/.exec(lines[place(lines, number)] ?? "")?.[1] ?? '"x"'

const oddIds = ["../../x", "/etc/passwd", "a\0b", "__proto__", "constructor", "", "\ud800", "C:\\x", "x".repeat(5000)]
const oddNumbers = ["12345678901234567890", "1e999", "-0", "1e-400", `1${"0".repeat(400)}`]
const oddHeaders = [1, 2, 2, 3, 9, '"3"', "null", "2.5"]

const nested = (by: number): string => {
  const depth = by % maxNesting
  return by % 2 === 0 ? `${"[".repeat(depth)}${"]".repeat(depth)}` : `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`
}

const onLines: { readonly [kind: string]: OnLines } = {
  cut: changing((line, by) => line.slice(0, by % (line.length + 1))),
  cutStart: changing((line, by) => line.slice(by % (line.length + 1))),
  join: (lines, at, by) => {
    const first = place(lines, at)
    return lines.toSpliced(first, 2, `${lines[first] ?? ""}${" ".repeat(by % 2)}${lines[first + 1] ?? ""}`)
  },
  double: (lines, at, by) => lines.toSpliced(place(lines, by) + 1, 0, lines[place(lines, at)] ?? ""),
  swap: (lines, at, by) =>
    lines.with(place(lines, at), lines[place(lines, by)] ?? "").with(place(lines, by), lines[place(lines, at)] ?? ""),
  drop: (lines, at) => lines.toSpliced(place(lines, at), 1),
  blank: inserting((by) => " ".repeat(by % 3)),
  garbage: inserting((by) => ["garbage", "{", "}", '"', "\\", "\0", "null", "[1]", "42", "{}"][by % 10] ?? ""),
  carriage: (lines) => lines.map((line) => `${line}\r`),
  byteOrderMark: (lines) => lines.with(0, `\uFEFF${lines[0] ?? ""}`),
  header: (lines, at) => lines.with(0, field(lines[0] ?? "", "version", String(oddHeaders[at % oddHeaders.length]))),
  headerId: (lines) => lines.with(0, field(lines[0] ?? "", "id", '""')),
  headerAgain: (lines, at) => lines.toSpliced(place(lines, at) + 1, 0, lines[0] ?? ""),
  noId: without("id"),
  noType: without("type"),
  noParent: without("parentId"),
  noTimestamp: without("timestamp"),
  sameId: changing((line, by, lines) => field(line, "id", idOf(lines, by))),
  otherParent: changing((line, by, lines) => field(line, "parentId", idOf(lines, by))),
  lostParent: changing((line, by) => field(line, "parentId", by % 2 === 0 ? '"nowhere"' : "7")),
  oddId: changing((line, by) => field(line, "id", JSON.stringify(oddIds[by % oddIds.length]))),
  oddType: changing((line, by) =>
    field(line, "type", ["7", '"future"', '"session"', '"compaction"', "null"][by % 5] ?? "")
  ),
  otherBoundary: changing((line, by, lines) => field(line, "firstKeptEntryId", by % 3 === 0 ? "7" : idOf(lines, by))),
  number: changing((line, by) => line.replace(/:\d+/, () => `:${oddNumbers[by % oddNumbers.length]}`)),
  nest: changing((line, by) => line.replace("{", () => `{"deep":${nested(by)},`)),
  nestContent: changing((line, by) => line.replace(/"content":"[^"]*"/, () => `"content":${nested(by)}`)),
  proto: changing((line) => line.replaceAll("{", () => '{"__proto__":{"type":"message"},')),
  surrogate: changing((line, by) => line.replace(/":"/, () => `":"${by % 2 === 0 ? "\\ud800" : "\\udc00"}`)),
  nul: changing((line, by) => line.replace(/":"/, () => `":"${by % 2 === 0 ? "\\u0000" : "\0"}`)),
  separators: changing((line) => line.replace(/":"/, () => '":"\u2028\u2029\u0085'))
}

const onBytes: { readonly [kind: string]: (bytes: Uint8Array, at: number, by: number) => Uint8Array } = {
  flip: (bytes, at, by) =>
    bytes.with(at % Math.max(1, bytes.length), (bytes[at % Math.max(1, bytes.length)] ?? 0) ^ (1 << (by % 8))),
  cutFile: (bytes, at) => bytes.slice(0, at % (bytes.length + 1)),
  notUtf8: (bytes, at) => bytes.with(at % Math.max(1, bytes.length), 0xff)
}

/** The names of all kinds of damage. */
export const kinds: ReadonlyArray<string> = [...Object.keys(onLines), ...Object.keys(onBytes)]

/** The bytes of a session's file, whole. */
export const bytesOf = (tree: SessionTree.SessionTree): Uint8Array =>
  new TextEncoder().encode(
    [tree.header, ...tree.entries.map(Entry.toJson)].map((line) => `${JSON.stringify(line)}\n`).join("")
  )

/** The bytes after something went wrong with them. */
export const damaged = (bytes: Uint8Array, { at, by, kind }: Damage): Uint8Array => {
  if (bytes.length === 0) return bytes
  const change = onLines[kind]
  if (change === undefined) return onBytes[kind]?.(bytes, at, by) ?? bytes
  const lines = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes).split("\n")
  const end = lines.at(-1) === "" ? ["\n"] : []
  const whole = end.length === 0 ? lines : lines.slice(0, -1)
  if (whole.length === 0) return bytes
  return new TextEncoder().encode(change(whole, at, by).join("\n") + end.join(""))
}

const number = FastCheck.nat(1_000_000)

const damage: FastCheck.Arbitrary<Damage> = FastCheck.record({
  kind: FastCheck.constantFrom(...kinds),
  at: number,
  by: number
})

/** Files of sessions with up to `most` things wrong, 4 where left out. They shrink. */
export const make = (most = 4): FastCheck.Arbitrary<Uint8Array> =>
  FastCheck.tuple(Sessions.tree, FastCheck.array(damage, { maxLength: most })).map(([tree, damages]) =>
    damages.reduce(damaged, bytesOf(tree))
  )
