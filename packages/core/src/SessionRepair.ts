/**
 * Makes a sound session of a damaged one, as the lines of a new file.
 *
 * Laws. What comes out has no fault. Every entry that could be read is in it,
 * in the same order, spelled as it was apart from what had to change. The
 * context at the leaf is what it was. What has no fault stays as it is.
 *
 * What is done: an entry without an id gets one. Of two with one id the earlier
 * gets another, for the later is the one that others mean. A parent that is
 * not there, or that closes a cycle, becomes none, since the path stops there
 * anyway. A compaction that keeps from an entry that does not stand before it
 * is made to keep nothing, as it is read already. Where an entry stands beside
 * another that its program had not seen, a mark says that one went back there.
 * Where the last entry would no longer be the leaf, a mark says which is.
 *
 * @since 0.1.0
 */
import * as Diagnostic from "./Diagnostic.js"
import * as Entry from "./Entry.js"
import * as EntryReader from "./EntryReader.js"
import * as ForkedWrites from "./ForkedWrites.js"
import * as Json from "./Json.js"
import * as JsonText from "./JsonText.js"
import * as SessionFaults from "./SessionFaults.js"
import * as SessionLines from "./SessionLines.js"
import * as SessionTree from "./SessionTree.js"

/** The type that an entry without one is given: it goes on saying nothing. */
const untyped = "untyped"

/**
 * The lines of a sound session, without line feeds: the header, then the
 * entries. The session must have been read with its texts. `sessionId` is
 * given to one that has none.
 */
export const repair = (session: SessionLines.SessionLines, sessionId: string): ReadonlyArray<string> => {
  const [header = "", ...texts] = SessionLines.upgraded(session)
  const { leafId } = SessionTree.make(session.header, session.entries)
  const records = withLost(session, texts)
  const ids = new Ids(records)
  nameApart(records, ids)
  root(records, leafId)
  bound(session.header, records)
  const entries = records.map(entryOf)
  return [
    session.header.id === "" ? JsonText.withFields(header, { id: JSON.stringify(sessionId) }) : header,
    ...marked(records, entries, ids),
    ...finalMark(session.header, entries, leafId, ids)
  ]
}

/** An entry on its way into the new file. */
interface Record {
  text: string
  id: string
  parentId: string | null
}

const change = (record: Record, fields: JsonText.Fields): void => {
  record.text = JsonText.withFields(record.text, fields)
}

/** The entry as it will be read. */
const entryOf = ({ id, parentId, text }: Record): Entry.Entry => {
  const value: unknown = JSON.parse(text)
  return EntryReader.read(Json.isObject(value) ? value : {}, { id, parentId })
}

/** All that can be read, in the order of the file. What had no id follows the entry before it unless it names another. */
const withLost = (session: SessionLines.SessionLines, texts: ReadonlyArray<string>): Array<Record> => {
  const records: Array<Record> = []
  let lost = 0
  for (let at = 0; at <= session.entries.length; at++) {
    for (let one = session.lost[lost]; one?.at === at; one = session.lost[++lost]) {
      records.push({ text: one.text, id: "", parentId: parentOf(one.text, session.entries[at - 1]?.id ?? null) })
    }
    const [entry, text] = [session.entries[at], texts[at]]
    if (entry !== undefined && text !== undefined) records.push({ text, id: entry.id, parentId: entry.parentId })
  }
  for (const record of records) {
    const type = JsonText.fieldOf(record.text, "type")
    if (type === undefined || !/^".+"$/s.test(type)) change(record, { type: JSON.stringify(untyped) })
  }
  return records
}

const parentOf = (text: string, before: string | null): string | null => {
  const named = JsonText.fieldOf(text, "parentId")
  return named === undefined ? before : Json.stringOr(JSON.parse(named), null)
}

/** Fresh ids that follow from where they are needed, so that a repair always comes to the same. */
class Ids {
  private readonly taken: Set<string>

  constructor(records: ReadonlyArray<Record>) {
    // What is named and not there must not come to mean a new entry either.
    this.taken = new Set(records.flatMap(({ id, parentId }) => (parentId === null ? [id] : [id, parentId])))
  }

  fresh(position: number): string {
    for (let number = Math.imul(position + 1, 0x9e3779b1) >>> 0; ; number = (number + 1) >>> 0) {
      const id = number.toString(16).padStart(8, "0")
      if (this.taken.has(id)) continue
      this.taken.add(id)
      return id
    }
  }
}

/** Gives an id to each that has none, and another to each whose id is used again later. */
const nameApart = (records: ReadonlyArray<Record>, ids: Ids): void => {
  const last = new Map(records.map(({ id }, position) => [id, position]))
  for (const [position, record] of records.entries()) {
    if (record.id !== "" && last.get(record.id) === position) continue
    record.id = ids.fresh(position)
    change(record, { id: JSON.stringify(record.id), parentId: JSON.stringify(record.parentId) })
  }
}

/** Takes away parents that are not there, and one of each cycle: on the leaf's path the one where it stops. */
const root = (records: ReadonlyArray<Record>, leafId: string | null): void => {
  const byId = new Map(records.map((record) => [record.id, record]))
  const cut = (record: Record): void => {
    record.parentId = null
    change(record, { parentId: "null" })
  }
  const rooted = new Set<Record>()
  const walk = (start: Record | undefined): void => {
    const walked = new Set<Record>()
    for (let record = start; record !== undefined && !rooted.has(record);) {
      walked.add(record)
      const parent: Record | undefined = record.parentId === null ? undefined : byId.get(record.parentId)
      const isBroken = record.parentId !== null && (parent === undefined || walked.has(parent))
      if (isBroken) cut(record)
      record = isBroken ? undefined : parent
    }
    for (const record of walked) rooted.add(record)
  }
  walk(leafId === null ? undefined : byId.get(leafId))
  for (const record of records) walk(record)
}

/** Makes compactions whose boundary dangles keep nothing. */
const bound = (header: Entry.Header, records: ReadonlyArray<Record>): void => {
  for (const { at, entry } of SessionFaults.dangling(SessionTree.make(header, records.map(entryOf)))) {
    const record = records[at]
    if (record !== undefined) change(record, { firstKeptEntryId: JSON.stringify(entry.id) })
  }
}

/** The texts, with a mark before each entry that stands beside one its program had not seen. */
const marked = (
  records: ReadonlyArray<Record>,
  entries: ReadonlyArray<Entry.Entry>,
  ids: Ids
): ReadonlyArray<string> => {
  const forks = new Set(ForkedWrites.find(entries).map(({ at }) => at))
  return records.flatMap(({ parentId, text }, at) =>
    forks.has(at) ? [mark(ids.fresh(records.length + at), parentId, entries[at]), text] : [text]
  )
}

/** What leads back to the leaf, where the last entry does not. */
const finalMark = (
  header: Entry.Header,
  entries: ReadonlyArray<Entry.Entry>,
  leafId: string | null,
  ids: Ids
): ReadonlyArray<string> => {
  if (SessionTree.make(header, entries).leafId === leafId) return []
  return [mark(ids.fresh(2 * entries.length), leafId, entries.at(-1))]
}

/** At the time of an entry beside it: nothing here knows another. */
const mark = (id: string, parentId: string | null, beside: Entry.Entry | undefined): string => {
  const timestamp = beside?.timestamp ?? ""
  return JSON.stringify({ type: "custom", id, parentId, timestamp, customType: Entry.leafMarker })
}

/** What a repair does about a session's faults, a sentence for each kind that it has. */
export const steps = (diagnostics: ReadonlyArray<Diagnostic.Diagnostic>): ReadonlyArray<string> => {
  const kinds = new Set(diagnostics.map((one) => one._tag))
  return Diagnostic.Kind.literals.flatMap((kind) => {
    const step = kinds.has(kind) ? stepOf[kind] : undefined
    return step === undefined ? [] : [step]
  })
}

const stepOf: { readonly [kind in Diagnostic.Kind]?: string } = {
  NotJson: "Lines that cannot be read are left out.",
  TornLine: "The last line, which is cut off, is left out.",
  LineTooLong: "Lines that are too long to be read are left out.",
  JoinedLines: "Entries that shared a line have one each.",
  NotAnEntry: "Lines that hold no entry are left out.",
  RepeatedHeader: "Further headers are left out.",
  HeaderField: "The header is put right.",
  MissingId: "Entries without an id have one.",
  MissingType: `Entries without a type have the type "${untyped}".`,
  DuplicateId: "Of entries with one id, the earlier ones have another.",
  UnknownParent: "Entries whose parent is not there are roots.",
  ParentCycle: "Cycles are broken where the path stops.",
  DanglingBoundary: "Compactions that keep from an entry that is not before them keep nothing from before them.",
  ForkedWrite: "Marks say where one went back."
}
