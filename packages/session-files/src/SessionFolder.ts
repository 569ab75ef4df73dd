/**
 * Where sessions lie and what their files are called:
 * `<agent folder>/sessions/--<cwd>--/<timestamp>_<id>.jsonl`.
 *
 * Names are only ever made from folders and from ids that were made here, and
 * only ever found by listing: nothing that a session's file says becomes part
 * of a path.
 *
 * @since 0.1.0
 */
import type * as PlatformError from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

/** A file of the sessions folder that may hold a session. */
export interface Found {
  /** Absolute. */
  readonly path: string
  /** The file's name. */
  readonly name: string
  /** The name of the folder it is in. */
  readonly folder: string
  /** In bytes. */
  readonly bytes: number
  /** The last change, in milliseconds since 1970. */
  readonly modified: number
}

/** The ending of session files. */
export const extension = ".jsonl"

/** How many files are looked at at once. */
const statConcurrency = 16

const nonEmpty = (name: string) =>
  Config.option(Config.string(name)).pipe(Config.map(Option.filter((value) => value !== "")))

const homeConfig: Config.Config<string> = Config.nonEmptyString("HOME").pipe(
  Config.orElse(() => Config.nonEmptyString("USERPROFILE"))
)

/**
 * The absolute path of the folder that sessions and settings are in: where
 * `PI_CODING_AGENT_DIR` says, else `~/.pi/agent`. Fails where neither that nor
 * a home folder is known.
 */
export const agentDir: Effect.Effect<string, ConfigError.ConfigError, Path.Path> = Effect.gen(function* () {
  const path = yield* Path.Path
  const moved = yield* nonEmpty("PI_CODING_AGENT_DIR")
  if (Option.isNone(moved)) return path.resolve(yield* homeConfig, ".pi", "agent")
  const [first, ...rest] = moved.value.split(/[/\\]/)
  return first === "~" ? path.resolve(yield* homeConfig, ...rest) : path.resolve(moved.value)
})

/** The absolute path of the default sessions folder. Fails as `agentDir` does. */
export const defaultSessionsDir: Effect.Effect<string, ConfigError.ConfigError, Path.Path> = Effect.gen(function* () {
  const path = yield* Path.Path
  return path.join(yield* agentDir, "sessions")
})

/** The name of the folder for the sessions of a folder, which is given by its absolute path. */
export const folderName = (cwd: string): string => `--${cwd.replace(/^[/\\]/, "").replace(/[/\\:]/g, "-")}--`

/** The name of a session's file. `created` is in milliseconds since 1970. */
export const fileName = (created: number, id: string): string =>
  `${new Date(created).toISOString().replace(/[:.]/g, "-")}_${id}${extension}`

/** The id that a file's name gives: what follows the first `_`, or the whole name where there is none. */
export const idInName = (name: string): string => {
  const stem = name.endsWith(extension) ? name.slice(0, -extension.length) : name
  return stem.slice(stem.indexOf("_") + 1)
}

/**
 * The files of a sessions folder, those changed last first; none where there is
 * no such folder. Fails where the folder is there and cannot be read.
 */
export const newestFirst = Effect.fnUntraced(function* (
  sessionsDir: string
): Effect.fn.Return<ReadonlyArray<Found>, PlatformError.PlatformError, FileSystem.FileSystem | Path.Path> {
  const path = yield* Path.Path
  const top = yield* namesIn(sessionsDir)
  const [files, folders] = [top.filter(isSessionName), top.filter((name) => !isSessionName(name))]
  const inFolders = yield* Effect.forEach(folders, (name) => pathsIn(path.join(sessionsDir, name)), {
    concurrency: statConcurrency
  })
  const paths = [...files.map((name) => path.join(sessionsDir, name)), ...inFolders.flat()]
  const found = yield* Effect.forEach(paths, look, { concurrency: statConcurrency })
  return found.flatMap(Option.toArray).toSorted((a, b) => b.modified - a.modified || (a.path < b.path ? 1 : -1))
})

const isSessionName = (name: string): boolean => name.endsWith(extension)

const namesIn = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  return yield* fs.readDirectory(folder).pipe(Effect.catchIf(isNotFound, () => Effect.succeed<Array<string>>([])))
})

/** Session files of one folder; what is no folder, or may not be read, has none. */
const pathsIn = Effect.fnUntraced(function* (folder: string) {
  const path = yield* Path.Path
  const names = yield* namesIn(folder).pipe(Effect.orElseSucceed((): Array<string> => []))
  return names.filter(isSessionName).map((name) => path.join(folder, name))
})

const look = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const info = yield* Effect.option(fs.stat(file))
  return info.pipe(
    Option.filter((info) => info.type === "File"),
    Option.map((info): Found => ({
      path: file,
      name: path.basename(file),
      folder: path.basename(path.dirname(file)),
      bytes: Number(info.size),
      modified: Option.match(info.mtime, { onNone: () => 0, onSome: (time) => time.getTime() })
    }))
  )
})

/** Whether a failure says that a file or folder is not there. */
export const isNotFound = (error: PlatformError.PlatformError): boolean =>
  error._tag === "SystemError" && error.reason === "NotFound"
