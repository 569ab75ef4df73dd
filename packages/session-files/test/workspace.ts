import type * as SessionStore from "@cutpoint/compaction/SessionStore"
import type * as Entry from "@cutpoint/core/Entry"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import { NodeContext } from "@effect/platform-node"
import { Effect } from "effect"
import * as SessionFiles from "../src/SessionFiles.js"

/** A temporary folder with a sessions folder in it, and a store over that. */
export const makeWorkspace = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const root = yield* fs.realPath(yield* fs.makeTempDirectoryScoped())
  const sessionsDir = path.join(root, "sessions")
  const store = yield* SessionFiles.make({ sessionsDir })
  /** Writes a file under the root and returns its absolute path. */
  const write = Effect.fnUntraced(function* (name: string, text: string | Uint8Array) {
    const file = path.join(root, name)
    yield* fs.makeDirectory(path.dirname(file), { recursive: true })
    yield* fs.writeFile(file, typeof text === "string" ? new TextEncoder().encode(text) : text)
    return file
  })
  const text = (file: string) => fs.readFileString(file)
  return { fs, path, root, sessionsDir, store, write, text }
})

/** Runs a test on real files. */
export const onFiles = <A, E, R>(test: Effect.Effect<A, E, R>) => Effect.provide(test, NodeContext.layer)

/** A file system whose files fail as `fault` makes them. */
export const faulty = (fault: (file: FileSystem.File) => Partial<FileSystem.File>, flag = "a") =>
  Effect.map(FileSystem.FileSystem, (fs): FileSystem.FileSystem => ({
    ...fs,
    open: (path, options) =>
      Effect.map(fs.open(path, options), (file) =>
        options?.flag?.startsWith(flag) === true ? { ...delegate(file), ...fault(file) } : file
      )
  }))

const delegate = (file: FileSystem.File): FileSystem.File => ({
  [FileSystem.FileTypeId]: FileSystem.FileTypeId,
  fd: file.fd,
  stat: file.stat,
  seek: (offset, from) => file.seek(offset, from),
  sync: file.sync,
  read: (buffer) => file.read(buffer),
  readAlloc: (size) => file.readAlloc(size),
  truncate: (length) => file.truncate(length),
  write: (buffer) => file.write(buffer),
  writeAll: (buffer) => file.writeAll(buffer)
})

export const header = (fields: object = {}) =>
  JSON.stringify({ type: "session", version: 3, id: "s1", timestamp: "2026-01-01T00:00:00.000Z", cwd: "/w", ...fields })

export const user = (id: string, parentId: string | null, text = id): Entry.MessageEntry => ({
  type: "message",
  id,
  parentId,
  timestamp: "2026-01-01T00:00:01.000Z",
  message: { role: "user", content: text, timestamp: 1 }
})

export const reply = (
  id: string,
  parentId: string | null,
  totalTokens: number,
  stopReason = "stop"
): Entry.MessageEntry => ({
  type: "message",
  id,
  parentId,
  timestamp: "2026-01-01T00:00:02.000Z",
  message: { role: "assistant", content: [{ type: "text", text: id }], usage: { totalTokens }, stopReason }
})

/** The text of a file with these lines. */
export const lines = (...all: ReadonlyArray<string | object>) =>
  all.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join("")

export const ids = (session: SessionStore.Session) => session.tree.entries.map((entry) => entry.id)

export const faults = (session: SessionStore.Session) => session.diagnostics.map((one) => one._tag)

export const textOf = (session: SessionStore.Session, id: string) => {
  const entry = session.tree.entries.find((entry) => entry.id === id)
  return entry?.type === "message" && entry.message.role === "user" ? entry.message.content : undefined
}
