import * as Entry from "@cutpoint/core/Entry"
import * as FileOps from "@cutpoint/core/FileOps"
import * as Json from "@cutpoint/core/Json"
import * as Message from "@cutpoint/core/Message"
import * as Preparation from "@cutpoint/core/Preparation"
import * as Projection from "@cutpoint/core/Projection"
import * as Rules from "@cutpoint/core/Rules"
import * as SessionTree from "@cutpoint/core/SessionTree"
import * as Skimmed from "@cutpoint/core/Skimmed"
import * as Tokens from "@cutpoint/core/Tokens"
import type { OpenOptions, Session } from "@cutpoint/compaction/SessionStore"
import * as Sessions from "@cutpoint/testing/Sessions"
import { NodeContext } from "@effect/platform-node"
import { expect, it } from "@effect/vitest"
import { Effect, FastCheck, Option } from "effect"
import { describe } from "vitest"
import * as ByteLine from "../src/ByteLine.js"
import { ContextWalk } from "../src/ContextWalk.js"
import { header, lines, makeWorkspace, onFiles, reply, user } from "./workspace.js"

const seed = Number(process.env.CUTPOINT_SEED ?? FastCheck.sample(FastCheck.noBias(FastCheck.nat()), 1)[0])
console.log(`CUTPOINT_SEED=${seed}`)

const count = Tokens.counter(Tokens.heuristic, Rules.standard)

/** All that a compaction takes from a session. */
const taken = (session: Session, keepRecentTokens: number) => {
  const projection = Projection.project(SessionTree.leafPath(session.tree))
  const settings = { keepRecentTokens, cwd: "/w", rules: Rules.standard }
  return JSON.stringify({
    leafId: session.tree.leafId,
    model: projection.model,
    contextTokens: Projection.contextTokens(projection, count),
    preparation: Option.getOrNull(Preparation.prepareProjection(projection, count, settings))
  })
}

/** Replies say which model they are of, as those of real agents do. */
const named = (entry: Entry.Entry): Entry.Entry =>
  entry.type === "message" && entry.message.role === "assistant"
    ? { ...entry, message: { ...entry.message, provider: "some", model: "one" } }
    : entry

/** An entry in the order of keys that agents write. */
const line = (entry: Entry.Entry): string => {
  const json = Entry.toJson(named(entry))
  if (!Json.isObject(json)) return JSON.stringify(json)
  const { type, id, parentId, timestamp, ...rest } = json
  return JSON.stringify({ type, id, parentId, timestamp, ...rest })
}

/** What happens to the lines of a file. */
const damage = FastCheck.oneof(
  FastCheck.constant([]),
  FastCheck.array(
    FastCheck.record({
      kind: FastCheck.constantFrom("drop", "double", "join", "cut", "flip", "swap", "blank", "reorder"),
      at: FastCheck.nat(400),
      other: FastCheck.nat(400)
    }),
    { maxLength: 4 }
  )
)

type Damage = { readonly kind: string; readonly at: number; readonly other: number }

const damaged = (all: ReadonlyArray<string>, damages: ReadonlyArray<Damage>): ReadonlyArray<string> => {
  let result = [...all]
  for (const { at, kind, other } of damages) {
    if (result.length === 0) break
    const index = at % result.length
    const text = result[index] ?? ""
    const place = other % (text.length + 1)
    if (kind === "drop") result.splice(index, 1)
    else if (kind === "double") result.splice(other % result.length, 0, text)
    else if (kind === "join") result.splice(index, 2, text + (result[index + 1] ?? ""))
    else if (kind === "cut") result[index] = text.slice(0, place)
    else if (kind === "flip") {
      const code = text.charCodeAt(place % Math.max(1, text.length))
      result[index] = text.slice(0, place) + String.fromCharCode((code || 32) ^ 4) + text.slice(place + 1)
    } else if (kind === "blank") result.splice(index, 0, " ")
    else if (kind === "swap")
      [result[index], result[other % result.length]] = [result[other % result.length] ?? "", text]
    else if (text.startsWith("{")) result[index] = text.replace(/^\{("type":"[a-z_]+"),(.*)\}$/u, "{$2,$1}")
  }
  return result
}

interface Given {
  readonly tree: SessionTree.SessionTree
  readonly damages: ReadonlyArray<Damage>
  readonly keep: number
  readonly isEnded: boolean
}

const given: FastCheck.Arbitrary<Given> = FastCheck.record({
  tree: Sessions.tree,
  damages: damage,
  keep: FastCheck.constantFrom(0, 10, 100, 1000, 20_000),
  isEnded: FastCheck.boolean()
})

/** Opens one file in two ways and compares what a compaction takes. */
const compared = (all: ReadonlyArray<string>, isEnded: boolean, keep: number, options: OpenOptions) =>
  Effect.scoped(
    Effect.gen(function* () {
      const workspace = yield* makeWorkspace
      const file = yield* workspace.write("s.jsonl", all.join("\n") + (isEnded ? "\n" : ""))
      const whole = yield* Effect.either(workspace.store.open(file))
      const part = yield* Effect.either(workspace.store.open(file, options))
      const of = (opened: typeof whole) => (opened._tag === "Right" ? taken(opened.right, keep) : opened.left._tag)
      expect(of(part)).toBe(of(whole))
      return part._tag === "Right" && part.right.tree.isPart === true
    })
  ).pipe(Effect.provide(NodeContext.layer))

const holds = (check: (one: Given) => Promise<unknown>) =>
  FastCheck.assert(
    FastCheck.asyncProperty(given, async (one) => {
      await check(one)
    }),
    { numRuns: 800, seed }
  )

/** All that finding a cut takes from entries: kinds, calls, results, files, but not what was said. */
const skeleton = (entries: ReadonlyArray<Entry.Entry>) =>
  entries.map((entry) => {
    const message = entry.type === "message" ? entry.message : undefined
    return [
      entry.id,
      entry.parentId,
      entry.type,
      message?.role,
      message?.role === "assistant" ? replyOf(message) : undefined,
      message === undefined ? undefined : FileOps.lists(FileOps.fromMessage(message, { cwd: "/w", fold: true }))
    ]
  })

/** Of the arguments of calls only the files that they name are known. */
const replyOf = (message: Message.AssistantMessage) => ({
  calls: Message.toolCalls(message).map(({ id, name }) => [id, name]),
  isBroken: Message.isBroken(message)
})

describe("a session of which older messages are skimmed", () => {
  it("says all that finding the cut takes", () => {
    let skimmed = 0
    FastCheck.assert(
      FastCheck.property(Sessions.tree, (tree) => {
        const entries = tree.entries.map(named)
        const walk = new ContextWalk({ skim: { what: "messages", after: 0 } })
        for (const entry of entries.toReversed()) {
          walk.push(ByteLine.of(new TextEncoder().encode(line(entry))))
          if (walk.standing !== "under way") break
        }
        if (walk.standing !== "found") return
        const path = SessionTree.leafPath(SessionTree.make(tree.header, entries))
        const whole = path.slice(path.length - walk.entries.length)
        expect(JSON.stringify(skeleton(walk.entries))).toBe(JSON.stringify(skeleton(whole)))
        expect(SessionTree.reportedTokens(walk.entries)).toBe(SessionTree.reportedTokens(whole))
        expect(Projection.latestModel(walk.entries)).toEqual(Projection.latestModel(whole))
        skimmed += walk.entries.filter((entry) => entry.type === "message" && Skimmed.is(entry.message)).length
      }),
      { numRuns: 1000, seed }
    )
    expect(skimmed).toBeGreaterThan(1000)
  })

  it("fails where somebody asks a skimmed message for what it says", () => {
    const walk = new ContextWalk({ skim: { what: "messages", after: 0 } })
    walk.push(ByteLine.of(new TextEncoder().encode(line(reply("b", "a", 1)))))
    walk.push(ByteLine.of(new TextEncoder().encode(line(user("a", null)))))
    const [first] = walk.entries
    expect(first?.type === "message" && Skimmed.is(first.message)).toBe(true)
    const messages = first?.type === "message" ? [first.message] : []
    expect(() => Tokens.sum(messages, count)).toThrow(/skimmed/)
    expect(() => Projection.convertToLlm(messages)).toThrow(/skimmed/)
  })
})

describe("a session of which only the context is read", () => {
  it("gives a compaction what the whole session gives it, whatever happened to the file", async () => {
    let parts = 0
    await holds(async ({ damages, isEnded, keep, tree }) => {
      const all = damaged([header(), ...tree.entries.map(line)], damages)
      const isPart = await Effect.runPromise(compared(all, isEnded, keep, { part: "context", toWrite: true }))
      if (isPart) parts++
    })
    // The comparison is worth something only where parts were read.
    expect(parts).toBeGreaterThan(15)
  })

  it("is found among branches, and stops at the first entry that is kept", () =>
    onFiles(
      Effect.scoped(
        Effect.gen(function* () {
          const { store, write } = yield* makeWorkspace
          const old = Array.from({ length: 50 }, (_, index) => user(`o${index}`, index === 0 ? null : `o${index - 1}`))
          const compaction = { type: "compaction", id: "c", parentId: "o49", timestamp: "2026-01-01T00:00:00.000Z" }
          const file = yield* write(
            "s.jsonl",
            lines(
              header(),
              ...old,
              { ...compaction, summary: "s", firstKeptEntryId: "o40", tokensBefore: 1 },
              user("aside", "o3"),
              line(reply("r", "c", 10))
            )
          )
          const { tree } = yield* store.open(file, { part: "context", toWrite: true })
          expect(tree.entries.map((entry) => entry.id)).toEqual([
            ...Array.from({ length: 10 }, (_, index) => `o${40 + index}`),
            "c",
            "r"
          ])
        })
      )
    ).pipe(Effect.runPromise))

  it("is found behind 3 GiB of whatever", () =>
    onFiles(
      Effect.scoped(
        Effect.gen(function* () {
          const { fs, store, write } = yield* makeWorkspace
          const file = yield* write("s.jsonl", lines(header(), user("a", null)))
          // A hole takes no room on the disk.
          yield* fs.truncate(file, 3 * 2 ** 30)
          const compaction = { type: "compaction", id: "c", parentId: "a", timestamp: "2026-01-01T00:00:00.000Z" }
          const end = lines(
            "",
            { ...compaction, summary: "s", firstKeptEntryId: "c", tokensBefore: 1 },
            line(reply("r", "c", 10))
          )
          yield* fs.writeFileString(file, end, { flag: "a" })
          const { tree } = yield* store.open(file, { part: "context" })
          expect(tree.entries.map((entry) => entry.id)).toEqual(["c", "r"])
        })
      )
    ).pipe(Effect.runPromise))
})
