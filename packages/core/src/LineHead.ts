/**
 * What the first bytes of a session's line say of its entry, so that a line
 * need not be parsed to know whether it is needed.
 *
 * Law. Where a head is read from the line of a sound entry, it says of id,
 * parent, type and role what parsing the whole line says. Lines that are
 * written in another order have no head, and have to be parsed.
 *
 * @since 0.1.0
 */

/** An entry by the head of its line. */
export interface LineHead {
  readonly type: string
  readonly id: string
  readonly parentId: string | null
  /** Of a message. */
  readonly role: string | undefined
  /** How much of the line it takes, in characters. */
  readonly end: number
}

/** So many characters of a line are enough for its head. */
export const length = 256

/** A text of printable ASCII that needs no unescaping. */
const text = String.raw`"([\x20\x21\x23-\x5b\x5d-\x7e]*)"`

const head = new RegExp(
  String.raw`^\{"type":"([a-z_]+)","id":${text},"parentId":(?:null|${text}),"timestamp":"[^"\\\x00-\x1f]*"` +
    String.raw`(?:,"message":\{"role":"([A-Za-z]+)")?`
)

/** The head of a line, from its first `length` characters; undefined where it has none. */
export const read = (start: string): LineHead | undefined => {
  const found = head.exec(start)
  if (found === null) return undefined
  const [all, type = "", id = "", parentId = null, role] = found
  return id === "" ? undefined : { type, id, parentId, role, end: all.length }
}
