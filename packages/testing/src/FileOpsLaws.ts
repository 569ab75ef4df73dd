/**
 * Which files were read and modified. Each law throws `LawBroken` where it
 * does not hold.
 *
 * @since 0.1.0
 */
import type * as Entry from "@cutpoint/core/Entry"
import * as FileOps from "@cutpoint/core/FileOps"
import type * as Message from "@cutpoint/core/Message"
import * as Preparation from "@cutpoint/core/Preparation"
import * as Tokens from "@cutpoint/core/Tokens"
import * as Option from "effect/Option"
import * as Law from "./Law.js"

type Messages = ReadonlyArray<Message.Message>

const contentOf = ({ edited, read, written }: FileOps.FileOps): ReadonlyArray<unknown> => [
  Array.from(read),
  Array.from(written),
  Array.from(edited)
]

const same = (law: string, what: string, actual: FileOps.FileOps, expected: FileOps.FileOps): void =>
  Law.same(law, what, contentOf(actual), contentOf(expected))

/** `combine` is associative, `empty` is its unit, combining with itself adds nothing, and the first spelling of a path counts. */
export const isMonoid = (a: FileOps.FileOps, b: FileOps.FileOps, c: FileOps.FileOps): void => {
  const law = "File operations are a monoid."
  const { combine, combineAll, empty } = FileOps
  same(law, "(a + b) + c", combine(combine(a, b), c), combine(a, combine(b, c)))
  same(law, "empty + a", combine(empty, a), a)
  same(law, "a + empty", combine(a, empty), a)
  same(law, "a + a", combine(a, a), a)
  same(law, "All of them", combineAll([a, b, c]), combine(combine(a, b), c))
  same(law, "None of them", combineAll([]), empty)
  const both = combine(a, b)
  for (const kind of ["read", "written", "edited"] as const) {
    const kept = [...both[kind]].slice(0, a[kind].size)
    Law.same(law, `What a + b has ${kind} first`, kept, [...a[kind]])
  }
}

/** The operations of two stretches of messages, one after the other, are those of each. */
export const areTheUnion = (one: Messages, other: Messages, recognition: FileOps.Recognition): void => {
  const ops = (messages: Messages) => FileOps.fromMessages(messages, recognition)
  const law = "The operations of two stretches of messages are the union of each one's."
  same(law, "Together", ops([...one, ...other]), FileOps.combine(ops(one), ops(other)))
}

/** Both lists are sorted by UTF-16 code unit and without duplicates, and no file is in both. */
export const listsAreSound = (ops: FileOps.FileOps, recognition: FileOps.Recognition): void => {
  const law = "The lists of files are sorted, without duplicates, and no file is in both."
  const { modifiedFiles, readFiles } = FileOps.lists(ops)
  for (const list of [readFiles, modifiedFiles]) {
    const isSorted = list.every((path, index) => index === 0 || (list[index - 1] ?? "") < path)
    Law.hold(law, isSorted, () => `One is ${Law.shown(list)}.`)
  }
  const { edited, read } = FileOps.fromDetails({ details: { readFiles, modifiedFiles } }, recognition)
  const both = [...read.keys()].filter((key) => edited.has(key))
  Law.hold(law, both.length === 0, () => `In both: ${Law.shown(both)}.`)
}

/**
 * However often a session is compacted as it grows, a file that was once
 * listed stays listed: as modified where it was, else as read or modified.
 * `stretches` are what the session grows by; they hold no compactions.
 */
export const neverShrink = (
  stretches: ReadonlyArray<ReadonlyArray<Entry.Entry>>,
  count: Tokens.Count,
  settings: Preparation.Settings
): void => {
  const law = "What was modified, and what was read or modified, never shrinks over repeated compaction."
  const counter = Tokens.counter(count, settings.rules)
  const recognition: FileOps.Recognition = { cwd: settings.cwd, fold: settings.rules.foldFileNames }
  const path: Array<Entry.Entry> = []
  let known = FileOps.empty
  for (const stretch of stretches) {
    path.push(...stretch)
    const preparation = Option.getOrUndefined(Preparation.prepare(path, counter, settings))
    if (preparation === undefined) continue
    const lists = FileOps.lists(preparation.fileOps)
    const found = FileOps.fromDetails({ details: lists }, recognition)
    contains(law, "modified", found.edited, known.edited)
    contains(
      law,
      "read or modified",
      new Map([...found.read, ...found.edited]),
      new Map([...known.read, ...known.edited])
    )
    known = found
    path.push(compaction(path, preparation, lists))
  }
}

const contains = (
  law: string,
  what: string,
  found: ReadonlyMap<string, string>,
  known: ReadonlyMap<string, string>
): void => {
  const lost = [...known.keys()].filter((key) => !found.has(key))
  Law.hold(law, lost.length === 0, () => `No longer ${what}: ${Law.shown(lost)}.`)
}

const compaction = (
  path: ReadonlyArray<Entry.Entry>,
  { firstKeptEntryId, tokensBefore }: Preparation.Preparation,
  details: FileOps.FileLists
): Entry.CompactionEntry => ({
  type: "compaction",
  id: `compaction-${path.length}`,
  parentId: path.at(-1)?.id ?? null,
  timestamp: "2026-02-01T00:00:00.000Z",
  summary: "What was done.",
  firstKeptEntryId,
  tokensBefore,
  details
})
