import { describe, expect, it } from "vitest"
import * as Entry from "../src/Entry.js"
import * as ForkedWrites from "../src/ForkedWrites.js"

const start = Date.parse("2026-01-01T00:00:00.000Z")

/** An entry so many seconds after the start. */
const said = (id: string, parentId: string | null, seconds: number): Entry.Entry => ({
  type: "message",
  id,
  parentId,
  timestamp: new Date(start + seconds * 1000).toISOString(),
  message: { role: "user", content: id }
})

const compaction = (id: string, parentId: string, seconds: number): Entry.Entry => ({
  ...said(id, parentId, seconds),
  type: "compaction",
  summary: "s",
  firstKeptEntryId: id,
  tokensBefore: 1
})

const mark = (id: string, parentId: string | null, seconds: number): Entry.Entry => ({
  ...said(id, parentId, seconds),
  type: "custom",
  customType: Entry.leafMarker
})

const label = (id: string, parentId: string, seconds: number): Entry.Entry => ({
  ...said(id, parentId, seconds),
  type: "label",
  targetId: parentId
})

const trunk = [said("a", null, 0), said("b", "a", 1), said("c", "b", 2)]

const found = (...entries: ReadonlyArray<Entry.Entry>): ReadonlyArray<string | undefined> =>
  ForkedWrites.find([...trunk, ...entries]).map(({ at, beside }) => {
    const all = [...trunk, ...entries]
    return `${all[at]?.id} beside ${all[beside]?.id}`
  })

describe("ForkedWrites", () => {
  it("are found where two programs went on from the same entry at the same time", () => {
    expect(found(said("d", "b", 3))).toEqual(["d beside c"])
    expect(found(said("d", null, 3))).toEqual(["d beside a"])
    // Each goes on after its own.
    expect(found(said("d", "b", 3), said("e", "c", 4))).toEqual(["d beside c", "e beside d"])
  })

  it("are found where a program does not see a compaction, whenever that is", () => {
    expect(found(compaction("k", "c", 3), said("d", "c", 3000))).toEqual(["d beside k"])
    expect(found(compaction("k", "c", 3), said("d", "k", 4))).toEqual([])
  })

  it("are not moves: later, recorded by a mark or with a label before it, or a branch's summary", () => {
    expect(found(said("d", "b", 60))).toEqual([])
    expect(found(mark("m", "b", 3), said("d", "b", 4))).toEqual([])
    expect(found(mark("m", null, 3), said("d", null, 4))).toEqual([])
    expect(found(label("l", "b", 3), mark("m", "b", 3), said("d", "b", 4))).toEqual([])
    expect(
      found({ ...said("s", "b", 3), type: "branch_summary", fromId: "c", summary: "s" }, said("d", "s", 4))
    ).toEqual([])
  })

  it("are not what a program writes that does not know marks", () => {
    expect(found(mark("m", "b", 3), said("d", "m", 4), said("e", "d", 5))).toEqual([])
  })

  it("are not told of where all times are the same, or none can be read", () => {
    expect(found(said("d", "b", 2))).toEqual([])
    expect(found({ ...said("d", "b", 3), timestamp: "today" })).toEqual([])
  })

  it("are not where a parent is unknown, which is a fault of its own", () => {
    expect(found(said("d", "nowhere", 3))).toEqual([])
  })
})
