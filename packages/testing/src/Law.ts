/**
 * How a law says that it was broken.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"

/** A law that does not hold. The message names the law and what went against it. */
export class LawBroken extends Error {
  override readonly name = "LawBroken"
  /** The law in plain words. */
  readonly law: string

  constructor(law: string, how: string) {
    super(`${law} ${how}`)
    this.law = law
  }
}

/** Throws `LawBroken` where a condition does not hold. */
export const hold = (law: string, condition: boolean, how: () => string): void => {
  if (!condition) throw new LawBroken(law, how())
}

/** Throws `LawBroken` where two lists of plain data differ, and says where they first do. */
export const same = (
  law: string,
  what: string,
  actual: ReadonlyArray<unknown>,
  expected: ReadonlyArray<unknown>
): void => {
  const length = Math.max(actual.length, expected.length)
  for (let index = 0; index < length; index++) {
    if (isSame(actual[index], expected[index])) continue
    const [found, wanted] = [shown(actual[index]), shown(expected[index])]
    throw new LawBroken(law, `${what}: number ${index} of ${actual.length} is ${found}, and should be ${wanted}.`)
  }
}

/** A law as an effect: what it throws becomes a failure. */
export const check = (law: () => void): Effect.Effect<void, LawBroken> =>
  Effect.try({
    try: law,
    catch: (error) => (error instanceof LawBroken ? error : new LawBroken("A law can be checked.", String(error)))
  })

const isSame = (one: unknown, other: unknown): boolean => one === other || json(one) === json(other)

const json = (value: unknown): string => JSON.stringify(value) ?? "nothing"

const maxShown = 400

/** A value as messages show it: its JSON, not all of it where it is long. */
export const shown = (value: unknown): string => {
  const text = json(value)
  return text.length <= maxShown ? text : `${text.slice(0, maxShown)}…`
}
