/**
 * What every new entry starts with.
 *
 * @since 0.1.0
 */
import type * as SessionTree from "@cutpoint/core/SessionTree"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { IdGenerator } from "./IdGenerator.js"

/** A fresh id, the parent, and the time as an ISO 8601 text. */
export const base = Effect.fnUntraced(function* (tree: SessionTree.SessionTree, parentId: string | null) {
  const ids = yield* IdGenerator
  const id = yield* ids.entryId((taken) => tree.positions.has(taken))
  const timestamp = new Date(yield* Clock.currentTimeMillis).toISOString()
  return { id, parentId, timestamp }
})
