/**
 * From the `[session]` argument to a session.
 *
 * @since 0.1.0
 */
import * as Prompt from "@effect/cli/Prompt"
import * as SessionStore from "@cutpoint/compaction/SessionStore"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Failure from "./Failure.js"
import * as Output from "./Output.js"
import * as Printable from "./Printable.js"

/** A session, and whether the user named it. */
export interface Found {
  readonly key: string
  readonly isNamed: boolean
}

/** The session named, or the newest of this folder, whose path is then said. */
export const find = Effect.fnUntraced(function* (query: string | undefined) {
  const store = yield* SessionStore.SessionStore
  if (query !== undefined) return { key: yield* store.find(query), isNamed: true }
  const path = yield* Path.Path
  const output = yield* Output.Output
  const newest = yield* Stream.runHead(store.list({ cwd: path.resolve(".") }))
  if (Option.isNone(newest)) {
    const all = yield* Stream.runCollect(Stream.take(store.list(), maxNamed))
    const available = [...all].map(({ id, key }) => `${id}  ${key}`)
    return yield* new SessionStore.SessionNotFound({ query: `of this folder (${path.resolve(".")})`, available })
  }
  yield* output.notice(`Session: ${Printable.line(newest.value.key, 1000)}`)
  return { key: newest.value.key, isNamed: false }
})

/** How many sessions an error names. */
const maxNamed = 10

/** Asks before writing to a session that was not named, where somebody can be asked. */
export const confirm = Effect.fnUntraced(function* (
  found: Found,
  options: { readonly yes: boolean; readonly json: boolean }
) {
  const output = yield* Output.Output
  if (found.isNamed || options.yes || options.json || !output.isInteractive) return
  const goesOn = yield* Prompt.confirm({ message: "Write to this session?" })
  if (!goesOn) return yield* new Failure.Declined()
})
