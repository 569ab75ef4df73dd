/**
 * The commands as they are called: their arguments, options and descriptions.
 * What each does is in `commands/`, and is loaded when it is asked for.
 *
 * @since 0.1.0
 */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import * as CommandOptions from "./CommandOptions.js"

/** What a command does, loaded when it is asked for. */
const lazily =
  <Options, A, E, R>(load: () => Promise<{ readonly run: (options: Options) => Effect.Effect<A, E, R> }>) =>
  (options: Options) =>
    Effect.flatMap(Effect.promise(load), ({ run }) => run(options))

/** `cutpoint compact`. */
const compact = Command.make(
  "compact",
  {
    session: CommandOptions.session,
    instructions: CommandOptions.instructions,
    dryRun: CommandOptions.dryRun,
    auto: CommandOptions.flag("auto", "Compact only when the context is over the threshold"),
    offline: CommandOptions.offline,
    model: CommandOptions.model,
    keepRecentTokens: CommandOptions.keepRecentTokens,
    reserveTokens: CommandOptions.reserveTokens,
    contextWindow: CommandOptions.contextWindow,
    tokenizer: CommandOptions.tokenizer,
    parity: CommandOptions.parity,
    withTranscript: CommandOptions.withTranscript,
    json: CommandOptions.json,
    yes: CommandOptions.yes
  },
  lazily(() => import("./commands/compact.js"))
).pipe(Command.withDescription("Summarize the older part of a session's context and keep the recent part"))

/** `cutpoint tree`. */
const tree = Command.make(
  "tree",
  {
    session: CommandOptions.session,
    all: CommandOptions.flag("all", "Show every entry"),
    to: CommandOptions.text("to", "Go to this entry"),
    summarize: CommandOptions.flag("summarize", "Summarize what is left behind and carry it along"),
    instructions: CommandOptions.instructions,
    replaceInstructions: CommandOptions.flag("replace-instructions", "Let -i stand in place of the usual instructions"),
    label: CommandOptions.text("label", "A label for the summary, or without one for the entry"),
    from: CommandOptions.text("from", "Leave from this entry instead of the leaf (with --dry-run)"),
    tokenBudget: CommandOptions.amount("token-budget", "How many tokens of the branch are taken, 0 for all"),
    reserveTokens: CommandOptions.reserveTokens,
    contextWindow: CommandOptions.contextWindow,
    offline: CommandOptions.offline,
    model: CommandOptions.model,
    dryRun: CommandOptions.dryRun,
    parity: CommandOptions.parity,
    withTranscript: CommandOptions.withTranscript,
    tokenizer: CommandOptions.tokenizer,
    json: CommandOptions.json,
    yes: CommandOptions.yes
  },
  lazily(() => import("./commands/tree.js"))
).pipe(Command.withDescription("Draw a session's tree, or go to another entry of it"))

/** `cutpoint context`. */
const context = Command.make(
  "context",
  {
    session: CommandOptions.session,
    leaf: CommandOptions.text("leaf", "Stand at this entry instead of the leaf"),
    transcript: CommandOptions.flag("transcript", "Show it as text"),
    contextWindow: CommandOptions.contextWindow,
    tokenizer: CommandOptions.tokenizer,
    json: CommandOptions.json
  },
  lazily(() => import("./commands/context.js"))
).pipe(Command.withDescription("Show what the model sees of a session"))

/** `cutpoint sessions`. */
const sessions = Command.make(
  "sessions",
  {
    all: CommandOptions.flag("all", "List the sessions of every folder"),
    counts: CommandOptions.flag("counts", "Count entries and compactions, which reads every session whole"),
    json: CommandOptions.json
  },
  lazily(() => import("./commands/sessions.js"))
).pipe(Command.withDescription("List sessions, the newest first"))

const session = CommandOptions.text("session", "The session; the newest of this folder where left out")

/** `cutpoint pin`. */
const pin = Command.make(
  "pin",
  {
    entries: CommandOptions.argument("entry", "An entry whose text is pinned").pipe(Args.repeated),
    text: CommandOptions.text("text", "A text to pin"),
    session,
    json: CommandOptions.json,
    yes: CommandOptions.yes
  },
  lazily(async () => ({ run: (await import("./commands/pin.js")).pin }))
).pipe(Command.withDescription("Mark what must survive every summary, or list what is marked"))

/** `cutpoint unpin`. */
const unpin = Command.make(
  "unpin",
  {
    entries: CommandOptions.argument("pin", "A pin to take out").pipe(Args.atLeast(1)),
    session,
    json: CommandOptions.json,
    yes: CommandOptions.yes
  },
  lazily(async () => ({ run: (await import("./commands/pin.js")).unpin }))
).pipe(Command.withDescription("Take pins out"))

/** `cutpoint undo`. */
const undo = Command.make(
  "undo",
  {
    session: CommandOptions.session,
    abandonLater: CommandOptions.flag("abandon-later", "Do it although messages follow the compaction"),
    json: CommandOptions.json,
    yes: CommandOptions.yes
  },
  lazily(() => import("./commands/undo.js"))
).pipe(Command.withDescription("Take the last compaction back"))

/** `cutpoint doctor`. */
const doctor = Command.make(
  "doctor",
  {
    session: CommandOptions.session,
    repair: CommandOptions.text("repair", "Write a sound copy to this file, which must not be there yet"),
    json: CommandOptions.json
  },
  lazily(() => import("./commands/doctor.js"))
).pipe(Command.withDescription("Find what is wrong with a session's file; exit code 1 where something is"))

/** `cutpoint import`. */
const importHistory = Command.make(
  "import",
  {
    file: CommandOptions.argument("file", "A JSON file with a history of another format"),
    to: CommandOptions.text("to", "Append to this session, at its leaf; a new one of this folder where left out"),
    format: CommandOptions.formatIfNamed,
    json: CommandOptions.json
  },
  lazily(() => import("./commands/import.js"))
).pipe(Command.withDescription("Make a session of a history of another format"))

/** `cutpoint export`. */
const exportHistory = Command.make(
  "export",
  {
    session: CommandOptions.session,
    format: CommandOptions.format,
    all: CommandOptions.flag("all", "The whole path instead of what the model sees of it"),
    out: CommandOptions.out,
    json: CommandOptions.json
  },
  lazily(() => import("./commands/export.js"))
).pipe(Command.withDescription("Print a session as a history of another format"))

/** All of them. */
export const all = [compact, tree, context, sessions, pin, unpin, undo, doctor, importHistory, exportHistory] as const
