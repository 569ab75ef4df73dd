/**
 * Summarizers: the port, and the two that there are.
 *
 * @since 0.1.0
 */
export * from "./SummarizerPort.js"
export { layerLlm } from "./LlmSummarizer.js"
export { layerOffline } from "./OfflineSummarizer.js"
