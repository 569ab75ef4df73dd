/**
 * How full a context is by the settings in force, and what a compaction would
 * keep of it. The same for a session that is read and for one that stays open.
 *
 * @since 0.1.0
 */
import * as Preparation from "@cutpoint/core/Preparation"
import type { Check, Reason } from "./CompactionResult.js"
import type * as CompactionSettings from "./CompactionSettings.js"

/** How full a context of so many tokens is. */
export const make = (settings: CompactionSettings.Resolved, contextTokens: number, reason: Reason): Check => {
  const { contextWindow, keepRecentTokens, reserveTokens, values } = settings
  const threshold = contextWindow - reserveTokens
  // A provider that finds the context too large has less room than it is taken to have.
  const room = reason === "overflow" ? Math.min(threshold, contextTokens) : threshold
  return {
    contextTokens,
    contextWindow,
    threshold,
    isOver: Preparation.shouldCompact(contextTokens, contextWindow, settings),
    keepRecentTokens: reason === "manual" ? keepRecentTokens : Preparation.keptWithin(keepRecentTokens, room),
    isAutomatic: values.compaction.enabled
  }
}
