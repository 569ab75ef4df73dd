/**
 * What lists show of a session, found without keeping the session in memory:
 * each line is looked at and let go.
 *
 * @since 0.1.0
 */
import type { SessionInfo } from "@cutpoint/compaction/SessionStore"
import type * as Entry from "@cutpoint/core/Entry"
import * as SessionLines from "@cutpoint/core/SessionLines"
import * as SessionTree from "@cutpoint/core/SessionTree"
import type * as PlatformError from "@effect/platform/Error"
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as LineReader from "./LineReader.js"
import * as SessionFolder from "./SessionFolder.js"
import { openForReading } from "./SessionReader.js"

/** A header is looked for in so many bytes. */
const headerBytes = 1024 * 1024

/** Headers are short: most are read in one go. */
const headerChunkBytes = 8 * 1024

/** Only lines that hold one of these words can matter to a list. */
const telling = /assistant|session_info|compaction|context_edit/

/** The header of a file's session; undefined where the file is no session. */
export const header = (
  path: string
): Effect.Effect<Entry.Header | undefined, PlatformError.PlatformError, FileSystem.FileSystem> =>
  Effect.scoped(
    Effect.gen(function* () {
      const file = yield* openForReading(path)
      const info = yield* file.stat
      const scan = new Scan()
      const bytes = Math.min(Number(info.size), headerBytes)
      yield* LineReader.read(file, bytes, (line) => scan.push(line) && scan.header === undefined, headerChunkBytes)
      return scan.header
    })
  )

/**
 * What a list shows of a file; undefined where the file is no session, or one
 * that `isWanted` turns down by its header, in which case nothing more of it
 * is read.
 */
export const info = (
  found: SessionFolder.Found,
  isWanted: (header: Entry.Header) => boolean
): Effect.Effect<SessionInfo | undefined, PlatformError.PlatformError, FileSystem.FileSystem> =>
  Effect.scoped(
    Effect.gen(function* () {
      const file = yield* openForReading(found.path)
      const scan = new Scan()
      const goesOn = (): boolean => scan.header === undefined || isWanted(scan.header)
      yield* LineReader.read(file, found.bytes, (line) => scan.push(line) && goesOn())
      return scan.header === undefined || !isWanted(scan.header) ? undefined : scan.info(found, scan.header)
    })
  )

/** The id that a session goes by: its header's, or its file name's where the header has none. */
export const idOf = (header: Entry.Header, nameOfFile: string): string =>
  header.id === "" ? SessionFolder.idInName(nameOfFile) : header.id

class Scan {
  header: Entry.Header | undefined
  private headerLine = ""
  private name: string | undefined
  private contextTokens: number | undefined

  /** Whether reading on is of use. */
  push(line: LineReader.Line): boolean {
    if (this.header !== undefined && !telling.test(line.text)) return true
    const reader = SessionLines.makeReader({ keepTexts: this.header === undefined })
    if (this.header !== undefined) reader.push(this.headerLine)
    reader.push(line.text, line.terminated)
    const lines = reader.end()
    if (lines !== undefined) this.take(lines)
    return !reader.isForeign()
  }

  info(found: SessionFolder.Found, header: Entry.Header): SessionInfo {
    return {
      key: found.path,
      id: idOf(header, found.name),
      cwd: header.cwd,
      name: this.name,
      bytes: found.bytes,
      modified: found.modified,
      contextTokens: this.contextTokens
    }
  }

  private take(lines: SessionLines.SessionLines): void {
    if (this.header === undefined) {
      this.header = lines.header
      this.headerLine = lines.headerText
    }
    for (const entry of lines.entries) this.see(entry)
  }

  private see(entry: Entry.Entry): void {
    if (entry.type === "session_info") this.name = entry.name || undefined
    else if (entry.type === "compaction" || entry.type === "context_edit") this.contextTokens = undefined
    else this.contextTokens = SessionTree.reportedTokens([entry]) ?? this.contextTokens
  }
}
