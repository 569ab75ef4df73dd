/**
 * The form of a summary: its sections, and the blocks behind them.
 *
 * Laws. `parse(print(s))` is `s` where every item is a single line without
 * space at its ends. Blocks never pile up: `withoutBlocks` takes out all that
 * `withFileBlocks` put in.
 *
 * @since 0.1.0
 */
import type * as FileOps from "./FileOps.js"
import * as PinBlock from "./PinBlock.js"
import * as SummarySection from "./SummarySection.js"

/** A decision and why it was made. */
export interface Decision {
  readonly decision: string
  readonly rationale: string
}

/** A summary by its sections; items are single lines. */
export interface Summary {
  readonly goal: ReadonlyArray<string>
  readonly constraints: ReadonlyArray<string>
  readonly done: ReadonlyArray<string>
  readonly inProgress: ReadonlyArray<string>
  readonly blocked: ReadonlyArray<string>
  readonly decisions: ReadonlyArray<Decision>
  readonly nextSteps: ReadonlyArray<string>
  readonly criticalContext: ReadonlyArray<string>
}

/** A summary that says nothing. */
export const empty: Summary = {
  goal: [],
  constraints: [],
  done: [],
  inProgress: [],
  blocked: [],
  decisions: [],
  nextSteps: [],
  criticalContext: []
}

/** What stands under a heading that has nothing to say. */
const nothing = "(none)"

/** Prints a summary; every section is there, empty ones say so. */
export const print = (summary: Summary): string =>
  [
    section("## Goal", summary.goal.map(bullet)),
    section("## Constraints & Preferences", summary.constraints.map(bullet)),
    "## Progress",
    section(
      "### Done",
      summary.done.map((item) => `- [x] ${item}`)
    ),
    section(
      "### In Progress",
      summary.inProgress.map((item) => `- [ ] ${item}`)
    ),
    section("### Blocked", summary.blocked.map(bullet)),
    section("## Key Decisions", summary.decisions.map(printDecision)),
    section(
      "## Next Steps",
      summary.nextSteps.map((item, index) => `${index + 1}. ${item}`)
    ),
    section("## Critical Context", summary.criticalContext.map(bullet))
  ].join("\n\n")

const section = (heading: string, lines: ReadonlyArray<string>): string =>
  `${heading}\n${lines.length === 0 ? nothing : lines.join("\n")}`

const bullet = (item: string): string => `- ${item}`

const printDecision = ({ decision, rationale }: Decision): string => {
  const name = decision.replace(/[\\*]/g, "\\$&")
  return rationale === "" ? `- **${name}**` : `- **${name}**: ${rationale}`
}

/**
 * Reads a summary, whoever wrote it: blocks are left out, a section of another
 * name goes to the one it is most like, and what fits nowhere is critical
 * context.
 */
export const parse = (text: string): Summary => {
  const draft = {
    goal: new Array<string>(),
    constraints: new Array<string>(),
    done: new Array<string>(),
    inProgress: new Array<string>(),
    blocked: new Array<string>(),
    decisions: new Array<Decision>(),
    nextSteps: new Array<string>(),
    criticalContext: new Array<string>()
  }
  for (const { name, title, items } of SummarySection.sections(withoutBlocks(text))) {
    for (const item of items) {
      if (name === "decisions") draft.decisions.push(parseDecision(item))
      else draft[name].push(title === "" ? item : `${title}: ${item}`)
    }
  }
  return draft
}

const parseDecision = (item: string): Decision => {
  const exact = /^\*\*((?:\\.|[^\\*])+)\*\*(?::\s*(.*))?$/su.exec(item)
  if (exact) return { decision: (exact[1] ?? "").replace(/\\([\\*])/g, "$1"), rationale: exact[2] ?? "" }
  const loose = /^\*\*(.+?)\*\*:?\s*(.*)$/su.exec(item)
  return loose ? { decision: loose[1] ?? "", rationale: loose[2] ?? "" } : { decision: item, rationale: "" }
}

// -----------------------------------------------------------------------------
// Split turns
// -----------------------------------------------------------------------------

/** The heading under which the summary of a split turn's start stands. */
export const splitTurnHeading = "## Turn in Progress"

/** The three sections of a split turn's start. */
export interface TurnPrefix {
  readonly asked: ReadonlyArray<string>
  readonly doneSoFar: ReadonlyArray<string>
  readonly needed: ReadonlyArray<string>
}

/** Prints the three sections of a split turn's start. */
export const printTurnPrefix = (prefix: TurnPrefix): string =>
  [
    section("### Asked", prefix.asked.map(bullet)),
    section("### Done So Far", prefix.doneSoFar.map(bullet)),
    section("### Needed to Continue", prefix.needed.map(bullet))
  ].join("\n\n")

/** What stands for the history where the split turn is all there is. */
export const noHistory = "There is no conversation before this turn."

/** Joins the summary of what came before with that of the split turn's start. */
export const join = (history: string, turnPrefix: string): string =>
  `${history}\n\n---\n\n${splitTurnHeading}\n\n${turnPrefix}`

// -----------------------------------------------------------------------------
// Blocks
// -----------------------------------------------------------------------------

/** How many files a block lists before it says how many more there are. */
export const maxListedFiles = 200

/** The summary with its file blocks; an empty list has none. */
export const withFileBlocks = (summary: string, files: FileOps.FileLists): string =>
  [summary, ...block("read-files", files.readFiles), ...block("modified-files", files.modifiedFiles)].join("\n\n")

/** The summary without any blocks. */
export const withoutBlocks = (summary: string): string => PinBlock.split(summary).text.replace(fileBlock, "")

/**
 * A block with the blank space before it; its tags have lines of their own,
 * and it ends before another begins: a tag that is only spoken of is no block.
 * Looking behind keeps a long run of blank space from being tried at each
 * place.
 */
const fileBlock =
  /(?<!\s)\s*(?<![^\n])<(read-files|modified-files)>\n(?:(?!<(?:read-files|modified-files)>\n)[^\n]*\n)*?<\/\1>/g

const block = (tag: string, paths: ReadonlyArray<string>): ReadonlyArray<string> => {
  if (paths.length === 0) return []
  const listed = paths.slice(0, maxListedFiles).map(escapePath)
  const more = paths.length > maxListedFiles ? [`(and ${paths.length - maxListedFiles} more)`] : []
  return [`<${tag}>\n${[...listed, ...more].join("\n")}\n</${tag}>`]
}

/** A path that could break out of its line or its block is shown as a JSON string. */
const escapePath = (path: string): string =>
  /[\n\r\u2028\u2029]|^<|<\s*\//u.test(path)
    ? JSON.stringify(path).replaceAll("<", "\\u003c").replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029")
    : path.toWellFormed()
