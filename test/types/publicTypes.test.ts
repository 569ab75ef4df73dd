/**
 * The types that programs are built on: what a layer needs, what a method can
 * fail with, what it gives. Checked by `npm run types`; a change here is a
 * change for everyone who uses the packages.
 */
import type * as Anthropic from "@cutpoint/ai/Anthropic"
import * as SessionChat from "@cutpoint/ai/SessionChat"
import type * as LanguageModelLlm from "@cutpoint/ai/LanguageModelLlm"
import type { CompactionErrors, Llm } from "@cutpoint/compaction"
import {
  AutoCompaction,
  Compaction,
  CompactionHooks,
  Navigation,
  Pinning,
  SessionHistories,
  SessionStore,
  Settings,
  Summarizer,
  Tokenizer,
  Undo
} from "@cutpoint/compaction"
import type { Entry, Message } from "@cutpoint/core"
import { Histories, Preparation, Projection, SessionTree, Transcript } from "@cutpoint/core"
import * as GptTokenizer from "@cutpoint/gpt-tokenizer/GptTokenizer"
import * as SessionFiles from "@cutpoint/session-files/SessionFiles"
import type * as Chat from "@effect/ai/Chat"
import type * as LanguageModel from "@effect/ai/LanguageModel"
import type { FileSystem, HttpClient, Path } from "@effect/platform"
import type { ConfigError, Effect, Layer, Option, Stream } from "effect"
import { describe, expectTypeOf, it } from "vitest"

type Ports = SessionStore.SessionStore | Tokenizer.Tokenizer | Summarizer.Summarizer | Settings.Settings

type Success<T> = T extends Effect.Effect<infer A, infer _E, infer _R> ? A : never
type Failure<T> = T extends Effect.Effect<infer _A, infer E, infer _R> ? E : never
type Needs<T> = T extends Effect.Effect<infer _A, infer _E, infer R> ? R : never

describe("layers", () => {
  it("of use cases need ports, and nothing else", () => {
    expectTypeOf(Compaction.layer).toEqualTypeOf<Layer.Layer<Compaction.Compaction, never, Ports>>()
    expectTypeOf(Navigation.layer).toEqualTypeOf<Layer.Layer<Navigation.Navigation, never, Ports>>()
    expectTypeOf(Pinning.layer).toEqualTypeOf<Layer.Layer<Pinning.Pinning, never, SessionStore.SessionStore>>()
    expectTypeOf(Undo.layer).toEqualTypeOf<Layer.Layer<Undo.Undo, never, SessionStore.SessionStore>>()
    expectTypeOf(SessionHistories.layer).toEqualTypeOf<
      Layer.Layer<SessionHistories.SessionHistories, never, SessionStore.SessionStore>
    >()
  })

  it("of what compacts by itself needs what it works with", () => {
    expectTypeOf(AutoCompaction.layer).toEqualTypeOf<
      Layer.Layer<
        AutoCompaction.AutoCompaction,
        never,
        Compaction.Compaction | SessionStore.SessionStore | Settings.Settings | Tokenizer.Tokenizer
      >
    >()
  })

  it("of ports", () => {
    expectTypeOf(SessionStore.layerMemory()).toEqualTypeOf<Layer.Layer<SessionStore.SessionStore>>()
    expectTypeOf(Settings.layerMemory()).toEqualTypeOf<Layer.Layer<Settings.Settings>>()
    expectTypeOf(Tokenizer.layerHeuristic).toEqualTypeOf<Layer.Layer<Tokenizer.Tokenizer>>()
    expectTypeOf(Summarizer.layerOffline).toExtend<Layer.Layer<Summarizer.Summarizer, never, Tokenizer.Tokenizer>>()
    expectTypeOf(GptTokenizer.layer("o200k_base")).toEqualTypeOf<
      Layer.Layer<Tokenizer.Tokenizer, GptTokenizer.TokenizerUnavailable>
    >()
    expectTypeOf(SessionFiles.layerConfig).toEqualTypeOf<
      Layer.Layer<SessionStore.SessionStore, ConfigError.ConfigError, FileSystem.FileSystem | Path.Path>
    >()
    expectTypeOf<ReturnType<typeof LanguageModelLlm.layer>>().toEqualTypeOf<
      Layer.Layer<Llm.Llm, never, LanguageModel.LanguageModel>
    >()
    expectTypeOf<ReturnType<typeof Anthropic.layer>>().toExtend<Layer.Layer<Llm.Llm, unknown, HttpClient.HttpClient>>()
  })
})

describe("methods need nothing", () => {
  type Compact = ReturnType<Compaction.Service["compact"]>
  type Navigate = ReturnType<Navigation.Service["navigate"]>
  type Import = ReturnType<SessionHistories.Service["importHistory"]>

  it("of their caller", () => {
    expectTypeOf<Needs<Compact>>().toBeNever()
    expectTypeOf<Needs<Navigate>>().toBeNever()
    expectTypeOf<Needs<Import>>().toBeNever()
    expectTypeOf<Needs<ReturnType<SessionStore.Service["append"]>>>().toBeNever()
  })

  it("and say what they give and how they fail", () => {
    expectTypeOf<Success<Compact>>().toEqualTypeOf<Compaction.Compacted | Compaction.NotCompacted>()
    expectTypeOf<Compaction.Compacted["_tag"]>().toEqualTypeOf<"Compacted">()
    expectTypeOf<Failure<Compact>>().toEqualTypeOf<Compaction.CompactError>()
    expectTypeOf<CompactionErrors.CannotShrink>().toExtend<Compaction.CompactError>()
    expectTypeOf<Failure<Import>>().toEqualTypeOf<SessionHistories.NotAHistory | SessionStore.AppendError>()
    expectTypeOf<Success<ReturnType<SessionStore.Service["open"]>>>().toEqualTypeOf<SessionStore.Session>()
  })
})

describe("an agent", () => {
  it("has a chat that can stand wherever one of @effect/ai does", () => {
    expectTypeOf<SessionChat.Service>().toExtend<Chat.Service>()
    expectTypeOf<SessionChat.Service["generateText"]>().toEqualTypeOf<Chat.Service["generateText"]>()
    expectTypeOf<SessionChat.Service["streamText"]>().toEqualTypeOf<Chat.Service["streamText"]>()
    expectTypeOf<SessionChat.Service["generateObject"]>().toEqualTypeOf<Chat.Service["generateObject"]>()
    expectTypeOf(SessionChat.empty).toEqualTypeOf<
      Effect.Effect<SessionChat.Service, SessionStore.AppendError, SessionChat.Services>
    >()
  })

  it("is never stopped by a compaction", () => {
    expectTypeOf<Failure<ReturnType<AutoCompaction.Service["ifDue"]>>>().toBeNever()
    expectTypeOf<Failure<ReturnType<AutoCompaction.Service["onOverflow"]>>>().toBeNever()
    expectTypeOf<AutoCompaction.Outcome["_tag"]>().toEqualTypeOf<"NotDue" | "Compacted" | "Skipped" | "Failed">()
    expectTypeOf<AutoCompaction.Event["_tag"]>().toEqualTypeOf<
      "Started" | "Request" | "Compacted" | "Skipped" | "Failed" | "Canceled"
    >()
  })
})

describe("what one provides oneself", () => {
  it("ports", () => {
    expectTypeOf<Tokenizer.Service["count"]>().toEqualTypeOf<(text: string) => number>()
    expectTypeOf<ReturnType<Llm.Service["stream"]>>().toExtend<Stream.Stream<Llm.Part, unknown>>()
    expectTypeOf<keyof SessionStore.Service>().toEqualTypeOf<
      "find" | "list" | "header" | "open" | "revision" | "create" | "append"
    >()
    expectTypeOf<keyof Summarizer.Service>().toEqualTypeOf<"name" | "skims" | "plan" | "summarize">()
  })

  it("hooks, each of them left out at will", () => {
    expectTypeOf(CompactionHooks.make).toBeCallableWith({})
    expectTypeOf<CompactionHooks.CompactDecision["_tag"]>().toEqualTypeOf<"GoOn" | "Cancel" | "Use">()
  })
})

describe("core is plain data", () => {
  it("from a path to a preparation", () => {
    expectTypeOf(SessionTree.leafPath).returns.toEqualTypeOf<ReadonlyArray<Entry.Entry>>()
    expectTypeOf(Projection.project).parameters.toEqualTypeOf<[path: ReadonlyArray<Entry.Entry>]>()
    expectTypeOf(Projection.messages).returns.toEqualTypeOf<ReadonlyArray<Message.Message>>()
    expectTypeOf(Preparation.prepare).returns.toEqualTypeOf<Option.Option<Preparation.Preparation>>()
    expectTypeOf(Transcript.serialize).returns.toEqualTypeOf<string>()
  })

  it("roles, types and formats", () => {
    expectTypeOf<Message.Role>().toEqualTypeOf<
      | "system"
      | "user"
      | "assistant"
      | "toolResult"
      | "bashExecution"
      | "custom"
      | "branchSummary"
      | "compactionSummary"
      | "unknown"
    >()
    expectTypeOf<Histories.Name>().toEqualTypeOf<"prompt" | "openai-responses" | "anthropic" | "openai-chat">()
    expectTypeOf(Histories.read).returns.toEqualTypeOf<Histories.Imported | undefined>()
  })
})
