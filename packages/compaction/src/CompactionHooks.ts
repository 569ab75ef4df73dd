/**
 * Hooks: what else has a say before, and hears of it after.
 *
 * Rules. Hooks are asked in order; the first that cancels ends it, and of
 * supplied summaries the last counts. They are interrupted with the run. One
 * that fails before the write is a `HookFailed`, and nothing is written.
 *
 * @since 0.1.0
 */
import type * as Entry from "@cutpoint/core/Entry"
import type * as Message from "@cutpoint/core/Message"
import type * as Preparation from "@cutpoint/core/Preparation"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { HookFailed } from "./CompactionErrors.js"
import type * as CompactionResult from "./CompactionResult.js"

/** A session is about to be compacted. */
export interface BeforeCompact {
  readonly preparation: Preparation.Preparation
  /** The path to the leaf. */
  readonly branchEntries: ReadonlyArray<Entry.Entry>
  readonly customInstructions: string | undefined
  readonly reason: CompactionResult.Reason
  /** Whether a request that failed is made again afterwards. */
  readonly willRetry: boolean
}

/** A summary that a hook brings along; it is stored with `fromHook: true`. */
export interface SuppliedCompaction {
  readonly summary: string
  /** Must stand on the path. */
  readonly firstKeptEntryId: string
  /** In tokens. */
  readonly tokensBefore: number
  /** Any JSON. */
  readonly details?: unknown
  readonly usage?: Message.Usage
}

/** Nothing against it. */
export interface GoOn {
  readonly _tag: "GoOn"
}

/** It is not to be done. */
export interface Cancel {
  readonly _tag: "Cancel"
  readonly reason: string
}

/** It is to be done with this summary. */
export interface Use<Summary> {
  readonly _tag: "Use"
  readonly summary: Summary
}

/** What a hook says of a compaction. */
export type CompactDecision = GoOn | Cancel | Use<SuppliedCompaction>

/** A compaction came to nothing; the session is as it was. */
export interface Failed {
  readonly reason: CompactionResult.Reason
  /** Undefined where it was interrupted. */
  readonly error: unknown
  readonly aborted: boolean
  readonly willRetry: boolean
}

/** Someone is about to go to another entry. */
export interface BeforeTree {
  readonly targetId: string
  readonly oldLeafId: string | null
  readonly commonAncestorId: string | null
  readonly entriesToSummarize: ReadonlyArray<Entry.Entry>
  readonly userWantsSummary: boolean
  readonly customInstructions: string | undefined
}

/** A branch's summary that a hook brings along; it is stored with `fromHook: true`. */
export interface SuppliedBranchSummary {
  readonly summary: string
  /** Any JSON. */
  readonly details?: unknown
  readonly usage?: Message.Usage
}

/** Nothing against it, perhaps with other instructions or another label. */
export interface GoOnTree extends GoOn {
  readonly customInstructions?: string
  readonly replaceInstructions?: boolean
  readonly label?: string
}

/** What a hook says of a move. A summary is used only where one is wanted. */
export type TreeDecision = GoOnTree | Cancel | Use<SuppliedBranchSummary>

/** A move that was made. */
export interface AfterTree {
  readonly oldLeafId: string | null
  readonly newLeafId: string | null
  readonly summaryEntry: Entry.BranchSummaryEntry | undefined
}

/** Has a say before compactions and moves, and hears of them after. */
export interface Service {
  readonly beforeCompact: (event: BeforeCompact) => Effect.Effect<CompactDecision, HookFailed>
  readonly afterCompact: (result: CompactionResult.Compacted) => Effect.Effect<void>
  readonly compactionFailed: (event: Failed) => Effect.Effect<void>
  readonly beforeTree: (event: BeforeTree) => Effect.Effect<TreeDecision, HookFailed>
  readonly afterTree: (result: AfterTree) => Effect.Effect<void>
}

/** Nothing against it. */
export const goOn: GoOn = { _tag: "GoOn" }

/** It is not to be done, and why. */
export const cancel = (reason: string): Cancel => ({ _tag: "Cancel", reason })

/** It is to be done with this summary. */
export const use = <Summary>(summary: Summary): Use<Summary> => ({ _tag: "Use", summary })

/** Hooks that have nothing to say. */
export const none: Service = {
  beforeCompact: () => Effect.succeed(goOn),
  afterCompact: () => Effect.void,
  compactionFailed: () => Effect.void,
  beforeTree: () => Effect.succeed(goOn),
  afterTree: () => Effect.void
}

/** Has a say before compactions and moves; by default there is none. */
export class CompactionHooks extends Context.Reference<CompactionHooks>()("@cutpoint/compaction/CompactionHooks", {
  defaultValue: (): Service => none
}) {}

/** Hooks of which only some are given. */
export const make = (hooks: Partial<Service>): Service => ({ ...none, ...hooks })

/** Several hooks, asked in order. */
export const combine = (...all: ReadonlyArray<Service>): Service => ({
  beforeCompact: (event) => decide<CompactDecision>(all.map((hooks) => () => hooks.beforeCompact(event))),
  afterCompact: (result) => Effect.forEach(all, (hooks) => hooks.afterCompact(result), { discard: true }),
  compactionFailed: (event) => Effect.forEach(all, (hooks) => hooks.compactionFailed(event), { discard: true }),
  beforeTree: (event) => decide<TreeDecision>(all.map((hooks) => () => hooks.beforeTree(event))),
  afterTree: (result) => Effect.forEach(all, (hooks) => hooks.afterTree(result), { discard: true })
})

/** The first cancel ends it; the last summary counts; what several go on with is put together. */
const decide = <Decision extends CompactDecision | TreeDecision>(
  asks: ReadonlyArray<() => Effect.Effect<Decision, HookFailed>>
): Effect.Effect<Decision | GoOn, HookFailed> =>
  Effect.gen(function* () {
    let decided: Decision | GoOn = goOn
    for (const ask of asks) {
      const decision = yield* ask()
      if (decision._tag === "Cancel") return decision
      if (decision._tag === "Use") decided = decision
      else if (decided._tag === "GoOn") decided = { ...decided, ...decision }
    }
    return decided
  })

/**
 * Hooks that cannot do harm: one that throws before a write is a `HookFailed`,
 * one that throws when it is told of what has happened is noted.
 */
export const guarded = (hooks: Service): Service => ({
  beforeCompact: (event) => caught("beforeCompact", () => hooks.beforeCompact(event)),
  afterCompact: (result) => noted("afterCompact", () => hooks.afterCompact(result)),
  compactionFailed: (event) => noted("compactionFailed", () => hooks.compactionFailed(event)),
  beforeTree: (event) => caught("beforeTree", () => hooks.beforeTree(event)),
  afterTree: (result) => noted("afterTree", () => hooks.afterTree(result))
})

const failed = (hook: string, cause: unknown): HookFailed =>
  new HookFailed({ hook, problem: `it failed (${cause instanceof Error ? cause.message : String(cause)}).`, cause })

const caught = <Decision>(
  hook: string,
  ask: () => Effect.Effect<Decision, HookFailed>
): Effect.Effect<Decision, HookFailed> =>
  Effect.suspend(ask).pipe(
    Effect.catchAllDefect((defect) => Effect.fail(failed(hook, defect))),
    Effect.filterOrFail(isDecision, (nothing) => failed(hook, new Error(`it decided ${String(nothing)}`)))
  )

/** JavaScript may give anything. */
const isDecision = (decision: unknown): boolean => Predicate.isRecord(decision) && "_tag" in decision

const noted = (hook: string, tell: () => Effect.Effect<void>): Effect.Effect<void> =>
  Effect.catchAllDefect(Effect.suspend(tell), (defect) => Effect.logWarning(`The hook ${hook} failed.`, defect))

/** Hooks written with promises; each is given a signal that is aborted with the run. */
export interface PromiseHooks {
  readonly beforeCompact?: (event: BeforeCompact, signal: AbortSignal) => Promise<CompactDecision>
  readonly afterCompact?: (result: CompactionResult.Compacted, signal: AbortSignal) => Promise<void>
  readonly compactionFailed?: (event: Failed, signal: AbortSignal) => Promise<void>
  readonly beforeTree?: (event: BeforeTree, signal: AbortSignal) => Promise<TreeDecision>
  readonly afterTree?: (result: AfterTree, signal: AbortSignal) => Promise<void>
}

/** Bridges hooks written with promises. */
export const fromPromises = (hooks: PromiseHooks): Service => ({
  beforeCompact: asking("beforeCompact", hooks.beforeCompact),
  afterCompact: telling("afterCompact", hooks.afterCompact),
  compactionFailed: telling("compactionFailed", hooks.compactionFailed),
  beforeTree: asking("beforeTree", hooks.beforeTree),
  afterTree: telling("afterTree", hooks.afterTree)
})

const asking =
  <Event, Decision>(hook: string, ask: ((event: Event, signal: AbortSignal) => Promise<Decision>) | undefined) =>
  (event: Event): Effect.Effect<Decision | GoOn, HookFailed> =>
    ask === undefined
      ? Effect.succeed(goOn)
      : Effect.tryPromise({
          // A hook that says nothing has nothing against it.
          try: async (signal) => (await ask(event, signal)) ?? goOn,
          catch: (cause) => failed(hook, cause)
        })

/** What is told has happened already: a hook that fails then is noted, and undoes nothing. */
const telling =
  <Event>(hook: string, tell: ((event: Event, signal: AbortSignal) => Promise<void>) | undefined) =>
  (event: Event): Effect.Effect<void> =>
    tell === undefined
      ? Effect.void
      : Effect.tryPromise((signal) => tell(event, signal)).pipe(
          Effect.catchAll((error) => Effect.logWarning(`The hook ${hook} failed.`, error))
        )
