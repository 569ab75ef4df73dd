/**
 * What the user said, sentence by sentence: what is a request, what is a
 * directive, what is only pasted.
 *
 * No list of English words decides alone. A statement that is no question
 * counts; words and forms by which people in several languages demand or
 * forbid make it count more.
 *
 * @since 0.1.0
 */

/** A sentence of the user, and how much it reads like a directive: the larger the more. */
export interface Statement {
  readonly text: string
  readonly weight: number
}

/** Texts shorter than this, in UTF-16 code units, say nothing by themselves ("ok", "go on"). */
const minRequest = 12

/** Sentences outside these lengths, in UTF-16 code units, are no directives. */
const minStatement = 8
const maxStatement = 320

/** The least in scripts that say much in few characters. */
const minDense = 4

/** Whether prose asks for something, rather than only agreeing. */
export const isRequest = (written: string): boolean => {
  const prose = written.trim()
  return prose.length >= minRequest || /[?？]/u.test(prose) || (isDense(prose) && prose.length >= minDense)
}

/** Whether a text is in a script that says much in few characters. */
const isDense = (text: string): boolean =>
  /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}/u.test(text)

/** The prose of a text, which the user wrote rather than pasted: what follows an error or a prompt, up to a blank line, is pasted too. */
export const withoutPasted = (text: string): string => {
  let isInPaste = false
  const written = text
    .replace(/```[\s\S]*?(?:```|$)/gu, "\n")
    .split("\n")
    .filter((line) => {
      isInPaste = line.trim() !== "" && (isInPaste || startsPaste(line))
      return !isInPaste && !isPasted(line)
    })
  return written.join("\n")
}

const startsPaste = (line: string): boolean => errorLine.test(line.trim()) || /^\s*(?:➜|\$\s|at\s.*[:(]\d)/u.test(line)

/**
 * The first error that pasted text names, with the lines that a terminal broke
 * it into: up to a blank line or the frames of a stack. Undefined for none.
 */
export const pastedError = (text: string): string | undefined => {
  const lines = text.split("\n").map((line) => line.trim())
  const start = lines.findIndex((line) => errorLine.test(line))
  if (start < 0) return undefined
  const after = lines.slice(start + 1)
  const end = after.findIndex((line) => line === "" || /^(?:at |File "|\^)/u.test(line))
  return [lines[start], ...(end < 0 ? after : after.slice(0, end))].join(" ")
}

/** A line by which a program reports an error; a sentence about errors ("Error messages must …") is none. */
const errorLine =
  /^(?:[\w.$]*(?:Error|Exception)(?:\s\[\w+\])?(?::|$)|Exception in thread|Caused by:|Traceback \(|(?:error|Error)\b[^.!?]*:|fatal:|panic:|npm (?:ERR!|error))/u

/** The statements of prose that could be directives, in order. */
export const directives = (prose: string): ReadonlyArray<Statement> =>
  sentences(prose).flatMap((sentence) => {
    const isQuestion = /[?？]["')\]]?$/u.test(sentence)
    const isCode = /[,{;]$|[{}]"|"[:}]/u.test(sentence)
    const least = isDense(sentence) ? minDense : minStatement
    if (sentence.length < least || sentence.length > maxStatement || isQuestion || isCode) return []
    return [{ text: sentence, weight: weightOf(sentence) }]
  })

/** The question a text ends with, or undefined. */
export const closingQuestion = (text: string): string | undefined => {
  const last = sentences(withoutPasted(text)).at(-1)
  return last !== undefined && /[?？]["')\]]?$/u.test(last) ? last : undefined
}

/** A line of a stack, a prompt, a tag that is all there is, the start or end of JSON, a quoted line. */
const pastedLine =
  /^(?:at\s.*[:(]\d|at\s[\w.$<>]+\s?\(|File ".*line \d|[{}\]]|\[(?:[\s"{[\]\d]|$)|<[^>]*>$|>\s|\$\s|➜|node:|Node\.js v|-->|goroutine \d)/u

const isPasted = (line: string): boolean => {
  const trimmed = line.trim()
  if (pastedLine.test(trimmed) || errorLine.test(trimmed)) return true
  if (trimmed.length > 400) return /^\{|\}$|":/u.test(trimmed)
  return trimmed.length > 20 && letters(trimmed) / trimmed.length < 0.65
}

/** How many letters, marks and blanks a text has, looked for in runs, which is quick. */
const letters = (text: string): number => {
  let count = 0
  // A character of two code units counts once.
  for (const [run] of text.matchAll(/[\p{L}\p{M}\s]+/gu))
    count += run.length - (run.match(/[\ud800-\udbff]/g)?.length ?? 0)
  return count
}

/** Sentences end at a line's end, after `.!?` and a space, and after the full stops of other scripts; none ends in brackets. */
const sentences = (text: string): ReadonlyArray<string> =>
  text.split("\n").flatMap((line) => {
    const parts = line.replace(/^\s*(?:[-*•]|\d+[.)])\s+/u, "").split(/(?<=[.!?])\s+|(?<=[。！？；])/u)
    const whole: Array<string> = []
    for (const part of parts) {
      const last = whole.at(-1)
      if (last !== undefined && isOpen(last)) whole[whole.length - 1] = `${last} ${part}`
      else whole.push(part)
    }
    return whole.map((sentence) => sentence.trim()).filter((sentence) => sentence !== "")
  })

const isOpen = (text: string): boolean => text.split("(").length > text.split(")").length

/** Words by which people demand, forbid and prefer. */
const normative: ReadonlyArray<RegExp> = [
  /\b(?:never|always|must|only|don'?t|do not|should(?:n'?t)?|prefer|want|need|keep|avoid|use|without|instead|no)\b/iu,
  /\b(?:nie|niemals|immer|muss|müssen|nur|kein\w*|nicht|soll\w*|bitte|ohne|statt)\b/iu,
  /\b(?:jamais|toujours|doit|doivent|seulement|pas|sans|veuillez|plutôt)\b/iu,
  /\b(?:nunca|siempre|debe\w*|solo|sólo|sin|evita\w*|prefiero|sempre|mai|deve|non)\b/iu,
  /(?<!\p{L})(?:никогда|всегда|нужно|только|нельзя|не|без)(?!\p{L})/iu,
  /不要|必须|必須|只能|请|請|别|不能|务必|禁止|しない|してください|必ず|だけ|하지 ?마|반드시|해 ?주세요/u
]

/** Stronger forms: absolute words, and emphasis. Without the flag for Unicode, which would make it half as fast. */
const absolute =
  /\b(?:never|always|must|only|niemals|nie|immer|jamais|toujours|nunca|siempre|sempre|mai)\b|никогда|всегда|нельзя|不要|必须|必須|禁止|必ず|반드시|!|！/i

/** What a sentence weighs at least that demands or forbids something in absolute words. */
export const absoluteWeight = 4

/** Whether a text could hold such a sentence; a quick look. */
export const mayBeAbsolute = (text: string): boolean => absolute.test(text)

const weightOf = (sentence: string): number => {
  const isNormative = normative.some((pattern) => pattern.test(sentence))
  return (isNormative ? 2 : 0) + (absolute.test(sentence) ? 2 : 0) + (/`[^`]+`/u.test(sentence) ? 1 : 0)
}
