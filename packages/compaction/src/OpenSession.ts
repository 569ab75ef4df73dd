/**
 * A session that stays open while something is said in it: what was last read
 * of it, and its context counted as it grows.
 *
 * Laws. What is appended is in the store and in the index, or in neither. How
 * full the context is takes no reading and no counting anew. Where somebody else
 * has written meanwhile, the session is read again and the append goes on from
 * there: below the new leaf, or on the branch that it belongs to.
 *
 * @since 0.1.0
 */
import * as ContextIndex from "@cutpoint/core/ContextIndex"
import type * as Entry from "@cutpoint/core/Entry"
import * as Projection from "@cutpoint/core/Projection"
import * as Rules from "@cutpoint/core/Rules"
import * as SessionTree from "@cutpoint/core/SessionTree"
import * as Tokens from "@cutpoint/core/Tokens"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as NewEntry from "./NewEntry.js"
import type * as SessionStore from "./SessionStore.js"

/** Why a session cannot be opened. */
export type OpenError = SessionStore.SessionNotFound | SessionStore.NotASession | SessionStore.SessionUnreadable

/** One entry or more, without what every new entry starts with. */
export type Bodies = readonly [NewEntry.Body, ...ReadonlyArray<NewEntry.Body>]

/**
 * Where entries go: below the leaf, wherever that is; on the branch of an entry,
 * even if somebody has gone to another meanwhile; or as a new root.
 */
export type Place = "leaf" | "root" | { readonly onBranchOf: string }

/** A session that stays open. */
export interface OpenSession {
  readonly key: string
  /** As it was last read or appended to. */
  readonly session: () => SessionStore.Session
  /** The context at the leaf. */
  readonly context: () => Pick<ContextIndex.ContextIndex, "contextTokens" | "cut" | "items" | "path">
  /** The model that the session names last. */
  readonly model: () => Projection.Projection["model"]
  /** Appends all entries or none; cannot be interrupted. `leaf` where no place is given. */
  readonly append: (
    bodies: Bodies,
    place?: Place
  ) => Effect.Effect<ReadonlyArray<Entry.Entry>, SessionStore.AppendError>
  /** Reads the session again where somebody else has written to it. */
  readonly refresh: Effect.Effect<void, OpenError>
}

/** How often others may write in between before an append fails as `SessionChanged`. */
const maxChanges = 30

/** So often an append is made again at once; after that it waits, so that those who write by turns do not starve each other. */
const promptChanges = 2

/** How long an append waits at most before it is made again, in milliseconds. */
const longestWaitMs = 50

const opening: SessionStore.OpenOptions = { part: "context", toWrite: true }

/** Opens a session of a store; `count` counts the tokens of a text. */
export const open = (
  store: SessionStore.Service,
  count: Tokens.Count,
  key: string
): Effect.Effect<OpenSession, OpenError> =>
  Effect.map(store.open(key, opening), (session) => {
    const counter = Tokens.counter(count, Rules.standard)
    const state = new State(counter, read(session, counter))
    // Tools that run side by side end when they like.
    const oneAtATime = Effect.unsafeMakeSemaphore(1).withPermits(1)
    const reload = Effect.map(store.open(key, opening), (session) => state.start(session))
    const hasChanged = Effect.map(store.revision(key), (revision) => revision !== state.known.session.revision)
    return {
      key: session.key,
      session: () => state.known.session,
      context: () => state.known.index,
      model: () => state.known.model,
      append: (bodies, place = "leaf") => Effect.uninterruptible(oneAtATime(append(store, state, bodies, place, 0))),
      refresh: oneAtATime(Effect.asVoid(Effect.whenEffect(reload, hasChanged)))
    }
  })

interface Known {
  readonly session: SessionStore.Session
  readonly index: ContextIndex.ContextIndex
  readonly model: Projection.Projection["model"]
}

/** What is known of an open session; it changes as the session is appended to and read again. */
class State {
  constructor(
    private readonly count: Tokens.CountMessage,
    public known: Known
  ) {}

  start(session: SessionStore.Session): void {
    this.known = read(session, this.count)
  }

  take(session: SessionStore.Session, entries: ReadonlyArray<Entry.Entry>): void {
    const { index, model, session: before } = this.known
    if (entries[0]?.parentId !== before.tree.leafId) return this.start(session)
    for (const entry of entries) index.append(entry)
    this.known = { session, index, model: Projection.latestModel(entries) ?? model }
  }
}

const read = (session: SessionStore.Session, count: Tokens.CountMessage): Known => {
  const path = SessionTree.leafPath(session.tree)
  return { session, index: ContextIndex.make(path, count, Rules.standard), model: Projection.latestModel(path) }
}

const append = (
  store: SessionStore.Service,
  state: State,
  bodies: Bodies,
  place: Place,
  changes: number
): Effect.Effect<ReadonlyArray<Entry.Entry>, SessionStore.AppendError> =>
  Effect.gen(function* () {
    const { session } = state.known
    const parentId = parentOf(session.tree, place)
    if (parentId === undefined) {
      state.start(yield* store.open(session.key))
      return yield* append(store, state, bodies, place, changes)
    }
    const entries = yield* NewEntry.chain(session.tree, parentId, bodies)
    return yield* Effect.matchEffect(store.append(session, entries), {
      onSuccess: (appended) => Effect.sync(() => (state.take(appended.session, entries), entries)),
      onFailure: (error) =>
        error._tag !== "SessionChanged" || changes === maxChanges
          ? Effect.fail(error)
          : Effect.zipRight(
              waiting(changes),
              Effect.flatMap(store.open(session.key, opening), (current) => {
                state.start(current)
                return append(store, state, bodies, place, changes + 1)
              })
            )
    })
  })

const waiting = (changes: number): Effect.Effect<void> =>
  changes < promptChanges
    ? Effect.void
    : Effect.flatMap(Random.nextIntBetween(0, longestWaitMs + 1), (ms) => Effect.sleep(ms))

/**
 * Below the leaf, where that is on the branch of the entry or no branch is asked
 * for. Undefined where a part of a session does not tell.
 */
const parentOf = (tree: SessionTree.SessionTree, place: Place): string | null | undefined => {
  if (place === "root") return null
  if (place === "leaf" || place.onBranchOf === tree.leafId) return tree.leafId
  if (SessionTree.leafPath(tree).some((entry) => entry.id === place.onBranchOf)) return tree.leafId
  return tree.isPart === true ? undefined : place.onBranchOf
}
