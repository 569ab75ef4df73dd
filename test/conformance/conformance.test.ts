import { readFileSync } from "node:fs"
import { Branch, FileOps, Preparation, Projection, Rules, SessionTree, Tokens, Transcript } from "@cutpoint/core"
import type { Entry, Message } from "@cutpoint/core"
import * as Option from "effect/Option"
import { describe, expect, it } from "vitest"

interface BranchCase {
  readonly oldLeafId: string | null
  readonly targetId: string | null
  readonly tokenBudget: number
  readonly expect: unknown
}

interface Case {
  readonly name: string
  readonly settings: { readonly keepRecentTokens: number }
  readonly header: Entry.Header
  readonly entries: ReadonlyArray<Entry.Entry>
  readonly leafId: string
  readonly expect: unknown
  readonly branches: ReadonlyArray<BranchCase>
}

const file = new URL("../fixtures/conformance-cases.jsonl", import.meta.url)
const cases: ReadonlyArray<Case> = readFileSync(file, "utf8")
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => JSON.parse(line))

const count = Tokens.counter(Tokens.heuristic, Rules.parity)

/** The wording of these messages is each program's own. */
const ownWording: ReadonlySet<string> = new Set(["bashExecution", "branchSummary", "compactionSummary"])

const transcript = (messages: ReadonlyArray<Message.Message>, includeThinking: boolean) =>
  Transcript.serialize(Projection.convertToLlm(messages.filter((message) => !ownWording.has(message.role))), {
    includeThinking,
    guarded: false
  })

const transcripts = (messages: ReadonlyArray<Message.Message>) => ({
  transcript: transcript(messages, true),
  transcriptWithoutThinking: transcript(messages, false)
})

const roles = (messages: ReadonlyArray<Message.Message>) => messages.map((message) => message.role)

const preparationAnswer = (preparation: Preparation.Preparation) => ({
  firstKeptEntryId: preparation.firstKeptEntryId,
  isSplitTurn: preparation.isSplitTurn,
  tokensBefore: preparation.tokensBefore,
  previousSummary: preparation.previousSummary ?? null,
  summarizedRoles: roles(preparation.messagesToSummarize),
  turnPrefixRoles: roles(preparation.turnPrefixMessages),
  summarized: transcripts(preparation.messagesToSummarize),
  turnPrefix: transcripts(preparation.turnPrefixMessages),
  ...FileOps.lists(preparation.fileOps)
})

const answer = (tree: SessionTree.SessionTree, { settings, leafId }: Case) => {
  const path = SessionTree.path(tree, leafId)
  const projection = Projection.project(path)
  const preparation = Preparation.prepare(path, count, { ...settings, rules: Rules.parity })
  return {
    pathIds: path.map((entry) => entry.id),
    contextEntryIds: projection.items.map((item) => item.entry.id),
    contextRoles: roles(Projection.messages(projection)),
    currentSystemMessage: Projection.systemMessage(projection) ?? null,
    contextTokens: Projection.contextTokens(projection, count),
    preparation: Option.getOrNull(Option.map(preparation, preparationAnswer))
  }
}

const branchAnswer = (tree: SessionTree.SessionTree, { oldLeafId, targetId, tokenBudget }: BranchCase) => {
  const collected = Branch.collect(tree, oldLeafId, targetId)
  const prepared = Branch.prepare(collected.entries, count, { tokenBudget, dropOldest: true, rules: Rules.parity })
  return {
    entryIds: collected.entries.map((entry) => entry.id),
    commonAncestorId: collected.commonAncestorId,
    totalTokens: prepared.totalTokens,
    roles: roles(prepared.messages),
    ...transcripts(prepared.messages),
    ...FileOps.lists(prepared.fileOps)
  }
}

describe("the answers of the agent whose format this is, with the parity rules", () => {
  it("there are 120 cases", () => expect(cases).toHaveLength(120))

  it.each(cases.map((each) => [each.name, each] as const))("%s", (_, each) => {
    const tree = SessionTree.make(each.header, each.entries)
    expect(answer(tree, each)).toEqual(each.expect)
    for (const branch of each.branches) expect(branchAnswer(tree, branch)).toEqual(branch.expect)
  })
})
