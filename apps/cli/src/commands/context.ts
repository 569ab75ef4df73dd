/**
 * `cutpoint context`: what the model sees of a session.
 *
 * @since 0.1.0
 */
import * as CompactionSettings from "@cutpoint/compaction/CompactionSettings"
import * as ModelFacts from "@cutpoint/compaction/ModelFacts"
import * as CompactionErrors from "@cutpoint/compaction/CompactionErrors"
import * as SessionStore from "@cutpoint/compaction/SessionStore"
import type * as SettingsValues from "@cutpoint/compaction/SettingsValues"
import * as Tokenizer from "@cutpoint/compaction/Tokenizer"
import * as Projection from "@cutpoint/core/Projection"
import * as Rules from "@cutpoint/core/Rules"
import * as SessionTotals from "@cutpoint/core/SessionTotals"
import * as SessionTree from "@cutpoint/core/SessionTree"
import * as Tokens from "@cutpoint/core/Tokens"
import * as Transcript from "@cutpoint/core/Transcript"
import * as Effect from "effect/Effect"
import * as Bar from "../Bar.js"
import * as Diagnostics from "../Diagnostics.js"
import * as EntryView from "../EntryView.js"
import * as Output from "../Output.js"
import * as Printable from "../Printable.js"
import * as Services from "../Services.js"
import * as SessionArgument from "../SessionArgument.js"

/** What `context` takes. */
export interface ContextOptions {
  readonly session: string | undefined
  readonly leaf: string | undefined
  readonly transcript: boolean
  readonly contextWindow: number | undefined
  readonly tokenizer: SettingsValues.Tokenizer | undefined
  readonly json: boolean
}

/** Runs it. */
export const run = (options: ContextOptions) =>
  Effect.flatMap(SessionArgument.find(options.session), (found) =>
    Effect.provide(context(found, options), Services.forSession(found.key, options))
  )

const context = Effect.fnUntraced(function* (found: SessionArgument.Found, options: ContextOptions) {
  const output = yield* Output.Output
  const store = yield* SessionStore.SessionStore
  const { count } = yield* Tokenizer.Tokenizer
  const session = yield* store.open(found.key)
  const tree = yield* standingAt(session, options.leaf)
  const counter = Tokens.counter(count, Rules.standard)
  const { loaded } = yield* Services.SessionSettings
  const projection = Projection.project(SessionTree.leafPath(tree))
  const model = modelName(projection)
  const sources = { loaded, facts: yield* ModelFacts.ModelFacts }
  const knownWindow = yield* CompactionSettings.knownWindow(sources, { model, contextWindow: options.contextWindow })
  const view = viewOf(session, tree, counter, { projection, model, knownWindow })
  const assumed = view.knownWindow === undefined ? [CompactionSettings.assumed(view.model)] : []
  yield* Services.tellNotices([...loaded.notices, ...assumed])
  yield* Diagnostics.warn(view.diagnostics, options.json)
  yield* output.result(options.json ? Printable.json(toJson(view, options)) : toText(view, options, output))
})

const standingAt = (session: SessionStore.Session, leaf: string | undefined) => {
  if (leaf === undefined) return Effect.succeed(session.tree)
  return SessionTree.get(session.tree, leaf) === undefined
    ? new CompactionErrors.EntryNotFound({ session: session.key, entryId: leaf })
    : Effect.succeed(SessionTree.withLeaf(session.tree, leaf))
}

/** What the model sees, which model that is, and how large its window is, as far as that is known. */
interface Standing {
  readonly projection: Projection.Projection
  readonly model: string | undefined
  /** In tokens. */
  readonly knownWindow: number | undefined
}

type View = ReturnType<typeof viewOf>

const viewOf = (
  session: SessionStore.Session,
  tree: SessionTree.SessionTree,
  count: Tokens.CountMessage,
  { knownWindow, model, projection }: Standing
) => {
  const repaired = Projection.repairToolPairs(Projection.convertToLlm(Projection.messages(projection)))
  return {
    session: session.key,
    leafId: tree.leafId,
    projection,
    contextTokens: Projection.contextTokens(projection, count),
    model,
    knownWindow,
    contextWindow: knownWindow ?? CompactionSettings.unknownWindow,
    totals: SessionTotals.of(tree.entries),
    messages: projection.items.flatMap(({ entry, messages }) =>
      messages.map((message) => ({ entryId: entry.id, message, tokens: count(message) }))
    ),
    repaired: repaired.messages,
    diagnostics: [...session.diagnostics, ...projection.diagnostics, ...repaired.diagnostics]
  }
}

const modelName = ({ model }: Projection.Projection): string | undefined =>
  model === undefined ? undefined : `${model.provider}/${model.modelId}`

const transcript = (view: View): string => Transcript.serialize(view.repaired, Transcript.forModel)

const toJson = (view: View, options: ContextOptions) => ({
  session: view.session,
  leafId: view.leafId,
  model: view.model ?? null,
  thinkingLevel: Projection.latestThinkingLevel(view.projection.path) ?? null,
  contextTokens: view.contextTokens,
  contextWindow: view.contextWindow,
  totals: view.totals,
  messages: view.messages.map(({ entryId, message, tokens }) => ({
    entryId,
    role: message.role,
    tokens,
    preview: EntryView.messagePreview(message)
  })),
  ...(options.transcript ? { transcript: transcript(view) } : {}),
  diagnostics: view.diagnostics
})

const toText = (view: View, options: ContextOptions, output: Output.Service): string => {
  if (options.transcript) return Printable.text(transcript(view))
  const room = Math.max(20, output.columns - 48)
  const model = Printable.line(view.model ?? "no model yet", 80)
  const thinking = Projection.latestThinkingLevel(view.projection.path)
  const used: Bar.Part = { label: "used", tokens: view.contextTokens, sign: "█", color: 32 }
  return [
    ...view.messages.map(({ entryId, message, tokens }) =>
      [
        Printable.line(entryId, 12).padEnd(12),
        message.role.padEnd(18),
        Printable.number(tokens).padStart(9),
        EntryView.messagePreview(message, room)
      ].join("  ")
    ),
    "",
    `Session   ${Printable.line(view.session, 1000)}`,
    `Model     ${model}${thinking === undefined ? "" : `, thinking ${Printable.line(thinking, 20)}`}`,
    `Context   ${Printable.number(view.contextTokens)} of ${Printable.number(view.contextWindow)} tokens, ${Printable.count(view.messages.length, "message")}`,
    `Used      ${Printable.number(view.totals.tokens)} tokens in all, cost ${view.totals.cost.toFixed(4)}`,
    Bar.draw([used], view.contextWindow, output.columns, output.hasColors)
  ].join("\n")
}
