/**
 * The laws of prompts of `@effect/ai`: what a provider takes. For tests of one's
 * own agents: check each request of a `ScriptedLanguageModel`.
 *
 * @since 0.1.0
 */
import type * as Prompt from "@effect/ai/Prompt"
import { hold, shown } from "./Law.js"
import * as ScriptedLanguageModel from "./ScriptedLanguageModel.js"

const pairing = "Every call of a prompt has its result right after it, and every result its call."

/** Throws `LawBroken` where a call has no result before anything else is said, or a result no call. */
export const pairsAreWhole = ({ content }: Prompt.Prompt): void => {
  let open = new Set<string>()
  for (const message of content) {
    if (message.role === "tool") {
      for (const { id } of message.content) {
        hold(pairing, open.delete(id), () => `The result of ${shown(id)} has no call.`)
      }
      continue
    }
    hold(pairing, open.size === 0, () => `Without a result are ${shown([...open])}.`)
    open = new Set(message.role === "assistant" ? callsOf(message) : [])
  }
  hold(pairing, open.size === 0, () => `Without a result are ${shown([...open])}.`)
}

const callsOf = ({ content }: Prompt.AssistantMessage): ReadonlyArray<string> =>
  content.flatMap((part) => (part.type === "tool-call" && !part.providerExecuted ? [part.id] : []))

/** Throws `LawBroken` where a message says nothing: providers refuse such. */
export const nothingIsEmpty = ({ content }: Prompt.Prompt): void => {
  for (const message of content) {
    hold("Every message of a prompt says something.", message.content.length > 0, () => shown(message))
  }
}

/** Throws `LawBroken` where a prompt is larger than the window, in tokens as `ScriptedLanguageModel.tokensOf` counts. */
export const fits = (prompt: Prompt.Prompt, window: number): void => {
  const tokens = ScriptedLanguageModel.tokensOf({ prompt })
  hold("A prompt fits the model's window.", tokens <= window, () => `It has ${tokens} tokens of ${window}.`)
}
