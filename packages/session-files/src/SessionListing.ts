/**
 * What lists show of a session, from the ends of its file: the header and an
 * early name stand at its start, the tokens of the last reply and a late name
 * at its end. What lies between is not read.
 *
 * @since 0.1.0
 */
import type { SessionInfo } from "@cutpoint/compaction/SessionStore"
import * as Entry from "@cutpoint/core/Entry"
import * as SessionLines from "@cutpoint/core/SessionLines"
import * as SessionTree from "@cutpoint/core/SessionTree"
import type * as PlatformError from "@effect/platform/Error"
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as BackwardLines from "./BackwardLines.js"
import type { ByteLine } from "./ByteLine.js"
import * as LineReader from "./LineReader.js"
import * as SessionFolder from "./SessionFolder.js"
import { openForReading } from "./SessionReader.js"

/** A header is looked for in so many bytes. */
const headerBytes = 1024 * 1024

/** Headers are short: most are read in one go. */
const headerChunkBytes = 8 * 1024

/** So much of the start is looked through for a name, in bytes. */
const startBytes = 64 * 1024

/** So much of the end is looked through for a name, in bytes. */
const endBytes = 64 * 1024

/** Tokens are looked for this far back, where none were reported later, in bytes. */
const longestSearch = 4 * 1024 * 1024

/** Only lines that hold one of these words can name a session, or say how many tokens its context has. */
const naming = [Buffer.from("session_info")]
const counting = ["assistant", "compaction", "context_edit"].map((word) => Buffer.from(word))

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
      const start = new Scan()
      const goesOn = (): boolean => start.header === undefined || isWanted(start.header)
      const bytes = Math.min(found.bytes, startBytes)
      yield* LineReader.read(file, bytes, (line) => start.push(line) && goesOn(), bytes)
      const head = start.header ?? (yield* header(found.path))
      if (head === undefined || !isWanted(head)) return undefined
      const end = new BackwardScan(head.version === Entry.currentVersion ? undefined : start.headerText)
      const look = (line: ByteLine, offset: number) => end.push(line, found.bytes - offset)
      yield* BackwardLines.read(file, found.bytes, look, endBytes)
      return {
        key: found.path,
        id: idOf(head, found.name),
        cwd: head.cwd,
        name: end.name === undefined ? start.name : end.name || undefined,
        bytes: found.bytes,
        modified: found.modified,
        contextTokens: end.contextTokens
      }
    })
  )

/** The id that a session goes by: its header's, or its file name's where the header has none. */
export const idOf = (header: Entry.Header, nameOfFile: string): string =>
  header.id === "" ? SessionFolder.idInName(nameOfFile) : header.id

/** Reads forward: the header, and the latest name. */
class Scan {
  header: Entry.Header | undefined
  headerText: string | undefined
  name: string | undefined

  /** Whether reading on is of use. */
  push(line: LineReader.Line): boolean {
    if (this.header !== undefined) {
      const name = nameIn(line.text.includes("session_info") ? this.entriesOf(line.text) : [])
      if (name !== undefined) this.name = name || undefined
      return true
    }
    const reader = SessionLines.makeReader()
    reader.push(line.text, line.terminated)
    this.header = reader.end()?.header
    this.headerText = line.text
    return !reader.isForeign()
  }

  private entriesOf(line: string): ReadonlyArray<Entry.Entry> {
    return SessionLines.entriesOf(line, this.header?.version === Entry.currentVersion ? undefined : this.headerText)
  }
}

/** Reads backward: the latest name, empty where it was taken away, and the tokens that the last reply reported. */
class BackwardScan {
  name: string | undefined
  contextTokens: number | undefined
  private isDecided = false

  /** With the header's line of an older version. */
  constructor(private readonly header: string | undefined) {}

  /** Whether reading on is of use, `back` bytes from the end. */
  push(line: ByteLine, back: number): boolean {
    if (back > (this.isDecided ? endBytes : longestSearch)) return false
    const words = this.isDecided ? naming : [...naming, ...counting]
    if (words.some((word) => line.includes(word))) this.see(SessionLines.entriesOf(line.text(), this.header))
    return !this.isDecided || this.name === undefined
  }

  private see(entries: ReadonlyArray<Entry.Entry>): void {
    this.name ??= nameIn(entries)
    if (this.isDecided) return
    this.contextTokens = SessionTree.reportedTokens(entries)
    this.isDecided =
      this.contextTokens !== undefined || entries.some(({ type }) => type === "compaction" || type === "context_edit")
  }
}

/** The last name that entries give, empty where they take it away; undefined where they say nothing of it. */
const nameIn = (entries: ReadonlyArray<Entry.Entry>): string | undefined => {
  const last = entries.findLast((entry) => entry.type === "session_info")
  return last?.type === "session_info" ? (last.name ?? "") : undefined
}
