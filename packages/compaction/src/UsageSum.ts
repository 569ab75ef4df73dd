/**
 * Adds up what requests used.
 *
 * @since 0.1.0
 */
import * as Message from "@cutpoint/core/Message"

const parts = ["input", "output", "cacheRead", "cacheWrite"] as const

const costs = ["input", "output", "cacheRead", "cacheWrite", "total"] as const

const sum = (one: number | undefined, other: number | undefined): number => (one ?? 0) + (other ?? 0)

/** Both, part by part; undefined where neither is known. */
export const add = (one: Message.Usage | undefined, other: Message.Usage | undefined): Message.Usage | undefined => {
  if (one === undefined || other === undefined) return one ?? other
  return {
    ...Object.fromEntries(parts.map((part) => [part, sum(one[part], other[part])])),
    totalTokens: Message.usageTotal(one) + Message.usageTotal(other),
    cost: Object.fromEntries(costs.map((part) => [part, sum(one.cost?.[part], other.cost?.[part])]))
  }
}
