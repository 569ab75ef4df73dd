/**
 * The context of an open session, kept up to date as entries are appended: what
 * a check at each turn takes costs nothing that grows with the session.
 *
 * Laws. After any appends it says what projecting and counting the whole path
 * anew says: the same items, the same tokens, the same cut. An append costs what
 * its entry costs; only a compaction and an edit, which change what is before
 * them, are projected anew. Whether to compact is known at once, and the cut is
 * found by halving.
 *
 * @since 0.1.0
 */
import type * as Option from "effect/Option"
import * as CutPoint from "./CutPoint.js"
import type * as Entry from "./Entry.js"
import * as Message from "./Message.js"
import * as Projection from "./Projection.js"
import type * as Rules from "./Rules.js"
import type * as Tokens from "./Tokens.js"

/** An index over the context at the end of a path. It changes as entries are appended. */
export interface ContextIndex {
  /** Takes an entry that follows the last one of the path. */
  readonly append: (entry: Entry.Entry) => void
  /** The tokens of the context, as `Projection.contextTokens` has them. */
  readonly contextTokens: () => number
  /** The cut that keeps about so many tokens, as `CutPoint.find` finds it. */
  readonly cut: (keepRecentTokens: number) => Option.Option<CutPoint.CutPoint>
  /** The projected order: the last compaction first, if there is one. */
  readonly items: () => ReadonlyArray<Projection.ProjectedEntry>
  /** The path that is indexed. */
  readonly path: () => ReadonlyArray<Entry.Entry>
}

/** An index over the context at the end of a path. */
export const make = (
  path: ReadonlyArray<Entry.Entry>,
  count: Tokens.CountMessage,
  rules: Rules.Rules
): ContextIndex => {
  const index = new Index(count, rules)
  index.start([...path])
  return {
    append: (entry) => index.append(entry),
    contextTokens: () => index.contextTokens(),
    cut: (keepRecentTokens) => index.cut(keepRecentTokens),
    items: () => index.items,
    path: () => index.path
  }
}

class Index {
  path: Array<Entry.Entry> = []
  items: Array<Projection.ProjectedEntry> = []
  /** The items that can be cut: without the compaction at the head. */
  private range: Array<Projection.ProjectedEntry> = []
  /** `sums[i]` is what the items of the range before `i` cost, in tokens. */
  private sums: Array<number> = [0]
  /** What the compaction at the head costs. */
  private headTokens = 0
  /** What the system messages of the range cost, and what all of them cost folded into one. */
  private systemTokens = 0
  private replayTokens = 0
  /** The newest usage that can be trusted, by its index in the range. */
  private trusted: { readonly index: number; readonly tokens: number } | undefined
  private readonly callAt = new Map<string, number>()
  /** Whether an item of the range stands between a call and its result. */
  private bound: Array<boolean> = []
  private newestReply = -1
  /** The calls of the newest reply that have no result yet. */
  private openCalls = new Set<string>()

  constructor(
    private readonly count: Tokens.CountMessage,
    private readonly rules: Rules.Rules
  ) {}

  /** Projects a path anew. */
  start(path: Array<Entry.Entry>): void {
    const projection = Projection.project(path)
    const head = projection.compaction === undefined ? undefined : projection.items[0]
    this.path = path
    this.items = [...projection.items]
    this.range = []
    this.sums = [0]
    this.bound = []
    this.headTokens = 0
    this.systemTokens = 0
    this.trusted = undefined
    this.callAt.clear()
    this.newestReply = -1
    this.openCalls = new Set()
    for (const message of head?.messages ?? []) {
      if (message.role !== "system") this.headTokens += this.count(message)
    }
    for (const item of Projection.range(projection)) this.add(item)
    const trusted = Projection.trustedUsage(projection)
    this.trusted = trusted && { index: trusted.index - (this.items.length - this.range.length), tokens: trusted.tokens }
    this.fold()
  }

  append(entry: Entry.Entry): void {
    if (entry.type === "compaction" || entry.type === "context_edit") return this.start([...this.path, entry])
    const item = Projection.projected(entry, false, undefined)
    this.path.push(entry)
    this.items.push(item)
    this.add(item)
    const message = item.messages[0]
    if (message?.role === "system") this.fold()
    if (message?.role !== "assistant" || message.usage === undefined || Message.isBroken(message)) return
    const tokens = Message.usageTotal(message.usage)
    if (tokens > 0) this.trusted = { index: this.range.length - 1, tokens }
  }

  contextTokens(): number {
    const total = this.sums.at(-1) ?? 0
    if (this.trusted === undefined) return this.headTokens + total - this.systemTokens + this.replayTokens
    return this.trusted.tokens + total - (this.sums[this.trusted.index + 1] ?? 0)
  }

  cut(keepRecentTokens: number): Option.Option<CutPoint.CutPoint> {
    const filled = this.fillingIndex(keepRecentTokens)
    return CutPoint.from(this.range, filled, this.rules, (index) => this.isValid(index))
  }

  private add(item: Projection.ProjectedEntry): void {
    const index = this.range.length
    this.range.push(item)
    this.bound.push(false)
    let tokens = 0
    for (const message of item.messages) {
      const cost = this.count(message)
      tokens += cost
      if (message.role === "system") this.systemTokens += cost
    }
    this.sums.push((this.sums.at(-1) ?? 0) + tokens)
    this.bind(item.messages.at(-1), index)
  }

  /** What stands between a call and its result is bound to them. */
  private bind(message: Message.Message | undefined, index: number): void {
    if (message?.role === "assistant") {
      const calls = Message.toolCalls(message)
      for (const call of calls) this.callAt.set(call.id, index)
      this.newestReply = index
      this.openCalls = new Set(Message.isBroken(message) ? [] : calls.map((call) => call.id))
    }
    if (message?.role !== "toolResult") return
    this.openCalls.delete(message.toolCallId)
    const call = this.callAt.get(message.toolCallId)
    for (let between = (call ?? index) + 1; between <= index; between++) this.bound[between] = true
  }

  private isValid(index: number): boolean {
    const item = this.range[index]
    if (item === undefined || !CutPoint.mayBegin(item, this.rules)) return false
    if (!this.rules.resultsStayWithCalls) return true
    const isAwaited = this.openCalls.size > 0 && index > this.newestReply
    return !isAwaited && this.bound[index] !== true
  }

  /** The newest index from which on the tokens reach the budget, and more than nothing. */
  private fillingIndex(budget: number): number | undefined {
    const total = this.sums.at(-1) ?? 0
    if (total === 0 || total < budget) return undefined
    let low = 0
    let high = this.range.length - 1
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      const rest = total - (this.sums[middle] ?? 0)
      if (rest >= budget && rest > 0) low = middle
      else high = middle - 1
    }
    return low
  }

  /** What the system messages cost once they are folded into one. */
  private fold(): void {
    const replay = Projection.systemMessage({ items: this.items })
    this.replayTokens = replay === undefined ? 0 : this.count(replay)
  }
}
