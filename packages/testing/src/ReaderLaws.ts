/**
 * Reading what stands in a session. Each law throws `LawBroken` where it does
 * not hold.
 *
 * @since 0.1.0
 */
import * as Entry from "@cutpoint/core/Entry"
import * as EntryReader from "@cutpoint/core/EntryReader"
import * as Json from "@cutpoint/core/Json"
import * as Message from "@cutpoint/core/Message"
import * as MessageReader from "@cutpoint/core/MessageReader"
import * as Schema from "effect/Schema"
import * as Law from "./Law.js"

const isMessage = Schema.is(Message.Message)

const isEntry = Schema.is(Entry.Entry)

/**
 * A well-formed entry comes back as the same object; one of an unknown type,
 * or with a message of an unknown role, as what stood in the file, to the byte.
 */
export const keepsSoundEntries = (entry: Entry.Entry): void => {
  const json = Entry.toJson(entry)
  if (!Json.isObject(json)) return
  const read = EntryReader.read(json, entry)
  const isKnown = json === entry
  const law = `A well-formed entry is read as ${isKnown ? "the same object" : "what it was"}.`
  Law.hold(law, !isKnown || read === json, () => `${Law.shown(json)} became ${Law.shown(read)}.`)
  Law.same(law, "The entry", [Entry.toJson(read)], [json])
}

/** A well-formed message of a known role comes back as the same object. */
export const keepsSoundMessages = (message: Message.Message): void => {
  const json = message.role === "unknown" ? message.original : message
  const read = MessageReader.read(json)
  const kept = read.role === "unknown" ? read.original : read
  Law.hold(
    "A well-formed message is read as the same object.",
    kept === json,
    () => `${Law.shown(json)} became ${Law.shown(read)}.`
  )
}

/** Any JSON value is read as a message that fits the schema. */
export const readsAnyMessage = (json: unknown): void => {
  const read = MessageReader.read(json)
  Law.hold(
    "Any JSON value is read as a message of the format.",
    isMessage(read),
    () => `${Law.shown(json)} became ${Law.shown(read)}.`
  )
}

/** Any JSON object is read as an entry that fits the schema and has the id and parent it was found with. */
export const readsAnyEntry = (json: Json.JsonObject, base: EntryReader.Base): void => {
  const law = "Any JSON object is read as an entry of the format."
  const read = EntryReader.read(json, base)
  Law.hold(law, isEntry(read), () => `${Law.shown(json)} became ${Law.shown(read)}.`)
  Law.same(law, "Its id and parent", [read.id, read.parentId], [base.id, base.parentId])
}
