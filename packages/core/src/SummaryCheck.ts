/**
 * Whether a reply can stand for the messages it summarizes.
 *
 * @since 0.1.0
 */
import * as Option from "effect/Option"
import type { Kind } from "./SummaryPrompt.js"

/** Why a summary is turned down. */
export type Reason = "blank" | "cut-off" | "tool-call" | "refusal" | "missing-section" | "grown"

/** A summary turned down, with a sentence that says what is wrong. */
export interface Rejection {
  readonly reason: Reason
  readonly problem: string
}

/** How a reply ended, as far as it matters here. */
export type StopReason = "stop" | "length" | "toolUse" | "refusal"

const rejection = (reason: Reason, problem: string): Option.Option<Rejection> => Option.some({ reason, problem })

const historySections: ReadonlyArray<string> = [
  "## Goal",
  "## Constraints & Preferences",
  "## Progress",
  "### Done",
  "### In Progress",
  "### Blocked",
  "## Key Decisions",
  "## Next Steps",
  "## Critical Context"
]

const turnPrefixSections: ReadonlyArray<string> = ["### Asked", "### Done So Far", "### Needed to Continue"]

/** The headings that a summary of a kind must have. */
export const requiredSections = (kind: Kind): ReadonlyArray<string> =>
  kind === "turnPrefix" ? turnPrefixSections : historySections

/**
 * Checks a reply: it must have ended by itself, say something, call no tool,
 * refuse nothing, and have every required heading. `sections` are the headings
 * asked for: none where the user's instructions replaced the usual ones.
 */
export const reply = (
  text: string,
  stopReason: StopReason,
  sections: ReadonlyArray<string>
): Option.Option<Rejection> => {
  if (stopReason === "toolUse") return rejection("tool-call", "It calls a tool, and there are none.")
  if (stopReason === "refusal") return rejection("refusal", "It refuses to summarize.")
  if (stopReason === "length") return rejection("cut-off", "It was cut off at the output limit; it must be shorter.")
  if (text.trim() === "") return rejection("blank", "It says nothing.")
  const missing = sections.filter((heading) => !hasHeading(text, heading))
  return missing.length === 0
    ? Option.none()
    : rejection("missing-section", `It lacks ${missing.map((heading) => `"${heading}"`).join(", ")}.`)
}

/** Checks that a summary is short enough for the context to shrink; both in tokens. */
export const length = (tokens: number, limit: number): Option.Option<Rejection> =>
  tokens <= limit
    ? Option.none()
    : rejection("grown", `It has ${tokens} tokens; with more than ${limit} the context would not become smaller.`)

/** Checks that the context shrinks; both by the same estimate, in tokens. */
export const growth = (tokensBefore: number, tokensAfter: number): Option.Option<Rejection> =>
  tokensAfter < tokensBefore
    ? Option.none()
    : rejection("grown", `With it the context would have ${tokensAfter} tokens, and has ${tokensBefore} now.`)

const hasHeading = (text: string, heading: string): boolean => {
  const wanted = nameOf(heading)
  return text.split("\n").some((line) => /^#{1,6}\s/.test(line) && nameOf(line) === wanted)
}

const nameOf = (heading: string): string =>
  heading
    .replace(/^#+\s*/, "")
    .replace(/[\s:*]+$/, "")
    .replace(/^\*+/, "")
    .toLowerCase()
