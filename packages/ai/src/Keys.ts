/**
 * Keys and addresses in the environment. An empty variable is none.
 *
 * @since 0.1.0
 */
import * as Config from "effect/Config"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"

/** The key in an environment variable. */
export const keyOf = (variable: string): Config.Config<Redacted.Redacted> =>
  Config.redacted(Config.nonEmptyString(variable))

/** What may be left out. */
export const optional = <A>(config: Config.Config<A>): Config.Config<A | undefined> =>
  Config.map(Config.option(config), Option.getOrUndefined)
