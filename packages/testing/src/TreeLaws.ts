/**
 * The tree of a session, and what a move in it leaves behind. Each law throws
 * `LawBroken` where it does not hold. They hold for any tree, also one whose
 * entries are their own ancestors.
 *
 * @since 0.1.0
 */
import * as Branch from "@cutpoint/core/Branch"
import type * as Entry from "@cutpoint/core/Entry"
import * as SessionTree from "@cutpoint/core/SessionTree"
import * as Law from "./Law.js"

const idsOf = (entries: ReadonlyArray<Entry.Entry>): ReadonlyArray<string> => entries.map((entry) => entry.id)

/** A path is finite, ends where it should, goes from parent to child, and passes no entry twice. */
export const pathIsFinite = (tree: SessionTree.SessionTree, id: string | null): void => {
  const law = "A path is finite, goes from parent to child, and passes no entry twice."
  const path = SessionTree.path(tree, id)
  const ids = idsOf(path)
  Law.hold(law, new Set(ids).size === ids.length, () => `It passes ${Law.shown(ids)}.`)
  Law.same(law, "Its end", ids.slice(-1), SessionTree.get(tree, id) === undefined ? [] : [id])
  Law.same(
    law,
    "Its parents",
    path.slice(1).map((entry) => entry.parentId),
    ids.slice(0, -1)
  )
  const before = path[0]?.parentId ?? null
  const stops = SessionTree.get(tree, before) === undefined || ids.includes(before ?? "")
  Law.hold(law, stops, () => `It starts after ${before}, which there is.`)
}

/**
 * What a move leaves behind is the old path without the target's path, in
 * order; the common ancestor is the deepest entry that is on both.
 */
export const collectsWhatIsLeft = (
  tree: SessionTree.SessionTree,
  oldLeafId: string | null,
  targetId: string | null
): void => {
  const law = "A branch is the old path without the target's path, and the ancestor is the deepest entry on both."
  const { commonAncestorId, entries } = Branch.collect(tree, oldLeafId, targetId)
  const target = new Set(idsOf(SessionTree.path(tree, targetId)))
  const old = idsOf(SessionTree.path(tree, oldLeafId))
  Law.same(
    law,
    "What was collected",
    idsOf(entries),
    old.filter((id) => !target.has(id))
  )
  const common = old.filter((id) => target.has(id))
  Law.same(law, "The ancestor", [commonAncestorId], [common.at(-1) ?? null])
}
