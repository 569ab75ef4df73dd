/**
 * Arbitrary sessions: trees with entries of every type, split turns, parallel
 * calls with results in any order, unanswered calls, edits, several
 * compactions, branches and roots. They shrink.
 *
 * @since 0.1.0
 */
import * as Entry from "@cutpoint/core/Entry"
import type * as Message from "@cutpoint/core/Message"
import type * as Preparation from "@cutpoint/core/Preparation"
import * as Projection from "@cutpoint/core/Projection"
import * as Rules from "@cutpoint/core/Rules"
import * as SessionTree from "@cutpoint/core/SessionTree"
import * as FastCheck from "effect/FastCheck"
import * as Steps from "./Steps.js"
import * as Texts from "./Texts.js"

export { text } from "./Texts.js"

type Arbitrary<A> = FastCheck.Arbitrary<A>

/** Which sessions are made. */
export interface Settings {
  /** The most steps that a session is made by; each adds at most one entry. */
  readonly maxSteps: number
  /** Whether there are compactions and branch summaries. */
  readonly summaries: boolean
  /** Whether there are several branches and roots. */
  readonly branches: boolean
}

/** Up to 60 entries of every type. */
export const defaults: Settings = { maxSteps: 60, summaries: true, branches: true }

/** Arbitrary sessions by some settings. */
export interface Sessions {
  readonly steps: Arbitrary<ReadonlyArray<Steps.Step>>
  readonly tree: Arbitrary<SessionTree.SessionTree>
  /** From a root to the leaf. */
  readonly path: Arbitrary<ReadonlyArray<Entry.Entry>>
  /** A context, as it would go to a model. */
  readonly messages: Arbitrary<ReadonlyArray<Message.Message>>
}

// -----------------------------------------------------------------------------
// Contents
// -----------------------------------------------------------------------------

const { constantFrom, nat, record } = FastCheck

const weighted = <A>(...choices: ReadonlyArray<readonly [weight: number, arbitrary: Arbitrary<A>]>): Arbitrary<A> =>
  FastCheck.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })))

const orNull = <A>(value: Arbitrary<A>): Arbitrary<A | null> => FastCheck.option(value)

const few = <A>(item: Arbitrary<A>): Arbitrary<ReadonlyArray<A>> => FastCheck.array(item, { maxLength: 3 })

const textBlock = Texts.text.map((text): Message.TextBlock => ({ type: "text", text }))

const userBlock = weighted<Message.UserBlock>(
  [5, textBlock],
  [1, FastCheck.constant({ type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" })]
)

const userContent = weighted<Message.UserContent>([3, Texts.text], [1, few(userBlock)])

const amount = weighted<number>([3, nat(3000)], [1, FastCheck.constant(0)])

const usage: Arbitrary<Message.Usage> = record(
  {
    input: amount,
    output: amount,
    cacheRead: amount,
    cacheWrite: amount,
    totalTokens: amount,
    cost: record({ input: amount, output: amount, total: amount }, { requiredKeys: [] })
  },
  { requiredKeys: [] }
)

/** What summaries keep beside their text; a hook may keep anything. */
const details: Arbitrary<unknown> = FastCheck.oneof(
  record({ readFiles: few(Texts.path), modifiedFiles: few(Texts.path) }),
  constantFrom(null, "notes", { readFiles: "a.ts" }, { modifiedFiles: [7, "", "a.ts"] })
)

// -----------------------------------------------------------------------------
// Entries that refer to no other
// -----------------------------------------------------------------------------

const tool = constantFrom("search", "read", "shell").map((name) => ({
  name,
  description: `Does ${name}`,
  parameters: {}
}))

const system: Arbitrary<Message.SystemMessage> = record(
  {
    role: FastCheck.constant("system" as const),
    content: userContent,
    sections: FastCheck.dictionary(constantFrom("env", "rules", "1"), orNull(Texts.text)),
    toolsAdded: few(tool),
    toolsRemoved: few(tool.map(({ name }) => ({ name })))
  },
  { requiredKeys: ["role", "content"] }
)

const user: Arbitrary<Message.Message> = userContent.map((content) => ({ role: "user", content }))

const bash: Arbitrary<Message.Message> = record(
  {
    role: FastCheck.constant("bashExecution" as const),
    command: Texts.text,
    output: Texts.text,
    exitCode: constantFrom(null, 0, 1),
    excludeFromContext: FastCheck.boolean()
  },
  { requiredKeys: ["role", "command", "output"] }
)

const otherMessage: Arbitrary<Message.Message> = FastCheck.oneof(
  userContent.map((content): Message.Message => ({ role: "custom", customType: "note", content })),
  Texts.text.map((summary): Message.Message => ({ role: "branchSummary", summary, fromId: null })),
  Texts.text.map((summary): Message.Message => ({ role: "compactionSummary", summary, tokensBefore: 10 })),
  Texts.text.map((text): Message.Message => ({ role: "unknown", original: { role: "narrator", text } }))
)

const said = (message: Arbitrary<Message.Message>): Arbitrary<Steps.Step> =>
  message.map((message) => ({ step: "plain", body: { type: "message", message } }))

const customMessage: Arbitrary<Steps.Body> = record({
  type: FastCheck.constant("custom_message" as const),
  customType: constantFrom("note", ""),
  content: userContent,
  display: FastCheck.boolean()
})

/** Entries that neither say anything to a model nor change what it sees. */
export const aside: Arbitrary<Steps.Body> = FastCheck.oneof<Array<Arbitrary<Steps.Body>>>(
  constantFrom("one", "two").map((modelId) => ({ type: "model_change", provider: "some", modelId })),
  constantFrom("low", "high").map((thinkingLevel) => ({ type: "thinking_level_change", thinkingLevel })),
  Texts.text.map((name) => ({ type: "session_info", name })),
  constantFrom("state", Entry.leafMarker, "cutpoint.pin").map((customType) => ({
    type: "custom",
    customType,
    data: { n: 1 }
  })),
  usage.map((usage) => ({ type: "usage", usage })),
  Texts.text.map((text) => ({ type: "unknown", original: { type: "from_the_future", text, "": [null] } }))
)

const plain = (body: Arbitrary<Steps.Body>): Arbitrary<Steps.Step> => body.map((body) => ({ step: "plain", body }))

// -----------------------------------------------------------------------------
// Steps that refer to others
// -----------------------------------------------------------------------------

const call: Arbitrary<Steps.Call> = record({
  type: FastCheck.constant("call" as const),
  name: Texts.toolName,
  arguments: Texts.toolArguments,
  repeatsId: weighted<boolean>([19, FastCheck.constant(false)], [1, FastCheck.constant(true)])
})

const replyBlock = weighted<Steps.Reply["blocks"][number]>(
  [3, textBlock],
  [1, Texts.text.map((thinking) => ({ type: "thinking", thinking }))],
  [4, call]
)

const reply: Arbitrary<Steps.Step> = record({
  step: FastCheck.constant("reply" as const),
  blocks: few(replyBlock),
  rest: record(
    {
      provider: constantFrom("some", "other"),
      model: constantFrom("one", "two"),
      usage,
      stopReason: constantFrom("stop", "toolUse", "length", "aborted", "error"),
      errorMessage: Texts.text
    },
    { requiredKeys: [] }
  )
})

const nestedCall = record({ id: constantFrom("n1", "n2"), name: Texts.toolName, arguments: Texts.toolArguments })

const result: Arbitrary<Steps.Step> = record({
  step: FastCheck.constant("result" as const),
  to: weighted<Steps.Result["to"]>(
    [8, FastCheck.constant("unanswered")],
    [1, FastCheck.constant("any")],
    [1, FastCheck.constant("nothing")]
  ),
  back: nat(3),
  rest: record(
    {
      content: few(userBlock),
      isError: FastCheck.boolean(),
      nestedCalls: record({ complete: FastCheck.boolean(), calls: few(nestedCall) }),
      usage
    },
    { requiredKeys: ["content", "isError"] }
  )
})

const compaction: Arbitrary<Steps.Step> = record({
  step: FastCheck.constant("compaction" as const),
  keeps: weighted<Steps.Compaction["keeps"]>([8, nat(12)], [3, constantFrom("itself", "elsewhere", "nowhere")]),
  rest: record(
    { summary: Texts.text, tokensBefore: amount, details, usage, fromHook: FastCheck.boolean(), systemMessage: system },
    { requiredKeys: ["summary", "tokensBefore"] }
  )
})

const branchSummary: Arbitrary<Steps.Step> = record({
  step: FastCheck.constant("branchSummary" as const),
  from: nat(60),
  rest: record({ summary: Texts.text, details, usage, fromHook: FastCheck.boolean() }, { requiredKeys: ["summary"] })
})

/** What an edit puts in an entry's place: at times blocks that the message cannot hold. */
const replacement = Texts.text.map((text): Message.Content => {
  const blocks: ReadonlyArray<Message.Block> = [
    { type: "text", text },
    { type: "thinking", thinking: text },
    { type: "toolCall", id: "edited-in", name: "read", arguments: { path: "a.ts" } },
    { type: "image" }
  ]
  return text.length % 2 === 0 ? text : blocks
})

const edit: Arbitrary<Steps.Step> = record({
  step: FastCheck.constant("edit" as const),
  back: weighted<number>([3, nat(2)], [1, nat(30)]),
  replacement: orNull(record({ content: replacement }))
})

const label: Arbitrary<Steps.Step> = record({
  step: FastCheck.constant("label" as const),
  back: nat(10),
  label: orNull(constantFrom("here", ""))
})

const move: Arbitrary<Steps.Step> = record({ step: FastCheck.constant("move" as const), to: orNull(nat(60)) })

const step = (settings: Settings): Arbitrary<Steps.Step> =>
  weighted<Steps.Step>(
    [6, said(user)],
    [8, reply],
    [8, result],
    [2, said(bash)],
    [1, said(system)],
    [1, said(otherMessage)],
    [1, plain(customMessage)],
    [3, plain(aside)],
    [1, label],
    [2, edit],
    ...(settings.summaries
      ? ([
          [1, compaction],
          [1, branchSummary]
        ] as const)
      : []),
    ...(settings.branches ? ([[2, move]] as const) : [])
  )

// -----------------------------------------------------------------------------
// Sessions
// -----------------------------------------------------------------------------

/** Arbitrary sessions by some settings; those left out are the defaults. */
export const make = (settings: Partial<Settings> = {}): Sessions => {
  const all = { ...defaults, ...settings }
  const stepsOf = (some: Settings) => FastCheck.array(step(some), { maxLength: some.maxSteps, size: "max" })
  const steps: Sessions["steps"] = stepsOf(all)
  const tree = FastCheck.tuple(steps, Texts.cwd).map(([steps, cwd]) => treeOf(steps, cwd))
  // A path through a tree of many branches is short, so half of the paths come from trees that have but one.
  const unbranched = stepsOf({ ...all, branches: false }).map((steps) => SessionTree.leafPath(treeOf(steps, undefined)))
  const path = FastCheck.oneof(unbranched, tree.map(SessionTree.leafPath))
  return { steps, tree, path, messages: path.map((path) => Projection.messages(Projection.project(path))) }
}

const treeOf = (steps: ReadonlyArray<Steps.Step>, cwd: string | undefined): SessionTree.SessionTree =>
  SessionTree.make(
    {
      type: "session",
      version: Entry.currentVersion,
      id: "5e551011-0000-4000-8000-000000000000",
      timestamp: "2026-01-01T00:00:00.000Z",
      ...(cwd === undefined ? {} : { cwd })
    },
    Steps.run(steps)
  )

/** Sessions, paths and contexts of up to 60 entries of every type. */
export const { messages, path, tree } = make()

/** What a turn or two add to a session: neither summaries nor moves. */
export const turn: Arbitrary<ReadonlyArray<Steps.Step>> = make({ maxSteps: 8, summaries: false, branches: false }).steps

/** How a compaction may be prepared, by the standard rules; budgets from nothing to more than most sessions have. */
export const preparation: Arbitrary<Preparation.Settings> = record({
  keepRecentTokens: weighted<number>([1, FastCheck.constant(0)], [3, nat(60)], [3, nat(600)], [2, nat(6000)]),
  cwd: Texts.cwd,
  rules: FastCheck.constant(Rules.standard)
})
