/**
 * Arbitrary histories in the formats that `Histories` reads: as their
 * providers write them, with what has no counterpart in a session among it,
 * and with items that nobody would write.
 *
 * @since 0.1.0
 */
import type * as Histories from "@cutpoint/core/Histories"
import * as FastCheck from "effect/FastCheck"
import * as Texts from "./Texts.js"

type Arbitrary<A> = FastCheck.Arbitrary<A>

const { constant, constantFrom, oneof, record } = FastCheck

const few = (item: Arbitrary<unknown>): Arbitrary<ReadonlyArray<unknown>> => FastCheck.array(item, { maxLength: 3 })

const id = constantFrom("c1", "c2", "c3", "")

/** Fields that no session knows; at times there. */
const extra: Arbitrary<object> = oneof(
  { arbitrary: constant({}), weight: 4 },
  {
    arbitrary: record(
      {
        name: Texts.text,
        cache_control: constant({ type: "ephemeral" }),
        details: constantFrom(null, { imported: 1 })
      },
      { requiredKeys: [] }
    ),
    weight: 1
  }
)

const item = (fields: { readonly [key: string]: Arbitrary<unknown> }, optional: ReadonlyArray<string> = []) =>
  FastCheck.tuple(
    record(fields, { requiredKeys: Object.keys(fields).filter((key) => !optional.includes(key)) }),
    extra
  ).map(([own, more]): unknown => Object.assign({}, own, more))

/** What is no item of any format. */
const odd: Arbitrary<unknown> = oneof(
  constantFrom<unknown>(
    null,
    7,
    "text",
    [],
    {},
    { role: "user" },
    { role: "narrator", content: "x" },
    { type: "tool" }
  ),
  FastCheck.jsonValue({ maxDepth: 2 })
)

const list = (one: Arbitrary<unknown>): Arbitrary<ReadonlyArray<unknown>> =>
  FastCheck.array(oneof({ arbitrary: one, weight: 15 }, { arbitrary: odd, weight: 1 }), { maxLength: 12 })

/** Arguments as a model writes them: compact, with spaces, or broken. */
const argumentsText = oneof(
  Texts.toolArguments.map((value) => JSON.stringify(value) ?? "{}"),
  Texts.toolArguments.map((value) => JSON.stringify(value, null, 1) ?? ""),
  constantFrom("", "{", '{"a": 1}', "1e999")
)

const data = constantFrom("iVBORw0KGgo=", "")
const address = oneof(
  data.map((some) => `data:image/png;base64,${some}`),
  constant("https://example.org/a.png")
)

const is = constant

/** A system text in some role, or a developer's. */
const system = (content: Arbitrary<unknown>) => item({ role: constantFrom("system", "developer"), content })

// -----------------------------------------------------------------------------
// The formats
// -----------------------------------------------------------------------------

const chatPart = oneof(
  item({ type: is("text"), text: Texts.text }),
  item({ type: is("image_url"), image_url: item({ url: address }) }),
  item({ type: constantFrom("input_audio", "file", "refusal"), data })
)
const chatContent = oneof(Texts.text, few(chatPart), is(null))
const chatCall = item({ id, type: is("function"), function: item({ name: Texts.toolName, arguments: argumentsText }) })
const chat = list(
  oneof(
    system(chatContent),
    item({ role: is("user"), content: chatContent }),
    item({ role: is("assistant"), content: chatContent, tool_calls: few(chatCall), refusal: Texts.text }, [
      "content",
      "tool_calls",
      "refusal"
    ]),
    item({ role: is("tool"), tool_call_id: id, content: chatContent })
  )
)

const inputPart = oneof(
  item({ type: is("input_text"), text: Texts.text }),
  item({ type: is("input_image"), image_url: address }),
  item({ type: is("input_file"), file_id: id })
)
const inputContent = oneof(Texts.text, few(inputPart))
const outputPart = item({ type: constantFrom("output_text", "refusal"), text: Texts.text, annotations: is([]) })
const responses = list(
  oneof(
    system(inputContent),
    item({ type: is("message"), role: is("user"), content: inputContent }, ["type"]),
    item({ type: is("message"), id, role: is("assistant"), content: few(outputPart) }, ["id"]),
    item({ role: is("assistant"), content: Texts.text }),
    item({
      type: is("reasoning"),
      id,
      summary: few(item({ type: is("summary_text"), text: Texts.text })),
      encrypted_content: data
    }),
    item({ type: is("function_call"), id, call_id: id, name: Texts.toolName, arguments: argumentsText }),
    item({ type: is("function_call_output"), call_id: id, output: inputContent }),
    item({ type: constantFrom("web_search_call", "item_reference"), id })
  )
)

const source = oneof(
  item({ type: is("base64"), media_type: is("image/png"), data }),
  item({ type: is("url"), url: address })
)
const blockPart = oneof(
  item({ type: is("text"), text: Texts.text }),
  item({ type: constantFrom("image", "document"), source })
)
const resultPart = item(
  {
    type: is("tool_result"),
    tool_use_id: id,
    content: oneof(Texts.text, few(blockPart)),
    is_error: FastCheck.boolean()
  },
  ["content", "is_error"]
)
const replyPart = oneof(
  item({ type: is("text"), text: Texts.text }),
  item({ type: is("thinking"), thinking: Texts.text, signature: constantFrom("s", "{") }, ["signature"]),
  item({ type: is("redacted_thinking"), data }),
  item({ type: constantFrom("tool_use", "server_tool_use"), id, name: Texts.toolName, input: Texts.toolArguments })
)
const anthropic = list(
  oneof(
    item({
      role: is("user"),
      content: oneof(Texts.text, few(blockPart), few(resultPart), few(oneof(resultPart, blockPart)))
    }),
    item({ role: is("user"), content: few(resultPart) }),
    item({ role: is("assistant"), content: oneof(Texts.text, few(replyPart)) })
  )
)

const options = constantFrom({}, { openai: { itemId: "i" } })
const filePart = item(
  {
    type: is("file"),
    mediaType: constantFrom("image/png", "text/plain"),
    fileName: Texts.path,
    data: oneof(data, address),
    options
  },
  ["fileName", "options"]
)
const promptPart = oneof(item({ type: is("text"), text: Texts.text, options }, ["options"]), filePart)
const promptReply = oneof(
  promptPart,
  item({ type: is("reasoning"), text: Texts.text, options }),
  item(
    {
      type: is("tool-call"),
      id,
      name: Texts.toolName,
      params: Texts.toolArguments,
      providerExecuted: FastCheck.boolean(),
      options
    },
    ["providerExecuted"]
  )
)
const promptResult = item({
  type: is("tool-result"),
  id,
  name: Texts.toolName,
  isFailure: FastCheck.boolean(),
  result: oneof(Texts.text, Texts.toolArguments),
  providerExecuted: FastCheck.boolean(),
  options
})
const prompt = list(
  oneof(
    item({ role: is("system"), content: Texts.text, options }),
    item({ role: is("user"), content: oneof(Texts.text, few(promptPart)), options }),
    item({ role: is("assistant"), content: oneof(Texts.text, few(promptReply)), options }, ["options"]),
    item({ role: is("tool"), content: few(promptResult), options })
  )
)

/** What stands beside a list. */
const beside = record(
  { model: constant("some-model"), temperature: constant(0), tools: few(extra) },
  { requiredKeys: [] }
)

/** The list by itself, or at a key with other things beside it. */
const document = (
  items: Arbitrary<ReadonlyArray<unknown>>,
  keys: ReadonlyArray<string>,
  more: Arbitrary<object> = constant({})
): Arbitrary<unknown> =>
  oneof(
    items,
    FastCheck.tuple(items, constantFrom(...keys), beside, more).map(([items, key, some, own]): unknown =>
      Object.assign({}, some, own, { [key]: items })
    )
  ).map((value): unknown => JSON.parse(JSON.stringify(value)))

const maybe = (key: string, value: Arbitrary<unknown>): Arbitrary<object> =>
  FastCheck.option(value).map((value) => (value === null ? {} : { [key]: value }))

/** Documents of each format, as `JSON.parse` gives them. */
export const documents: { readonly [N in Histories.Name]: Arbitrary<unknown> } = {
  "openai-chat": document(chat, ["messages"]),
  "openai-responses": document(responses, ["input", "output"], maybe("instructions", Texts.text)),
  anthropic: document(anthropic, ["messages"], maybe("system", oneof(Texts.text, few(blockPart)))),
  prompt: document(prompt, ["content"])
}
