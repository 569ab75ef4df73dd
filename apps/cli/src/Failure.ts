/**
 * What the command itself can fail with, and what a failure ends with.
 *
 * @since 0.1.0
 */
import * as HelpDoc from "@effect/cli/HelpDoc"
import * as ValidationError from "@effect/cli/ValidationError"
import * as Terminal from "@effect/platform/Terminal"
import * as Cause from "effect/Cause"
import * as Schema from "effect/Schema"
import * as Printable from "./Printable.js"

/** No summarizer was chosen. */
export class NoSummarizer extends Schema.TaggedError<NoSummarizer>()("NoSummarizer", {
  /** The environment variables that make a model ready. */
  variables: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return `There is nothing to summarize with. Set the key of the session's model (${this.variables.join(", ")}), give --model provider/model, or give --offline to summarize without a model.`
  }
}

/** The person at the terminal said no. */
export class Declined extends Schema.TaggedError<Declined>()("Declined", {}) {
  override get message(): string {
    return "Nothing was written."
  }
}

/** It is not known where sessions are. */
export class NoSessionsFolder extends Schema.TaggedError<NoSessionsFolder>()("NoSessionsFolder", {}) {
  override get message(): string {
    return "It is not known where the sessions are: set HOME, or PI_CODING_AGENT_DIR to the agent's folder."
  }
}

/** The folder that the command was started in has been taken away. */
export class NoCurrentFolder extends Schema.TaggedError<NoCurrentFolder>()("NoCurrentFolder", {}) {
  override get message(): string {
    return "The current folder no longer exists. Change to another one and run the command again."
  }
}

/** A file that should hold a history cannot be read, or is no JSON. */
export class HistoryUnreadable extends Schema.TaggedError<HistoryUnreadable>()("HistoryUnreadable", {
  file: Schema.String,
  problem: Schema.String
}) {
  override get message(): string {
    return `${this.file} cannot be read as JSON: ${this.problem}. Give a file that holds one JSON document; nothing was written.`
  }
}

/** What was to be printed could not be written. */
export class OutputFailed extends Schema.TaggedError<OutputFailed>()("OutputFailed", { problem: Schema.String }) {
  override get message(): string {
    return `The output could not be written: ${this.problem}. What the command did is done; print it elsewhere to see it.`
  }
}

/** Something is wrong with a session, and the result says what. */
export class FaultsFound extends Schema.TaggedError<FaultsFound>()("FaultsFound", {
  faults: Schema.Int,
  isRepaired: Schema.Boolean
}) {
  override get message(): string {
    const next = this.isRepaired ? "the copy has none" : "--repair OUT writes a copy that has none"
    return `The session has ${Printable.count(this.faults, "fault")}; ${next}.`
  }
}

/** How the command ended. */
export const exitCodes = { done: 0, failed: 1, wrongUse: 2, interrupted: 130 } as const

/** The exit code of a failure. */
export const exitCode = (cause: Cause.Cause<unknown>): number => {
  if (isInterrupted(cause)) return exitCodes.interrupted
  return ValidationError.isValidationError(Cause.squash(cause)) ? exitCodes.wrongUse : exitCodes.failed
}

/** Whether a failure has been told by the result itself, which stays the only document. */
export const isInResult = (cause: Cause.Cause<unknown>): boolean => Cause.squash(cause) instanceof FaultsFound

/** A failure as JSON: its kind, its message, and what else it tells. */
export const toJson = (cause: Cause.Cause<unknown>): unknown => {
  const error = Cause.squash(cause)
  if (isInterrupted(cause)) return { _tag: "Interrupted", message: message(cause) }
  if (ValidationError.isValidationError(error)) return { _tag: "WrongUse", message: message(cause) }
  if (!isTagged(error)) return { _tag: "Defect", message: message(cause) }
  const { cause: _, ...fields } = Object.fromEntries(Object.entries(error))
  return { ...fields, message: error.message }
}

/** A failure in a sentence that says what to do. */
export const message = (cause: Cause.Cause<unknown>): string => {
  // A prompt that is left stands on a line that has not ended.
  if (isInterrupted(cause)) return Terminal.isQuitException(Cause.squash(cause)) ? "\nInterrupted." : "Interrupted."
  const error = Cause.squash(cause)
  if (ValidationError.isValidationError(error)) return Printable.text(HelpDoc.toAnsiText(error.error)).trim()
  if (isTagged(error)) return Printable.text(error.message)
  return `This is a fault in cutpoint itself; please report it.\n${Printable.text(Cause.pretty(cause))}`
}

/** A key that ends a prompt counts as an interruption. */
const isInterrupted = (cause: Cause.Cause<unknown>): boolean =>
  Cause.isInterruptedOnly(cause) || Terminal.isQuitException(Cause.squash(cause))

const isTagged = (error: unknown): error is Error & { readonly _tag: string } =>
  error instanceof Error && "_tag" in error && typeof error._tag === "string"
