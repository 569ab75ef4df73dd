/**
 * What the command itself can fail with, and what a failure ends with.
 *
 * @since 0.1.0
 */
import * as ValidationError from "@effect/cli/ValidationError"
import * as Cause from "effect/Cause"
import * as Schema from "effect/Schema"
import * as Printable from "./Printable.js"

/** No summarizer was chosen. */
export class NoSummarizer extends Schema.TaggedError<NoSummarizer>()("NoSummarizer", {}) {
  override get message(): string {
    return "There is nothing to summarize with. Give --offline to summarize without a model, or --dry-run to see what would be done."
  }
}

/** The person at the terminal said no. */
export class Declined extends Schema.TaggedError<Declined>()("Declined", {}) {
  override get message(): string {
    return "Nothing was written."
  }
}

/** How the command ended. */
export const exitCodes = { done: 0, failed: 1, wrongUse: 2, interrupted: 130 } as const

/** The exit code of a failure. */
export const exitCode = (cause: Cause.Cause<unknown>): number => {
  if (Cause.isInterruptedOnly(cause)) return exitCodes.interrupted
  return ValidationError.isValidationError(Cause.squash(cause)) ? exitCodes.wrongUse : exitCodes.failed
}

/** A failure as JSON: its kind, its message, and what else it tells. */
export const toJson = (cause: Cause.Cause<unknown>, usage: string): unknown => {
  if (Cause.isInterruptedOnly(cause)) return { _tag: "Interrupted", message: "Interrupted; nothing was written." }
  const error = Cause.squash(cause)
  if (ValidationError.isValidationError(error)) return { _tag: "WrongUse", message: usage }
  if (!isTagged(error)) return { _tag: "Defect", message: message(cause) }
  const fields = Object.entries(error).filter(([key]) => key !== "cause")
  return { _tag: error._tag, message: error.message, ...Object.fromEntries(fields) }
}

/** A failure in a sentence that says what to do. */
export const message = (cause: Cause.Cause<unknown>): string => {
  const error = Cause.squash(cause)
  if (isTagged(error)) return Printable.text(error.message)
  return `This is a fault in cutpoint itself; please report it.\n${Printable.text(Cause.pretty(cause))}`
}

const isTagged = (error: unknown): error is Error & { readonly _tag: string } =>
  error instanceof Error && "_tag" in error && typeof error._tag === "string"
