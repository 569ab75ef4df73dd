/**
 * The pure half of Cutpoint.
 *
 * @since 0.1.0
 */
export * as Branch from "./Branch.js"
export * as CutPoint from "./CutPoint.js"
export * as Diagnostic from "./Diagnostic.js"
export * as Entry from "./Entry.js"
export * as EntryReader from "./EntryReader.js"
export * as FileOps from "./FileOps.js"
export * as Fold from "./Fold.js"
export * as Message from "./Message.js"
export * as MessageReader from "./MessageReader.js"
export * as OfflineSummary from "./OfflineSummary.js"
export * as PinBlock from "./PinBlock.js"
export * as Pins from "./Pins.js"
export * as Preparation from "./Preparation.js"
export * as Projection from "./Projection.js"
export * as Rules from "./Rules.js"
export * as SessionLines from "./SessionLines.js"
export * as SessionTotals from "./SessionTotals.js"
export * as SessionTree from "./SessionTree.js"
export * as SummaryCheck from "./SummaryCheck.js"
export * as SummaryFormat from "./SummaryFormat.js"
export * as SummaryPrompt from "./SummaryPrompt.js"
export * as Tokens from "./Tokens.js"
export * as Transcript from "./Transcript.js"
