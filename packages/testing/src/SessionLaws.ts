/**
 * What holds of a session over its whole life, whatever compacts it and
 * wherever one goes in it. The law runs over the store, tokenizer and
 * summarizer that it is given.
 *
 * @since 0.1.0
 */
import * as Compaction from "@cutpoint/compaction/Compaction"
import * as Navigation from "@cutpoint/compaction/Navigation"
import * as Settings from "@cutpoint/compaction/Settings"
import * as SessionStore from "@cutpoint/compaction/SessionStore"
import * as Summarizer from "@cutpoint/compaction/Summarizer"
import type * as Tokenizer from "@cutpoint/compaction/Tokenizer"
import type * as Entry from "@cutpoint/core/Entry"
import * as Message from "@cutpoint/core/Message"
import * as Projection from "@cutpoint/core/Projection"
import * as SessionTree from "@cutpoint/core/SessionTree"
import * as SummaryFormat from "@cutpoint/core/SummaryFormat"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Layer from "effect/Layer"
import * as Law from "./Law.js"
import * as Sessions from "./Sessions.js"
import * as Steps from "./Steps.js"

/** What happens to a session. */
export type Action =
  | { readonly action: "turn"; readonly steps: ReadonlyArray<Steps.Step> }
  | { readonly action: "compact"; readonly keepRecentTokens: number }
  | {
      readonly action: "navigate"
      readonly to: number
      readonly summarize: boolean
      readonly label: string | undefined
    }

const { boolean, constant, constantFrom, nat, record } = FastCheck

/** Arbitrary lives of a session: turns, and among them compactions and moves. */
export const actions: FastCheck.Arbitrary<ReadonlyArray<Action>> = FastCheck.array(
  FastCheck.oneof(
    { weight: 4, arbitrary: record({ action: constant("turn" as const), steps: Sessions.turn }) },
    {
      weight: 3,
      arbitrary: record({ action: constant("compact" as const), keepRecentTokens: FastCheck.oneof(nat(10), nat(300)) })
    },
    {
      weight: 2,
      arbitrary: record({
        action: constant("navigate" as const),
        to: nat(60),
        summarize: boolean(),
        label: constantFrom(undefined, "here")
      })
    }
  ),
  { maxLength: 14, size: "max" }
)

/** How often a life did what it was to test. */
export interface Lived {
  readonly compactions: number
  readonly moves: number
}

const law = "Every visible message of the path is in the context, or was in the input of a summary on the path."

/**
 * Over any turns, compactions and moves, nothing that was said on the path to
 * where one stands is forgotten: it is in the context, or a summary was
 * written of it that is on the path and that later summaries carried on. A
 * compaction that fails leaves the session as it was.
 */
export const nothingIsForgotten = (
  life: ReadonlyArray<Action>
): Effect.Effect<Lived, unknown, SessionStore.SessionStore | Tokenizer.Tokenizer | Summarizer.Summarizer> =>
  Effect.gen(function* () {
    const store = yield* SessionStore.SessionStore
    const recorder = remembering(yield* Summarizer.Summarizer)
    const ports = Layer.merge(recorder.layer, Settings.layerMemory())
    const services = Layer.provide(Layer.mergeAll(Compaction.layer, Navigation.layer), ports)
    const { key } = yield* store.create({ cwd: "/work/app" })
    return yield* Effect.gen(function* () {
      const lived = { compactions: 0, moves: 0 }
      for (const action of life) {
        const before = yield* store.open(key)
        const did = yield* act(store, before, action)
        const after = yield* store.open(key)
        recorder.keep(before, after)
        if (did === "failed") yield* Law.check(() => isAsBefore(before, after))
        if (did === "compacted") lived.compactions++
        if (did === "moved") lived.moves++
        yield* Law.check(() => isAllThere(after.tree, recorder.written))
      }
      return lived
    }).pipe(Effect.provide(services))
  })

type Did = "failed" | "compacted" | "moved" | "other"

const act = Effect.fnUntraced(function* (store: SessionStore.Service, session: SessionStore.Session, action: Action) {
  const other: Did = "other"
  switch (action.action) {
    case "turn": {
      const [first, ...rest] = Steps.run(action.steps, session.tree)
      if (first !== undefined) yield* store.append(session, [first, ...rest])
      return other
    }
    case "compact":
      return yield* compact(session.key, action.keepRecentTokens)
    case "navigate": {
      const { entries } = session.tree
      const target = entries[action.to % Math.max(1, entries.length)]
      if (target === undefined) return other
      const navigation = yield* Navigation.Navigation
      const { _tag } = yield* navigation.navigate(session.key, target.id, action)
      const did: Did = _tag === "Navigated" ? "moved" : "other"
      return did
    }
  }
})

/** A summary that is too long, or that cannot be had, is no break of the law, as long as nothing was written. */
const compact = Effect.fnUntraced(function* (key: string, keepRecentTokens: number) {
  const compaction = yield* Compaction.Compaction
  return yield* compaction.compact(key, { keepRecentTokens }).pipe(
    Effect.map(({ _tag }): Did => (_tag === "Compacted" ? "compacted" : "failed")),
    Effect.catchTags({ SummaryRejected: () => failed, CannotShrink: () => failed })
  )
})

const failed: Effect.Effect<Did> = Effect.succeed("failed")

const isAsBefore = (before: SessionStore.Session, after: SessionStore.Session): void => {
  const what = "A compaction that did not come about leaves the session as it was."
  Law.same(what, "The entries", after.tree.entries, before.tree.entries)
  Law.same(what, "The leaf", [after.tree.leafId], [before.tree.leafId])
}

// -----------------------------------------------------------------------------
// What summaries were given
// -----------------------------------------------------------------------------

/** The requests from which each compaction and branch summary was written. */
type Written = ReadonlyMap<string, ReadonlyArray<Summarizer.Request>>

/** A summarizer that remembers what it is given until the entry it was given for is known. */
const remembering = (summarizer: Summarizer.Service) => {
  const written = new Map<string, ReadonlyArray<Summarizer.Request>>()
  let requests: ReadonlyArray<Summarizer.Request> = []
  const summarize: Summarizer.Service["summarize"] = (...args) => {
    requests = [...requests, args[0]]
    return summarizer.summarize(...args)
  }
  const keep = (before: SessionStore.Session, after: SessionStore.Session): void => {
    for (const entry of after.tree.entries.slice(before.tree.entries.length)) written.set(entry.id, requests)
    requests = []
  }
  return { written, keep, layer: Layer.succeed(Summarizer.Summarizer, { ...summarizer, summarize }) }
}

// -----------------------------------------------------------------------------
// What is there
// -----------------------------------------------------------------------------

const isAllThere = (tree: SessionTree.SessionTree, written: Written): void => {
  const path = SessionTree.leafPath(tree)
  const context = Projection.messages(Projection.project(path)).map(textOf)
  const there = new Set([...context, ...summarizedOn(path, written)])
  for (const entry of path) {
    const forms = formsOf(entry, path)
    const isThere = forms.length === 0 || forms.some((form) => there.has(textOf(form)))
    Law.hold(law, isThere, () => `The entry ${entry.id} is neither: ${Law.shown(entry)}.`)
  }
}

/**
 * What the compaction that is in force stands for: what it was given, and
 * what the one before it stands for, if it was given that one's summary or
 * carries it on unchanged.
 */
const summarizedOn = (path: ReadonlyArray<Entry.Entry>, written: Written): ReadonlySet<string> => {
  let texts: ReadonlyArray<string> = []
  let previous: string | undefined
  for (const entry of path) {
    if (entry.type !== "compaction") continue
    const requests = written.get(entry.id) ?? []
    const isCarriedOn =
      previous === undefined ||
      requests.some(({ previousSummary }) => previousSummary === previous) ||
      entry.summary.startsWith(previous)
    const given = requests.flatMap(({ messages }) => messages.map(textOf))
    texts = isCarriedOn ? [...texts, ...given] : given
    previous = SummaryFormat.withoutBlocks(entry.summary)
  }
  return new Set(texts)
}

/** The message of an entry as it was and as the path's edits have made it; none where it is prompt state or hidden. */
const formsOf = (entry: Entry.Entry, path: ReadonlyArray<Entry.Entry>): ReadonlyArray<Message.Message> => {
  const edits = path.flatMap((edit) => (edit.type === "context_edit" && edit.targetId === entry.id ? [edit] : []))
  if (edits.some((edit) => edit.replacement === null)) return []
  return [undefined, ...edits]
    .flatMap((edit) => Projection.projected(entry, false, edit).messages)
    .filter((message) => message.role !== "system" && !Message.isExcludedBash(message))
}

const known = new WeakMap<Message.Message, string>()

/** No two messages of a life have the same text: each has a timestamp of its own. */
const textOf = (message: Message.Message): string => {
  const text = known.get(message) ?? JSON.stringify(message)
  known.set(message, text)
  return text
}
