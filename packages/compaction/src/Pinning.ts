/**
 * Pinning: what must survive every summary, marked by the user.
 *
 * @since 0.1.0
 */
import type * as Diagnostic from "@cutpoint/core/Diagnostic"
import type * as Entry from "@cutpoint/core/Entry"
import type * as PinBlock from "@cutpoint/core/PinBlock"
import * as Pins from "@cutpoint/core/Pins"
import * as SessionTree from "@cutpoint/core/SessionTree"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Errors from "./CompactionErrors.js"
import * as NewEntry from "./NewEntry.js"
import * as SessionStore from "./SessionStore.js"

/** The pins after a change. */
export interface Pinned {
  readonly pins: ReadonlyArray<PinBlock.Pin>
  /** Where the original of a session in an older format was kept. */
  readonly backup: string | undefined
  /** Faults found in reading and in writing. */
  readonly diagnostics: ReadonlyArray<Diagnostic.Diagnostic>
}

/** Why a session's pins cannot be read. */
export type ListError = SessionStore.SessionNotFound | SessionStore.NotASession | SessionStore.SessionUnreadable

/** Why a pin cannot be set or taken out. */
export type PinError = SessionStore.AppendError | Errors.EntryNotFound | Errors.NothingToPin | Errors.PinNotFound

/** Sets pins and takes them out, at the leaf. */
export interface Service {
  readonly list: (key: string) => Effect.Effect<ReadonlyArray<PinBlock.Pin>, ListError>
  /** Pins what entries say. One that is not on the path is pinned by its text. */
  readonly pinEntries: (key: string, entryIds: ReadonlyArray<string>) => Effect.Effect<Pinned, PinError>
  readonly pinText: (key: string, text: string) => Effect.Effect<Pinned, PinError>
  readonly unpin: (key: string, pinIds: ReadonlyArray<string>) => Effect.Effect<Pinned, PinError>
}

/** Sets pins and takes them out. */
export class Pinning extends Context.Tag("@cutpoint/compaction/Pinning")<Pinning, Service>() {}

interface Mark {
  readonly customType: string
  readonly data: unknown
}

const make = Effect.gen(function* () {
  const store = yield* SessionStore.SessionStore

  const list = Effect.fn("Pinning.list")(function* (key: string) {
    return livePins(yield* store.open(key))
  })

  /** Appends marks below each other, all or none. */
  const mark = Effect.fnUntraced(function* (session: SessionStore.Session, marks: ReadonlyArray<Mark>) {
    const entries: Array<Entry.Entry> = []
    for (const { customType, data } of marks) {
      const parentId = entries.at(-1)?.id ?? session.tree.leafId
      entries.push({ type: "custom", ...(yield* NewEntry.base(session.tree, parentId)), customType, data })
    }
    const [first, ...rest] = entries
    if (first === undefined) return resultOf(session, undefined)
    const appended = yield* store.append(session, [first, ...rest])
    return resultOf(appended.session, appended.backup)
  })

  const pinEntries = Effect.fn("Pinning.pinEntries")(function* (key: string, entryIds: ReadonlyArray<string>) {
    const session = yield* store.open(key)
    return yield* mark(session, yield* Effect.forEach(entryIds, (entryId) => entryMark(session, entryId)))
  })

  const pinText = Effect.fn("Pinning.pinText")(function* (key: string, text: string) {
    const session = yield* store.open(key)
    if (text.trim() === "") return yield* new Errors.NothingToPin({ what: "The text" })
    return yield* mark(session, [{ customType: Pins.pinType, data: { text: text.toWellFormed() } }])
  })

  const unpin = Effect.fn("Pinning.unpin")(function* (key: string, pinIds: ReadonlyArray<string>) {
    const session = yield* store.open(key)
    const live = livePins(session).map((pin) => pin.id)
    const unknown = pinIds.find((pinId) => !live.includes(pinId))
    if (unknown !== undefined) return yield* new Errors.PinNotFound({ session: key, pinId: unknown, live })
    return yield* mark(
      session,
      pinIds.map((pinId) => ({ customType: Pins.unpinType, data: { pinId } }))
    )
  })

  return Pinning.of({ list, pinEntries, pinText, unpin })
})

/** Pins in sessions of the store in context. */
export const layer: Layer.Layer<Pinning, never, SessionStore.SessionStore> = Layer.effect(Pinning, make)

const resultOf = (session: SessionStore.Session, backup: string | undefined): Pinned => ({
  pins: livePins(session),
  backup,
  diagnostics: session.diagnostics
})

const livePins = ({ tree }: SessionStore.Session): ReadonlyArray<PinBlock.Pin> => Pins.live(SessionTree.leafPath(tree))

const entryMark = (
  session: SessionStore.Session,
  entryId: string
): Effect.Effect<Mark, Errors.EntryNotFound | Errors.NothingToPin> => {
  const entry = SessionTree.get(session.tree, entryId)
  if (entry === undefined) return new Errors.EntryNotFound({ session: session.key, entryId })
  const text = Pins.textOf(entry)
  if (text === "") return new Errors.NothingToPin({ what: `The entry ${entryId}` })
  const isOnPath = SessionTree.leafPath(session.tree).some((onPath) => onPath.id === entryId)
  return Effect.succeed({ customType: Pins.pinType, data: isOnPath ? { targetId: entryId } : { text } })
}
