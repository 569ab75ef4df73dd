import { describe, expect, it } from "vitest"
import * as DamagedFiles from "../src/DamagedFiles.js"
import * as RepairLaws from "../src/RepairLaws.js"
import { law } from "./laws.js"

const text = DamagedFiles.make().map((bytes) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes))

describe("RepairLaws", () => {
  law("what is repaired is sound", [text], RepairLaws.isSound)

  law("a repair loses nothing", [text], RepairLaws.losesNothing)

  law("a repair keeps the context", [text], RepairLaws.keepsContext)

  law("a repair of what is sound changes nothing", [text], RepairLaws.isIdempotent)

  it("have something to do: every kind of damage changes a file", () => {
    const file = new TextEncoder().encode(
      [
        '{"type":"session","version":3,"id":"s"}',
        '{"type":"compaction","id":"a","parentId":null,"timestamp":1,"content":"x","firstKeptEntryId":"a"}',
        ""
      ].join("\n")
    )
    for (const kind of DamagedFiles.kinds) {
      const changed = [0, 1, 2].map((by) => DamagedFiles.damaged(file, { kind, at: 1, by: by + 1 }))
      expect([kind, changed.some((bytes) => String(bytes) !== String(file))]).toEqual([kind, true])
    }
  })
})
