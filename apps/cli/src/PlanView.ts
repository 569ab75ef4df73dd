/**
 * What a summary will take, in words.
 *
 * @since 0.1.0
 */
import type * as Summarizer from "@cutpoint/compaction/Summarizer"
import * as Printable from "./Printable.js"

/** The requests of a plan, and what they would cost, in US dollars, where that is known. */
export const requests = (plan: Summarizer.Plan, estimatedCost: number | undefined): string =>
  plan.requests === 0
    ? "none, without a model"
    : `${plan.requests} by a model, about ${Printable.number(plan.inputTokens)} tokens in${price(", about ", estimatedCost)}`

/** An amount in US dollars after some words; empty where it is not known, or nothing. */
export const price = (words: string, amount: number | undefined): string =>
  amount === undefined || amount === 0 ? "" : `${words}$${amount.toFixed(amount < 0.1 ? 4 : 2)}`
