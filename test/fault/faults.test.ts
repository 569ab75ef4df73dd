/**
 * Every call to the file system that an operation makes is made to fail once,
 * in every way. Then the file is as it was or the operation is done, memory
 * says the same as the file, trying again works, and nothing is left behind.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Compaction from "@cutpoint/compaction/Compaction"
import * as Navigation from "@cutpoint/compaction/Navigation"
import * as Pinning from "@cutpoint/compaction/Pinning"
import * as SessionStore from "@cutpoint/compaction/SessionStore"
import * as Settings from "@cutpoint/compaction/Settings"
import * as Summarizer from "@cutpoint/compaction/Summarizer"
import * as Tokenizer from "@cutpoint/compaction/Tokenizer"
import * as Undo from "@cutpoint/compaction/Undo"
import * as Entry from "@cutpoint/core/Entry"
import * as SessionDoctor from "@cutpoint/session-files/SessionDoctor"
import * as SessionFiles from "@cutpoint/session-files/SessionFiles"
import * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import { afterAll, describe, expect, it } from "vitest"
import { conversation, header, lines, user } from "../cli/cutpoint.js"
import * as FaultyFiles from "./FaultyFiles.js"

const root = mkdtempSync(join(tmpdir(), "cutpoint-faults-"))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const real = await Effect.runPromise(Effect.provide(FileSystem.FileSystem, NodeFileSystem.layer))

type Services =
  | Compaction.Compaction
  | FileSystem.FileSystem
  | Path.Path
  | Navigation.Navigation
  | Pinning.Pinning
  | SessionStore.SessionStore
  | Undo.Undo

/** Everything over a file system, built without a fault. */
const servicesOver = (fs: FileSystem.FileSystem, sessionsDir: string) => {
  const files = Layer.merge(Layer.succeed(FileSystem.FileSystem, fs), NodePath.layer)
  const ports = Layer.mergeAll(SessionFiles.layer({ sessionsDir }), Settings.layerMemory(), Summarizer.layerOffline)
  return Layer.mergeAll(Compaction.layer, Navigation.layer, Pinning.layer, Undo.layer).pipe(
    Layer.provideMerge(ports),
    Layer.provideMerge(Layer.merge(files, Tokenizer.layerHeuristic))
  )
}

/** What is done, to a file of these bytes; it gives the session afterwards, where it knows it. */
interface Operation {
  readonly name: string
  readonly content: string
  readonly run: (file: string, folder: string) => Effect.Effect<SessionStore.Session | undefined, unknown, Services>
  /** Where its result is, if not in the file itself. */
  readonly result?: (folder: string) => string | undefined
}

const talk = conversation(6, 300)
const sound = lines([header(), ...talk])
const compacted = lines([
  header(),
  ...talk,
  {
    type: "compaction",
    id: "k",
    parentId: "a5",
    timestamp: "2026-01-01",
    summary: "s",
    firstKeptEntryId: "u5",
    tokensBefore: 9
  }
])
const options = { keepRecentTokens: 300, contextWindow: 100_000 }
const message = { ...user("new", "a5"), type: "message", message: { role: "user", content: "new" } } as const

const appending = (file: string) =>
  Effect.gen(function* () {
    const store = yield* SessionStore.SessionStore
    return (yield* store.append(yield* store.open(file), [message])).session
  })

const operations: ReadonlyArray<Operation> = [
  { name: "append", content: sound, run: appending },
  { name: "append to a torn file", content: sound.slice(0, -1) + '\n{"type":"mes', run: appending },
  { name: "upgrade", content: sound.replace('"version":3', '"version":2'), run: appending },
  {
    name: "compact",
    content: sound,
    run: (file) =>
      Effect.flatMap(Compaction.Compaction, ({ compact }) =>
        Effect.map(compact(file, options), (done) => (done._tag === "Compacted" ? done.session : undefined))
      )
  },
  {
    name: "navigate with a summary",
    content: sound,
    run: (file) =>
      Effect.flatMap(Navigation.Navigation, ({ navigate }) =>
        Effect.map(navigate(file, "a2", { summarize: true, label: "here" }), ({ session }) => session)
      )
  },
  {
    name: "navigate without one",
    content: sound,
    run: (file) =>
      Effect.flatMap(Navigation.Navigation, ({ navigate }) =>
        Effect.map(navigate(file, "a2"), ({ session }) => session)
      )
  },
  {
    name: "pin",
    content: sound,
    run: (file) => Effect.flatMap(Pinning.Pinning, ({ pinText }) => Effect.as(pinText(file, "a fact"), undefined))
  },
  {
    name: "undo",
    content: compacted,
    run: (file) => Effect.flatMap(Undo.Undo, ({ undo }) => Effect.as(undo(file), undefined))
  },
  {
    name: "create",
    content: sound,
    run: (_, folder) => Effect.flatMap(SessionStore.SessionStore, ({ create }) => create({ cwd: folder })),
    result: (folder) => {
      const found = readdirSync(join(folder, "sessions"), { recursive: true }).map(String)
      const name = found.find((each) => each.endsWith(".jsonl"))
      return name === undefined ? undefined : readFileSync(join(folder, "sessions", name), "utf8")
    }
  },
  {
    name: "repair",
    content: `${sound}garbage\n`,
    run: (file, folder) => Effect.as(SessionDoctor.repair(file, join(folder, "copy.jsonl")), undefined),
    result: (folder) =>
      readdirSync(folder).includes("copy.jsonl") ? readFileSync(join(folder, "copy.jsonl"), "utf8") : undefined
  }
]

let folders = 0

/** A file of an operation in a folder of its own, with everything over a file system that can fail. */
const prepared = async (operation: Operation) => {
  const folder = join(root, String(folders++))
  const file = join(folder, "x.jsonl")
  await Effect.runPromise(real.makeDirectory(join(folder, "sessions"), { recursive: true }))
  writeFileSync(file, operation.content)
  const faulty = FaultyFiles.make(real)
  const services = await Effect.runPromise(
    Effect.scoped(Layer.build(servicesOver(faulty.fs, join(folder, "sessions"))))
  )
  const run = () => Effect.runPromiseExit(Effect.provide(operation.run(file, folder), services))
  const open = () =>
    Effect.runPromise(
      Effect.provide(
        Effect.flatMap(SessionStore.SessionStore, (store) => store.open(file)),
        services
      )
    )
  const bytes = () => readFileSync(file, "utf8")
  const result = () => (operation.result ?? bytes)(folder)
  const litter = () => readdirSync(folder).filter((name) => /\.(?:lock|dead|tmp)/.test(name))
  return { file, folder, faulty, run, open, bytes, result, litter }
}

const typed = /^(?:Session(?:Unreadable|Changed|Locked|NotFound)|AppendFailed)$/

const tagOf = (exit: Exit.Exit<unknown, unknown>): string => {
  if (Exit.isSuccess(exit)) return "no failure"
  if (!Cause.isFailType(exit.cause)) return `a defect: ${Cause.pretty(exit.cause).slice(0, 300)}`
  const { error } = exit.cause
  return typeof error === "object" && error !== null && "_tag" in error ? String(error._tag) : "no tag"
}

/** How many entries a session's text has. */
const entriesIn = (text: string | undefined): number | undefined => text?.split("\n").length

/** What was stored of entries, as texts. */
const stored = ({ tree }: SessionStore.Session) => tree.entries.map((entry) => JSON.stringify(Entry.toJson(entry)))

/** Makes one call fail, and says whether there is such a call. */
const check = async (operation: Operation, call: number, fault: FaultyFiles.Fault): Promise<boolean> => {
  const { bytes, faulty, file, folder, litter, open, result, run } = await prepared(operation)
  const what = `${operation.name}, ${fault} at call ${call}`
  const before = [bytes(), operation.result?.(folder)]
  faulty.arm(call, fault)
  const exit = await run()
  const calls = faulty.calls()
  faulty.disarm()
  if (Exit.isFailure(exit)) {
    expect([what, tagOf(exit)]).toEqual([what, expect.stringMatching(typed)])
    expect([what, bytes(), operation.result?.(folder)]).toEqual([what, ...before])
    expect([what, readdirSync(folder).filter((name) => name.endsWith(".bak"))]).toEqual([what, []])
    expect([what, tagOf(await run())]).toEqual([what, "no failure"])
  } else if (exit.value !== undefined && exit.value.key === file) {
    expect([what, stored(await open())]).toEqual([what, stored(exit.value)])
  }
  expect([what, entriesIn(result())]).toEqual([what, await resultWithoutFault(operation)])
  expect([what, litter()]).toEqual([what, []])
  rmSync(folder, { recursive: true })
  return call <= calls
}

const known = new Map<string, number | undefined>()

/** The result that an operation has where all goes well. */
const resultWithoutFault = async (operation: Operation): Promise<number | undefined> => {
  if (!known.has(operation.name)) {
    const { result, run } = await prepared(operation)
    expect(tagOf(await run())).toBe("no failure")
    known.set(operation.name, entriesIn(result()))
  }
  return known.get(operation.name)
}

/** No operation here makes so many calls. */
const mostCalls = 80

describe.each(operations)("$name", (operation) => {
  it.each(FaultyFiles.faults)(
    "with %s at any call leaves file and memory sound, and works when tried again",
    async (fault) => {
      let call = 1
      while (await check(operation, call, fault)) call++
      // The last one had no call to fail.
      expect(call).toBeGreaterThan(5)
      expect(call).toBeLessThanOrEqual(mostCalls)
    }
  )
})

describe("an append after which nothing works any more", () => {
  const [operation] = operations

  it.each(FaultyFiles.faults)("by %s loses nothing, says so, and the session goes on once it does", async (fault) => {
    if (operation === undefined) return
    for (let call = 1; call < mostCalls; call++) {
      const { bytes, faulty, folder, litter, run } = await prepared(operation)
      faulty.arm(call, fault, true)
      const exit = await run()
      const hasFailed = faulty.hasFailed()
      faulty.disarm()
      const what = `call ${call}`
      expect([what, tagOf(exit)]).toEqual([
        what,
        hasFailed && Exit.isFailure(exit) ? expect.stringMatching(typed) : "no failure"
      ])
      // What could not be taken back stands behind what was there.
      expect(bytes().startsWith(operation.content)).toBe(true)
      // Also where it was done, but the lock could not be removed.
      if (hasFailed) expect([what, tagOf(await run())]).toEqual([what, "no failure"])
      expect(bytes().match(/"id":"new"/g)?.length).toBeGreaterThanOrEqual(1)
      expect([what, litter()]).toEqual([what, []])
      rmSync(folder, { recursive: true })
      if (!hasFailed) break
    }
  })
})
