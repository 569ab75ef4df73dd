/**
 * What every new entry starts with.
 *
 * @since 0.1.0
 */
import * as Entry from "@cutpoint/core/Entry"
import * as SessionTree from "@cutpoint/core/SessionTree"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { IdGenerator } from "./IdGenerator.js"
import * as SessionStore from "./SessionStore.js"

/** How many hex characters make an id that no other entry has by chance. */
const longId = 16

/** A fresh id, the parent, and the time as an ISO 8601 text. `taken` are ids of entries that are still to be appended. */
export const base = Effect.fnUntraced(function* (
  tree: SessionTree.SessionTree,
  parentId: string | null,
  taken: ReadonlySet<string> = new Set()
) {
  const ids = yield* IdGenerator
  const short = yield* ids.entryId((id) => taken.has(id) || SessionTree.isTaken(tree, id) === true)
  const isFree = SessionTree.isTaken(tree, short) === false
  // Where not all ids are known, only a long one is surely free.
  const id = isFree ? short : (yield* ids.uuid).replaceAll("-", "").slice(0, longId)
  const timestamp = new Date(yield* Clock.currentTimeMillis).toISOString()
  return { id, parentId, timestamp }
})

type BodyOf<E> = E extends Entry.Entry ? Omit<E, "id" | "parentId" | "timestamp"> : never

/** An entry without what every new entry starts with. */
export type Body = BodyOf<Exclude<Entry.Entry, Entry.UnknownEntry>>

/** New entries, each below the one before it, the first below `parentId`. */
export const chain = Effect.fnUntraced(function* (
  tree: SessionTree.SessionTree,
  parentId: string | null,
  bodies: readonly [Body, ...ReadonlyArray<Body>]
) {
  const taken = new Set<string>()
  const below = Effect.fnUntraced(function* (parentId: string | null, body: Body) {
    const entry: Entry.Entry = { ...body, ...(yield* base(tree, parentId, taken)) }
    taken.add(entry.id)
    return entry
  })
  const [first, ...rest] = bodies
  const entries: [Entry.Entry, ...Array<Entry.Entry>] = [yield* below(parentId, first)]
  for (const body of rest) entries.push(yield* below(entries.at(-1)?.id ?? parentId, body))
  return entries
})

/** Fails where a session can only be read: before anything is asked or paid for that could not be stored. */
export const requireWritable = ({
  key,
  version
}: SessionStore.Session): Effect.Effect<void, SessionStore.SessionReadOnly> =>
  version <= Entry.currentVersion ? Effect.void : new SessionStore.SessionReadOnly({ key, version })
