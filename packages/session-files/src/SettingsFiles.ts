/**
 * Settings from files: the user's own, and the project's over it, key by key.
 * The files are read at each use and never written.
 *
 * @since 0.1.0
 */
import {
  type Loaded,
  Settings,
  SettingsFileInvalid,
  SettingsFileMalformed,
  SettingsFileUnreadable,
  type Service,
  type SettingsError
} from "@cutpoint/compaction/Settings"
import * as SettingsValues from "@cutpoint/compaction/SettingsValues"
import * as Json from "@cutpoint/core/Json"
import type * as PlatformError from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import { parse, type ParseError, printParseErrorCode } from "jsonc-parser"
import * as SessionFolder from "./SessionFolder.js"

/** Where the user's file is. */
export interface Options {
  /** The folder of `settings.json`, absolute. */
  readonly agentDir: string
}

type Needs = FileSystem.FileSystem | Path.Path

/** Settings over files. */
export const make = Effect.fnUntraced(function* (options: Options): Effect.fn.Return<Service, never, Needs> {
  const context = yield* Effect.context<Needs>()
  return {
    load: Effect.fn("SettingsFiles.load")((cwd) => Effect.provide(load(options.agentDir, cwd), context))
  }
})

/** Settings with the user's file in the given folder. */
export const layer = (options: Options): Layer.Layer<Settings, never, Needs> => Layer.effect(Settings, make(options))

/** Settings with the user's file where `PI_CODING_AGENT_DIR` says, else in `~/.pi/agent`. */
export const layerConfig: Layer.Layer<Settings, ConfigError.ConfigError, Needs> = Layer.effect(
  Settings,
  Effect.flatMap(SessionFolder.agentDir, (agentDir) => make({ agentDir }))
)

const load = Effect.fnUntraced(function* (agentDir: string, cwd: string | undefined) {
  const path = yield* Path.Path
  const user = path.join(agentDir, "settings.json")
  const project = path.join(yield* projectOf(cwd), ".pi", "settings.json")
  const files = [yield* readFile(user, "user")]
  // A project in the user's own folder has no file of its own.
  if ((yield* realPath(project)) !== (yield* realPath(user))) files.push(yield* readFile(project, "project"))
  const loaded: Loaded = {
    values: SettingsValues.merge(files),
    notices: files.flatMap(({ ignored }) =>
      ignored.map((key) => `${project} sets ${key}, which only ${user} may; it is left out.`)
    )
  }
  return loaded
})

/** A file's path without symlinks; as it is given where nothing is there. */
const realPath = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  return yield* Effect.orElseSucceed(fs.realPath(file), () => file)
})

/** The session's folder where it is there, else the process's. */
const projectOf = Effect.fnUntraced(function* (cwd: string | undefined) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  if (cwd === undefined || cwd === "") return path.resolve(".")
  const info = yield* Effect.option(fs.stat(cwd))
  return info._tag === "Some" && info.value.type === "Directory" ? path.resolve(cwd) : path.resolve(".")
})

const nothing: SettingsValues.FileValues = { values: new Map(), ignored: [] }

const readFile = (
  file: string,
  origin: SettingsValues.Origin
): Effect.Effect<SettingsValues.FileValues, SettingsError, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const text = yield* textOf(file)
    if (text === undefined) return nothing
    return yield* Either.mapLeft(
      SettingsValues.read(yield* parsed(file, text.replace(/^\uFEFF/u, "")), origin),
      ({ allowed, key, value }) => new SettingsFileInvalid({ file, key, value: shown(value), allowed })
    )
  })

/** The file's text; undefined where there is no file. */
const textOf = Effect.fnUntraced(
  function* (file: string) {
    const fs = yield* FileSystem.FileSystem
    // What is no regular file may never end.
    const { type } = yield* fs.stat(file)
    if (type !== "File") return yield* new SettingsFileUnreadable({ file, cause: new Error(`This is a ${type}.`) })
    return yield* fs.readFileString(file)
  },
  (text, file) =>
    Effect.catchTags(text, {
      BadArgument: (cause) => new SettingsFileUnreadable({ file, cause }),
      SystemError: (cause) =>
        isMissing(cause) ? Effect.succeed(undefined) : new SettingsFileUnreadable({ file, cause })
    })
)

/** Where a file stands in the place of a folder, there are no settings either. */
const isMissing = ({ description, reason }: PlatformError.SystemError): boolean =>
  reason === "NotFound" || description?.startsWith("ENOTDIR") === true

/** How much of a bad value an error shows, in characters. */
const maxShown = 120

/** JSON has no word for what a number such as 1e999 is read as. */
const shown = (value: unknown): string =>
  (typeof value === "number" ? String(value) : Json.textOf(value)).slice(0, maxShown)

/** The file's JSON; comments and trailing commas are errors that say where. */
const parsed = (file: string, text: string): Effect.Effect<unknown, SettingsFileMalformed> =>
  Effect.try({ try: (): unknown => JSON.parse(text), catch: () => malformed(file, text) })

const malformed = (file: string, text: string): SettingsFileMalformed => {
  const { error, offset } = firstError(text)
  const before = text.slice(0, offset).split("\n")
  return new SettingsFileMalformed({
    file,
    line: before.length,
    column: (before.at(-1)?.length ?? 0) + 1,
    problem: (error === undefined ? undefined : problems[printParseErrorCode(error)]) ?? "this is no JSON"
  })
}

/** Where the text first is no JSON. */
const firstError = (text: string): { readonly offset: number; readonly error?: ParseError["error"] } => {
  const errors: Array<ParseError> = []
  try {
    parse(text, errors, { disallowComments: true, allowTrailingComma: false })
  } catch {
    // What is nested too deep for this parser is not searched.
  }
  return errors[0] ?? { offset: 0 }
}

const problems: { readonly [code: string]: string } = {
  InvalidCommentToken: "there is a comment",
  PropertyNameExpected: "a key is expected here, perhaps after a trailing comma",
  ValueExpected: "a value is expected here",
  ColonExpected: "a colon is expected here",
  CommaExpected: "a comma is expected here",
  CloseBraceExpected: "a closing brace is expected here",
  CloseBracketExpected: "a closing bracket is expected here",
  EndOfFileExpected: "the file should end here",
  InvalidSymbol: "this word is no JSON",
  InvalidNumberFormat: "this is no number",
  UnexpectedEndOfString: "a string is not closed",
  UnexpectedEndOfComment: "a comment is not closed"
}
