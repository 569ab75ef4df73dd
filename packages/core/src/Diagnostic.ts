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
  message: Schema.String
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
