/**
 * Repairing a session. Each law throws `LawBroken` where it does not hold. They
 * hold for any text that can be read as a session of a version that can be
 * written.
 *
 * @since 0.1.0
 */
import * as Diagnostic from "@cutpoint/core/Diagnostic"
import * as Entry from "@cutpoint/core/Entry"
import * as Json from "@cutpoint/core/Json"
import * as JsonText from "@cutpoint/core/JsonText"
import * as Projection from "@cutpoint/core/Projection"
import * as SessionFaults from "@cutpoint/core/SessionFaults"
import * as SessionLines from "@cutpoint/core/SessionLines"
import * as SessionRepair from "@cutpoint/core/SessionRepair"
import * as SessionTree from "@cutpoint/core/SessionTree"
import * as Law from "./Law.js"

/** A session before and after. */
interface Repaired {
  readonly before: SessionLines.SessionLines
  readonly lines: ReadonlyArray<string>
  readonly after: SessionLines.SessionLines
}

const sessionId = "5e551011-0000-4000-8000-00000000000f"

/** Undefined for what is no session, and for one of a newer version. */
const repaired = (text: string): Repaired | undefined => {
  const before = SessionLines.parse(text, { keepTexts: true })
  if (before === undefined || before.version > Entry.currentVersion) return undefined
  const lines = SessionRepair.repair(before, sessionId)
  const after = SessionLines.parse(lines.map((line) => `${line}\n`).join(""), { keepTexts: true })
  Law.hold("What is repaired is a session.", after !== undefined, () => `It starts with ${Law.shown(lines[0])}.`)
  return after && { before, lines, after }
}

const treeOf = ({ entries, header }: SessionLines.SessionLines): SessionTree.SessionTree =>
  SessionTree.make(header, entries)

/** What comes out has no fault. */
export const isSound = (text: string): void => {
  const done = repaired(text)
  if (done === undefined) return
  const faults = SessionFaults.find(done.after).filter(Diagnostic.isFault)
  Law.same("What is repaired has no fault.", "The faults", faults, [])
}

/** Every entry that could be read is there, in order, with all it said. */
export const losesNothing = (text: string): void => {
  const done = repaired(text)
  if (done === undefined) return
  const { after, before } = done
  const known = [...SessionLines.upgraded(before)].slice(1)
  const all = before.lost.toReversed().reduce((texts, { at, text }) => texts.toSpliced(at, 0, text), known)
  const law = "A repair loses no entry that can be read, and changes nothing in it but what is wrong."
  Law.same(law, "What entries say", withoutMarks(after.texts.map(said)), withoutMarks(all.map(said)))
}

/** Marks say no more than where one stands; a repair may add some. */
const withoutMarks = (entries: ReadonlyArray<string>): ReadonlyArray<string> =>
  entries.filter((entry) => !entry.includes(Entry.leafMarker))

/** An entry's text without what a repair may have to change. */
const said = (text: string): string => {
  const type = JsonText.fieldOf(text, "type") ?? ""
  const hasType = type.length > 2 && type.startsWith('"') && type !== '"untyped"'
  const changeable = { id: undefined, parentId: undefined, firstKeptEntryId: undefined, type: undefined }
  return (hasType ? type : "") + JsonText.withFields(text, changeable)
}

/** One stands where one stood, and the model sees what it saw. */
export const keepsContext = (text: string): void => {
  const done = repaired(text)
  if (done === undefined) return
  const law = "A repair leaves the leaf and the context at it as they were."
  const [one, other] = [treeOf(done.before), treeOf(done.after)]
  Law.same(law, "The leaf", [other.leafId], [one.leafId])
  const context = (tree: SessionTree.SessionTree) => Projection.messages(Projection.project(SessionTree.leafPath(tree)))
  Law.same(law, "The context", context(other).map(Json.textOf), context(one).map(Json.textOf))
}

/** What has been repaired needs no repair. */
export const isIdempotent = (text: string): void => {
  const done = repaired(text)
  if (done === undefined) return
  Law.same("What is sound stays as it is.", "The lines", SessionRepair.repair(done.after, sessionId), done.lines)
}
