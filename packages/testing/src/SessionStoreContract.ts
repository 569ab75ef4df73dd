/**
 * What any `SessionStore` must do, as a list of checks that any test runner
 * can go through. Each check makes its own sessions, so that a store may hold
 * others before; a fresh store for each is best all the same.
 *
 * @since 0.1.0
 */
import * as SessionStore from "@cutpoint/compaction/SessionStore"
import * as Entry from "@cutpoint/core/Entry"
import * as SessionTree from "@cutpoint/core/SessionTree"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as Law from "./Law.js"
import * as Steps from "./Steps.js"

/** One thing a store must do. It fails with `LawBroken` where the store does not. */
export interface Check {
  readonly name: string
  readonly run: Effect.Effect<void, unknown, SessionStore.SessionStore>
}

type Body<E> = (store: SessionStore.Service, same: Same) => Effect.Effect<void, E>

type Same = (
  what: string,
  actual: ReadonlyArray<unknown>,
  expected: ReadonlyArray<unknown>
) => Effect.Effect<void, Law.LawBroken>

const check = <E>(name: string, body: Body<E>): Check => {
  const same: Same = (what, actual, expected) => Law.check(() => Law.same(`The store ${name}.`, what, actual, expected))
  return { name, run: Effect.flatMap(SessionStore.SessionStore, (store) => body(store, same)) }
}

const cwd = "/work/contract"

const say = (id: string, parentId: string | null, content = id): Entry.Entry => ({
  type: "message",
  id,
  parentId,
  timestamp: "2026-01-01T00:00:00.000Z",
  message: { role: "user", content }
})

const texts = (entries: ReadonlyArray<Entry.Entry>): ReadonlyArray<string> =>
  entries.map((entry) => JSON.stringify(Entry.toJson(entry)))

const tagOf = <A, E extends { readonly _tag: string }>(result: Either.Either<A, E>): string =>
  Either.match(result, { onLeft: (error) => error._tag, onRight: () => "no failure" })

/** What two openings of one session must have in common. */
const stateOf = ({ key, revision, tree, version }: SessionStore.Session): ReadonlyArray<unknown> => [
  key,
  revision,
  version,
  tree.header,
  tree.leafId,
  texts(tree.entries)
]

// -----------------------------------------------------------------------------
// Making, finding, listing
// -----------------------------------------------------------------------------

const creates = check("opens a new session as it was created", (store, same) =>
  Effect.gen(function* () {
    const created = yield* store.create({ cwd, parentSession: "parent" })
    const { tree, version } = created
    yield* same(
      "The header",
      [tree.header.cwd, tree.header.parentSession, version],
      [cwd, "parent", Entry.currentVersion]
    )
    yield* same("The new session", [tree.entries.length, tree.leafId], [0, null])
    yield* same("The session opened", stateOf(yield* store.open(created.key)), stateOf(created))
  })
)

const createsAnother = check("creates another session each time", (store, same) =>
  Effect.gen(function* () {
    const [one, other] = [yield* store.create({ cwd }), yield* store.create({ cwd })]
    yield* store.append(one, [say("a", null)])
    yield* same("Keys and ids", [one.key === other.key, one.tree.header.id === other.tree.header.id], [false, false])
    yield* same("The other session", stateOf(yield* store.open(other.key)), stateOf(other))
  })
)

const lists = check("lists sessions by folder, the newest first, with what there is to know", (store, same) =>
  Effect.gen(function* () {
    const here = `${cwd}/listed`
    const session = yield* store.create({ cwd: here })
    const elsewhere = yield* store.create({ cwd: `${cwd}/elsewhere` })
    const named: Entry.Entry = {
      type: "session_info",
      id: "b",
      parentId: "a",
      timestamp: "2026-01-01T00:00:00.000Z",
      name: "named"
    }
    yield* store.append(session, [say("a", null), named])
    const listed = Array.from(yield* Stream.runCollect(store.list({ cwd: here })))
    const found = listed.filter((info) => info.key === session.key).map(({ cwd, id, name }) => [id, cwd, name])
    yield* same("The session", found, [[session.tree.header.id, here, "named"]])
    yield* same(
      "Sessions of other folders",
      listed.filter((info) => info.cwd !== here),
      []
    )
    const all = Array.from(yield* Stream.runCollect(store.list()))
    const keys = new Set(all.map(({ key }) => key))
    yield* same("All of them", [keys.has(session.key), keys.has(elsewhere.key)], [true, true])
    const times = all.map(({ modified }) => modified)
    yield* same(
      "The order",
      times,
      times.toSorted((one, other) => other - one)
    )
  })
)

const finds = check("finds a session by its key, its id and an unambiguous start of it", (store, same) =>
  Effect.gen(function* () {
    const { key, tree } = yield* store.create({ cwd })
    const { id } = tree.header
    const found = yield* Effect.forEach([key, id, id.slice(0, -1)], store.find)
    yield* same("What was found", found, [key, key, key])
  })
)

const findsNothing = check("fails as SessionNotFound where there is no such session", (store, same) =>
  Effect.gen(function* () {
    const { key } = yield* store.create({ cwd })
    const missing = `${key}-that-is-not-there`
    const found = [yield* Effect.either(store.find("no-such-session")), yield* Effect.either(store.find(""))]
    yield* same("Finding", found.map(tagOf), ["SessionNotFound", "SessionNotFound"])
    yield* same("Opening", [tagOf(yield* Effect.either(store.open(missing)))], ["SessionNotFound"])
  })
)

/** Of so many ids in hexadecimal, two start alike. */
const enough = 17

const findsSeveral = check("fails as AmbiguousSession where several ids start alike", (store, same) =>
  Effect.gen(function* () {
    const sessions = yield* Effect.replicateEffect(store.create({ cwd }), enough)
    const shared = sharedStart(sessions.map(({ tree }) => tree.header.id))
    // Ids that never start alike are never ambiguous.
    if (shared === "") return
    yield* same("Finding", [tagOf(yield* Effect.either(store.find(shared)))], ["AmbiguousSession"])
  })
)

const sharedStart = (ids: ReadonlyArray<string>): string => {
  const first = ids.map((id) => id.slice(0, 1))
  return first.find((start, index) => first.indexOf(start) < index) ?? ""
}

// -----------------------------------------------------------------------------
// Appending
// -----------------------------------------------------------------------------

const appends = check("has what was appended at the next open, once and in order", (store, same) =>
  Effect.gen(function* () {
    const created = yield* store.create({ cwd })
    const entries = Array.from({ length: 20 }, (_, n) => say(`e${n}`, n === 0 ? null : `e${n - 1}`))
    let session = created
    for (const entry of entries.slice(0, 10)) session = (yield* store.append(session, [entry])).session
    const [first = say("e10", "e9"), ...rest] = entries.slice(10)
    session = (yield* store.append(session, [first, ...rest])).session
    const opened = yield* store.open(created.key)
    yield* same("The entries", texts(opened.tree.entries), texts(entries))
    yield* same("The leaf", [opened.tree.leafId], ["e19"])
    yield* same("The path", texts(SessionTree.leafPath(opened.tree)), texts(entries))
    yield* same("What append gave", stateOf(session), stateOf(opened))
    yield* same("Faults", opened.diagnostics, [])
  })
)

const branches = check("follows the last entry that was appended, on whatever branch", (store, same) =>
  Effect.gen(function* () {
    const created = yield* store.create({ cwd })
    const { session } = yield* store.append(created, [say("a", null), say("b", "a"), say("c", "a"), say("d", null)])
    yield* same("The leaf", [session.tree.leafId], ["d"])
    const next = yield* store.append(session, [say("e", "b")])
    const opened = yield* store.open(created.key)
    yield* same(
      "The path",
      SessionTree.leafPath(opened.tree).map(({ id }) => id),
      ["a", "b", "e"]
    )
    yield* same("What append gave", stateOf(next.session), stateOf(opened))
  })
)

const marksLeaf = check("stands where a mark of a move says", (store, same) =>
  Effect.gen(function* () {
    const created = yield* store.create({ cwd })
    const mark = (id: string, parentId: string | null): Entry.Entry => ({
      ...say(id, parentId),
      type: "custom",
      customType: Entry.leafMarker
    })
    const there = yield* store.append(created, [say("a", null), say("b", "a"), mark("m", "a")])
    yield* same("The leaf given", [there.session.tree.leafId], ["a"])
    yield* same("The leaf opened", [(yield* store.open(created.key)).tree.leafId], ["a"])
    const before = yield* store.append(there.session, [mark("n", null)])
    yield* same("The leaf before a root", [before.session.tree.leafId], [null])
    yield* same("The leaf opened before a root", [(yield* store.open(created.key)).tree.leafId], [null])
  })
)

const refusesStale = check("fails as SessionChanged where the session has grown, and appends nothing", (store, same) =>
  Effect.gen(function* () {
    const created = yield* store.create({ cwd })
    const { session } = yield* store.append(created, [say("a", null)])
    const late = yield* Effect.either(store.append(created, [say("b", null), say("c", "b")]))
    yield* same("The late append", [tagOf(late)], ["SessionChanged"])
    yield* same("The session", stateOf(yield* store.open(created.key)), stateOf(session))
    const retried = yield* store.append(yield* store.open(created.key), [say("b", "a")])
    yield* same("The session afterwards", stateOf(yield* store.open(created.key)), stateOf(retried.session))
  })
)

const oneOfTwo = check("lets one of several appends at once through, whole", (store, same) =>
  Effect.gen(function* () {
    const created = yield* store.create({ cwd })
    const pairs = ["a", "b", "c", "d"].map((id) => [say(`${id}1`, null), say(`${id}2`, `${id}1`)] as const)
    const results = yield* Effect.forEach(pairs, (pair) => Effect.either(store.append(created, pair)), {
      concurrency: "unbounded"
    })
    const refused = results.map(tagOf).filter((tag) => tag === "SessionChanged")
    yield* same("Those refused", [refused.length], [pairs.length - 1])
    const winner = pairs[results.findIndex(Either.isRight)] ?? []
    yield* same("The entries", texts((yield* store.open(created.key)).tree.entries), texts(winner))
  })
)

const allOrNothing = check("appends all or nothing where it is interrupted", (store, same) =>
  Effect.gen(function* () {
    const created = yield* store.create({ cwd })
    const entries = [say("a", null), say("b", "a", "long ".repeat(20_000)), say("c", "b")] as const
    const fiber = yield* Effect.fork(store.append(created, entries))
    yield* Effect.yieldNow()
    yield* Fiber.interrupt(fiber)
    const { tree } = yield* store.open(created.key)
    yield* same("The entries", texts(tree.entries), tree.entries.length === 0 ? [] : texts(entries))
  })
)

const refusesMissing = check("appends nothing to a session that is not there", (store, same) =>
  Effect.gen(function* () {
    const created = yield* store.create({ cwd })
    const missing = { ...created, key: `${created.key}-that-is-not-there` }
    const result = yield* Effect.either(store.append(missing, [say("a", null)]))
    yield* same("Whether it failed", [Either.isLeft(result)], [true])
    yield* same("Opening it", [tagOf(yield* Effect.either(store.open(missing.key)))], ["SessionNotFound"])
    yield* same("The other session", stateOf(yield* store.open(created.key)), stateOf(created))
  })
)

// -----------------------------------------------------------------------------
// What comes back
// -----------------------------------------------------------------------------

const odd = 'half \ud83d, a pair 😀, \u2028 \u0000 \r\n " \\ </x>'

/** An entry of each type. */
const everyType: ReadonlyArray<Entry.Entry> = Steps.run([
  {
    step: "plain",
    body: { type: "message", message: { role: "system", content: odd, sections: { a: null, b: odd } } }
  },
  {
    step: "plain",
    body: { type: "message", message: { role: "user", content: [{ type: "text", text: odd }, { type: "image" }] } }
  },
  {
    step: "reply",
    blocks: [{ type: "call", name: odd, arguments: [null, odd], repeatsId: false }],
    rest: { usage: { input: 1 } }
  },
  { step: "result", to: "unanswered", back: 0, rest: { content: [], isError: true, nestedCalls: { calls: [] } } },
  {
    step: "plain",
    body: { type: "message", message: { role: "bashExecution", command: odd, output: "", exitCode: null } }
  },
  { step: "plain", body: { type: "custom_message", customType: odd, content: odd, details: { n: [1.5, null] } } },
  { step: "branchSummary", from: 0, rest: { summary: odd, details: odd, fromHook: true } },
  {
    step: "compaction",
    keeps: 1,
    rest: { summary: odd, tokensBefore: 7, systemMessage: { role: "system", content: "" } }
  },
  { step: "edit", back: 2, replacement: null },
  { step: "edit", back: 2, replacement: { content: odd } },
  { step: "label", back: 1, label: null },
  { step: "plain", body: { type: "model_change", provider: odd, modelId: "" } },
  { step: "plain", body: { type: "thinking_level_change", thinkingLevel: odd } },
  { step: "plain", body: { type: "session_info", name: odd } },
  { step: "plain", body: { type: "custom", customType: odd, data: { deep: [{ [odd]: false }] } } },
  { step: "plain", body: { type: "usage", usage: { totalTokens: 3, cost: { total: 0.25 } } } }
])

const roundTrips = check("gives entries of every type back as they were", (store, same) =>
  Effect.gen(function* () {
    const created = yield* store.create({ cwd })
    const [first = say("a", null), ...rest] = everyType
    const { session } = yield* store.append(created, [first, ...rest])
    const opened = yield* store.open(created.key)
    yield* same("What append gave", texts(session.tree.entries), texts([first, ...rest]))
    yield* same("What open gave", texts(opened.tree.entries), texts([first, ...rest]))
  })
)

const keepsUnknown = check("keeps an entry of an unknown type to the byte", (store, same) =>
  Effect.gen(function* () {
    const created = yield* store.create({ cwd })
    const base = { id: "u", parentId: null, timestamp: "2026-01-01T00:00:00.000Z" }
    const original = { zeta: odd, type: "from_the_future", ...base, "10": [1e21, -0.5, null, {}], alpha: { [odd]: [] } }
    yield* store.append(created, [{ type: "unknown", ...base, original }, say("b", "u")])
    const { tree } = yield* store.open(created.key)
    yield* same("The entry", texts(tree.entries.slice(0, 1)), [JSON.stringify(original)])
    yield* same(
      "The path",
      SessionTree.leafPath(tree).map(({ id }) => id),
      ["u", "b"]
    )
  })
)

const keepsUnknownRole = check("keeps a message of an unknown role to the byte", (store, same) =>
  Effect.gen(function* () {
    const created = yield* store.create({ cwd })
    const original = { zeta: odd, role: "narrator", content: [null, { type: "song" }] }
    const entry = { ...say("a", null), type: "message", message: { role: "unknown", original } } as const
    yield* store.append(created, [entry])
    const { tree } = yield* store.open(created.key)
    yield* same("The entry", texts(tree.entries), [JSON.stringify({ ...entry, message: original })])
    yield* same(
      "Its message",
      tree.entries.map((entry) => entry.type === "message" && entry.message),
      [entry.message]
    )
  })
)

const tellsRevisions = check("tells the revision that a session has now", (store, same) =>
  Effect.gen(function* () {
    const created = yield* store.create({ cwd })
    yield* same("The revision of a new session", [yield* store.revision(created.key)], [created.revision])
    const { session } = yield* store.append(created, [say("a", null)])
    yield* same("The revision after an append", [yield* store.revision(created.key)], [session.revision])
    const missing = yield* Effect.flip(store.revision(`${created.key}-that-is-not-there`))
    yield* same("The failure", [missing._tag], ["SessionNotFound"])
  })
)

/** All checks. */
export const checks: ReadonlyArray<Check> = [
  creates,
  createsAnother,
  lists,
  finds,
  findsNothing,
  findsSeveral,
  appends,
  branches,
  marksLeaf,
  tellsRevisions,
  refusesStale,
  oneOfTwo,
  allOrNothing,
  refusesMissing,
  roundTrips,
  keepsUnknown,
  keepsUnknownRole
]
