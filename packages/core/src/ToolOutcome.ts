/**
 * What came of a tool call: what it is called in a summary, whether it only
 * looked around, whether it failed, and which line of its result says so.
 *
 * @since 0.1.0
 */
import * as FilePath from "./FilePath.js"
import * as FileTools from "./FileTools.js"
import * as Json from "./Json.js"

/** A tool call and its result, as a summary tells of it. */
export interface ToolOutcome {
  /** What a later call must equal for its success to settle this one's failure. */
  readonly key: string
  /** How a summary names it: a command in backquotes, or the tool and its file. */
  readonly label: string
  /** Whether it changed nothing and only looked: its success is no progress, and its failure no obstacle. */
  readonly looksAround: boolean
  readonly failed: boolean
  /** The line that says how it went; empty where the result says nothing. */
  readonly verdict: string
}

/** The most of a command or a verdict that is quoted, in UTF-16 code units. */
const maxQuoted = 240

/** Judges a call of the given name and arguments by its result. */
export const judge = (name: string, args: unknown, result: string, isError: boolean): ToolOutcome => {
  const command = commandOf(args)
  const failed = isError || (command !== undefined && saysItFailed(result))
  const verdict = failed ? failureLine(result) : lastLine(result)
  if (command === undefined) return { ...fileOrTool(name, args), failed, verdict }
  const bare = bareCommand(command)
  return { key: bare, label: `\`${oneLine(bare, maxQuoted)}\``, looksAround: isLook(bare), failed, verdict }
}

/** The text on one line, at most so many UTF-16 code units long. */
export const oneLine = (text: string, max: number): string => {
  const flat = text.toWellFormed().replace(/\s+/gu, " ").trim()
  return flat.length <= max
    ? flat
    : `${flat
        .slice(0, max - 1)
        .toWellFormed()
        .replace(/\uFFFD$/u, "")}…`
}

const commandOf = (args: unknown): string | undefined =>
  Json.isObject(args) && typeof args.command === "string" && typeof args.path !== "string" ? args.command : undefined

const fileOrTool = (name: string, args: unknown) => {
  const operation = FileTools.operations(name, args, true)[0]
  const path = operation === undefined ? Json.textOf(args) : operation.path
  return {
    // Whatever tool succeeds on a file settles what failed on it.
    key: operation === undefined ? `${name} ${path}` : FilePath.fold(path),
    label: `${name} ${oneLine(path, maxQuoted)}`,
    looksAround: operation === undefined
  }
}

/** A word of a shell command: quoted, or without anything that ends a command. */
const word = String.raw`(?:"(?:\\.|[^"\\])*"|'[^']*'|[^|&;"'\s])+`

/** Blank space, tried from its start only, so that a long run of it takes no long time. */
const blank = String.raw`(?<!\s)\s*`

const changeOfFolder = new RegExp(String.raw`^cd\s+${word}\s*(?:&&|;|\n)\s*`, "u")

const trimmedOutput = new RegExp(String.raw`${blank}(?:2>&1\s*)?\|\s*(?:tail|head|grep)(?:\s+${word})*\s*$`, "u")

const outputRedirect = new RegExp(String.raw`${blank}2>&1\s*$`, "u")

/** The command without the change of folder before it and the trimming of its output behind it. */
const bareCommand = (command: string): string => {
  let bare = command.trim().replace(changeOfFolder, "")
  for (let rest = bare.replace(trimmedOutput, ""); rest !== bare; rest = bare.replace(trimmedOutput, "")) bare = rest
  return bare.replace(outputRedirect, "").trim()
}

/** Programs that only show something. */
const viewers: ReadonlySet<string> = new Set(
  "ls cat head tail grep rg find fd wc tree pwd which file stat du df echo diff less more env date whoami ps".split(" ")
)

/** A program given on the command line tries something out; it is no step of the work. */
const inlineProgram = /^(?:npx\s+)?(?:node|tsx|deno|bun|python3?|ruby|perl)\s+(?:eval\s|-[ecp]\s)/u

const isLook = (command: string): boolean =>
  inlineProgram.test(command) ||
  command
    .replace(/"(?:\\.|[^"\\])*"|'[^']*'/gu, "_")
    .split(/&&|\|\||[;|\n]/u)
    .every((part) => {
      const words = part.trim().split(/\s+/u)
      const program = words[0] ?? ""
      if (program === "" || program.startsWith("#") || viewers.has(program)) return true
      if (program === "sed") return words.includes("-n") && !words.includes("-i")
      return program === "git" && /^(status|diff|log|show|branch|blame|remote)$/u.test(words[1] ?? "")
    })

const failurePatterns: ReadonlyArray<RegExp> = [
  /\bexited with code [1-9]/iu,
  /\b[1-9]\d* (?:failed|failures?|errors?)\b/iu,
  /\berror(?:\[\w+\]|\s+TS\d+)?:/iu,
  /^(?:npm ERR!|npm error|FAIL\b|FAILED\b|fatal:|panic:|Traceback )/u
]

/** How many of the last lines may say that a command failed although its exit code does not. */
const verdictLines = 5

const saysItFailed = (result: string): boolean =>
  lastLines(result, verdictLines).some((line) => failurePatterns.some((pattern) => pattern.test(line)))

/** The last lines that are not blank, the last first; the rest of a long result is not looked at. */
const lastLines = (text: string, most: number): ReadonlyArray<string> => {
  const lines: Array<string> = []
  for (let end = text.length; end > 0 && lines.length < most;) {
    const start = text.lastIndexOf("\n", end - 1) + 1
    const line = text.slice(start, end).trim()
    if (line !== "") lines.push(line)
    end = start - 1
  }
  return lines
}

const linesOf = (text: string): ReadonlyArray<string> =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")

const lastLine = (result: string): string => oneLine(lastLines(result, 1)[0] ?? "", maxQuoted)

/** What a line that names an error looks like, the surest first. */
const errorLines: ReadonlyArray<RegExp> = [
  /^(?:Uncaught )?\w*(?:Error|Exception|Panic)\b.*:|error(?:\[\w+\]|\s+TS\d+)?:|\b[1-9]\d* (?:failed|failures?)\b/u,
  /error|fail|exception|E[A-Z]{4,}|not found|cannot|denied|fehler|erreur|错误|失败/iu
]

/** The line that names the error: the last that reads like one and is more than an exit code. */
const failureLine = (result: string): string => {
  const lines = linesOf(result)
  const telling = lines.filter((line) => !/exited with code|^at |^\^+$|Lifecycle script/u.test(line))
  const error = errorLines
    .map((pattern) => telling.findLast((line) => pattern.test(line)))
    .find((line) => line !== undefined)
  return oneLine(error ?? telling.at(-1) ?? lines.at(-1) ?? "", maxQuoted)
}
