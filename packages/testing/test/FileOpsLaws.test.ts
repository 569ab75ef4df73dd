import * as FileOps from "@cutpoint/core/FileOps"
import * as Rules from "@cutpoint/core/Rules"
import * as Tokens from "@cutpoint/core/Tokens"
import * as FastCheck from "effect/FastCheck"
import { describe, expect, it } from "vitest"
import * as FileOpsLaws from "../src/FileOpsLaws.js"
import * as Sessions from "../src/Sessions.js"
import * as Texts from "../src/Texts.js"
import { calling, law, renamed, result, session, user } from "./laws.js"

const recognition = FastCheck.record({ cwd: Texts.cwd, fold: FastCheck.boolean() })

const operated = FastCheck.tuple(Sessions.messages, recognition).map(([messages, recognition]) =>
  FileOps.fromMessages(messages, recognition)
)

const { path } = Sessions.make({ summaries: false, branches: false })

/** Short, so that a session is compacted often. */
const stretches = FastCheck.tuple(path, FastCheck.integer({ min: 2, max: 12 })).map(([path, length]) =>
  Array.from({ length: Math.ceil(path.length / length) }, (_, n) => path.slice(n * length, (n + 1) * length))
)

describe("FileOpsLaws", () => {
  law("they are a monoid", [operated, operated, operated], FileOpsLaws.isMonoid)

  law("they are the union", [Sessions.messages, Sessions.messages, recognition], FileOpsLaws.areTheUnion)

  law("the lists are sound", [Sessions.messages, recognition], (messages, recognition) =>
    FileOpsLaws.listsAreSound(FileOps.fromMessages(messages, recognition), recognition)
  )

  law("they never shrink", [stretches, Sessions.preparation], (stretches, settings) =>
    FileOpsLaws.neverShrink(stretches, Tokens.heuristic, settings)
  )
})

describe("FileOpsLaws, broken", () => {
  it("notices lists that were made under another recognition", () => {
    const file = (id: string, name: string, path: string) =>
      ({ role: "assistant", content: [{ type: "toolCall", id, name, arguments: { path } }] }) as const
    const ops = FileOps.fromMessages([file("c", "read", "a.ts"), file("d", "edit", "./a.ts")], { fold: false })
    FileOpsLaws.listsAreSound(ops, { fold: false })
    expect(() => FileOpsLaws.listsAreSound(ops, { fold: true })).toThrow('In both: ["a.ts"].')
  })

  it("notices a list that shrank", () => {
    // A stretch that holds the compaction of a hook, whose details are not read.
    const first = session(user("one"), calling("c"), result("c", "two"), user("three"), user("four"))
    const hook = {
      type: "compaction",
      id: "h",
      parentId: "e4",
      timestamp: "",
      summary: "",
      firstKeptEntryId: "h",
      tokensBefore: 1,
      fromHook: true
    } as const
    const second = session(user("five"), user("six")).map((entry) => renamed(entry, `f${entry.id}`))
    const check = () =>
      FileOpsLaws.neverShrink([first, [hook, ...second]], Tokens.heuristic, {
        keepRecentTokens: 1,
        rules: Rules.standard
      })
    expect(check).toThrow('No longer read or modified: ["a.ts"].')
  })
})
