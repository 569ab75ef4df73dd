/**
 * `cutpoint sessions`: lists sessions.
 *
 * @since 0.1.0
 */
import * as SessionStore from "@cutpoint/compaction/SessionStore"
import * as Path from "@effect/platform/Path"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Output from "../Output.js"
import * as Printable from "../Printable.js"

/** What `sessions` takes. */
export interface SessionsOptions {
  readonly all: boolean
  readonly counts: boolean
  readonly json: boolean
}

interface Row extends SessionStore.SessionInfo {
  readonly counts: { readonly entries: number; readonly compactions: number } | undefined
}

/** Runs it. */
export const run = Effect.fnUntraced(function* (options: SessionsOptions) {
  const output = yield* Output.Output
  const store = yield* SessionStore.SessionStore
  const path = yield* Path.Path
  const cwd = path.resolve(".")
  const listed = store.list(options.all ? {} : { cwd })
  const rows = yield* Stream.runCollect(
    Stream.mapEffect(listed, (info) =>
      options.counts ? counted(info) : Effect.succeed<Row>({ ...info, counts: undefined })
    )
  )
  if (options.json) return yield* output.result(Printable.json({ sessions: [...rows].map(toJson) }))
  if (rows.length === 0) {
    const where = options.all
      ? "There are no sessions."
      : `There are no sessions of ${Printable.line(cwd, 1000)}. --all lists those of every folder.`
    return yield* output.notice(where)
  }
  const now = yield* Clock.currentTimeMillis
  yield* output.result([...rows].map((row) => toText(row, now)).join("\n"))
})

const counted = Effect.fnUntraced(function* (info: SessionStore.SessionInfo) {
  const store = yield* SessionStore.SessionStore
  const { tree } = yield* store.open(info.key)
  const compactions = tree.entries.filter((entry) => entry.type === "compaction").length
  const row: Row = { ...info, counts: { entries: tree.entries.length, compactions } }
  return row
})

const toJson = (row: Row) => ({
  id: row.id,
  path: row.key,
  cwd: row.cwd ?? null,
  name: row.name ?? null,
  bytes: row.bytes,
  modified: new Date(row.modified).toISOString(),
  contextTokens: row.contextTokens ?? null,
  ...row.counts
})

const toText = (row: Row, now: number): string =>
  [
    Printable.line(row.id, 36).padEnd(36),
    age(now - row.modified).padStart(8),
    size(row.bytes).padStart(9),
    `${row.contextTokens === undefined ? "-" : Printable.number(row.contextTokens)} tokens`.padStart(16),
    ...(row.counts === undefined ? [] : [countsText(row.counts)]),
    Printable.line(row.cwd ?? "", 60),
    ...(row.name === undefined ? [] : [`"${Printable.line(row.name, 60)}"`])
  ].join("  ")

const countsText = ({ compactions, entries }: NonNullable<Row["counts"]>): string =>
  `${Printable.count(entries, "entry", "entries")}, ${Printable.count(compactions, "compaction")}`

const age = (milliseconds: number): string => {
  const minutes = Math.max(0, Math.floor(milliseconds / 60_000))
  if (minutes < 60) return `${minutes} min`
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / (24 * 60))} days`
}

const size = (bytes: number): string =>
  bytes < 1_000_000 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
