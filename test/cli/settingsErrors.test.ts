/** Settings files that are wrong, each with exactly the error that the command ends with. */
import { mkdirSync, readFileSync, symlinkSync } from "node:fs"
import { describe, expect, it } from "vitest"
import {
  arrange,
  byDefault,
  compact,
  type Content,
  dryRun,
  type Given,
  model,
  outcome,
  override
} from "./settingsFiles.js"

const tokens = "a whole number of tokens, 0 or more"
const flag = "true or false"
const anObject = "an object"
const prices = "an object of prices per million tokens: input, output, cacheRead, cacheWrite"
const tokenizers = '"o200k_base", "cl100k_base", "p50k_base", "heuristic"'

describe("settings that may not be", () => {
  const compaction = (fields: object) => ({ compaction: fields })
  const cutpoint = (fields: object) => ({ cutpoint: fields })
  const ofModel = 'cutpoint.models["a/b"]'
  const ofOverride = 'compaction.modelOverrides["a/b"]'

  /** The file's content, the key that is named, its value as JSON, and what it may be. */
  const rows: ReadonlyArray<readonly [Content, string, string, string]> = [
    [compaction({ enabled: "false" }), "compaction.enabled", '"false"', flag],
    [compaction({ enabled: 0 }), "compaction.enabled", "0", flag],
    [compaction({ enabled: null }), "compaction.enabled", "null", flag],
    [compaction({ reserveTokens: "many" }), "compaction.reserveTokens", '"many"', tokens],
    [compaction({ reserveTokens: "16384" }), "compaction.reserveTokens", '"16384"', tokens],
    [compaction({ reserveTokens: -1 }), "compaction.reserveTokens", "-1", tokens],
    [compaction({ reserveTokens: 0.5 }), "compaction.reserveTokens", "0.5", tokens],
    [compaction({ reserveTokens: null }), "compaction.reserveTokens", "null", tokens],
    [compaction({ reserveTokens: true }), "compaction.reserveTokens", "true", tokens],
    [compaction({ reserveTokens: [1] }), "compaction.reserveTokens", "[1]", tokens],
    [compaction({ keepRecentTokens: "NaN" }), "compaction.keepRecentTokens", '"NaN"', tokens],
    [compaction({ keepRecentTokens: "Infinity" }), "compaction.keepRecentTokens", '"Infinity"', tokens],
    [compaction({ keepRecentTokens: 2 ** 53 }), "compaction.keepRecentTokens", "9007199254740992", tokens],
    // JSON allows the number; no number that is counted with is as large.
    ['{"compaction":{"keepRecentTokens":1e999}}', "compaction.keepRecentTokens", "Infinity", tokens],
    [{ branchSummary: { reserveTokens: -0.1 } }, "branchSummary.reserveTokens", "-0.1", tokens],
    [{ branchSummary: { skipPrompt: "yes" } }, "branchSummary.skipPrompt", '"yes"', flag],
    [cutpoint({ model: "thinker" }), "cutpoint.model", '"thinker"', '"provider/model" or "offline"'],
    [cutpoint({ model: "" }), "cutpoint.model", '""', '"provider/model" or "offline"'],
    [cutpoint({ model: null }), "cutpoint.model", "null", '"provider/model" or "offline"'],
    [cutpoint({ contextWindow: "200k" }), "cutpoint.contextWindow", '"200k"', tokens],
    [cutpoint({ contextWindow: null }), "cutpoint.contextWindow", "null", tokens],
    [cutpoint({ tokenizer: "abacus" }), "cutpoint.tokenizer", '"abacus"', tokenizers],
    [cutpoint({ tokenizer: "O200K_BASE" }), "cutpoint.tokenizer", '"O200K_BASE"', tokenizers],
    [cutpoint({ includeThinking: 1 }), "cutpoint.includeThinking", "1", flag],
    [cutpoint({ onRejected: "retry" }), "cutpoint.onRejected", '"retry"', '"fail", "offline"'],
    [cutpoint({ branchOverflow: true }), "cutpoint.branchOverflow", "true", '"fold", "drop-oldest"'],
    [cutpoint({ offlineSummaryTokens: -5 }), "cutpoint.offlineSummaryTokens", "-5", tokens],
    [cutpoint({ stallTimeout: 0 }), "cutpoint.stallTimeout", "0", "a whole number of milliseconds, 1 or more"],
    [cutpoint({ stallTimeout: "2m" }), "cutpoint.stallTimeout", '"2m"', "a whole number of milliseconds, 1 or more"],
    [compaction({ modelOverrides: [] }), "compaction.modelOverrides", "[]", anObject],
    [compaction({ modelOverrides: null }), "compaction.modelOverrides", "null", anObject],
    [override("a/b", [1]), ofOverride, "[1]", anObject],
    [compaction({ modelOverrides: { "a/b": 5000 } }), ofOverride, "5000", anObject],
    [override("a/b", { reserveTokens: "5" }), `${ofOverride}.reserveTokens`, '"5"', tokens],
    [override("a/b", { keepRecentTokens: -5 }), `${ofOverride}.keepRecentTokens`, "-5", tokens],
    [cutpoint({ models: "a/b" }), "cutpoint.models", '"a/b"', anObject],
    [cutpoint({ models: { "a/b": null } }), ofModel, "null", anObject],
    [model("a/b", { contextWindow: 1.5 }), `${ofModel}.contextWindow`, "1.5", tokens],
    [model("a/b", { maxOutput: "8k" }), `${ofModel}.maxOutput`, '"8k"', tokens],
    [model("a/b", { baseUrl: "" }), `${ofModel}.baseUrl`, '""', "an address"],
    [model("a/b", { baseUrl: 8080 }), `${ofModel}.baseUrl`, "8080", "an address"],
    [model("a/b", { cost: 3 }), `${ofModel}.cost`, "3", prices],
    [model("a/b", { cost: { input: -1 } }), `${ofModel}.cost`, '{"input":-1}', prices],
    [{ compaction: [] }, "compaction", "[]", anObject],
    [{ compaction: true }, "compaction", "true", anObject],
    [{ branchSummary: null }, "branchSummary", "null", anObject],
    [{ cutpoint: "offline" }, "cutpoint", '"offline"', anObject],
    ["[]", "(the file)", "[]", anObject],
    ["null", "(the file)", "null", anObject],
    ['"settings"', "(the file)", '"settings"', anObject],
    // A value is shown as far as 120 characters.
    [cutpoint({ tokenizer: "x".repeat(500) }), "cutpoint.tokenizer", `"${"x".repeat(119)}`, tokenizers]
  ]

  it.each(rows)("%j", async (content, key, value, allowed) => {
    for (const whose of ["user", "project"] as const) {
      const { files, session, untouched, workspace } = arrange({ [whose]: content })
      const file = files[whose]
      const message = `${file}: ${key} is ${value}; it may be ${allowed}. The file was not changed; correct the value or take it out.`
      const { error } = await workspace.json(["compact", session, ...dryRun], 1)
      expect(error).toEqual({ _tag: "SettingsFileInvalid", file, key, value, allowed, message })
      untouched()
    }
  })
})

describe("settings that are no JSON", () => {
  const aKey = "a key is expected here, perhaps after a trailing comma"
  const aValue = "a value is expected here"
  const rows: ReadonlyArray<readonly [string, string, number, number, string]> = [
    ["an empty file", "", 1, 1, aValue],
    ["only a byte order mark", "\uFEFF", 1, 1, aValue],
    ["only line breaks", "\n\n  \n", 4, 1, aValue],
    [
      "a comment at the end of a line",
      '{\n  "compaction": {\n    "reserveTokens": 100 // few\n  }\n}',
      3,
      26,
      "there is a comment"
    ],
    ["a comment between", '{\n  /* mine */\n  "theme": "dark"\n}', 2, 3, "there is a comment"],
    ["a comment behind a byte order mark", "\uFEFF// mine\n{}", 1, 1, "there is a comment"],
    ["a trailing comma in an object", '{\n  "theme": "dark",\n}', 3, 1, aKey],
    ["a trailing comma in a section, Windows line ends", '{\r\n "compaction": {"enabled": true,}\r\n}', 2, 33, aKey],
    ["a trailing comma in a list", '{"x": [1,]}', 1, 10, aValue],
    ["a text", "compaction = off", 1, 1, "this word is no JSON"],
    ["NaN", '{"compaction": {"reserveTokens": NaN}}', 1, 34, "this word is no JSON"],
    ["single quotes", "{'theme': 1}", 1, 2, "this word is no JSON"],
    ["a text that is not closed", '{"theme": "dark', 1, 11, "a string is not closed"],
    ["an object that is not closed", '{"theme": "dark"', 1, 17, "a closing brace is expected here"],
    ["a missing comma", '{"a": 1\n "b": 2}', 2, 2, "a comma is expected here"],
    ["a missing colon", '{"a" 1}', 1, 6, "a colon is expected here"],
    ["two documents", "{}\n{}", 2, 1, "the file should end here"],
    ["characters that JSON must escape", '{"a": "one\u0001"}', 1, 7, "this is no JSON"],
    // Too deep for the search for the place.
    ["depth without end, not closed", "[".repeat(200_000), 1, 1, "this is no JSON"]
  ]

  it.each(rows)("%s", async (_, content, line, column, problem) => {
    for (const whose of ["user", "project"] as const) {
      const { files, session, untouched, workspace } = arrange({ [whose]: content })
      const file = files[whose]
      const message = `${file}, line ${line}, column ${column}: ${problem}. The file must be JSON, without comments and trailing commas; it was not changed.`
      const { error } = await workspace.json(["compact", session, ...dryRun], 1)
      expect(error).toEqual({ _tag: "SettingsFileMalformed", file, line, column, problem, message })
      untouched()
    }
  })
})

describe("settings that cannot be read", () => {
  const rows: ReadonlyArray<readonly [string, (file: string) => void]> = [
    ["a folder", (file) => mkdirSync(file)],
    ["a link to itself", (file) => symlinkSync(file, file)],
    // A cloned repository may hold such a link, and reading it would never end.
    ["a device", (file) => symlinkSync("/dev/zero", file)]
  ]

  it.each(rows)("%s in the place of a file", async (_, inPlace) => {
    for (const whose of ["user", "project"] as const) {
      const { files, session, untouched, workspace } = arrange({ [whose]: { inPlace } })
      const file = files[whose]
      const message = `${file} is there but cannot be read. Get permission to read it, or take it away.`
      const { error } = await workspace.json(["compact", session, ...dryRun], 1)
      expect(error).toEqual({ _tag: "SettingsFileUnreadable", file, message })
      untouched()
    }
  })
})

describe("a bad file", () => {
  it("of the project is an error although the user's says all that it gets wrong", async () => {
    const { error } = await compact(
      { user: { compaction: { reserveTokens: 5 } }, project: { compaction: { reserveTokens: "x" } } },
      1
    )
    expect(error._tag).toBe("SettingsFileInvalid")
  })

  it("of the user comes first where both are bad", async () => {
    const { files, session, workspace } = arrange({ user: "{", project: "{" })
    expect((await workspace.json(["compact", session, ...dryRun], 1)).error.file).toBe(files.user)
  })

  it("is a sentence on stderr, stops every command that needs settings, and nothing is written", async () => {
    const { files, session, untouched, workspace } = arrange({ project: '{"cutpoint": {"tokenizer": "abacus"}}' })
    const before = readFileSync(session, "utf8")
    for (const args of [
      ["compact", session, "--offline"],
      ["tree", session, "--to", "u1", "--summarize", "--offline"],
      ["context", session]
    ]) {
      const ran = await workspace.run(args)
      expect(ran).toEqual({
        code: 1,
        stdout: "",
        stderr: `${files.project}: cutpoint.tokenizer is "abacus"; it may be ${tokenizers}. The file was not changed; correct the value or take it out.\n`
      })
    }
    expect(readFileSync(session, "utf8")).toBe(before)
    untouched()
  })
})

describe("a reserve", () => {
  const noRoom = (setting: string, tokens: number, of: number) => ({
    _tag: "SettingsInvalid",
    setting,
    problem: `a reserve of ${tokens} tokens leaves no room in a window of ${of}.`,
    remedy: "Set a smaller reserve, or the right context window.",
    message: `${setting}: a reserve of ${tokens} tokens leaves no room in a window of ${of}. Set a smaller reserve, or the right context window.`
  })

  const rows: ReadonlyArray<readonly [string, Given, number, number]> = [
    ["as large as the window", { user: { compaction: { reserveTokens: 128_000 } } }, 128_000, 128_000],
    ["by default larger than a small window", { user: { cutpoint: { contextWindow: 8000 } } }, 16_384, 8000],
    ["of 0 in a window of 0", { user: { compaction: { reserveTokens: 0 }, cutpoint: { contextWindow: 0 } } }, 0, 0],
    [
      "of a model larger than that model's window",
      {
        user: override("maker/thinker", { reserveTokens: 70_000 }),
        project: model("maker/thinker", { contextWindow: 64_000 })
      },
      70_000,
      64_000
    ],
    [
      "larger than the window that an option gives",
      { user: { compaction: { reserveTokens: 5000 } }, args: [...dryRun, "--context-window", "4000"] },
      5000,
      4000
    ]
  ]

  it.each(rows)("%s leaves no room", async (_, given, tokens, of) => {
    expect((await compact(given, 1)).error).toEqual(noRoom("compaction.reserveTokens", tokens, of))
  })

  it("for a branch leaves no room there, and a compaction goes on", async () => {
    const given = { user: { branchSummary: { reserveTokens: 128_000 } } }
    const { session, untouched, workspace } = arrange(given)
    const to = await workspace.json(["tree", session, "--to", "u1", ...dryRun], 1)
    expect(to.error).toEqual(noRoom("branchSummary.reserveTokens", 128_000, 128_000))
    expect(outcome(await workspace.json(["compact", session, ...dryRun]))).toEqual(byDefault)
    untouched()
  })
})
