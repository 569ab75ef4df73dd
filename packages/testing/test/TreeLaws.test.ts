import * as SessionTree from "@cutpoint/core/SessionTree"
import * as FastCheck from "effect/FastCheck"
import { describe, expect, it } from "vitest"
import * as Sessions from "../src/Sessions.js"
import * as TreeLaws from "../src/TreeLaws.js"
import { law, session, user } from "./laws.js"

const header = { type: "session", version: 3, id: "s" } as const

const id = FastCheck.constantFrom("a", "b", "c", "d", "e", "f")

const parentId = FastCheck.oneof(id, FastCheck.constantFrom(null, "gone"))

/** Whatever entries may say of their parents: cycles, unknown ones, and ids that are there twice. */
const anyTree = FastCheck.array(FastCheck.record({ id, parentId })).map((links) =>
  SessionTree.make(
    header,
    links.map((link) => ({ type: "session_info", timestamp: "", name: "", ...link }))
  )
)

const anyId = FastCheck.constantFrom(null, "gone", "a", "b", "c", "d")

/** Two places in a tree, of which either may be none. */
const twoPlaces = FastCheck.tuple(Sessions.tree, FastCheck.nat(60), FastCheck.nat(60)).map(([tree, one, other]) => ({
  tree,
  one: tree.entries[one]?.id ?? null,
  other: tree.entries[other]?.id ?? null
}))

describe("TreeLaws", () => {
  law("a path is finite", [anyTree, anyId], TreeLaws.pathIsFinite)

  law("a path is finite in a session", [twoPlaces], ({ one, tree }) => TreeLaws.pathIsFinite(tree, one))

  law("a branch is what is left", [twoPlaces], ({ one, other, tree }) => TreeLaws.collectsWhatIsLeft(tree, one, other))

  law("a branch is what is left of any tree", [anyTree, anyId, anyId], TreeLaws.collectsWhatIsLeft)

  it("notices a tree whose index is wrong", () => {
    const tree = SessionTree.make(header, session(user("one"), user("two"), user("three")))
    const wrong = { ...tree, positions: new Map([...tree.positions, ["e0", 2]]) }
    TreeLaws.pathIsFinite(tree, "e2")
    expect(() => TreeLaws.pathIsFinite(wrong, "e2")).toThrow("A path is finite")
    expect(() => TreeLaws.pathIsFinite(wrong, "e1")).toThrow("A path is finite")
  })
})
