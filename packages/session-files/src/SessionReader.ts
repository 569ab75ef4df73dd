/**
 * Reads a session's file forward, a line at a time. Never writes.
 *
 * @since 0.1.0
 */
import { NotASession, type Session } from "@cutpoint/compaction/SessionStore"
import * as Diagnostic from "@cutpoint/core/Diagnostic"
import * as SessionLines from "@cutpoint/core/SessionLines"
import * as SessionTree from "@cutpoint/core/SessionTree"
import * as PlatformError from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as LineReader from "./LineReader.js"
import * as Revision from "./Revision.js"

/** What a file held. */
export interface Reading {
  readonly lines: SessionLines.SessionLines
  readonly state: Revision.FileState
}

/**
 * Reads a session's file as it is at the moment it is opened: what is appended
 * while it is being read is left for the next time. Fails as `NotASession`
 * where the first readable line is no header.
 */
export const read = (
  path: string,
  options: SessionLines.Options = {}
): Effect.Effect<Reading, NotASession | PlatformError.PlatformError, FileSystem.FileSystem> =>
  Effect.scoped(
    Effect.gen(function* () {
      const file = yield* openForReading(path)
      const state = yield* Revision.of(file)
      const collector = makeCollector(options)
      yield* LineReader.read(file, state.size, collector.push)
      const lines = collector.end()
      if (lines === undefined) return yield* new NotASession({ key: path, line: collector.foreignLine() })
      return { lines, state }
    })
  )

/** The session of a reading. */
export const toSession = (key: string, reading: Reading): Session => {
  const { diagnostics, entries, header, lines, version } = reading.lines
  const tree = SessionTree.make(header, entries, lines)
  return { key, tree, version, revision: reading.state.revision, diagnostics: [...diagnostics, ...tree.diagnostics] }
}

/**
 * Opens what must be a regular file, for as long as the scope lasts: a folder
 * fails, and a pipe is not waited for.
 */
export const openForReading = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const info = yield* fs.stat(path)
  if (info.type === "File") return yield* fs.open(path, { flag: "r" })
  return yield* new PlatformError.SystemError({
    module: "FileSystem",
    method: "open",
    reason: "BadResource",
    pathOrDescriptor: path,
    description: info.type === "Directory" ? "it is a folder" : "it is no regular file"
  })
})

interface Collector {
  readonly push: (line: LineReader.Line) => boolean
  readonly end: () => SessionLines.SessionLines | undefined
  /** The line that made clear that this is no session. */
  readonly foreignLine: () => number | undefined
}

const makeCollector = (options: SessionLines.Options): Collector => {
  const reader = SessionLines.makeReader(options)
  let last: LineReader.Line | undefined
  return {
    push: (line) => {
      last = line
      if (line.tooLong) reader.pushTooLong(LineReader.maxLineBytes)
      else reader.push(line.text, line.terminated)
      return !reader.isForeign()
    },
    end: () => {
      const lines = reader.end()
      return lines && { ...lines, diagnostics: [...lines.diagnostics, ...endFaults(lines.diagnostics, last)] }
    },
    foreignLine: () => (reader.isForeign() ? last?.number : undefined)
  }
}

/** What only the file shows: a last line that is whole but not ended. */
const endFaults = (
  diagnostics: ReadonlyArray<Diagnostic.Diagnostic>,
  last: LineReader.Line | undefined
): ReadonlyArray<Diagnostic.Diagnostic> => {
  const isWhole = last?.terminated === false && !diagnostics.some((one) => one._tag === "TornLine")
  return isWhole ? [noFinalLineBreak(last.number)] : []
}

const noFinalLineBreak = (line: number): Diagnostic.Diagnostic =>
  Diagnostic.make("NoFinalLineBreak", `The last line (${line}) has no line break; the next append starts a new line.`, {
    line
  })
