/**
 * Undo: the last compaction is taken back by going to where it was made. The
 * session is only appended to; the compaction stays on a branch of its own.
 *
 * @since 0.1.0
 */
import type * as Diagnostic from "@cutpoint/core/Diagnostic"
import type * as Entry from "@cutpoint/core/Entry"
import type * as PinBlock from "@cutpoint/core/PinBlock"
import * as Pins from "@cutpoint/core/Pins"
import * as Projection from "@cutpoint/core/Projection"
import * as SessionTree from "@cutpoint/core/SessionTree"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Errors from "./CompactionErrors.js"
import * as NewEntry from "./NewEntry.js"
import * as NavigationMove from "./NavigationMove.js"
import * as SessionLocks from "./SessionLocks.js"
import * as SessionStore from "./SessionStore.js"

/** What an undo did. */
export interface Undone {
  readonly _tag: "Undone" | "NothingToUndo"
  /** The compaction that was taken back. */
  readonly compactionId: string | undefined
  readonly newLeafId: string | null
  /** How many messages followed the compaction, and are left behind. */
  readonly messagesAfter: number
  /** Where the original of a session in an older format was kept. */
  readonly backup: string | undefined
  /** Faults found in reading and in writing. */
  readonly diagnostics: ReadonlyArray<Diagnostic.Diagnostic>
}

/** Why an undo can fail. */
export type UndoError = SessionStore.AppendError | Errors.UndoRefused | Errors.Busy

/** Takes compactions back. */
export interface Service {
  /** Refuses where messages follow the compaction, unless they are to be abandoned. */
  readonly undo: (key: string, options?: { readonly abandonLater?: boolean }) => Effect.Effect<Undone, UndoError>
}

/** Takes compactions back. */
export class Undo extends Context.Tag("@cutpoint/compaction/Undo")<Undo, Service>() {}

const make = Effect.gen(function* () {
  const store = yield* SessionStore.SessionStore
  const locks = yield* SessionLocks.SessionLocks

  const takeBack = Effect.fnUntraced(function* (key: string, abandonLater: boolean) {
    const session = yield* store.open(key)
    const { tree } = session
    const path = SessionTree.leafPath(tree)
    const at = path.findLastIndex((entry) => entry.type === "compaction")
    const compaction = path[at]
    if (compaction === undefined) return nothingToUndo(session)
    const messagesAfter = path.slice(at + 1).filter(hasMessage).length
    if (messagesAfter > 0 && !abandonLater) {
      return yield* new Errors.UndoRefused({ session: key, compactionId: compaction.id, messagesAfter })
    }
    const pins = yield* carriedPins(tree, path[at - 1]?.id ?? null)
    const newLeafId = pins.at(-1)?.id ?? path[at - 1]?.id ?? null
    const move = yield* NavigationMove.plain({ tree, oldLeafId: tree.leafId, newLeafId }, compaction.id, undefined)
    const [first, ...rest] = [...pins, ...move.entries]
    const { backup, session: moved } = yield* Effect.uninterruptible(
      store.append(session, [first ?? move.entries[0], ...rest])
    )
    const { diagnostics } = moved
    const undone: Undone = {
      _tag: "Undone",
      compactionId: compaction.id,
      newLeafId,
      messagesAfter,
      backup,
      diagnostics
    }
    return undone
  })

  const undo = Effect.fn("Undo.undo")(function* (key: string, options: { readonly abandonLater?: boolean } = {}) {
    return yield* locks.exclusive(key, takeBack(key, options.abandonLater === true))
  })

  return Undo.of({ undo })
})

/** Takes back compactions in sessions of the store in context. */
export const layer: Layer.Layer<Undo, never, SessionStore.SessionStore> = Layer.effect(Undo, make).pipe(
  Layer.provide(SessionLocks.layer)
)

/** What was pinned and unpinned after the compaction, said again where one goes. */
const carriedPins = Effect.fnUntraced(function* (tree: SessionTree.SessionTree, newLeafId: string | null) {
  const now = Pins.live(SessionTree.leafPath(tree))
  const then = Pins.live(SessionTree.path(tree, newLeafId))
  const lacks = (pins: ReadonlyArray<PinBlock.Pin>) => (pin: PinBlock.Pin) => !pins.some(({ id }) => id === pin.id)
  const marks = [
    ...now.filter(lacks(then)).map(({ text }) => ({ customType: Pins.pinType, data: { text } })),
    ...then.filter(lacks(now)).map(({ id }) => ({ customType: Pins.unpinType, data: { pinId: id } }))
  ]
  const entries: Array<Entry.Entry> = []
  for (const mark of marks) {
    entries.push({ type: "custom", ...(yield* NewEntry.base(tree, entries.at(-1)?.id ?? newLeafId)), ...mark })
  }
  return entries
})

const hasMessage = (entry: Entry.Entry): boolean => Projection.messagesOf(entry, true).length > 0

const nothingToUndo = ({ diagnostics, tree }: SessionStore.Session): Undone => ({
  _tag: "NothingToUndo",
  compactionId: undefined,
  newLeafId: tree.leafId,
  messagesAfter: 0,
  backup: undefined,
  diagnostics
})
