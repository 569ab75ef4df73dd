/**
 * Asks where to go, where somebody can be asked.
 *
 * @since 0.1.0
 */
import * as Entry from "@cutpoint/core/Entry"
import type * as SessionTree from "@cutpoint/core/SessionTree"
import * as Prompt from "@effect/cli/Prompt"
import * as Effect from "effect/Effect"
import * as EntryView from "./EntryView.js"
import * as Output from "./Output.js"

/** The entry that was picked; undefined to stay, or where nobody can be asked. */
export const pick = Effect.fnUntraced(function* (tree: SessionTree.SessionTree) {
  const output = yield* Output.Output
  if (!output.isInteractive) return undefined
  const stay = { title: "stay here", value: undefined }
  const places = tree.entries
    .filter((entry) => entry.id !== tree.leafId && !Entry.isLeafMarker(entry) && EntryView.role(entry) !== null)
    .map((entry) => ({
      title: `${entry.id}  ${EntryView.kind(entry)}  ${EntryView.preview(entry, 60)}`,
      value: entry.id
    }))
  return yield* Prompt.select<string | undefined>({ message: "Go to", choices: [stay, ...places.toReversed()] })
})

/** Whether what is left behind is to be summarized. */
export const wantsSummary = Prompt.confirm({ message: "Summarize what is left behind?" })
