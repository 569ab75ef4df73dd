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
export const combineAll = (all: Iterable<FileOps>): FileOps => [...all].reduce(combine, empty)

/** Takes note of messages and summaries in order, and gives what it noted. */
export interface Collector {
  readonly message: (message: Message.Message) => void
  readonly details: (entry: Summarized) => void
  readonly collected: () => FileOps
}

/** A fresh collector. */
export const collector = (recognition: Recognition): Collector => {
  const draft = makeDraft()
  const key = keyed(recognition)
  return {
    message: (message) => {
      for (const call of callsOf(message)) {
        for (const { kind, path } of FileTools.operations(call.name, call.arguments, recognition.fold)) {
          addTo(draft[kind], key(path), path)
        }
      }
    },
    details: (entry) => {
      const { modifiedFiles, readFiles } = listsIn(entry)
      for (const path of readFiles) addTo(draft.read, key(path), path)
      for (const path of modifiedFiles) addTo(draft.edited, key(path), path)
    },
    collected: () => draft
  }
}

/** The operations of one message: a reply's calls, or the calls that a tool made itself. */
export const fromMessage = (message: Message.Message, recognition: Recognition): FileOps =>
  fromMessages([message], recognition)

/** The operations of messages, in order. */
export const fromMessages = (messages: ReadonlyArray<Message.Message>, recognition: Recognition): FileOps => {
  const all = collector(recognition)
  for (const message of messages) all.message(message)
  return all.collected()
}

/** A summary that may say in its `details` which files it stands for. */
interface Summarized {
  readonly details?: unknown
  readonly fromHook?: boolean | undefined
}

/**
 * The operations that an earlier summary recorded in its `details`. Details
 * from a hook may be anything, and are not read.
 */
export const fromDetails = (entry: Summarized, recognition: Recognition): FileOps => {
  const all = collector(recognition)
  all.details(entry)
  return all.collected()
}

const listsIn = ({ details, fromHook }: Summarized): FileLists =>
  fromHook === true || !Json.isObject(details)
    ? { readFiles: [], modifiedFiles: [] }
    : { readFiles: strings(details.readFiles), modifiedFiles: strings(details.modifiedFiles) }

/** Read and never modified; written or edited. */
export const lists = (ops: FileOps): FileLists => {
  const modified = union(ops.written, ops.edited)
  const read = [...ops.read].filter(([key]) => !modified.has(key))
  return { readFiles: sorted(read.map(([, path]) => path)), modifiedFiles: sorted([...modified.values()]) }
}

type Kind = keyof FileOps
type Draft = { readonly [kind in Kind]: Map<string, string> }

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

/** The key of a path; each spelling is looked into once. */
const keyed = (recognition: Recognition): ((path: string) => string) => {
  if (!recognition.fold) return (path) => path
  const known = new Map<string, string>()
  return (path) => {
    const before = known.get(path)
    if (before !== undefined) return before
    const key = FilePath.fold(path, recognition.cwd)
    known.set(path, key)
    return key
  }
}

const strings = (value: unknown): ReadonlyArray<string> =>
  Array.isArray(value) ? value.filter((item) => typeof item === "string" && item !== "") : []

// The default order of strings is that of their UTF-16 code units.
const sorted = (paths: ReadonlyArray<string>): ReadonlyArray<string> => [...new Set(paths)].toSorted()

const callsOf = (message: Message.Message): ReadonlyArray<{ readonly name: string; readonly arguments?: unknown }> => {
  if (message.role === "assistant") return Message.toolCalls(message)
  return message.role === "toolResult" ? (message.nestedCalls?.calls ?? noCalls) : noCalls
}

const noCalls: ReadonlyArray<never> = []
