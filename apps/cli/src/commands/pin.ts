/**
 * `cutpoint pin` and `cutpoint unpin`: what must survive every summary.
 *
 * @since 0.1.0
 */
import * as Pinning from "@cutpoint/compaction/Pinning"
import type * as PinBlock from "@cutpoint/core/PinBlock"
import * as HelpDoc from "@effect/cli/HelpDoc"
import * as ValidationError from "@effect/cli/ValidationError"
import * as Effect from "effect/Effect"
import * as Diagnostics from "../Diagnostics.js"
import * as Output from "../Output.js"
import * as Printable from "../Printable.js"
import * as SessionArgument from "../SessionArgument.js"

/** What `pin` takes. */
export interface PinOptions {
  readonly entries: ReadonlyArray<string>
  readonly text: string | undefined
  readonly session: string | undefined
  readonly json: boolean
  readonly yes: boolean
}

/** What `unpin` takes: the pins as its entries. */
export type UnpinOptions = Omit<PinOptions, "text">

/** Runs `pin`. */
export const pin = (options: PinOptions) => Effect.provide(runPin(options), Pinning.layer)

/** Runs `unpin`. */
export const unpin = (options: UnpinOptions) => Effect.provide(runUnpin(options), Pinning.layer)

const show = Effect.fnUntraced(function* (pins: ReadonlyArray<PinBlock.Pin>, json: boolean) {
  const output = yield* Output.Output
  if (json) return yield* output.result(Printable.json({ pins }))
  if (pins.length === 0) return yield* output.notice("Nothing is pinned here.")
  const lines = pins.map(({ id, text }) => `${Printable.line(id, 40)}  ${Printable.line(text, 100)}`)
  yield* output.result(lines.join("\n"))
})

const showChanged = Effect.fnUntraced(function* ({ backup, diagnostics, pins }: Pinning.Pinned, json: boolean) {
  const output = yield* Output.Output
  yield* Diagnostics.tellBackup(backup)
  yield* Diagnostics.warn(diagnostics, json)
  yield* json ? output.result(Printable.json({ pins, ...Diagnostics.toJson(diagnostics) })) : show(pins, json)
})

const runPin = Effect.fnUntraced(function* (options: PinOptions) {
  const { entries, text } = options
  if (entries.length > 0 && text !== undefined) {
    return yield* Effect.fail(ValidationError.invalidValue(HelpDoc.p("Pin entries or a --text, not both at once.")))
  }
  const pinning = yield* Pinning.Pinning
  const found = yield* SessionArgument.find(options.session)
  if (entries.length === 0 && text === undefined) return yield* show(yield* pinning.list(found.key), options.json)
  yield* SessionArgument.confirm(found, options)
  const pinned =
    text === undefined ? yield* pinning.pinEntries(found.key, entries) : yield* pinning.pinText(found.key, text)
  yield* showChanged(pinned, options.json)
})

const runUnpin = Effect.fnUntraced(function* (options: UnpinOptions) {
  const pinning = yield* Pinning.Pinning
  const found = yield* SessionArgument.find(options.session)
  yield* SessionArgument.confirm(found, options)
  const pinned = yield* pinning.unpin(found.key, options.entries)
  yield* showChanged(pinned, options.json)
})
