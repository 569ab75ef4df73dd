/**
 * Chooses the items of a summary so that it fits a number of tokens.
 *
 * @since 0.1.0
 */
import * as SummaryFormat from "./SummaryFormat.js"
import type { Name } from "./SummarySection.js"
import type * as Tokens from "./Tokens.js"

/** A candidate for a section: the text as it will stand there, and its rank, 0 being the last to go. */
export interface Item {
  readonly text: string
  readonly rank: number
}

/** The candidates of each section, in the order in which they are to stand. */
export type Candidates = { readonly [name in Name]: ReadonlyArray<Item> }

/** The sections by need, each with the share of the tokens that it may take before the others had theirs. */
const shares: ReadonlyArray<readonly [Name, number]> = [
  ["goal", 0.24],
  ["blocked", 0.12],
  ["inProgress", 0.08],
  ["constraints", 0.16],
  ["done", 0.14],
  ["criticalContext", 0.14],
  ["decisions", 0.07],
  ["nextSteps", 0.05]
]

/** The decision that a candidate stands for: question and answer are apart by a line break. */
export const decisionOf = (text: string): SummaryFormat.Decision => {
  const [decision = "", ...rationale] = text.split("\n")
  return { decision, rationale: rationale.join(" ") }
}

/** The summary of the candidates that fit, at most `maxTokens` by the given count. */
export const fit = (candidates: Candidates, maxTokens: number, count: Tokens.Count): SummaryFormat.Summary => {
  const chosen = choose(candidates, maxTokens - count(SummaryFormat.print(SummaryFormat.empty)), count)
  // Counting items one by one is not exact: the whole is checked, and the least needed goes first.
  let summary = summaryOf(candidates, chosen)
  while (chosen.length > 0 && count(SummaryFormat.print(summary)) > maxTokens) {
    chosen.pop()
    summary = summaryOf(candidates, chosen)
  }
  return summary
}

interface Choice {
  readonly name: Name
  readonly index: number
}

/** First every section within its share, then whatever still fits, both by need and rank. */
const choose = (candidates: Candidates, room: number, count: Tokens.Count): Array<Choice> => {
  const chosen: Array<Choice> = []
  const taken = new Set<Item>()
  let left = room
  const takeFrom = (name: Name, limit: number): void => {
    let used = 0
    const ranked = candidates[name]
      .map((item, index) => ({ item, index }))
      .toSorted((a, b) => a.item.rank - b.item.rank)
    for (const { item, index } of ranked) {
      const cost = count(item.text) + lineCost
      if (taken.has(item) || used + cost > limit || cost > left) continue
      used += cost
      left -= cost
      taken.add(item)
      chosen.push({ name, index })
    }
  }
  for (const [name, share] of shares) takeFrom(name, share * room)
  // Of what is left, facts get a part before requests can take it all.
  takeFrom("criticalContext", left * factShare)
  for (const [name] of shares) takeFrom(name, left)
  return chosen
}

/** How much of what the shares leave over goes to facts first. */
const factShare = 0.4

/** What a bullet and a line break cost, in tokens. */
const lineCost = 3

const summaryOf = (candidates: Candidates, chosen: ReadonlyArray<Choice>): SummaryFormat.Summary => {
  const textsOf = (name: Name): ReadonlyArray<string> => {
    const indexes = new Set(chosen.filter((choice) => choice.name === name).map((choice) => choice.index))
    return candidates[name].filter((_, index) => indexes.has(index)).map((item) => item.text)
  }
  return {
    goal: textsOf("goal"),
    constraints: textsOf("constraints"),
    done: textsOf("done"),
    inProgress: textsOf("inProgress"),
    blocked: textsOf("blocked"),
    decisions: textsOf("decisions").map(decisionOf),
    nextSteps: textsOf("nextSteps"),
    criticalContext: textsOf("criticalContext")
  }
}
