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

/** So many characters in a row that stand in what was sent are taken for a quotation. */
const quoted = 12

/** Keys that are not ours to know but look like one. */
const keyLike = /\b(?:sk|pk|rk|key|AIza|AKIA|ASIA|Bearer)[-_ ]?[A-Za-z0-9_\-*.]{12,}/g

/** A message on one line, bounded, with what is private left out. */
export const scrubbed = (message: string, { keys, texts }: Private): string => {
  const line = message
    .replace(/[\s\p{C}]+/gu, " ")
    .trim()
    .slice(0, maxLength * 2)
  const withoutKeys = keys
    .filter((key) => key !== "")
    .reduce((text, key) => text.replaceAll(key, "[key]"), line)
    .replace(keyLike, "[key]")
  const shown = withoutQuotations(withoutKeys, texts)
  return shown.length > maxLength ? `${shown.slice(0, maxLength)}\u2026` : shown
}

/** Leaves out each run of characters that also stands in what was sent. */
const withoutQuotations = (message: string, texts: ReadonlyArray<string>): string => {
  let shown = ""
  let at = 0
  while (at < message.length) {
    const end = endOfQuotation(message, at, texts)
    shown += end > at ? "[\u2026]" : message.charAt(at)
    at = Math.max(end, at + 1)
  }
  return shown
}

const endOfQuotation = (message: string, start: number, texts: ReadonlyArray<string>): number => {
  let end = start
  for (const text of texts) {
    let until = start + quoted
    if (until > message.length || !text.includes(message.slice(start, until))) continue
    while (until < message.length && text.includes(message.slice(start, until + 1))) until++
    end = Math.max(end, until)
  }
  return end
}
