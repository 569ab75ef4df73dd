/**
 * Reads a session from the lines of its file, one at a time, whatever state
 * they are in: what can be read is read, what cannot is reported with its
 * line. Versions 1 and 2 are brought to version 3 on the way.
 *
 * Rules. A line is what stands between two line feeds. Two objects on a line
 * are both read. What a half line swallowed is read from where the next
 * object starts. A version-1 entry has no id: it gets one that follows from
 * the session's id and its position, the same at every read.
 *
 * @since 0.1.0
 */
import * as Diagnostic from "./Diagnostic.js"
import * as Entry from "./Entry.js"
import * as EntryReader from "./EntryReader.js"
import * as Json from "./Json.js"
import * as JsonText from "./JsonText.js"
import { objectsIn } from "./JoinedObjects.js"

/** A session as its lines give it. */
export interface SessionLines {
  readonly header: Entry.Header
  /** The version the file has; entries are given as version 3 all the same. */
  readonly version: number
  /** In file order. */
  readonly entries: ReadonlyArray<Entry.Entry>
  /** The 1-based line of each entry. */
  readonly lines: ReadonlyArray<number>
  /** The JSON text that the header was read from; empty unless texts were asked for. */
  readonly headerText: string
  /** The JSON text that each entry was read from; empty unless it was asked for. */
  readonly texts: ReadonlyArray<string>
  /** What is left out for want of an id; empty unless texts were asked for. */
  readonly lost: ReadonlyArray<LostEntry>
  readonly diagnostics: ReadonlyArray<Diagnostic.Diagnostic>
}

/** An entry without an id, and how many entries stand before it. */
export interface LostEntry {
  readonly text: string
  readonly at: number
}

/** What of a file is kept. */
export interface Options {
  /** Whether entries are kept as the file spells them too, for writing them again. Takes the room of the file once more. */
  readonly keepTexts?: boolean
}

/** Takes lines in order; `end` says what they held, or undefined where the first readable line is no header. */
export interface Reader {
  /** The line without its line feed; `terminated` is false for a last line that has none. */
  readonly push: (line: string, terminated?: boolean) => void
  /** Stands for a line of more than so many bytes, which nobody has read. */
  readonly pushTooLong: (limit: number) => void
  readonly end: () => SessionLines | undefined
  /** Whether a readable line that is no header came first: reading on is of no use. */
  readonly isForeign: () => boolean
}

/** Reads a whole text at once. */
export const parse = (text: string, options: Options = {}): SessionLines | undefined => {
  const reader = makeReader(options)
  let start = 0
  while (start < text.length) {
    const end = text.indexOf("\n", start)
    if (end < 0) {
      reader.push(text.slice(start), false)
      break
    }
    reader.push(text.slice(start, end))
    start = end + 1
  }
  return reader.end()
}

/** The entries of one line of a file, by the same rules; of version 3 where its header's line is not given. */
export const entriesOf = (line: string, header?: string): ReadonlyArray<Entry.Entry> => {
  const value = header === undefined ? parsed(line) : undefined
  // One sound entry on a line is what nearly all lines are.
  if (Json.isObject(value) && typeof value.id === "string" && value.id !== "" && value.type !== "session") {
    return [EntryReader.read(value, { id: value.id, parentId: Json.stringOr(value.parentId, null) })]
  }
  const reader = makeReader()
  reader.push(header ?? bareHeader)
  reader.push(line)
  return reader.end()?.entries ?? []
}

const parsed = (line: string): unknown => {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

const bareHeader = JSON.stringify({ type: "session", version: Entry.currentVersion, id: "_" })

/**
 * The lines of a version-3 file with the same content, without line feeds: the
 * header, then the entries. Needs the texts. Everything that the older records
 * say is kept, what this version does not know included; a record in which
 * nothing changes is kept as it was spelled.
 */
export function* upgraded(session: SessionLines): Iterable<string> {
  const isCurrent = session.version === Entry.currentVersion
  yield isCurrent ? session.headerText : JsonText.withFields(session.headerText, { version: `${Entry.currentVersion}` })
  for (const [index, entry] of session.entries.entries()) yield upgradedText(session.texts[index] ?? "", entry)
}

const upgradedText = (text: string, entry: Entry.Entry): string => {
  const original: unknown = JSON.parse(text)
  if (!Json.isObject(original)) return text
  const { id, message, parentId } = original
  const isRenamed = Json.isObject(message) && message.role === "hookMessage"
  const hasMoved = entry.type === "compaction" && original.firstKeptEntryId !== entry.firstKeptEntryId
  if (id === entry.id && parentId === entry.parentId && !isRenamed && !hasMoved) return text
  return JsonText.withFields(text, {
    id: JSON.stringify(entry.id),
    parentId: JSON.stringify(entry.parentId),
    ...(isRenamed
      ? { message: JsonText.withFields(JsonText.fieldOf(text, "message") ?? "{}", { role: '"custom"' }) }
      : {}),
    ...(hasMoved ? { firstKeptEntryIndex: undefined, firstKeptEntryId: JSON.stringify(entry.firstKeptEntryId) } : {})
  })
}

/** A fresh reader. */
export const makeReader = ({ keepTexts = false }: Options = {}): Reader => {
  const state = new State(keepTexts)
  return {
    push: (line, terminated = true) => state.push(line, terminated),
    pushTooLong: (limit) => state.pushTooLong(limit),
    isForeign: () => state.foreign,
    end: () => state.end()
  }
}

/** The version a header names: 1 where it names none, NaN where it names no whole number above 0. */
const versionOf = (header: Json.JsonObject): number => {
  if (header.version === undefined || header.version === null) return 1
  const version = header.version
  return typeof version === "number" && Number.isSafeInteger(version) && version > 0 ? version : NaN
}

class State {
  foreign = false
  private line = 0
  /** Position among the records of the file: the header is 0, and an unreadable record counts. */
  private record = -1
  private header: Entry.Header | undefined
  private version = Entry.currentVersion
  private readonly entries: Array<Entry.Entry> = []
  private readonly lines: Array<number> = []
  private headerText = ""
  private readonly texts: Array<string> = []
  private readonly lost: Array<LostEntry> = []
  private readonly diagnostics = Diagnostic.collector()
  private readonly idOfRecord = new Map<number, string>()
  private readonly boundaries: Array<{ readonly at: number; readonly record: number }> = []
  private firstCarriageReturn = 0
  private carriageReturns = 0

  constructor(private readonly keepTexts: boolean) {}

  pushTooLong(limit: number): void {
    this.line++
    this.record++
    this.report("LineTooLong", `Line ${this.line} is longer than ${limit} bytes and was left out.`)
  }

  push(raw: string, terminated: boolean): void {
    this.line++
    let line = raw
    if (this.line === 1 && line.startsWith("\uFEFF")) {
      line = line.slice(1)
      this.report("ByteOrderMark", "The file starts with a byte order mark.")
    }
    if (line.endsWith("\r")) {
      line = line.slice(0, -1)
      if (this.carriageReturns++ === 0) this.firstCarriageReturn = this.line
    }
    if (line.trim() === "") {
      this.report("BlankLine", `Line ${this.line} is blank.`)
      return
    }
    this.readLine(line, terminated)
  }

  end(): SessionLines | undefined {
    if (this.header === undefined) return undefined
    if (this.carriageReturns > 0) {
      this.diagnostics.add(
        Diagnostic.make(
          "CarriageReturns",
          `${this.carriageReturns} lines end in a carriage return, the first is line ${this.firstCarriageReturn}.`,
          { line: this.firstCarriageReturn }
        )
      )
    }
    this.resolveBoundaries()
    return {
      header: this.header,
      version: this.version,
      entries: this.entries,
      lines: this.lines,
      headerText: this.headerText,
      texts: this.texts,
      lost: this.lost,
      diagnostics: this.diagnostics.all()
    }
  }

  private report(tag: Diagnostic.Kind, message: string, entryId?: string): void {
    this.diagnostics.add(Diagnostic.make(tag, message, { line: this.line, entryId }))
  }

  private readLine(line: string, terminated: boolean): void {
    let value: unknown
    try {
      value = JSON.parse(line)
    } catch {
      this.readDamaged(line, terminated)
      return
    }
    this.record++
    this.readRecord(value, line)
  }

  /** A line that is no JSON text: joined objects, a half object before a whole one, or nothing. */
  private readDamaged(line: string, terminated: boolean): void {
    const found = objectsIn(line)
    if (found.objects.length === 0) {
      this.record++
      this.report(
        terminated ? "NotJson" : "TornLine",
        terminated
          ? `Line ${this.line} is not JSON and was left out.`
          : `The last line (${this.line}) is cut off and was left out.`
      )
      return
    }
    const lost = found.rest === "" ? "" : "; the rest of the line cannot be read"
    this.report("JoinedLines", `Line ${this.line} holds ${found.objects.length} readable entries${lost}.`)
    if (found.restFirst) this.record++
    for (const { text, value } of found.objects) {
      this.record++
      this.readRecord(value, text)
    }
    if (found.rest !== "" && !found.restFirst) this.record++
  }

  private readRecord(value: unknown, text: string): void {
    if (this.foreign) return
    if (this.header === undefined) this.readHeader(value, text)
    else if (!Json.isObject(value))
      this.report("NotAnEntry", `Line ${this.line} is JSON, but no object; it was left out.`)
    else if (value.type === "session")
      this.report("RepeatedHeader", `Line ${this.line} is a second header; it was left out.`)
    else this.readEntry(value, text)
  }

  private readHeader(value: unknown, text: string): void {
    if (!Json.isObject(value) || value.type !== "session") {
      this.foreign = true
      return
    }
    this.version = versionOf(value)
    if (Number.isNaN(this.version)) {
      this.report("HeaderField", `The header's version, ${Json.textOf(value.version)}, is no whole number.`)
    } else if (this.version > Entry.currentVersion) {
      this.report(
        "NewerVersion",
        `The session has version ${this.version}; this program writes version ${Entry.currentVersion} and opens it read-only.`
      )
    }
    if (typeof value.id !== "string" || value.id === "") this.report("HeaderField", "The header has no id.")
    this.header = soundHeader(value)
    if (this.keepTexts) this.headerText = text.trim()
  }

  private readEntry(value: Json.JsonObject, text: string): void {
    const base = this.baseOf(value)
    if (base === undefined) {
      if (this.keepTexts) this.lost.push({ text: text.trim(), at: this.entries.length })
      return
    }
    if (typeof value.type !== "string" || value.type === "") {
      this.report("MissingType", `Line ${this.line} has no type; it is kept, and says nothing.`, base.id)
    } else if (!EntryReader.isKnownType(value.type)) {
      this.report("UnknownType", `Line ${this.line} is of a type that is not known here; it is kept.`, base.id)
    }
    if (this.version === 1 && value.type === "compaction") this.noteBoundary(value)
    this.idOfRecord.set(this.record, base.id)
    this.entries.push(EntryReader.read(value, base))
    this.lines.push(this.line)
    if (this.keepTexts) this.texts.push(text.trim())
  }

  private baseOf(value: Json.JsonObject): EntryReader.Base | undefined {
    // Version 1 names no parents: an entry follows the one before it.
    const before = this.entries.at(-1)?.id ?? null
    if (typeof value.id === "string" && value.id !== "") {
      const isUnnamed = this.version === 1 && value.parentId === undefined
      return { id: value.id, parentId: isUnnamed ? before : Json.stringOr(value.parentId, null) }
    }
    if (this.version === 1) return { id: derivedId(this.header?.id ?? "", this.record), parentId: before }
    this.report("MissingId", `Line ${this.line} has no id, so that nothing can follow it; it was left out.`)
    return undefined
  }

  private noteBoundary(value: Json.JsonObject): void {
    if (typeof value.firstKeptEntryId === "string") return
    const record = value.firstKeptEntryIndex
    this.boundaries.push({ at: this.entries.length, record: typeof record === "number" ? record : -1 })
  }

  /** Version 1 names the first kept entry by its position in the file, which may lie behind lines that cannot be read. */
  private resolveBoundaries(): void {
    for (const { at, record } of this.boundaries) {
      const entry = this.entries[at]
      if (entry?.type !== "compaction") continue
      const { firstKeptEntryIndex: _, ...rest } = entry as Entry.CompactionEntry & { firstKeptEntryIndex?: unknown }
      const firstKeptEntryId = this.idOfRecord.get(record)
      this.entries[at] = { ...rest, firstKeptEntryId: firstKeptEntryId ?? "" }
      if (firstKeptEntryId === undefined) {
        this.diagnostics.add(
          Diagnostic.make(
            "DanglingBoundary",
            `The compaction on line ${this.lines[at]} keeps messages from position ${record} on, where no entry can be read; nothing from before it is kept.`,
            { line: this.lines[at], entryId: entry.id }
          )
        )
      }
    }
  }
}

const soundHeader = (value: Json.JsonObject): Entry.Header => ({
  ...value,
  type: "session",
  id: Json.stringOr(value.id, ""),
  ...(typeof value.cwd === "string" ? {} : { cwd: undefined }),
  ...(typeof value.parentSession === "string" ? {} : { parentSession: Json.stringOr(value.branchedFrom, undefined) }),
  ...(typeof value.timestamp === "string" || typeof value.timestamp === "number" ? {} : { timestamp: undefined }),
  ...(typeof value.version === "number" ? {} : { version: undefined })
})

/**
 * The id of a version-1 entry: 8 hex characters. Multiplying by an odd number
 * maps 32-bit positions one to one, so that two entries of a session never
 * get the same id.
 */
const derivedId = (sessionId: string, record: number): string => {
  const mixed = (Math.imul(record, 0x9e3779b1) ^ hash(sessionId)) >>> 0
  return mixed.toString(16).padStart(8, "0")
}

/** FNV-1a over UTF-16 code units, 32 bits. */
const hash = (text: string): number => {
  let state = 0x811c9dc5
  for (let i = 0; i < text.length; i++) state = Math.imul(state ^ text.charCodeAt(i), 0x01000193)
  return state >>> 0
}
