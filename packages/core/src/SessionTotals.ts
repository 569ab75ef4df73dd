/**
 * What a session has used in all, summarizing included.
 *
 * @since 0.1.0
 */
import type * as Entry from "./Entry.js"
import * as Message from "./Message.js"

/** Tokens, and cost in the currency of the providers' price lists. */
export interface Totals {
  readonly tokens: number
  readonly cost: number
}

/**
 * Sums the usage of replies, of tool results that carry one, of `usage`
 * entries, and of compactions and branch summaries, over all branches.
 */
export const of = (entries: ReadonlyArray<Entry.Entry>): Totals => {
  let tokens = 0
  let cost = 0
  for (const entry of entries) {
    const usage = usageOf(entry)
    if (usage === undefined) continue
    tokens += Message.usageTotal(usage)
    cost += Message.usageCost(usage)
  }
  return { tokens, cost }
}

const usageOf = (entry: Entry.Entry): Message.Usage | undefined => {
  switch (entry.type) {
    case "message":
      return entry.message.role === "assistant" || entry.message.role === "toolResult" ? entry.message.usage : undefined
    case "compaction":
    case "branch_summary":
    case "usage":
      return entry.usage
    default:
      return undefined
  }
}
