/**
 * `cutpoint doctor`: says what is wrong with a session, and writes a sound copy.
 *
 * @since 0.1.0
 */
import * as Diagnostic from "@cutpoint/core/Diagnostic"
import * as SessionDoctor from "@cutpoint/session-files/SessionDoctor"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as DoctorView from "../DoctorView.js"
import * as Failure from "../Failure.js"
import * as Output from "../Output.js"
import * as Printable from "../Printable.js"
import * as SessionArgument from "../SessionArgument.js"

/** What `doctor` takes. */
export interface DoctorOptions {
  readonly session: string | undefined
  readonly repair: string | undefined
  readonly json: boolean
}

/** Runs it. */
export const run = Effect.fnUntraced(function* (options: DoctorOptions) {
  const output = yield* Output.Output
  const path = yield* Path.Path
  const { key } = yield* SessionArgument.find(options.session)
  const copy = options.repair === undefined ? undefined : path.resolve(options.repair)
  const diagnostics = yield* copy === undefined ? SessionDoctor.examine(key) : SessionDoctor.repair(key, copy)
  const view: DoctorView.View = { session: key, diagnostics, copy }
  yield* output.result(options.json ? Printable.json(DoctorView.toJson(view)) : DoctorView.toText(view))
  const faults = Diagnostic.count(diagnostics.filter(Diagnostic.isFault))
  if (faults > 0) yield* new Failure.FaultsFound({ faults, isRepaired: copy !== undefined })
})
