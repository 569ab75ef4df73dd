/**
 * What is wrong with a session, as JSON and as text.
 *
 * @since 0.1.0
 */
import * as Diagnostic from "@cutpoint/core/Diagnostic"
import * as SessionRepair from "@cutpoint/core/SessionRepair"
import * as EntryView from "./EntryView.js"
import * as Printable from "./Printable.js"

/** All there is to show. */
export interface View {
  readonly session: string
  readonly diagnostics: ReadonlyArray<Diagnostic.Diagnostic>
  /** The path of the sound copy, where one was written. */
  readonly copy: string | undefined
}

/** The JSON document of `doctor --json`. */
export const toJson = ({ copy, diagnostics, session }: View) => ({
  session,
  diagnostics: diagnostics.map(({ _tag, entryId, line, message, more }) => ({
    _tag,
    line: line ?? null,
    entryId: entryId ?? null,
    message,
    ...(more === undefined ? {} : { more })
  })),
  ...(copy === undefined ? {} : { copy, repaired: SessionRepair.steps(diagnostics) })
})

/** The text of `doctor`: the faults, what else is worth knowing, what was done about it. */
export const toText = ({ copy, diagnostics, session }: View): string => {
  const faults = diagnostics.filter(Diagnostic.isFault)
  const notes = diagnostics.filter((one) => !Diagnostic.isFault(one))
  return [
    `Session   ${Printable.line(session, 1000)}`,
    `Faults    ${faults.length === 0 ? "none" : Printable.number(Diagnostic.count(faults))}`,
    ...faults.map(lineOf),
    ...(notes.length === 0 ? [] : [`Notes     ${Printable.number(Diagnostic.count(notes))}`, ...notes.map(lineOf)]),
    ...(copy === undefined
      ? []
      : [`Copy      ${Printable.line(copy, 1000)}`, ...SessionRepair.steps(diagnostics).map((step) => `  ${step}`)])
  ].join("\n")
}

const lineOf = (one: Diagnostic.Diagnostic): string => `  ${one._tag.padEnd(16)}  ${EntryView.diagnostic(one)}`
