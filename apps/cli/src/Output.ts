/**
 * Where the command prints: results on stdout, everything else on stderr.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Failure from "./Failure.js"

/** Prints, and knows what it prints to. */
export interface Service {
  /** Prints a text and a line break on stdout; done once it has been taken. */
  readonly result: (text: string) => Effect.Effect<void>
  /** Prints a text and a line break on stderr. */
  readonly notice: (text: string) => Effect.Effect<void>
  /** Shows a text that the next one replaces, on stderr where that is a terminal; an empty one takes it away. */
  readonly status: (text: string) => Effect.Effect<void>
  /** Whether `status` shows anything. */
  readonly hasStatus: boolean
  /** Whether somebody sits at a terminal who can be asked. */
  readonly isInteractive: boolean
  /** Whether stdout shows colours. */
  readonly hasColors: boolean
  /** Whether stdout is a terminal. */
  readonly isTerminal: boolean
  /** How wide it is, in characters. */
  readonly columns: number
}

/** Prints, and knows what it prints to. */
export class Output extends Context.Tag("cutpoint/Output")<Output, Service>() {}

const write = (stream: NodeJS.WriteStream, text: string): Effect.Effect<void> =>
  Effect.async((resume) => {
    stream.write(text, (error) => {
      // A reader that went away (as `head` does) wants no more; that is no failure.
      const isGone = !error || ("code" in error && error.code === "EPIPE")
      resume(isGone ? Effect.void : Effect.die(new Failure.OutputFailed({ problem: error.message })))
    })
  })

/** How wide a terminal is taken to be that does not say, or says 0. */
const unknownColumns = 80

/** Goes to the start of the line and takes away what stands there. */
const clearLine = "\r\u001b[K"

/** The process's own streams. */
export const layerProcess: Layer.Layer<Output> = Layer.sync(Output, () => {
  const { env, stderr, stdin, stdout } = process
  for (const stream of [stdout, stderr]) stream.on("error", () => {})
  const isPlain = Boolean(env.NO_COLOR) || Boolean(env.CI)
  const hasStatus = stderr.isTTY && !isPlain
  let shown = false
  // What is printed for good stands where the status was.
  const clear = (): string => {
    const before = shown ? clearLine : ""
    shown = false
    return before
  }
  return Output.of({
    result: (text) => Effect.suspend(() => write(stdout, `${text}\n`)),
    notice: (text) => Effect.suspend(() => write(stderr, `${clear()}${text}\n`)),
    status: (text) =>
      Effect.suspend(() => {
        if (!hasStatus) return Effect.void
        const line = clear() + text.slice(0, Math.max(1, (stderr.columns || unknownColumns) - 1))
        shown = text !== ""
        return line === "" ? Effect.void : write(stderr, line)
      }),
    hasStatus,
    isInteractive: stdin.isTTY && stdout.isTTY && !isPlain,
    hasColors: stdout.isTTY && !isPlain,
    isTerminal: stdout.isTTY,
    columns: stdout.columns || unknownColumns
  })
})
