/**
 * `cutpoint export`: a session as a history of another format.
 *
 * @since 0.1.0
 */
import * as SessionHistories from "@cutpoint/compaction/SessionHistories"
import * as SessionStore from "@cutpoint/compaction/SessionStore"
import type * as Histories from "@cutpoint/core/Histories"
import * as SessionWriter from "@cutpoint/session-files/SessionWriter"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Diagnostics from "../Diagnostics.js"
import * as Output from "../Output.js"
import * as Printable from "../Printable.js"
import * as SessionArgument from "../SessionArgument.js"

/** What `export` takes. */
export interface ExportOptions {
  readonly session: string | undefined
  readonly format: Histories.Name
  readonly all: boolean
  readonly out: string | undefined
  readonly json: boolean
}

/** Runs it. */
export const run = (options: ExportOptions) => Effect.provide(exportSession(options), SessionHistories.layer)

const exportSession = Effect.fnUntraced(function* (options: ExportOptions) {
  const output = yield* Output.Output
  const histories = yield* SessionHistories.SessionHistories
  const path = yield* Path.Path
  const { key } = yield* SessionArgument.find(options.session)
  const exported = yield* histories.exportHistory(key, options)
  const { diagnostics, document, leafId, leftOut, messages } = exported
  yield* Diagnostics.warn(diagnostics, options.json)
  const file = options.out === undefined ? null : path.resolve(options.out)
  if (file !== null) yield* write(file, document)
  if (options.json) {
    const { format } = options
    const history = file === null ? document : null
    return yield* output.result(
      Printable.json({ session: key, leafId, format, messages, file, leftOut, diagnostics, history })
    )
  }
  yield* Effect.forEach(counts(leftOut), (line) => output.notice(line), { discard: true })
  const done = `Exported ${Printable.count(messages, "message")} as ${options.format} to ${Printable.line(file ?? "", 1000)}`
  yield* output.result(file === null ? Printable.json(document) : done)
})

/** A file of its own, for its owner alone. */
const write = Effect.fnUntraced(function* (file: string, document: unknown) {
  yield* SessionWriter.writeNew(file, [`${JSON.stringify(document, null, 2)}\n`]).pipe(
    Effect.mapError((error) =>
      error._tag === "SystemError" && error.reason === "AlreadyExists"
        ? new SessionStore.CopyExists({ path: file })
        : new SessionStore.AppendFailed({ key: file, cause: error.cause ?? error })
    )
  )
})

const counts = (leftOut: ReadonlyArray<Histories.LeftOut>): ReadonlyArray<string> => {
  const kinds = new Map<string, number>()
  for (const { what } of leftOut) kinds.set(what, (kinds.get(what) ?? 0) + 1)
  return [...kinds].map(([what, times]) => `Left out: ${what}, of ${Printable.count(times, "message")}`)
}
