/**
 * Which files were read, written and edited. A monoid: `empty`, `combine`.
 *
 * Laws. `combine` is associative and `empty` its unit; the operations of two
 * stretches of messages are the union of each one's. What was modified, and
 * what was read or modified, never shrinks over repeated compaction.
 * Shell commands are not guessed at: a file that `mv` or `sed -i` changed is
 * not in the lists.
 *
 * @since 0.1.0
 */
import * as FilePath from "./FilePath.js"
import * as FileTools from "./FileTools.js"
import * as Json from "./Json.js"
import * as Message from "./Message.js"

/** Three sets of paths, by the form that makes two spellings of a file equal, each as it was first spelled. */
export interface FileOps {
  readonly read: ReadonlyMap<string, string>
  readonly written: ReadonlyMap<string, string>
  readonly edited: ReadonlyMap<string, string>
}

/** How paths and tools are recognized. */
export interface Recognition {
  /** The session's folder, which relative paths start from. */
  readonly cwd?: string | undefined
  /** Whether other names of tools and arguments count, and spellings of one file are one. */
  readonly fold: boolean
}

/** Two lists, sorted by UTF-16 code unit, without duplicates. */
export interface FileLists {
  /** Read and never modified. */
  readonly readFiles: ReadonlyArray<string>
  /** Written or edited. */
  readonly modifiedFiles: ReadonlyArray<string>
}

const none: ReadonlyMap<string, string> = new Map()

/** No operation on any file. */
export const empty: FileOps = { read: none, written: none, edited: none }

/** Both, the first spelling of a path kept. */
export const combine = (one: FileOps, other: FileOps): FileOps => ({
  read: union(one.read, other.read),
  written: union(one.written, other.written),
  edited: union(one.edited, other.edited)
})

/** All of them. */
export const combineAll = (all: Iterable<FileOps>): FileOps => {
  const draft = makeDraft()
  for (const ops of all) {
    if (ops === empty) continue
    for (const kind of kinds) for (const [key, path] of ops[kind]) addTo(draft[kind], key, path)
  }
  return draft
}

/** The operations of one message: a reply's calls, or the calls that a tool made itself. */
export const fromMessage = (message: Message.Message, recognition: Recognition): FileOps => {
  const calls = callsOf(message)
  if (calls.length === 0) return empty
  const draft = makeDraft()
  for (const call of calls) {
    for (const { kind, path } of FileTools.operations(call.name, call.arguments, recognition.fold)) {
      addTo(draft[kind], keyOf(path, recognition), path)
    }
  }
  return draft
}

/** The operations of messages, in order. */
export const fromMessages = (messages: ReadonlyArray<Message.Message>, recognition: Recognition): FileOps =>
  combineAll(messages.map((message) => fromMessage(message, recognition)))

/**
 * The operations that an earlier summary recorded in its `details`. Details
 * from a hook may be anything, and are not read.
 */
export const fromDetails = (
  entry: { readonly details?: unknown; readonly fromHook?: boolean | undefined },
  recognition: Recognition
): FileOps => {
  if (entry.fromHook === true || !Json.isObject(entry.details)) return empty
  return {
    read: keyed(strings(entry.details.readFiles), recognition),
    written: none,
    edited: keyed(strings(entry.details.modifiedFiles), recognition)
  }
}

/** Read and never modified; written or edited. */
export const lists = (ops: FileOps): FileLists => {
  const modified = union(ops.written, ops.edited)
  const read = [...ops.read].filter(([key]) => !modified.has(key))
  return { readFiles: sorted(read.map(([, path]) => path)), modifiedFiles: sorted([...modified.values()]) }
}

type Kind = keyof FileOps
type Draft = { readonly [kind in Kind]: Map<string, string> }

const kinds: ReadonlyArray<Kind> = ["read", "written", "edited"]

const makeDraft = (): Draft => ({ read: new Map(), written: new Map(), edited: new Map() })

const addTo = (paths: Map<string, string>, key: string, path: string): void => {
  if (!paths.has(key)) paths.set(key, path)
}

const union = (one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): ReadonlyMap<string, string> => {
  if (other.size === 0) return one
  const both = new Map(one)
  for (const [key, path] of other) addTo(both, key, path)
  return both
}

const keyOf = (path: string, recognition: Recognition): string =>
  recognition.fold ? FilePath.fold(path, recognition.cwd) : path

const keyed = (paths: ReadonlyArray<string>, recognition: Recognition): ReadonlyMap<string, string> => {
  const byKey = new Map<string, string>()
  for (const path of paths) addTo(byKey, keyOf(path, recognition), path)
  return byKey
}

const strings = (value: unknown): ReadonlyArray<string> =>
  Array.isArray(value) ? value.filter((item) => typeof item === "string" && item !== "") : []

// The default order of strings is that of their UTF-16 code units.
const sorted = (paths: ReadonlyArray<string>): ReadonlyArray<string> => [...new Set(paths)].toSorted()

const callsOf = (message: Message.Message): ReadonlyArray<{ readonly name: string; readonly arguments?: unknown }> => {
  if (message.role === "assistant") return Message.toolCalls(message)
  if (message.role === "toolResult") return message.nestedCalls?.calls ?? []
  return []
}
