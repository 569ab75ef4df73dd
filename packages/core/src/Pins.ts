/**
 * Pins: what must survive every summary. A pin marks an entry or a text; it
 * lives on the path it was made on, until it is taken out.
 *
 * Law. Every live pin's text stands in the context after any number of
 * compactions, word for word: it is put there, not asked for.
 *
 * @since 0.1.0
 */
import type * as Entry from "./Entry.js"
import * as Json from "./Json.js"
import * as Message from "./Message.js"
import * as PinBlock from "./PinBlock.js"
import * as Projection from "./Projection.js"

/** The `customType` of the entry that pins; its `data` is `{targetId}` or `{text}`. */
export const pinType = "cutpoint.pin"

/** The `customType` of the entry that takes a pin out; its `data` is `{pinId}`. */
export const unpinType = "cutpoint.unpin"

/**
 * The live pins of a path, in the order they were made. Those of a branch that
 * was left live on in the blocks of its summary.
 */
export const live = (path: ReadonlyArray<Entry.Entry>): ReadonlyArray<PinBlock.Pin> => {
  const pins = new Map<string, string>()
  for (const entry of path) {
    if (entry.type === "branch_summary") {
      for (const pin of PinBlock.split(entry.summary).pins) pins.set(pin.id, pin.text)
    }
    if (entry.type !== "custom" || !Json.isObject(entry.data)) continue
    if (entry.customType === pinType) {
      const text = pinnedText(entry.data, path)
      if (text !== "") pins.set(entry.id, text)
    } else if (entry.customType === unpinType) pins.delete(Json.stringOr(entry.data.pinId, ""))
  }
  return [...pins].map(([id, text]) => ({ id, text }))
}

const pinnedText = (data: Json.JsonObject, path: ReadonlyArray<Entry.Entry>): string => {
  if (typeof data.text === "string") return data.text.toWellFormed()
  const targetId = Json.stringOr(data.targetId, "")
  const target = path.findLast((entry) => entry.id === targetId)
  return target === undefined ? "" : textOf(target)
}

/** The text that pinning an entry keeps; empty where it says nothing. */
export const textOf = (entry: Entry.Entry): string =>
  Projection.messagesOf(entry, true)
    .flatMap((message) => {
      if (message.role === "bashExecution") return [`${message.command}\n${message.output}`]
      if (message.role === "branchSummary" || message.role === "compactionSummary") return [message.summary]
      return "content" in message ? Message.texts(message.content) : []
    })
    .join("\n")
    .trim()
    .toWellFormed()
