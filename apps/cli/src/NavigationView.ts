/**
 * A session's tree and a navigation in it, as JSON and as text.
 *
 * @since 0.1.0
 */
import type * as Navigation from "@cutpoint/compaction/Navigation"
import type * as SessionStore from "@cutpoint/compaction/SessionStore"
import * as Entry from "@cutpoint/core/Entry"
import * as FileOps from "@cutpoint/core/FileOps"
import * as Projection from "@cutpoint/core/Projection"
import * as SessionTree from "@cutpoint/core/SessionTree"
import * as Transcript from "@cutpoint/core/Transcript"
import * as EntryView from "./EntryView.js"
import * as PlanView from "./PlanView.js"
import * as Printable from "./Printable.js"

/** A navigation that was made, or would be. */
export interface View {
  readonly status: "navigated" | "prepared" | "unchanged"
  readonly session: SessionStore.Session
  readonly prepared: Navigation.Prepared
  readonly newLeafId: string | null
  readonly summaryEntry: Entry.BranchSummaryEntry | undefined
}

/** The view of a dry run. */
export const prepared = (prepared: Navigation.Prepared, targetId: string): View => ({
  status: targetId === prepared.oldLeafId ? "unchanged" : "prepared",
  session: prepared.session,
  prepared,
  newLeafId: prepared.newLeafId,
  summaryEntry: undefined
})

/** The view of a navigation. */
export const navigated = (result: Navigation.Navigated): View => ({
  status: result._tag === "Navigated" ? "navigated" : "unchanged",
  session: result.session,
  prepared: result.prepared,
  newLeafId: result.newLeafId,
  summaryEntry: result.summaryEntry
})

/** The JSON document of `tree --json`. */
export const treeJson = (session: SessionStore.Session, tokens: (entry: Entry.Entry) => number) => {
  const { tree } = session
  const onPath = new Set(SessionTree.leafPath(tree))
  const labels = SessionTree.labels(tree)
  return {
    session: session.key,
    leafId: tree.leafId,
    entries: tree.entries.map((entry) => ({
      id: entry.id,
      parentId: entry.parentId,
      type: Entry.typeName(entry),
      role: EntryView.role(entry),
      preview: EntryView.preview(entry),
      tokens: tokens(entry),
      label: labels.get(entry.id) ?? null,
      onPath: onPath.has(entry)
    })),
    diagnostics: session.diagnostics
  }
}

interface Shown {
  readonly parity: boolean
  readonly withTranscript: boolean
  readonly includeThinking: boolean
  readonly summarize: boolean
  /** What the requests would cost, in US dollars; undefined where the prices are not known. */
  readonly estimatedCost: number | undefined
}

/** The JSON document of `tree --to --json`. */
export const toJson = (view: View, shown: Shown) => {
  const { prepared, session, status, summaryEntry } = view
  return {
    status,
    oldLeafId: prepared.oldLeafId,
    newLeafId: view.newLeafId,
    editText: status === "unchanged" ? null : (prepared.editText ?? null),
    summaryEntryId: summaryEntry?.id ?? null,
    collected: {
      entryIds: prepared.entries.map((entry) => entry.id),
      commonAncestorId: prepared.commonAncestorId,
      totalTokens: prepared.totalTokens,
      roles: prepared.messages.map((message) => message.role),
      ...FileOps.lists(prepared.fileOps),
      ...(shown.withTranscript ? { transcript: transcript(prepared, shown) } : {})
    },
    diagnostics: session.diagnostics
  }
}

const transcript = ({ messages }: Navigation.Prepared, { includeThinking, parity }: Shown): string =>
  Transcript.serialize(Projection.convertToLlm(messages), { includeThinking, guarded: !parity })

/** The text of `tree --to`. */
export const toText = (view: View, shown: Shown): string => {
  const { prepared, status, summaryEntry } = view
  const place = (id: string | null) => (id === null ? "before the first entry" : Printable.line(id, 60))
  const lines = [
    status === "unchanged"
      ? `Already at ${place(view.newLeafId)}.`
      : `From ${place(prepared.oldLeafId)} to ${place(view.newLeafId)}`,
    `Leaves behind ${Printable.count(prepared.entries.length, "entry", "entries")}, ${Printable.count(prepared.totalTokens, "token")}`
  ]
  if (prepared.editText !== undefined && status !== "unchanged")
    lines.push("", "To edit and send again:", Printable.text(prepared.editText))
  if (shown.withTranscript) lines.push("", Printable.text(transcript(prepared, shown)))
  if (summaryEntry !== undefined) lines.push("", `Summary ${summaryEntry.id}:`, Printable.text(summaryEntry.summary))
  if (status === "prepared" && shown.summarize)
    lines.push(`Requests: ${PlanView.requests(prepared.plan, shown.estimatedCost)}`)
  if (status === "prepared") lines.push("", "Nothing was written (dry run).")
  return lines.join("\n")
}
