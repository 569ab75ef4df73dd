/**
 * Where Cutpoint knowingly differs from the agent whose session format it
 * shares. Each rule can be turned off; `parity` turns all of them off, and
 * answers then equal that agent's exactly (with the heuristic tokenizer).
 *
 * @since 0.1.0
 */

/** The rules that can be turned off, each with the harm it prevents. */
export interface Rules {
  /** No cut between a visible call and its later result, so that no kept result loses its call. */
  readonly resultsStayWithCalls: boolean
  /** A turn is split when the first *message* kept does not start one; else the first *entry* is judged, even a label. */
  readonly splitJudgedByMessage: boolean
  /** A bash execution that the user kept from the model costs nothing, starts no turn and is no cut entry. */
  readonly excludedBashIsSilent: boolean
  /** Paths under other argument names and tools under other names count, and two spellings of a path are one file. */
  readonly foldFileNames: boolean
  /** File operations of every compaction and branch summary in the range count, not only the previous compaction's. */
  readonly fileOpsOfRange: boolean
  /** Long tool results keep head and tail, long arguments are cut, and text is well formed and cannot leave its fence. */
  readonly guardedTranscript: boolean
  /** A branch's tool results are summarized, and its file operations do not depend on the budget. */
  readonly wholeBranch: boolean
}

/** Every rule on: the default. */
export const standard: Rules = {
  resultsStayWithCalls: true,
  splitJudgedByMessage: true,
  excludedBashIsSilent: true,
  foldFileNames: true,
  fileOpsOfRange: true,
  guardedTranscript: true,
  wholeBranch: true
}

/** Every rule off: the same answers as the agent whose format this is. */
export const parity: Rules = {
  resultsStayWithCalls: false,
  splitJudgedByMessage: false,
  excludedBashIsSilent: false,
  foldFileNames: false,
  fileOpsOfRange: false,
  guardedTranscript: false,
  wholeBranch: false
}
