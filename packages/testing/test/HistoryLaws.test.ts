import * as Histories from "@cutpoint/core/Histories"
import * as Projection from "@cutpoint/core/Projection"
import { describe, expect, it } from "vitest"
import * as HistoryDocuments from "../src/HistoryDocuments.js"
import * as HistoryLaws from "../src/HistoryLaws.js"
import * as Sessions from "../src/Sessions.js"
import { law, runs } from "./laws.js"
import * as FastCheck from "effect/FastCheck"

describe.each(Histories.names)("%s", (format) => {
  const documents = HistoryDocuments.documents[format]
  let histories = 0

  law("an export after an import gives the same document", [documents], (document) => {
    if (HistoryLaws.comesBack(document, format)) histories++
  })

  it("has seen histories enough to know", () => {
    expect(histories).toBeGreaterThan(runs / 2)
  })

  law("edits win over what was kept", [documents], (document) => HistoryLaws.editsWin(document, format, "Edited."))

  law("an import of an export says the same", [Sessions.messages], (messages) =>
    HistoryLaws.saysTheSame(Projection.convertToLlm(messages), format)
  )

  law("is said in every format", [documents, FastCheck.constantFrom(...Histories.names)], (document, to) =>
    HistoryLaws.canBeSaidElsewhere(document, format, to)
  )
})

describe("HistoryLaws, broken", () => {
  it("notices what does not come back", () => {
    // What JSON cannot say does not survive being stored.
    const document = [{ role: "user", content: "x", when: () => 1 }]
    expect(() => HistoryLaws.comesBack(document, "openai-chat")).toThrow("An export after an import")
  })
})
