/**
 * Compaction and branch summaries as Effect services.
 *
 * @since 0.1.0
 */
export * as SessionStore from "./SessionStore.js"
export * as Tokenizer from "./Tokenizer.js"
