import * as FastCheck from "effect/FastCheck"
import { describe, expect, it } from "vitest"
import * as JsonText from "../src/JsonText.js"

describe("JsonText", () => {
  it.each([
    ["{}", { a: "1" }, '{"a":1}'],
    ['{"type":"x","b":2}', { a: "1" }, '{"type":"x","a":1,"b":2}'],
    [' { "b" : 2 , "a":  [1,{"a":"}"}] } ', { a: "1" }, '{"b" : 2,"a":1}'],
    ['{"a":1,"b":12345678901234567890,"a":2}', { a: '"x"' }, '{"a":"x","b":12345678901234567890}'],
    ['{"a\\"\\u0062":"\\\\","b":"{\\"a\\":1,"}', { b: undefined }, '{"a\\"\\u0062":"\\\\"}'],
    ['{"\\u0061":1}', { a: "2" }, '{"a":2}'],
    ['{"__proto__":1,"a":2}', { a: "3" }, '{"__proto__":1,"a":3}']
  ])("%j with %j is %j", (text, fields, expected) => {
    expect(JsonText.withFields(text, fields)).toBe(expected)
  })

  it("changes what it is told to and nothing else, of any object", () => {
    const object = FastCheck.dictionary(FastCheck.string(), FastCheck.jsonValue())
    const changes = FastCheck.dictionary(
      FastCheck.constantFrom("a", "b", ""),
      FastCheck.option(FastCheck.jsonValue(), { nil: undefined })
    )
    FastCheck.assert(
      FastCheck.property(object, changes, FastCheck.nat(2), (object, changes, space) => {
        const fields = Object.fromEntries(
          Object.entries(changes).map(([key, value]) => [key, value === undefined ? undefined : JSON.stringify(value)])
        )
        const changed = JSON.parse(JsonText.withFields(JSON.stringify(object, null, space), fields))
        const expected = Object.entries({ ...object, ...changes }).filter(([, value]) => value !== undefined)
        expect(changed).toEqual(JSON.parse(JSON.stringify(Object.fromEntries(expected))))
      })
    )
  })

  it("takes nesting of any depth", () => {
    const deep = `{"a":${"[".repeat(200_000)}${"]".repeat(200_000)},"b":1}`
    expect(JsonText.withFields(deep, { b: "2" })).toBe(deep.replace('"b":1', '"b":2'))
    expect(JsonText.fieldOf(deep, "b")).toBe("1")
  })
})
