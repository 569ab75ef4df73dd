/**
 * Compaction and branch summaries as Effect services.
 *
 * @since 0.1.0
 */
export * as Compaction from "./Compaction.js"
export * as CompactionErrors from "./CompactionErrors.js"
export * as IdGenerator from "./IdGenerator.js"
export * as Navigation from "./Navigation.js"
export * as SessionStore from "./SessionStore.js"
export * as Summarizer from "./Summarizer.js"
export * as Tokenizer from "./Tokenizer.js"
