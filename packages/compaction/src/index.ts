/**
 * Compaction and branch summaries as Effect services.
 *
 * @since 0.1.0
 */
export * as AutoCompaction from "./AutoCompaction.js"
export * as Compaction from "./Compaction.js"
export * as CompactionCheck from "./CompactionCheck.js"
export * as CompactionErrors from "./CompactionErrors.js"
export * as CompactionHooks from "./CompactionHooks.js"
export * as CompactionMetrics from "./CompactionMetrics.js"
export * as CompactionSettings from "./CompactionSettings.js"
export * as IdGenerator from "./IdGenerator.js"
export * as Llm from "./Llm.js"
export * as ModelFacts from "./ModelFacts.js"
export * as Navigation from "./Navigation.js"
export * as OpenSession from "./OpenSession.js"
export * as Pinning from "./Pinning.js"
export * as SessionHistories from "./SessionHistories.js"
export * as SessionStore from "./SessionStore.js"
export * as Settings from "./Settings.js"
export * as SettingsValues from "./SettingsValues.js"
export * as Summarizer from "./Summarizer.js"
export * as SummaryProgress from "./SummaryProgress.js"
export * as Tokenizer from "./Tokenizer.js"
export * as Undo from "./Undo.js"
