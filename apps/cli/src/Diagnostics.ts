/**
 * Tells of the faults that reading a session found.
 *
 * @since 0.1.0
 */
import * as Diagnostic from "@cutpoint/core/Diagnostic"
import * as Effect from "effect/Effect"
import * as EntryView from "./EntryView.js"
import * as Output from "./Output.js"
import * as Printable from "./Printable.js"

/** How many faults are told one by one. */
const maxTold = 10

/** Warns on stderr of faults that may cost content; JSON has them all. */
export const warn = Effect.fnUntraced(function* (diagnostics: ReadonlyArray<Diagnostic.Diagnostic>, json: boolean) {
  const serious = diagnostics.filter(Diagnostic.isSerious)
  if (json || serious.length === 0) return
  const output = yield* Output.Output
  for (const each of serious.slice(0, maxTold)) yield* output.notice(`warning: ${EntryView.diagnostic(each)}`)
  const untold = Diagnostic.count(serious.slice(maxTold))
  if (untold > 0) yield* output.notice(`warning: and ${Printable.count(untold, "more fault")}`)
})

/** The faults as part of a document about something else; left out where there are none. */
export const toJson = (diagnostics: ReadonlyArray<Diagnostic.Diagnostic>) =>
  diagnostics.length === 0 ? {} : { diagnostics }

/** Tells where the original of an upgraded session is. */
export const tellBackup = Effect.fnUntraced(function* (backup: string | undefined) {
  if (backup === undefined) return
  const output = yield* Output.Output
  yield* output.notice(
    `The session was in an older format and has been upgraded; the original is kept as ${Printable.line(backup, 1000)}`
  )
})
