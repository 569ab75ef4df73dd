/**
 * `cutpoint undo`: takes the last compaction back.
 *
 * @since 0.1.0
 */
import * as Undo from "@cutpoint/compaction/Undo"
import * as Effect from "effect/Effect"
import * as Diagnostics from "../Diagnostics.js"
import * as Output from "../Output.js"
import * as Printable from "../Printable.js"
import * as SessionArgument from "../SessionArgument.js"

/** What `undo` takes. */
export interface UndoOptions {
  readonly session: string | undefined
  readonly abandonLater: boolean
  readonly json: boolean
  readonly yes: boolean
}

/** Runs it. */
export const run = (options: UndoOptions) => Effect.provide(undo(options), Undo.layer)

const undo = Effect.fnUntraced(function* (options: UndoOptions) {
  const output = yield* Output.Output
  const service = yield* Undo.Undo
  const found = yield* SessionArgument.find(options.session)
  yield* SessionArgument.confirm(found, options)
  const undone = yield* service.undo(found.key, options)
  yield* Diagnostics.tellBackup(undone.backup)
  yield* Diagnostics.warn(undone.diagnostics, options.json)
  yield* output.result(options.json ? Printable.json(toJson(undone)) : toText(undone))
})

const toJson = (undone: Undo.Undone) => ({
  status: undone._tag === "Undone" ? "undone" : "nothing-to-undo",
  compactionId: undone.compactionId ?? null,
  newLeafId: undone.newLeafId,
  messagesAfter: undone.messagesAfter,
  ...Diagnostics.toJson(undone.diagnostics)
})

const toText = ({ _tag, compactionId, messagesAfter, newLeafId }: Undo.Undone): string => {
  if (_tag === "NothingToUndo") return "There is no compaction to take back."
  const later = messagesAfter === 1 ? "1 later message is" : `${messagesAfter} later messages are`
  const left = messagesAfter === 0 ? "" : `; ${later} left on a branch of ${messagesAfter === 1 ? "its" : "their"} own`
  const place = newLeafId === null ? "before the first entry" : Printable.line(newLeafId, 40)
  return `Took back the compaction ${Printable.line(compactionId ?? "", 40)}; the leaf is ${place}${left}`
}
