/**
 * Arbitrary sessions, Cutpoint's laws, and what a session store must do.
 *
 * @since 0.1.0
 */
export * as ContextIndexLaws from "./ContextIndexLaws.js"
export * as CutPointLaws from "./CutPointLaws.js"
export * as DamagedFiles from "./DamagedFiles.js"
export * as FileOpsLaws from "./FileOpsLaws.js"
export * as HistoryDocuments from "./HistoryDocuments.js"
export * as HistoryLaws from "./HistoryLaws.js"
export * as Law from "./Law.js"
export * as PreparationLaws from "./PreparationLaws.js"
export * as ReaderLaws from "./ReaderLaws.js"
export * as PromptLaws from "./PromptLaws.js"
export * as RepairLaws from "./RepairLaws.js"
export * as RunLaws from "./RunLaws.js"
export * as ScriptedLanguageModel from "./ScriptedLanguageModel.js"
export * as ScriptedLlm from "./ScriptedLlm.js"
export * as SessionLaws from "./SessionLaws.js"
export * as SessionStoreContract from "./SessionStoreContract.js"
export * as Sessions from "./Sessions.js"
export * as Steps from "./Steps.js"
export * as SummaryLaws from "./SummaryLaws.js"
export * as Texts from "./Texts.js"
export * as TokenizerLaws from "./TokenizerLaws.js"
export * as TranscriptLaws from "./TranscriptLaws.js"
export * as TreeLaws from "./TreeLaws.js"
