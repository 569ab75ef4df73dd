/**
 * `cutpoint import`: a history of another format becomes a session.
 *
 * @since 0.1.0
 */
import * as SessionHistories from "@cutpoint/compaction/SessionHistories"
import * as SessionStore from "@cutpoint/compaction/SessionStore"
import type * as Histories from "@cutpoint/core/Histories"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Diagnostics from "../Diagnostics.js"
import * as Failure from "../Failure.js"
import * as Output from "../Output.js"
import * as Printable from "../Printable.js"

/** What `import` takes. */
export interface ImportOptions {
  readonly file: string
  readonly to: string | undefined
  readonly format: Histories.Name | undefined
  readonly json: boolean
}

/** Runs it. */
export const run = (options: ImportOptions) => Effect.provide(importFile(options), SessionHistories.layer)

const importFile = Effect.fnUntraced(function* (options: ImportOptions) {
  const output = yield* Output.Output
  const store = yield* SessionStore.SessionStore
  const histories = yield* SessionHistories.SessionHistories
  const path = yield* Path.Path
  const document = yield* readJson(path.resolve(options.file))
  const to = options.to === undefined ? { cwd: path.resolve(".") } : { key: yield* store.find(options.to) }
  const imported = yield* histories.importHistory(document, { format: options.format, to })
  yield* Diagnostics.tellBackup(imported.backup)
  yield* Diagnostics.warn(imported.session.diagnostics, options.json)
  yield* output.result(options.json ? Printable.json(toJson(imported)) : toText(imported))
})

const readJson = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const text = yield* fs
    .readFileString(file)
    .pipe(Effect.mapError((cause) => new Failure.HistoryUnreadable({ file, problem: cause.message })))
  return yield* Effect.try({
    try: (): unknown => JSON.parse(text.replace(/^\ufeff/, "")),
    catch: (cause) => new Failure.HistoryUnreadable({ file, problem: String(cause) })
  })
})

const toJson = ({ format, kept, messages, session }: SessionHistories.ImportedHistory) => ({
  session: session.key,
  leafId: session.tree.leafId,
  format,
  messages,
  kept,
  ...Diagnostics.toJson(session.diagnostics)
})

/** How many kinds of what was kept are named. */
const maxNamed = 10

const toText = ({ format, kept, messages, session }: SessionHistories.ImportedHistory): string => {
  const places = [...countBy(kept, placeOf)].map(([place, times]) => `  ${Printable.line(place, 80)}, ${times} times`)
  const untold = places.length - maxNamed
  return [
    `Imported ${Printable.count(messages, "message")} of ${format} into ${Printable.line(session.key, 1000)}`,
    ...(kept.length === 0 ? [] : ["Kept for an export, with no counterpart in a session:"]),
    ...places.slice(0, maxNamed),
    ...(untold > 0 ? [`  and ${untold} more`] : [])
  ].join("\n")
}

/** Places that differ by numbers alone count as one. */
const placeOf = ({ item, path }: Histories.Kept): string => {
  if (item === null) return `${path} of the document`
  return path === "" ? "whole items" : path.replace(/(^|\.)\d+(?=\.|$)/g, "$1*")
}

const countBy = <A>(all: ReadonlyArray<A>, name: (one: A) => string): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const one of all) counts.set(name(one), (counts.get(name(one)) ?? 0) + 1)
  return counts
}
