/**
 * Messages of a session: what was said, by whom, in which blocks.
 *
 * The schemas give the format and the types. `MessageReader` takes any JSON
 * value to a message of that format.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Json from "./Json.js"

// -----------------------------------------------------------------------------
// Blocks
// -----------------------------------------------------------------------------

/** Plain text. */
export const TextBlock = Schema.Struct({ type: Schema.Literal("text"), text: Schema.String })
export interface TextBlock extends Schema.Schema.Type<typeof TextBlock> {}

/** What a model thought before it answered; the signature is the provider's own, which wants it back unchanged. */
export const ThinkingBlock = Schema.Struct({
  type: Schema.Literal("thinking"),
  thinking: Schema.String,
  thinkingSignature: Schema.optional(Schema.Unknown),
  redacted: Schema.optional(Schema.Unknown)
})
export interface ThinkingBlock extends Schema.Schema.Type<typeof ThinkingBlock> {}

/** A picture, base64. */
export const ImageBlock = Schema.Struct({
  type: Schema.Literal("image"),
  data: Schema.optional(Schema.String),
  mimeType: Schema.optional(Schema.String)
})
export interface ImageBlock extends Schema.Schema.Type<typeof ImageBlock> {}

/** A tool that the model asks to run; `arguments` is whatever the model wrote. */
export const ToolCallBlock = Schema.Struct({
  type: Schema.Literal("toolCall"),
  id: Schema.String,
  name: Schema.String,
  arguments: Schema.optional(Schema.Unknown)
})
export interface ToolCallBlock extends Schema.Schema.Type<typeof ToolCallBlock> {}

/** Blocks of users, tools and extensions. */
export const UserBlock = Schema.Union(TextBlock, ImageBlock)
export type UserBlock = typeof UserBlock.Type

/** Blocks of a model's reply. */
export const AssistantBlock = Schema.Union(TextBlock, ThinkingBlock, ToolCallBlock)
export type AssistantBlock = typeof AssistantBlock.Type

/** Any block: what an edit may put in an entry's place. */
export const Block = Schema.Union(TextBlock, ThinkingBlock, ToolCallBlock, ImageBlock)
export type Block = typeof Block.Type

/** A text, or blocks of any kind. */
export const Content = Schema.Union(Schema.String, Schema.Array(Block))
export type Content = typeof Content.Type

/** A text, or blocks. */
export const UserContent = Schema.Union(Schema.String, Schema.Array(UserBlock))
export type UserContent = typeof UserContent.Type

// -----------------------------------------------------------------------------
// Usage
// -----------------------------------------------------------------------------

const Amount = Schema.Number

/** What a request cost, in the currency of the provider's price list. */
export const Cost = Schema.Struct({
  input: Schema.optional(Amount),
  output: Schema.optional(Amount),
  cacheRead: Schema.optional(Amount),
  cacheWrite: Schema.optional(Amount),
  total: Schema.optional(Amount)
})
export interface Cost extends Schema.Schema.Type<typeof Cost> {}

/** Tokens that a request used. `cacheRead` and `cacheWrite` are not part of `input`. */
export const Usage = Schema.Struct({
  input: Schema.optional(Amount),
  output: Schema.optional(Amount),
  cacheRead: Schema.optional(Amount),
  cacheWrite: Schema.optional(Amount),
  totalTokens: Schema.optional(Amount),
  cost: Schema.optional(Cost)
})
export interface Usage extends Schema.Schema.Type<typeof Usage> {}

/** A usage's tokens: `totalTokens`, or where that is 0 or missing the sum of the four parts. Never NaN. */
export const usageTotal = (usage: Usage): number =>
  Json.amountOf(usage.totalTokens) ||
  Json.amountOf(usage.input) +
    Json.amountOf(usage.output) +
    Json.amountOf(usage.cacheRead) +
    Json.amountOf(usage.cacheWrite)

/** A usage's cost: the total, or where that is 0 or missing the sum of the four parts. Never NaN. */
export const usageCost = (usage: Usage): number => {
  const cost = usage.cost ?? {}
  return (
    Json.amountOf(cost.total) ||
    Json.amountOf(cost.input) +
      Json.amountOf(cost.output) +
      Json.amountOf(cost.cacheRead) +
      Json.amountOf(cost.cacheWrite)
  )
}

// -----------------------------------------------------------------------------
// Messages
// -----------------------------------------------------------------------------

const When = Schema.optional(Schema.Union(Schema.Number, Schema.String))

/** What no model sees: an extension's own, or what an import kept beside the message (see `Histories`). */
const Details = Schema.optional(Schema.Unknown)

/** A tool as a system message declares it. */
export const ToolDeclaration = Schema.Struct({
  name: Schema.String,
  description: Schema.optional(Schema.Unknown),
  parameters: Schema.optional(Schema.Unknown)
})
export interface ToolDeclaration extends Schema.Schema.Type<typeof ToolDeclaration> {}

/** Prompt state: a text, named sections (null takes one away), tools added and removed. */
export const SystemMessage = Schema.Struct({
  role: Schema.Literal("system"),
  content: UserContent,
  sections: Schema.optional(Schema.Record({ key: Schema.String, value: Schema.NullOr(Schema.String) })),
  toolsAdded: Schema.optional(Schema.Array(ToolDeclaration)),
  toolsRemoved: Schema.optional(Schema.Array(Schema.Struct({ name: Schema.String }))),
  details: Details,
  timestamp: When
})
export interface SystemMessage extends Schema.Schema.Type<typeof SystemMessage> {}

/** What the user said. */
export const UserMessage = Schema.Struct({
  role: Schema.Literal("user"),
  content: UserContent,
  details: Details,
  timestamp: When
})
export interface UserMessage extends Schema.Schema.Type<typeof UserMessage> {}

/** What the model answered. */
export const AssistantMessage = Schema.Struct({
  role: Schema.Literal("assistant"),
  content: Schema.Array(AssistantBlock),
  provider: Schema.optional(Schema.String),
  model: Schema.optional(Schema.String),
  usage: Schema.optional(Usage),
  stopReason: Schema.optional(Schema.String),
  errorMessage: Schema.optional(Schema.String),
  details: Details,
  timestamp: When
})
export interface AssistantMessage extends Schema.Schema.Type<typeof AssistantMessage> {}

/** A call that a tool made itself while it ran. */
export const NestedCall = Schema.Struct({
  id: Schema.optional(Schema.String),
  name: Schema.String,
  arguments: Schema.optional(Schema.Unknown),
  status: Schema.optional(Schema.String)
})
export interface NestedCall extends Schema.Schema.Type<typeof NestedCall> {}

/** What a tool gave back. */
export const ToolResultMessage = Schema.Struct({
  role: Schema.Literal("toolResult"),
  toolCallId: Schema.String,
  toolName: Schema.String,
  content: Schema.Array(UserBlock),
  isError: Schema.Boolean,
  nestedCalls: Schema.optional(
    Schema.Struct({ complete: Schema.optional(Schema.Boolean), calls: Schema.Array(NestedCall) })
  ),
  usage: Schema.optional(Usage),
  details: Details,
  timestamp: When
})
export interface ToolResultMessage extends Schema.Schema.Type<typeof ToolResultMessage> {}

/** A command the user ran beside the model. */
export const BashExecutionMessage = Schema.Struct({
  role: Schema.Literal("bashExecution"),
  command: Schema.String,
  output: Schema.String,
  exitCode: Schema.optional(Schema.NullOr(Schema.Number)),
  excludeFromContext: Schema.optional(Schema.Boolean),
  timestamp: When
})
export interface BashExecutionMessage extends Schema.Schema.Type<typeof BashExecutionMessage> {}

/** A message that an extension put into the context. */
export const CustomMessage = Schema.Struct({
  role: Schema.Literal("custom"),
  customType: Schema.String,
  content: UserContent,
  display: Schema.optional(Schema.Boolean),
  details: Schema.optional(Schema.Unknown),
  timestamp: When
})
export interface CustomMessage extends Schema.Schema.Type<typeof CustomMessage> {}

/** What was done on a branch that was left. */
export const BranchSummaryMessage = Schema.Struct({
  role: Schema.Literal("branchSummary"),
  summary: Schema.String,
  fromId: Schema.optional(Schema.NullOr(Schema.String)),
  timestamp: When
})
export interface BranchSummaryMessage extends Schema.Schema.Type<typeof BranchSummaryMessage> {}

/** What stands for the messages before a cut. */
export const CompactionSummaryMessage = Schema.Struct({
  role: Schema.Literal("compactionSummary"),
  summary: Schema.String,
  tokensBefore: Schema.optional(Schema.Number),
  timestamp: When
})
export interface CompactionSummaryMessage extends Schema.Schema.Type<typeof CompactionSummaryMessage> {}

/** A message of a role that this version does not know: kept, and ignored. */
export const UnknownMessage = Schema.Struct({ role: Schema.Literal("unknown"), original: Schema.Unknown })
export interface UnknownMessage extends Schema.Schema.Type<typeof UnknownMessage> {}

/** Any message. */
export const Message = Schema.Union(
  SystemMessage,
  UserMessage,
  AssistantMessage,
  ToolResultMessage,
  BashExecutionMessage,
  CustomMessage,
  BranchSummaryMessage,
  CompactionSummaryMessage,
  UnknownMessage
)
export type Message = typeof Message.Type

/** The roles a message can have. */
export type Role = Message["role"]

// -----------------------------------------------------------------------------
// Looking into messages
// -----------------------------------------------------------------------------

/** The texts of a content, images left out. */
export const texts = (content: Content): ReadonlyArray<string> => {
  if (typeof content === "string") return [content]
  const found: Array<string> = []
  for (const block of content) if (block.type === "text") found.push(block.text)
  return found
}

/** Whether users, tools and extensions may write a block of this kind. */
export const isUserBlock = (block: Block): block is UserBlock => block.type === "text" || block.type === "image"

/** Whether a model may write a block of this kind. */
export const isAssistantBlock = (block: Block): block is AssistantBlock => block.type !== "image"

/** How many images a content holds. */
export const imageCount = (content: Content): number =>
  typeof content === "string" ? 0 : content.reduce((n, block) => (block.type === "image" ? n + 1 : n), 0)

/** The calls of a model's reply, in order. */
export const toolCalls = (message: AssistantMessage): ReadonlyArray<ToolCallBlock> =>
  message.content.filter((block) => block.type === "toolCall")

/** Whether a reply was stopped by the user or by a failure, so that its usage says nothing. */
export const isBroken = (message: AssistantMessage): boolean =>
  message.stopReason === "aborted" || message.stopReason === "error"

/** Whether a message is a bash execution that the user kept from the model. */
export const isExcludedBash = (message: Message): boolean =>
  message.role === "bashExecution" && message.excludeFromContext === true
