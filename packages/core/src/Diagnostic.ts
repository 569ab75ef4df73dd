/**
 * What was found wrong with a session and survived. A diagnostic is data, not
 * an error: reading goes on, and the reader is told what and where.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/** The kinds of fault that reading a session can find. */
export const Kind = Schema.Literal(
  "NotJson",
  "TornLine",
  "JoinedLines",
  "NotAnEntry",
  "BlankLine",
  "CarriageReturns",
  "ByteOrderMark",
  "HeaderField",
  "RepeatedHeader",
  "MissingId",
  "MissingType",
  "DuplicateId",
  "UnknownParent",
  "ParentCycle",
  "UnknownType",
  "DanglingBoundary",
  "OrphanedResult",
  "UnansweredCall",
  "LineTooLong",
  "NoFinalLineBreak",
  "ForkedWrite",
  "NewerVersion"
)

/** The kinds of fault that reading a session can find. */
export type Kind = typeof Kind.Type

/** One fault: its kind, the line (1-based, the header is line 1) and entry where known, and a sentence. */
export const Diagnostic = Schema.Struct({
  _tag: Kind,
  line: Schema.optional(Schema.Int),
  entryId: Schema.optional(Schema.String),
  message: Schema.String,
  /** How many further faults of the kind this one stands for; absent where it stands for itself. */
  more: Schema.optional(Schema.Int)
})

/** One fault: its kind, the line (1-based, the header is line 1) and entry where known, and a sentence. */
export type Diagnostic = typeof Diagnostic.Type

/** Builds a diagnostic, leaving out what is not known. */
export const make = (
  tag: Kind,
  message: string,
  where: { readonly line?: number | undefined; readonly entryId?: string | undefined } = {}
): Diagnostic => ({
  _tag: tag,
  ...(where.line === undefined ? {} : { line: where.line }),
  ...(where.entryId === undefined ? {} : { entryId: where.entryId }),
  message
})

/** So many faults of one kind are kept one by one; further ones are counted, so that a file full of them costs no memory. */
export const maxOfKind = 100

/** Takes faults in the order they are found. */
export interface Collector {
  readonly add: (diagnostic: Diagnostic) => void
  /** The first of each kind, then how many more there are of those that are too many. */
  readonly all: () => ReadonlyArray<Diagnostic>
}

/** A fresh collector. */
export const collector = (): Collector => {
  const kept: Array<Diagnostic> = []
  const counts = new Map<Kind, number>()
  return {
    add: (diagnostic) => {
      const count = (counts.get(diagnostic._tag) ?? 0) + 1
      counts.set(diagnostic._tag, count)
      if (count <= maxOfKind) kept.push(diagnostic)
    },
    all: () => [
      ...kept,
      ...[...counts].flatMap(([tag, count]) => (count > maxOfKind ? [further(tag, count - maxOfKind)] : []))
    ]
  }
}

const further = (tag: Kind, more: number): Diagnostic => ({
  ...make(tag, `There ${more === 1 ? "is 1 more fault" : `are ${more} more faults`} of the kind ${tag}.`),
  more
})

/** How many faults there are in all. */
export const count = (diagnostics: ReadonlyArray<Diagnostic>): number =>
  diagnostics.reduce((sum, { more = 1 }) => sum + more, 0)

/**
 * Kinds that say something about the file's form without costing any content.
 * They need no warning at each use.
 */
const cosmetic: ReadonlySet<Kind> = new Set([
  "BlankLine",
  "CarriageReturns",
  "ByteOrderMark",
  "UnknownType",
  "NoFinalLineBreak"
])

/** Whether a fault may cost content, so that every command should mention it. */
export const isSerious = (diagnostic: Diagnostic): boolean => !cosmetic.has(diagnostic._tag)

/**
 * Kinds that are worth knowing and nothing to mend: entries of newer programs,
 * and calls that wait for a result, as they do in any session that was left in
 * the middle of a turn.
 */
const notes: ReadonlySet<Kind> = new Set(["UnknownType", "NewerVersion", "OrphanedResult", "UnansweredCall"])

/** Whether something is wrong with the session itself. */
export const isFault = (diagnostic: Diagnostic): boolean => !notes.has(diagnostic._tag)
