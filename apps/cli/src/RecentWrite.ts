/**
 * Tells when somebody else seems to be at work on a session.
 *
 * @since 0.1.0
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Output from "./Output.js"
import * as Printable from "./Printable.js"

/** A session that was written within so many seconds may still be open elsewhere. */
const recentSeconds = 10

/** Warns on stderr where a session's file was written a moment ago: an agent that has it open does not see what is added. */
export const warn = Effect.fnUntraced(function* (key: string) {
  const fs = yield* FileSystem.FileSystem
  const output = yield* Output.Output
  const modified = (yield* Effect.option(fs.stat(key))).pipe(Option.flatMap(({ mtime }) => mtime))
  if (Option.isNone(modified)) return
  const seconds = Math.floor(((yield* Clock.currentTimeMillis) - modified.value.getTime()) / 1000)
  if (seconds > recentSeconds) return
  yield* output.notice(
    `warning: another program wrote to the session ${Printable.count(Math.max(0, seconds), "second")} ago. If an agent has it open, close it there first, or open it there anew afterwards: it does not see what is added here.`
  )
})
