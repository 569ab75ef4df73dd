/**
 * Reads of a session only what its context needs, from the end of the file to
 * where the context starts, so that the cost follows the context and not the
 * history. Never writes.
 *
 * @since 0.1.0
 */
import type { OpenOptions, Session } from "@cutpoint/compaction/SessionStore"
import * as Entry from "@cutpoint/core/Entry"
import * as Pins from "@cutpoint/core/Pins"
import * as Projection from "@cutpoint/core/Projection"
import * as SessionLines from "@cutpoint/core/SessionLines"
import * as SessionTree from "@cutpoint/core/SessionTree"
import type * as PlatformError from "@effect/platform/Error"
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as BackwardLines from "./BackwardLines.js"
import { ContextWalk } from "./ContextWalk.js"
import { IdSet, numberOf } from "./IdSet.js"
import * as Revision from "./Revision.js"
import * as SessionReader from "./SessionReader.js"

/**
 * A session that was never compacted has to be read whole, and then reading
 * forward is better: so much is read backward to find out, in bytes.
 */
const longestSearch = 32 * 1024 * 1024

/** Of what is skimmed the newest bytes are read all the same: in most cases the cut is there. */
const wholeBytes = 2 * 1024 * 1024

/** A line is given up that is longer than this, in bytes: such a session is read whole. */
const longestHeader = 64 * 1024

/** The part of a session that its context needs; undefined where all of it has to be read. */
export const read = (
  key: string,
  options: OpenOptions
): Effect.Effect<Session | undefined, PlatformError.PlatformError, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const file = yield* SessionReader.openForReading(key)
    const state = yield* Revision.of(file)
    const header = yield* headerOf(file, state.size)
    if (header === undefined) return undefined
    const walk = new ContextWalk({
      skim: options.skim === undefined ? undefined : { what: options.skim, after: wholeBytes },
      stopsAtModel: options.part === "model"
    })
    let start = state.size
    yield* BackwardLines.read(file, state.size, (line, offset) => {
      start = offset
      if (offset === 0) walk.end()
      else walk.push(line)
      const isFutile = options.skim === undefined && !walk.isCompacted && state.size - offset > longestSearch
      return walk.standing === "under way" && !isFutile
    })
    const { entries } = walk
    const isEnough =
      walk.standing === "found" && (options.skim !== undefined || options.part === "model" || walk.isCompacted)
    // The settings of a session are those of its model.
    if (!isEnough || Projection.latestModel(entries) === undefined) return undefined
    const isToBeWritten = options.toWrite === true
    const before = isToBeWritten && !entries.some(isPin) ? yield* lookBefore(file, start) : undefined
    if (isToBeWritten && before === undefined) return undefined
    const isTaken = (id: string) => walk.seen.has(id) || before?.has(id) === true
    const tree = SessionTree.part(header, entries, walk.leafId, before && isTaken)
    return { key, tree, version: Entry.currentVersion, revision: state.revision, diagnostics: [] }
  }).pipe(Effect.scoped)

const isPin = (entry: Entry.Entry): boolean => entry.type === "custom" && entry.customType === Pins.pinType

/** The header, if it is the first line, of this version, and nothing else. */
const headerOf = Effect.fnUntraced(function* (file: FileSystem.File, size: number) {
  const bytes = yield* Revision.bytesAt(file, 0, Math.min(size, longestHeader))
  const end = bytes.indexOf(lineFeed)
  if (end < 0) return undefined
  const line = decoder.decode(bytes.subarray(0, end))
  const found = SessionLines.parse(`${line}\n`)
  const isSound = found?.version === Entry.currentVersion && found.entries.length + found.diagnostics.length === 0
  return isSound ? found?.header : undefined
})

const lineFeed = 0x0a
const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

/** What stands in the bytes of entries that pin, and of summaries that carry pins. */
const pinSigns = [Pins.pinType, "<pinned"].map((sign) => Buffer.from(sign))

const idKey = Buffer.from('"id":"')

/** The usual length of an id. */
const idLength = 8

/** How much is looked through at once, and how much of it once more since a sign may stand across two, in bytes. */
const searchBlock = 4 * 1024 * 1024
const searchOverlap = 32

/** What the bytes before the context tell: whether a pin may have been made there, and which short ids are in use. */
const lookBefore = Effect.fnUntraced(function* (file: FileSystem.File, size: number) {
  const ids = new IdSet()
  for (let offset = 0; offset < size; offset += searchBlock - searchOverlap) {
    const block = yield* Revision.bytesAt(file, offset, Math.min(searchBlock, size - offset))
    const bytes = Buffer.from(block.buffer, block.byteOffset, block.byteLength)
    if (pinSigns.some((sign) => bytes.includes(sign))) return undefined
    for (let at = bytes.indexOf(idKey); at >= 0; at = bytes.indexOf(idKey, at + idKey.length)) {
      const start = at + idKey.length
      const id = bytes.toString("latin1", start, start + idLength)
      // Only such ids are made.
      if (numberOf(id) !== undefined) ids.add(id)
    }
  }
  return ids
})
