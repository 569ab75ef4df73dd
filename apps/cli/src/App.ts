/**
 * The command as a whole: what it is given, what it ends with.
 *
 * @since 0.1.0
 */
import * as Command from "@effect/cli/Command"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Failure from "./Failure.js"
import * as Output from "./Output.js"
import * as Printable from "./Printable.js"
import * as compact from "./commands/compact.js"
import * as context from "./commands/context.js"
import * as sessions from "./commands/sessions.js"
import * as tree from "./commands/tree.js"

/** The version of the command. */
export const version = "0.1.0"

const root = Command.make("cutpoint").pipe(
  Command.withDescription("Compacts and navigates LLM agent sessions"),
  Command.withSubcommands([compact.command, tree.command, context.command, sessions.command])
)

const run = Command.run(root, { name: "cutpoint", version })

/**
 * Runs the command with the process's arguments and gives its exit code. All
 * that goes wrong is told here, and nowhere else.
 */
export const main = Effect.fnUntraced(function* (argv: ReadonlyArray<string>) {
  const output = yield* Output.Output
  const given = argv.slice(2)
  const isJson = given.includes("--json")
  const usage: Array<string> = []
  const isMisused = given.length === 0 || (given.includes("--wizard") && !output.isInteractive)
  const effective = isMisused ? [...argv.slice(0, 2), "--help"] : argv
  const base = yield* Console.consoleWith(Effect.succeed)
  const collecting = consoleOf(base, output, isMisused ? output.notice : output.result, usage)
  const exit = yield* Effect.exit(Effect.withConsole(run(effective), collecting))
  if (Exit.isSuccess(exit)) return isMisused ? Failure.exitCodes.wrongUse : Failure.exitCodes.done
  const code = Failure.exitCode(exit.cause)
  const told = usage.join("\n").trim()
  if (isJson) yield* output.result(Printable.json({ error: Failure.toJson(exit.cause, told) }))
  else yield* output.notice(code === Failure.exitCodes.wrongUse ? told : Failure.message(exit.cause))
  return code
})

/**
 * What `@effect/cli` prints itself: help goes to the given place, without
 * colours unless it is a terminal, and what it says of wrong use is collected.
 */
const consoleOf = (
  base: Console.Console,
  output: Output.Service,
  print: (text: string) => Effect.Effect<void>,
  usage: Array<string>
): Console.Console => {
  const plain = (args: ReadonlyArray<unknown>): string => {
    const text = args.map(String).join(" ")
    return (output.hasColors ? text : Printable.text(text)).trim()
  }
  return {
    ...base,
    log: (...args) => print(plain(args)),
    error: (...args) => Effect.sync(() => void usage.push(Printable.text(plain(args))))
  }
}
