/**
 * Language models for Cutpoint. Each provider has a module of its own, such as
 * `@cutpoint/ai/Anthropic`, so that none is loaded which is not used.
 *
 * @since 0.1.0
 */
export * as LanguageModelLlm from "./LanguageModelLlm.js"
export * as ModelCatalogue from "./ModelCatalogue.js"
export * as Prices from "./Prices.js"
export * as Providers from "./Providers.js"
export * as SessionChat from "./SessionChat.js"
