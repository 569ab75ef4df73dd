/**
 * Keys and addresses in the environment. An empty variable is none.
 *
 * @since 0.1.0
 */
import * as Config from "effect/Config"
import * as ConfigError from "effect/ConfigError"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"

/** The key in an environment variable. */
export const keyOf = (variable: string): Config.Config<Redacted.Redacted> => Config.redacted(textOf(variable))

/** What an environment variable says, without the spaces and line ends that files leave around it; nothing is none. */
export const textOf = (variable: string): Config.Config<string> =>
  Config.mapOrFail(Config.string(variable), (text) =>
    text.trim() === "" ? Either.left(ConfigError.MissingData([variable], "It is empty.")) : Either.right(text.trim())
  )

/** What may be left out. */
export const optional = <A>(config: Config.Config<A>): Config.Config<A | undefined> =>
  Config.map(Config.option(config), Option.getOrUndefined)
