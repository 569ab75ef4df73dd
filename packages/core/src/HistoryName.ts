/**
 * The formats that histories come in.
 *
 * @since 0.1.0
 */

/** In the order in which a document is tried for something of a format's own. */
export const names = ["prompt", "openai-responses", "anthropic", "openai-chat"] as const

/** The name of a format. */
export type Name = (typeof names)[number]
