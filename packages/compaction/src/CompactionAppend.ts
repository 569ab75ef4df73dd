/**
 * Appends a compaction to its session, also where the session has grown while
 * the summary was written.
 *
 * @since 0.1.0
 */
import type * as Entry from "@cutpoint/core/Entry"
import * as PinBlock from "@cutpoint/core/PinBlock"
import * as Pins from "@cutpoint/core/Pins"
import * as Projection from "@cutpoint/core/Projection"
import * as SessionTree from "@cutpoint/core/SessionTree"
import * as SummaryCheck from "@cutpoint/core/SummaryCheck"
import type * as Tokens from "@cutpoint/core/Tokens"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Errors from "./CompactionErrors.js"
import * as CompactionSummary from "./CompactionSummary.js"
import * as NewEntry from "./NewEntry.js"
import type * as SessionStore from "./SessionStore.js"

/** What appending needs. */
export interface Context {
  readonly store: SessionStore.Service
  /** How a session that has grown is read again. */
  readonly opening: SessionStore.OpenOptions
  readonly count: Tokens.CountMessage
}

/** An entry that was appended. */
export interface Appended {
  readonly session: SessionStore.Session
  readonly entry: Entry.CompactionEntry
  readonly backup: string | undefined
  readonly tokensBefore: number
  readonly tokensAfter: number
}

/** How often a session may grow under the hand before that is a failure. */
const maxGrowths = 5

/**
 * Appends the entry, as the commit point of a compaction: from here on it
 * cannot be interrupted. Where the session has grown by messages that follow
 * the old leaf, the entry goes after them and they are kept.
 */
export const append = (context: Context, session: SessionStore.Session, summary: CompactionSummary.Written) =>
  Effect.uninterruptible(attempt(context, session, summary, maxGrowths))

const attempt = (
  context: Context,
  session: SessionStore.Session,
  summary: CompactionSummary.Written,
  growthsLeft: number
): Effect.Effect<Appended, SessionStore.AppendError | Errors.SummaryRejected> =>
  Effect.gen(function* () {
    const { entry, tokensAfter } = yield* checkedEntry(context, session, summary)
    return yield* Effect.matchEffect(context.store.append(session, [entry]), {
      onSuccess: ({ backup, session: grown }) =>
        Effect.succeed({ session: grown, entry, backup, tokensBefore: entry.tokensBefore, tokensAfter }),
      onFailure: (error) =>
        error._tag !== "SessionChanged" || growthsLeft === 0
          ? Effect.fail(error)
          : Effect.flatMap(context.store.open(session.key, context.opening), (current) =>
              canFollow(session, current, summary)
                ? attempt(context, current, summary, growthsLeft - 1)
                : Effect.fail(error)
            )
    })
  })

/** The entry, checked to say something and to make the context smaller; both counts by estimate. */
const checkedEntry = Effect.fnUntraced(function* (
  context: Context,
  session: SessionStore.Session,
  summary: CompactionSummary.Written
) {
  const projection = Projection.atLeaf(session.tree)
  const base = yield* NewEntry.base(session.tree, session.tree.leafId)
  const entry = entryOf(context, projection, summary, base)
  const tokensAfter = Projection.estimatedTokens(Projection.project([...projection.path, entry]), context.count)
  const problem = Option.orElse(SummaryCheck.reply(summary.text, "stop", []), () =>
    SummaryCheck.growth(Projection.estimatedTokens(projection, context.count, tokensAfter), tokensAfter)
  )
  if (Option.isNone(problem)) return { entry, tokensAfter }
  const { requests, usage, writer } = summary
  return yield* new Errors.SummaryRejected({ ...problem.value, writer, requests, usage })
})

type Base = Pick<Entry.CompactionEntry, "id" | "parentId" | "timestamp">

/** The entry, with what it carries computed from the session as it is. */
const entryOf = (
  context: Pick<Context, "count">,
  projection: Projection.Projection,
  summary: CompactionSummary.Written,
  base: Base
): Entry.CompactionEntry => {
  const systemMessage = Projection.systemMessage(projection)
  return {
    type: "compaction",
    ...base,
    summary: PinBlock.append(summary.text, Pins.live(projection.path)),
    firstKeptEntryId: summary.firstKeptEntryId,
    tokensBefore: summary.tokensBefore ?? Projection.contextTokens(projection, context.count),
    ...(summary.details === undefined ? {} : { details: summary.details }),
    ...(summary.usage === undefined ? {} : { usage: summary.usage }),
    ...(summary.writer === CompactionSummary.hookWriter ? { fromHook: true } : {}),
    ...(systemMessage === undefined ? {} : { systemMessage })
  }
}

/**
 * What a summary and its file blocks may cost, in tokens, if the context is to
 * become smaller: by how much it would shrink with an empty one.
 */
export const freeTokens = (
  context: Pick<Context, "count">,
  session: SessionStore.Session,
  firstKeptEntryId: string
): number => {
  const projection = Projection.atLeaf(session.tree)
  const empty = CompactionSummary.supplied({ summary: "", firstKeptEntryId, tokensBefore: 0 })
  const base: Base = { id: "", parentId: session.tree.leafId, timestamp: "" }
  const after = Projection.project([...projection.path, entryOf(context, projection, empty, base)])
  const tokensAfter = Projection.estimatedTokens(after, context.count)
  return Projection.estimatedTokens(projection, context.count, tokensAfter + plentyTokens) - tokensAfter - 1
}

/** More room than any summary takes, in tokens: how much more there is does not matter. */
export const plentyTokens = 100_000

/**
 * Whether the entry may go after the new leaf: it descends from the old one,
 * and what was added neither compacts nor edits what is summarized.
 */
const canFollow = (
  read: SessionStore.Session,
  current: SessionStore.Session,
  summary: CompactionSummary.Written
): boolean => {
  const path = SessionTree.leafPath(current.tree)
  const leafAt = path.findIndex((entry) => entry.id === read.tree.leafId)
  const keptFrom = path.findIndex((entry) => entry.id === summary.firstKeptEntryId)
  const summarized = new Set(path.slice(0, Math.max(0, keptFrom)).map((entry) => entry.id))
  const isHarmless = (entry: Entry.Entry): boolean =>
    entry.type !== "compaction" && !(entry.type === "context_edit" && summarized.has(entry.targetId))
  return leafAt >= 0 && path.slice(leafAt + 1).every(isHarmless)
}
