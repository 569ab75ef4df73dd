/**
 * Appends a compaction to its session, also where the session has grown while
 * the summary was written.
 *
 * @since 0.1.0
 */
import type * as Entry from "@cutpoint/core/Entry"
import type * as Preparation from "@cutpoint/core/Preparation"
import * as Projection from "@cutpoint/core/Projection"
import * as SessionTree from "@cutpoint/core/SessionTree"
import * as SummaryCheck from "@cutpoint/core/SummaryCheck"
import type * as Tokens from "@cutpoint/core/Tokens"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Errors from "./CompactionErrors.js"
import type * as CompactionSummary from "./CompactionSummary.js"
import * as NewEntry from "./NewEntry.js"
import type * as SessionStore from "./SessionStore.js"

/** What appending needs. */
export interface Context {
  readonly store: SessionStore.Service
  readonly count: Tokens.CountMessage
  readonly summarizer: string
}

/** How often a session may grow under the hand before that is a failure. */
const maxGrowths = 5

/**
 * Appends the entry, as the commit point of a compaction: from here on it
 * cannot be interrupted. Where the session has grown by messages that follow
 * the old leaf, the entry goes after them and they are kept.
 */
export const append = (
  context: Context,
  session: SessionStore.Session,
  preparation: Preparation.Preparation,
  summary: CompactionSummary.Written
) => Effect.uninterruptible(attempt(context, session, preparation, summary, maxGrowths))

interface Appended {
  readonly session: SessionStore.Session
  readonly entry: Entry.CompactionEntry
  readonly backup: string | undefined
  readonly tokensBefore: number
  readonly tokensAfter: number
}

const attempt = (
  context: Context,
  session: SessionStore.Session,
  preparation: Preparation.Preparation,
  summary: CompactionSummary.Written,
  growthsLeft: number
): Effect.Effect<Appended, SessionStore.AppendError | Errors.SummaryRejected> =>
  Effect.gen(function* () {
    const { entry, tokensAfter, tokensBefore } = yield* entryFor(context, session, preparation, summary)
    return yield* Effect.matchEffect(context.store.append(session, [entry]), {
      onSuccess: ({ backup, session: grown }) =>
        Effect.succeed({ session: grown, entry, backup, tokensBefore, tokensAfter }),
      onFailure: (error) =>
        error._tag !== "SessionChanged" || growthsLeft === 0
          ? Effect.fail(error)
          : Effect.flatMap(context.store.open(session.key), (current) =>
              canFollow(session, current, preparation)
                ? attempt(context, current, preparation, summary, growthsLeft - 1)
                : Effect.fail(error)
            )
    })
  })

/** The entry, with what it carries computed from the session as it is, checked to make the context smaller. */
const entryFor = Effect.fnUntraced(function* (
  context: Context,
  session: SessionStore.Session,
  preparation: Preparation.Preparation,
  summary: CompactionSummary.Written
) {
  const path = SessionTree.leafPath(session.tree)
  const projection = Projection.project(path)
  const systemMessage = Projection.systemMessage(projection)
  const tokensBefore = Projection.contextTokens(projection, context.count)
  const base = yield* NewEntry.base(session.tree, session.tree.leafId)
  const entry: Entry.CompactionEntry = {
    type: "compaction",
    ...base,
    summary: summary.text,
    firstKeptEntryId: preparation.firstKeptEntryId,
    tokensBefore,
    details: summary.files,
    ...(summary.usage === undefined ? {} : { usage: summary.usage }),
    ...(systemMessage === undefined ? {} : { systemMessage })
  }
  const tokensAfter = Projection.estimatedTokens(Projection.project([...path, entry]), context.count)
  const grown = SummaryCheck.growth(Projection.estimatedTokens(projection, context.count), tokensAfter)
  if (Option.isSome(grown)) {
    return yield* new Errors.SummaryRejected({ ...grown.value, summarizer: context.summarizer })
  }
  return { entry, tokensBefore, tokensAfter }
})

/**
 * Whether the entry may go after the new leaf: it descends from the old one,
 * and what was added neither compacts nor edits what was summarized.
 */
const canFollow = (
  read: SessionStore.Session,
  current: SessionStore.Session,
  preparation: Preparation.Preparation
): boolean => {
  const path = SessionTree.leafPath(current.tree)
  const leafAt = path.findIndex((entry) => entry.id === read.tree.leafId)
  const summarized = new Set(preparation.summarizedEntryIds)
  const isHarmless = (entry: Entry.Entry): boolean =>
    entry.type !== "compaction" && !(entry.type === "context_edit" && summarized.has(entry.targetId))
  return leafAt >= 0 && path.slice(leafAt + 1).every(isHarmless)
}
