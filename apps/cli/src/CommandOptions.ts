/**
 * The options and arguments that commands share.
 *
 * @since 0.1.0
 */
import * as SettingsValues from "@cutpoint/compaction/SettingsValues"
import * as HistoryName from "@cutpoint/core/HistoryName"
import * as Args from "@effect/cli/Args"
import * as HelpDoc from "@effect/cli/HelpDoc"
import * as Options from "@effect/cli/Options"
import * as ValidationError from "@effect/cli/ValidationError"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

/** An optional argument that is no option: an unknown option must not pass for the name of a session. */
export const argument = (name: string, description: string) =>
  Args.text({ name }).pipe(
    Args.withDescription(description),
    Args.mapEffect((value) =>
      value.startsWith("-")
        ? Effect.fail(HelpDoc.p(`There is no option ${value}. See --help for those there are.`))
        : Effect.succeed(value)
    )
  )

/** The session a command works on. */
export const session = argument(
  "session",
  "A session file, a session's id, or an unambiguous start of one; the newest session of this folder where left out"
).pipe(Args.optional, Args.map(Option.getOrUndefined))

const optional = <A>(option: Options.Options<A>) => option.pipe(Options.optional, Options.map(Option.getOrUndefined))

/** An option with a text. */
export const text = (name: string, description: string) =>
  optional(Options.text(name).pipe(Options.withDescription(description)))

/** An option with a whole number that is not negative, such as a size in tokens. */
export const amount = (name: string, description: string) =>
  optional(
    Options.integer(name).pipe(
      Options.withDescription(description),
      Options.mapEffect((value) =>
        value >= 0 && Number.isSafeInteger(value)
          ? Effect.succeed(value)
          : Effect.fail(
              ValidationError.invalidValue(HelpDoc.p(`--${name} takes a whole number of tokens that is not negative.`))
            )
      )
    )
  )

/** An option that is there or not. */
export const flag = (name: string, description: string) =>
  Options.boolean(name).pipe(Options.withDescription(description))

/** Whether the result is printed as one JSON document. */
export const json = flag("json", "Print one JSON document on stdout")

/** Whether nothing is asked. */
export const yes = flag("yes", "Do not ask before writing").pipe(Options.withAlias("y"))

/** What the summary should look at. */
export const instructions = optional(
  Options.text("instructions").pipe(
    Options.withAlias("i"),
    Options.withDescription("What the summary should look at above all")
  )
)

/** How tokens are counted. */
export const tokenizer = optional(
  Options.choice("tokenizer", SettingsValues.tokenizers).pipe(Options.withDescription("How tokens are counted"))
)

/** Whether answers equal those of the agent whose session format this is. */
export const parity = flag("parity", "Use the rules of the agent whose format this is")

/** Whether summaries are written without a model. */
export const offline = flag("offline", "Summarize without a model: no key, no network")

/** Which model summarizes. */
export const model = optional(
  Options.text("model").pipe(
    Options.withDescription("The model that summarizes, as provider/model"),
    Options.mapEffect((value) =>
      SettingsValues.isModelName(value)
        ? Effect.succeed(value)
        : Effect.fail(ValidationError.invalidValue(HelpDoc.p("--model takes provider/model, or offline.")))
    )
  )
)

/** Whether nothing is written. */
export const dryRun = flag("dry-run", "Show what would be done, and write nothing")

/** Whether the text a model would get is shown. */
export const withTranscript = flag("with-transcript", "Show the text that a model would get")

/** How much of the newest context stays. */
export const keepRecentTokens = amount("keep-recent-tokens", "About how many of the newest tokens stay as they are")

/** How much is kept free. */
export const reserveTokens = amount("reserve-tokens", "How many tokens are kept free for the next reply")

/** The size of the model's window. */
export const contextWindow = amount("context-window", "The model's context window, in tokens")

/** A format of histories. */
export const format = Options.choice("format", HistoryName.names).pipe(
  Options.withDescription("The format of the history")
)

/** A format of histories; found where it is left out. */
export const formatIfNamed = optional(format)

/** A file that must not be there yet. */
export const out = optional(
  Options.text("out").pipe(
    Options.withAlias("o"),
    Options.withDescription("Write to this file, which must not be there yet, instead of stdout")
  )
)
