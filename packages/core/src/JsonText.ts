/**
 * Changes single fields of a JSON object in its text. All else stays spelled
 * as it is, so that numbers too large to count with survive, and nesting of
 * any depth is no matter.
 *
 * @since 0.1.0
 */

/** JSON texts by field; undefined takes a field away. */
export type Fields = { readonly [field: string]: string | undefined }

/**
 * The text of an object with other fields. What is new stands behind `type`,
 * or in front where there is none. The text must be that of an object.
 */
export const withFields = (text: string, fields: Fields): string => {
  const wanted = new Map(Object.entries(fields))
  const members: Array<string> = []
  let afterType = 0
  for (const { name, raw } of membersOf(text)) {
    if (!wanted.has(name)) members.push(raw)
    else if (wanted.get(name) !== undefined) members.push(memberOf(name, wanted.get(name)))
    // Where a name is there twice, the last one counts; here it is the only one.
    if (wanted.has(name)) wanted.set(name, undefined)
    if (name === "type") afterType = members.length
  }
  const missing = Object.entries(fields).filter(([name]) => wanted.get(name) !== undefined)
  members.splice(afterType, 0, ...missing.map(([name, value]) => memberOf(name, value)))
  return `{${members.join(",")}}`
}

/** The text of a field of an object; undefined where it has none. Of two of one name it is the last. */
export const fieldOf = (text: string, field: string): string | undefined => {
  let found: string | undefined
  for (const { name, value } of membersOf(text)) if (name === field) found = value
  return found
}

const memberOf = (name: string, value: string | undefined): string => `${JSON.stringify(name)}:${value ?? "null"}`

interface Member {
  readonly name: string
  readonly value: string
  readonly raw: string
}

/** The members of an object, in order. */
function* membersOf(text: string): Iterable<Member> {
  let position = text.indexOf("{") + 1
  while (position < text.length) {
    const start = skipSpace(text, position)
    if (text.charAt(start) !== '"') return
    const nameEnd = endOfString(text, start)
    const colon = text.indexOf(":", nameEnd)
    const end = endOfValue(text, colon + 1)
    const name: unknown = JSON.parse(text.slice(start, nameEnd))
    const value = text.slice(colon + 1, end).trim()
    yield { name: String(name), value, raw: text.slice(start, end).trim() }
    position = end + 1
  }
}

const skipSpace = (text: string, from: number): number => {
  let position = from
  while (position < text.length && text.charCodeAt(position) <= 0x20) position++
  return position
}

/** The position after the string that starts at `start`. */
const endOfString = (text: string, start: number): number => {
  let position = start + 1
  while (position < text.length && text.charAt(position) !== '"') position += text.charAt(position) === "\\" ? 2 : 1
  return position + 1
}

/** The position of the comma or brace that ends a value. */
const endOfValue = (text: string, start: number): number => {
  let depth = 0
  let position = start
  while (position < text.length) {
    const char = text.charAt(position)
    if (char === '"') {
      position = endOfString(text, position)
      continue
    }
    if (depth === 0 && (char === "," || char === "}")) return position
    if (char === "{" || char === "[") depth++
    else if (char === "}" || char === "]") depth--
    position++
  }
  return position
}
