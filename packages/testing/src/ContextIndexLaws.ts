/**
 * The index of an open session. The law throws `LawBroken` where it does not hold.
 *
 * @since 0.1.0
 */
import * as ContextIndex from "@cutpoint/core/ContextIndex"
import * as CutPoint from "@cutpoint/core/CutPoint"
import type * as Entry from "@cutpoint/core/Entry"
import type * as Preparation from "@cutpoint/core/Preparation"
import * as Projection from "@cutpoint/core/Projection"
import * as Tokens from "@cutpoint/core/Tokens"
import * as Law from "./Law.js"

/** After each append the index says what the whole path, projected and counted anew, says. */
export const followsAppends = (
  path: ReadonlyArray<Entry.Entry>,
  start: number,
  count: Tokens.Count,
  { keepRecentTokens, rules }: Preparation.Settings
): void => {
  const law = "An index says after any append what the whole path says."
  const counter = Tokens.counter(count, rules)
  const first = start % (path.length + 1)
  const index = ContextIndex.make(path.slice(0, first), counter, rules)
  for (let length = first; length <= path.length; length++) {
    const added = length > first ? path[length - 1] : undefined
    if (added !== undefined) index.append(added)
    const projection = Projection.project(path.slice(0, length))
    Law.same(law, "The items", index.items(), projection.items)
    Law.same(law, "The tokens", [index.contextTokens()], [Projection.contextTokens(projection, counter)])
    const range = CutPoint.range(Projection.range(projection), counter)
    Law.same(law, "The cut", [index.cut(keepRecentTokens)], [CutPoint.find(range, keepRecentTokens, rules)])
  }
}
