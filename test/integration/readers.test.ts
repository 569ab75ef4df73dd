/** The reader that reads what a context needs gives the answers of the one that reads everything. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as SessionStore from "@cutpoint/compaction/SessionStore"
import * as Preparation from "@cutpoint/core/Preparation"
import * as Projection from "@cutpoint/core/Projection"
import * as Rules from "@cutpoint/core/Rules"
import * as SessionTree from "@cutpoint/core/SessionTree"
import * as Tokens from "@cutpoint/core/Tokens"
import * as SessionFiles from "@cutpoint/session-files/SessionFiles"
import * as DamagedFiles from "@cutpoint/testing/DamagedFiles"
import { NodeContext } from "@effect/platform-node"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { afterAll, describe, expect, it } from "vitest"

const seed = Number(process.env.CUTPOINT_SEED ?? FastCheck.sample(FastCheck.noBias(FastCheck.nat()), 1)[0])
console.log(`CUTPOINT_SEED=${seed}`)

const folder = mkdtempSync(join(tmpdir(), "cutpoint-readers-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const store = SessionFiles.layer({ sessionsDir: folder }).pipe(Layer.provide(NodeContext.layer))

/** All that a compaction takes from a session, by some rules. */
const taken = ({ tree }: SessionStore.Session, keepRecentTokens: number, rules: Rules.Rules): string => {
  const count = Tokens.counter(Tokens.heuristic, rules)
  const projection = Projection.project(SessionTree.leafPath(tree))
  return textOf({
    leafId: tree.leafId,
    model: projection.model,
    contextTokens: Projection.contextTokens(projection, count),
    preparation: Option.getOrNull(Preparation.prepareProjection(projection, count, { keepRecentTokens, rules }))
  })
}

/** What is nested many thousands deep has no text. */
const textOf = (value: unknown): string => {
  try {
    return JSON.stringify(value)
  } catch {
    return "too deep"
  }
}

/** One file opened in both ways; says whether only a part of it was read. */
const compared = (content: string | Uint8Array, keepRecentTokens: number, rules: Rules.Rules) =>
  Effect.gen(function* () {
    const { open } = yield* SessionStore.SessionStore
    const file = join(folder, "session.jsonl")
    writeFileSync(file, content)
    const [whole, part] = [yield* Effect.either(open(file)), yield* Effect.either(open(file, { part: "context" }))]
    const of = (opened: typeof whole) =>
      opened._tag === "Right" ? taken(opened.right, keepRecentTokens, rules) : opened.left._tag
    expect(of(part)).toBe(of(whole))
    return part._tag === "Right" && part.right.tree.isPart === true
  }).pipe(Effect.provide(store), Effect.runPromise)

interface Case {
  readonly name: string
  readonly settings: { readonly keepRecentTokens: number }
  readonly header: object
  readonly entries: ReadonlyArray<{ readonly id: string }>
  readonly leafId: string
}

const cases: ReadonlyArray<Case> = readFileSync(new URL("../fixtures/conformance-cases.jsonl", import.meta.url), "utf8")
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => JSON.parse(line))

/** The case's session as a file that was left standing at its leaf. */
const fileOf = ({ entries, header, leafId }: Case): string => {
  const mark = { type: "custom", id: "mark", parentId: leafId, timestamp: "2026-01-01", customType: "cutpoint.leaf" }
  const records = [header, ...entries, ...(entries.at(-1)?.id === leafId ? [] : [mark])]
  return records.map((record) => `${JSON.stringify(record)}\n`).join("")
}

describe("both readers give one answer", () => {
  it("for every conformance case", async () => {
    let parts = 0
    for (const one of cases) if (await compared(fileOf(one), one.settings.keepRecentTokens, Rules.parity)) parts++
    // The comparison is worth something only where parts were read.
    expect(parts).toBeGreaterThan(10)
  })

  it("for damaged sessions", async () => {
    await FastCheck.assert(
      FastCheck.asyncProperty(DamagedFiles.make(), FastCheck.constantFrom(0, 50, 2000), async (bytes, keep) => {
        await compared(bytes, keep, Rules.standard)
      }),
      { numRuns: 500, seed }
    )
  })
})
