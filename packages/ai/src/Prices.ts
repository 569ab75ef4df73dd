/**
 * What requests cost, by price lists in an amount per million tokens.
 *
 * @since 0.1.0
 */
import type * as SettingsValues from "@cutpoint/compaction/SettingsValues"
import type * as Summarizer from "@cutpoint/compaction/Summarizer"
import * as Message from "@cutpoint/core/Message"

const perMillion = 1_000_000

/** What a summary is taken to come to when its cost is estimated, in tokens a request. */
const expectedReply = 2000

/** A usage with what it cost; as it is where the provider said the cost, or the prices are not known. */
export const priced = (
  usage: Message.Usage | undefined,
  prices: SettingsValues.Prices | undefined
): Message.Usage | undefined => {
  if (usage === undefined || usage.cost !== undefined || !isKnown(prices)) return usage
  const of = (tokens: number | undefined, price: number | undefined) => ((tokens ?? 0) * (price ?? 0)) / perMillion
  const cost = {
    input: of(usage.input, prices.input),
    output: of(usage.output, prices.output),
    cacheRead: of(usage.cacheRead, prices.cacheRead ?? prices.input),
    cacheWrite: of(usage.cacheWrite, prices.cacheWrite ?? prices.input)
  }
  return Object.assign({}, usage, { cost: { ...cost, total: Message.usageCost({ cost }) } })
}

/** What a plan would cost, with replies of a usual length; undefined where the prices are not known. */
export const estimated = (
  { inputTokens, requests }: Pick<Summarizer.Plan, "inputTokens" | "requests">,
  prices: SettingsValues.Prices | undefined
): number | undefined =>
  isKnown(prices) ? (inputTokens * prices.input + requests * expectedReply * prices.output) / perMillion : undefined

const isKnown = (
  prices: SettingsValues.Prices | undefined
): prices is SettingsValues.Prices & { readonly input: number; readonly output: number } =>
  prices?.input !== undefined && prices.output !== undefined
