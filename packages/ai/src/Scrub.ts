/**
 * What may be shown of a provider's own words: no key, and nothing of what was
 * sent. Providers repeat both in their messages.
 *
 * @since 0.1.0
 */

/** What must not be shown. */
export interface Private {
  readonly keys: ReadonlyArray<string>
  /** What was sent: prompts and transcripts. */
  readonly texts: ReadonlyArray<string>
}

/** The most that is shown of a message, in characters. */
const maxLength = 300

/** The most that is looked at, so that a message as long as a prompt costs no time. */
const maxExamined = 4 * maxLength

/** So many characters in a row that stand in what was sent are taken for a quotation. */
const quoted = 12

/** Keys that are not ours to know but look like one: a usual beginning, and a digit or a mask in what follows. */
const keyLike = /\b(?:sk|pk|rk|key|AIza|AKIA|ASIA|Bearer)[-_ ]?(?=\S*[\d*])[A-Za-z0-9_\-*.]{11,}[A-Za-z0-9_\-*]/g

/** A message on one line, bounded, with what is private left out. */
export const scrubbed = (message: string, { keys, texts }: Private): string => {
  const secrets = keys.filter((key) => key !== "").map(plain)
  const withoutKeys = secrets
    .reduce((text, key) => text.replaceAll(key, "[key]"), plain(message).trim())
    .replace(keyLike, "[key]")
  const examined = withoutKeys.slice(0, maxExamined)
  // A part of a key, as where a message was cut, is hidden like a quotation.
  const shown = withoutQuotations(examined, [...secrets, ...texts.map(plain)])
  const isCut = shown.length > maxLength || examined.length < withoutKeys.length
  return wellFormed(isCut ? `${shown.slice(0, maxLength)}\u2026` : shown)
}

/** Halves of characters, left over where a cut went through one, are left out. */
const wellFormed = (text: string): string => text.replace(/\p{Cs}/gu, "")

/** How often texts can be escaped within each other. */
const maxEscapes = 4

/**
 * What a text says, however it was escaped on its way: as JSON, in an address,
 * with other line breaks. Messages and what was sent are compared in this form.
 */
const plain = (text: string): string => {
  let before = text
  for (let round = 0; round < maxEscapes; round++) {
    const after = unescaped(before)
    if (after === before) break
    before = after
  }
  return before.replace(/[\s\p{C}]+/gu, " ")
}

const unescaped = (text: string): string =>
  text
    .replace(/(?:%[0-9a-f]{2})+/gi, decoded)
    .replace(/\\+u([0-9a-f]{4})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))
    .replace(/\\+[nrtbf]/g, " ")
    .replaceAll("\\", "")

const decoded = (escaped: string): string => {
  try {
    return decodeURIComponent(escaped)
  } catch {
    return escaped
  }
}

/** Leaves out each run of characters that also stands in what was sent. */
const withoutQuotations = (message: string, texts: ReadonlyArray<string>): string => {
  const isHidden = new Uint8Array(message.length)
  for (let start = 0; start + quoted <= message.length; start++) {
    const run = message.slice(start, start + quoted)
    if (texts.some((text) => text.includes(run))) isHidden.fill(1, start, start + quoted)
  }
  let shown = ""
  for (let at = 0; at < message.length; at++) {
    if (isHidden[at] !== 1) shown += message.charAt(at)
    else if (isHidden[at - 1] !== 1) shown += "[\u2026]"
  }
  return shown
}
