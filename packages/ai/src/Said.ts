/**
 * What one event of a provider's stream says. Each provider reads its own
 * events; what they say is the same for all.
 *
 * The decoders of `@effect/ai` fail on what they do not know: a stop reason, an
 * error's type, a tool that nobody offered. So a provider's reader looks at
 * each event first and passes on only what carries text or thinking; how the
 * reply ended, what it cost and what went wrong is taken from the event itself.
 *
 * @since 0.1.0
 */
import type * as Message from "@cutpoint/core/Message"
import type * as SummaryCheck from "@cutpoint/core/SummaryCheck"
import type { Fault } from "./Fault.js"

/** What one event says; empty where it says nothing that matters. */
export interface Said {
  /** The event as the decoder is given it. */
  readonly pass?: unknown
  readonly stopReason?: SummaryCheck.StopReason | undefined
  readonly usage?: Message.Usage | undefined
  readonly fault?: Fault | undefined
  /** Whether it is the last one; what a connection brings after that is not waited for. */
  readonly isLast?: boolean | undefined
}

/** Reads one event: its name, where it has one, and its JSON. */
export type Reader = (event: unknown, name: string) => Said

/** Says nothing that matters. */
export const nothing: Said = {}

/** What a provider's words for the end of a reply come to; words that are not known leave it to the text. */
export const stopReason = (
  words: { readonly [word: string]: SummaryCheck.StopReason },
  word: unknown
): SummaryCheck.StopReason | undefined => {
  if (typeof word !== "string" || word === "") return undefined
  return Object.hasOwn(words, word) ? words[word] : "stop"
}
