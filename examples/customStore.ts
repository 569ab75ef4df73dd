/**
 * A store of one's own, held to what every store must do. This one keeps each
 * session as a text of lines in a key-value store, here a `Map`; put a
 * database's client in its place. `SessionLines` reads and writes the lines, so
 * that the format stays the same.
 */
import { IdGenerator, SessionStore } from "@cutpoint/compaction"
import { Entry, SessionLines, SessionTree } from "@cutpoint/core"
import { SessionStoreContract } from "@cutpoint/testing"
import { Clock, Console, Effect, Layer, Stream } from "effect"

const lineOf = (value: unknown): string => `${JSON.stringify(value)}\n`

const make = Effect.gen(function* () {
  const ids = yield* IdGenerator.IdGenerator
  const texts = new Map<string, { readonly text: string; readonly modified: number }>()

  const notFound = (query: string) => new SessionStore.SessionNotFound({ query, available: [...texts.keys()] })

  const read = (key: string, text: string): Effect.Effect<SessionStore.Session, SessionStore.NotASession> => {
    const parsed = SessionLines.parse(text)
    if (parsed === undefined) return new SessionStore.NotASession({ key })
    const tree = SessionTree.make(parsed.header, parsed.entries, parsed.lines)
    // The length tells states apart, because a session only ever grows.
    return Effect.succeed({
      key,
      tree,
      version: parsed.version,
      revision: `${text.length}`,
      diagnostics: tree.diagnostics
    })
  }

  const open: SessionStore.Service["open"] = Effect.fnUntraced(function* (key) {
    const found = texts.get(key)
    if (found === undefined) return yield* notFound(key)
    return yield* read(key, found.text)
  })

  const find: SessionStore.Service["find"] = Effect.fnUntraced(function* (query) {
    if (texts.has(query)) return query
    const candidates = query === "" ? [] : [...texts.keys()].filter((key) => key.startsWith(query))
    const [only] = candidates
    if (only === undefined) return yield* notFound(query)
    if (candidates.length > 1) return yield* new SessionStore.AmbiguousSession({ query, candidates })
    return only
  })

  const revision: SessionStore.Service["revision"] = (key) => {
    const found = texts.get(key)
    return found === undefined ? notFound(key) : Effect.succeed(`${found.text.length}`)
  }

  const put = (key: string, text: string) =>
    Effect.map(Clock.currentTimeMillis, (modified) => void texts.set(key, { text, modified }))

  const create: SessionStore.Service["create"] = Effect.fnUntraced(function* (session) {
    const timestamp = new Date(yield* Clock.currentTimeMillis).toISOString()
    const header = {
      type: "session",
      version: Entry.currentVersion,
      id: yield* ids.uuid,
      timestamp,
      ...session
    } as const
    yield* put(header.id, lineOf(header))
    return yield* Effect.orDie(read(header.id, lineOf(header)))
  })

  const append: SessionStore.Service["append"] = Effect.fnUntraced(function* ({ key, revision }, entries) {
    const { version } = yield* open(key)
    if (version > Entry.currentVersion) return yield* new SessionStore.SessionReadOnly({ key, version })
    // Looked at and written in one step: a database's transaction.
    const before = texts.get(key)?.text ?? ""
    if (`${before.length}` !== revision) return yield* new SessionStore.SessionChanged({ key })
    const text = before + entries.map((entry) => lineOf(Entry.toJson(entry))).join("")
    yield* Effect.uninterruptible(put(key, text))
    return { session: yield* read(key, text), backup: undefined }
  })

  const list: SessionStore.Service["list"] = ({ cwd } = {}) =>
    Stream.fromIterableEffect(
      Effect.map(
        Effect.forEach([...texts], ([key, { text }]) => Effect.orDie(read(key, text))),
        (sessions) =>
          sessions
            .map(({ key, tree }) => ({
              key,
              id: tree.header.id,
              cwd: tree.header.cwd,
              name: SessionTree.sessionName(tree),
              bytes: texts.get(key)?.text.length ?? 0,
              modified: texts.get(key)?.modified ?? 0,
              contextTokens: SessionTree.reportedTokens(tree.entries)
            }))
            .filter((info) => cwd === undefined || info.cwd === cwd)
            .toSorted((one, other) => other.modified - one.modified)
      )
    )

  const header: SessionStore.Service["header"] = (key) => Effect.map(open(key), ({ tree }) => tree.header)

  return SessionStore.SessionStore.of({ find, list, header, open, revision, create, append })
})

const layer = Layer.effect(SessionStore.SessionStore, make)

const program = Effect.forEach(SessionStoreContract.checks, ({ name, run }) =>
  // Each check gets a store of its own.
  Effect.zipRight(Effect.provide(run, Layer.fresh(layer)), Console.log(`ok: it ${name}`))
)

await Effect.runPromise(program)
