/**
 * The command as a whole: what it is given, what it ends with.
 *
 * @since 0.1.0
 */
import type * as SessionStore from "@cutpoint/compaction/SessionStore"
import type * as Settings from "@cutpoint/compaction/Settings"
import * as Command from "@effect/cli/Command"
import * as HelpDoc from "@effect/cli/HelpDoc"
import * as ValidationError from "@effect/cli/ValidationError"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Layer from "effect/Layer"
import * as Commands from "./Commands.js"
import * as Failure from "./Failure.js"
import * as Output from "./Output.js"
import * as Printable from "./Printable.js"

/** The version of the command. */
export const version = "0.1.0"

/** What stands without a command: options of every command, and nothing to do. */
const noCommand = Effect.fail(
  ValidationError.missingSubcommand(
    HelpDoc.p(
      "Give a command: compact, tree, context, sessions, pin, unpin, undo, doctor, import or export. --help says more."
    )
  )
)

const root = Command.make("cutpoint", {}, () => noCommand).pipe(
  Command.withDescription("Compacts and navigates LLM agent sessions"),
  Command.withSubcommands(Commands.all)
)

const run = Command.run(root, { name: "cutpoint", version })

const hasFolder = Effect.try({ try: () => process.cwd(), catch: () => new Failure.NoCurrentFolder() })

/**
 * Runs the command with the process's arguments, over sessions and settings,
 * and gives its exit code. All that goes wrong, an interruption too, is told here,
 * and nowhere else.
 */
export const main = <E, R>(
  argv: ReadonlyArray<string>,
  files: Layer.Layer<SessionStore.SessionStore | Settings.Settings, E, R>
) =>
  Effect.uninterruptibleMask(
    Effect.fnUntraced(function* (restore) {
      const output = yield* Output.Output
      const given = argv.slice(2)
      const isMisused = given.length === 0 || (given.includes("--wizard") && !output.isInteractive)
      const effective = isMisused ? [...argv.slice(0, 2), "--help"] : argv
      const base = yield* Console.consoleWith(Effect.succeed)
      const console = consoleOf(base, output, isMisused ? output.notice : output.result)
      const running = Effect.zipRight(hasFolder, Effect.provide(Effect.withConsole(run(effective), console), files))
      const exit = yield* Effect.exit(restore(running))
      if (Exit.isSuccess(exit)) return isMisused ? Failure.exitCodes.wrongUse : Failure.exitCodes.done
      const { cause } = exit
      const tell = output.notice(Failure.message(cause))
      const document = output.result(Printable.json({ error: Failure.toJson(cause) }))
      // Where stdout itself cannot be written to, stderr has to do.
      if (given.includes("--json") && Failure.isInResult(cause)) return Failure.exitCode(cause)
      yield* given.includes("--json") ? Effect.catchAllDefect(document, () => tell) : tell
      return Failure.exitCode(cause)
    })
  )

/**
 * What `@effect/cli` prints itself: help goes to the given place, without
 * colours unless it is a terminal; what it says of wrong use is told by `main`.
 */
const consoleOf = (
  base: Console.Console,
  output: Output.Service,
  print: (text: string) => Effect.Effect<void>
): Console.Console => {
  const plain = (args: ReadonlyArray<unknown>): string => {
    const text = args.map(String).join(" ")
    return (output.hasColors ? text : Printable.text(text)).trim()
  }
  return { ...base, log: (...args) => print(plain(args)), error: () => Effect.void }
}
