/** Settings files, good and bad, each with exactly what comes of it through the command. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { describe, expect, it } from "vitest"
import { conversation, header, type Json, makeWorkspace, reply, user, type Workspace } from "./cutpoint.js"

/** A settings file: its text, its JSON, or what stands in its place. */
type Content = string | object | { readonly inPlace: (file: string) => void }

interface Given {
  /** `settings.json` of the home's `.pi/agent`. */
  readonly user?: Content
  /** `.pi/settings.json` of the session's folder. */
  readonly project?: Content
  /** `.pi/settings.json` of the folder that the command is run in. */
  readonly here?: Content
  /** `settings.json` of the folder that `PI_CODING_AGENT_DIR` names. */
  readonly moved?: Content
  /** Whether the session's folder is there no more. */
  readonly isGone?: boolean
  /** After `compact SESSION`; a dry run with the heuristic tokenizer where left out. */
  readonly args?: ReadonlyArray<string>
}

const heuristic = ["--tokenizer", "heuristic"]
const dryRun = ["--dry-run", ...heuristic]

/** Four turns by the model `maker/thinker`, of 4,012 tokens by heuristic: 1,000 a question, 3 an answer. */
const turns = conversation(4, 1000)

/** A workspace with these settings, a session, and a check that the settings are as they were. */
const arrange = (given: Given, entries: ReadonlyArray<object> = turns) => {
  const workspace = makeWorkspace()
  const project = join(workspace.root, "project")
  if (given.isGone !== true) mkdirSync(project)
  const session = workspace.write("session.jsonl", [header({ cwd: project }), ...entries])
  const agentDir = join(workspace.root, "moved")
  const files = {
    user: join(workspace.home, ".pi", "agent", "settings.json"),
    project: join(project, ".pi", "settings.json"),
    here: join(workspace.cwd, ".pi", "settings.json"),
    moved: join(agentDir, "settings.json")
  }
  const names = ["user", "project", "here", "moved"] as const
  for (const name of names) put(files[name], given[name])
  const env: Record<string, string> = given.moved === undefined ? {} : { PI_CODING_AGENT_DIR: agentDir }
  const before = names.map((name) => bytesAround(files[name]))
  const untouched = () => expect(names.map((name) => bytesAround(files[name]))).toEqual(before)
  return { workspace, session, files, env, untouched }
}

const put = (file: string, content: Content | undefined): void => {
  if (content === undefined) return
  mkdirSync(dirname(file), { recursive: true })
  if (typeof content === "string") writeFileSync(file, content)
  else if ("inPlace" in content) content.inPlace(file)
  else writeFileSync(file, JSON.stringify(content))
}

/** All settings in a settings file's folder, so that neither a change nor a new file beside it goes unseen. */
const bytesAround = (file: string): ReadonlyArray<string> =>
  existsSync(dirname(file))
    ? readdirSync(dirname(file), { withFileTypes: true }).map(
        (found) => `${found.name} ${found.isFile() ? readFileSync(join(dirname(file), found.name), "hex") : ""}`
      )
    : []

const compact = async (given: Given, code: number, entries?: ReadonlyArray<object>): Promise<Json> => {
  const { env, session, untouched, workspace } = arrange(given, entries)
  const document = await workspace.json(["compact", session, ...(given.args ?? dryRun)], code, { env })
  untouched()
  return document
}

/** What settings come to: the numbers of a dry run. */
const outcome = ({ contextTokens, contextWindow, preparation, status, threshold }: Json) => ({
  status,
  contextTokens,
  contextWindow,
  threshold,
  firstKept: preparation === null ? null : preparation.firstKeptEntryId
})

/** What comes of no settings: a window that is assumed, and all of the session within what is kept. */
const byDefault = {
  status: "nothing-to-compact",
  contextTokens: 4012,
  contextWindow: 128_000,
  threshold: 111_616,
  firstKept: null
}

const prepared = (firstKept: string) => ({ status: "prepared", firstKept })
const window = (contextWindow: number, reserve = 16_384) => ({ contextWindow, threshold: contextWindow - reserve })
const reserve = (reserveTokens: number) => ({ threshold: 128_000 - reserveTokens })

const model = (name: string, fields: object) => ({ cutpoint: { models: { [name]: fields } } })
const override = (name: string, fields: object) => ({ compaction: { modelOverrides: { [name]: fields } } })

describe("settings that may be", () => {
  const rows: ReadonlyArray<readonly [string, Given, object]> = [
    ["no files", {}, {}],
    ["an empty object", { user: {}, project: {} }, {}],
    ["empty sections", { user: { compaction: {}, branchSummary: {}, cutpoint: {} } }, {}],
    ["a reserve", { user: { compaction: { reserveTokens: 28_000 } } }, reserve(28_000)],
    ["a reserve of 0", { user: { compaction: { reserveTokens: 0 } } }, reserve(0)],
    ["a reserve as large as can be held", { user: { compaction: { reserveTokens: 127_999 } } }, reserve(127_999)],
    ["a number written as 1.5e3", { user: '{"compaction":{"reserveTokens":1.5e3}}' }, reserve(1500)],
    ["tokens to keep", { user: { compaction: { keepRecentTokens: 1500 } } }, prepared("u2")],
    // The newest entry with tokens stands, whatever its size.
    ["no tokens to keep", { user: { compaction: { keepRecentTokens: 0 } } }, prepared("a3")],
    ["more to keep than there is", { user: { compaction: { keepRecentTokens: 2 ** 53 - 1 } } }, {}],
    ["automatic compaction off, asked for by hand", { user: { compaction: { enabled: false } } }, {}],
    ["a window", { user: { cutpoint: { contextWindow: 50_000 } } }, window(50_000)],
    ["the model's window", { user: model("maker/thinker", { contextWindow: 64_000 }) }, window(64_000)],
    ["another model's window", { user: model("maker/other", { contextWindow: 64_000 }) }, {}],
    ["a model's name in other case", { user: model("Maker/thinker", { contextWindow: 64_000 }) }, {}],
    [
      "a window over the model's",
      { user: { cutpoint: { contextWindow: 50_000, models: { "maker/thinker": { contextWindow: 64_000 } } } } },
      window(50_000)
    ],
    [
      "all that is known of a model",
      {
        user: model("maker/thinker", {
          contextWindow: 64_000,
          maxOutput: 4096,
          baseUrl: "http://localhost:8080/v1",
          cost: { input: 0, output: 15.5, cacheRead: 0.3 }
        })
      },
      window(64_000)
    ],
    ["a model's own reserve", { user: override("maker/thinker", { reserveTokens: 28_000 }) }, reserve(28_000)],
    ["a model's own tokens to keep", { user: override("maker/thinker", { keepRecentTokens: 1500 }) }, prepared("u2")],
    ["another model's own", { user: override("maker/other", { reserveTokens: 1, keepRecentTokens: 1 }) }, {}],
    [
      "the project's over the user's, key by key",
      {
        user: { compaction: { reserveTokens: 28_000, keepRecentTokens: 1500 }, cutpoint: { contextWindow: 50_000 } },
        project: { compaction: { keepRecentTokens: 500 } }
      },
      { ...window(50_000, 28_000), ...prepared("u3") }
    ],
    [
      "a model's, field by field",
      {
        user: {
          compaction: { modelOverrides: { "maker/thinker": { reserveTokens: 28_000, keepRecentTokens: 500 } } },
          cutpoint: { models: { "maker/thinker": { contextWindow: 64_000, maxOutput: 1 } } }
        },
        project: {
          compaction: { keepRecentTokens: 1, modelOverrides: { "maker/thinker": { keepRecentTokens: 1500 } } },
          cutpoint: { models: { "maker/thinker": { maxOutput: 2 } } }
        }
      },
      { ...window(64_000, 28_000), ...prepared("u2") }
    ],
    [
      "the user's for a model over the project's for all",
      {
        user: override("maker/thinker", { keepRecentTokens: 1500 }),
        project: { compaction: { keepRecentTokens: 500 } }
      },
      prepared("u2")
    ],
    [
      "options over settings",
      {
        user: { compaction: { reserveTokens: 9, keepRecentTokens: 9 }, cutpoint: { contextWindow: 9000 } },
        project: override("maker/thinker", { reserveTokens: 8, keepRecentTokens: 8 }),
        args: [
          ...dryRun,
          ...["--reserve-tokens", "1000", "--keep-recent-tokens", "1500", "--context-window", "30000"]
        ]
      },
      { ...window(30_000, 1000), ...prepared("u2") }
    ],
    // A word of four letters and its space is a token of its own in every vocabulary, and 1.25 by heuristic.
    ["a tokenizer", { user: { cutpoint: { tokenizer: "heuristic" } }, args: ["--dry-run"] }, { contextTokens: 4012 }],
    ["the default tokenizer", { args: ["--dry-run"] }, { contextTokens: 4020 }],
    [
      "an option over the tokenizer",
      { user: { cutpoint: { tokenizer: "cl100k_base" } }, args: dryRun },
      { contextTokens: 4012 }
    ],
    ["the file of the moved agent", { user: "{", moved: { compaction: { reserveTokens: 28_000 } } }, reserve(28_000)],
    [
      "the process's folder where the session's is gone",
      { isGone: true, here: { compaction: { reserveTokens: 28_000 } } },
      reserve(28_000)
    ],
    ["the session's folder where it is there", { here: { compaction: { reserveTokens: 28_000 } } }, {}],
    ["a byte order mark", { user: '\uFEFF{"compaction":{"reserveTokens":28000}}' }, reserve(28_000)],
    ["Windows line ends", { user: '{\r\n"compaction": {\r\n"reserveTokens": 28000}}\r\n' }, reserve(28_000)],
    [
      "keys that are not known, of any type",
      {
        user: {
          theme: "dark",
          compaction: { reserveTokens: 28_000, strategy: null, nested: { compaction: { reserveTokens: -1 } } },
          branchSummary: { depth: -1 },
          cutpoint: { models: { "maker/thinker": { vision: "yes" } }, tokenizers: [] },
          "compaction.reserveTokens": "not a path"
        }
      },
      reserve(28_000)
    ],
    // Keys that name what every JavaScript object has.
    [
      "a key __proto__",
      { user: '{"__proto__":{"compaction":{"reserveTokens":5}},"compaction":{"__proto__":{"reserveTokens":"x"}}}' },
      {}
    ],
    ["the later of a key that stands twice", { user: '{"compaction":1,"compaction":{"reserveTokens":0}}' }, reserve(0)],
    ["depth without end where nobody looks", { user: `{"x":${"[".repeat(100_000)}${"]".repeat(100_000)}}` }, {}],
    ["a link to nothing", { user: { inPlace: (file) => symlinkSync("nowhere.json", file) } }, {}],
    [
      "a file in place of the project's .pi",
      {
        project: {
          inPlace: (file) => {
            rmSync(dirname(file), { recursive: true })
            writeFileSync(dirname(file), "")
          }
        }
      },
      {}
    ],
    // What acts elsewhere than in a compaction is taken all the same.
    ["skipPrompt", { user: { branchSummary: { skipPrompt: true, reserveTokens: 0 } } }, {}],
    ["includeThinking", { user: { cutpoint: { includeThinking: false } } }, {}],
    ["onRejected", { project: { cutpoint: { onRejected: "offline" } } }, {}],
    ["branchOverflow", { project: { cutpoint: { branchOverflow: "drop-oldest" } } }, {}],
    ["stallTimeout", { project: { cutpoint: { stallTimeout: 1 } } }, {}],
    ["offlineSummaryTokens", { project: { cutpoint: { offlineSummaryTokens: 0 } } }, {}],
    ["a model that summarizes", { user: { cutpoint: { model: "openrouter/maker/thinker:free" } } }, {}]
  ]

  it.each(rows)("%s", async (_, given, differs) => {
    expect(outcome(await compact(given, 0))).toEqual({ ...byDefault, ...differs })
  })

  it.each(["o200k_base", "cl100k_base", "p50k_base"])("the tokenizer %s counts what its vocabulary says", async (name) => {
    // The three vocabularies have words of different lengths.
    const word = [user("u", null, "Donaudampfschifffahrtsgesellschaft 你好世界 \u{1f9d1}\u200d\u{1f680}")]
    const shown = await compact({ project: { cutpoint: { tokenizer: name } }, args: ["--dry-run"] }, 0, word)
    expect(shown.contextTokens).toBe({ o200k_base: 0, cl100k_base: 0, p50k_base: 0 }[name])
  })
})

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
    ["a comment at the end of a line", '{\n  "compaction": {\n    "reserveTokens": 100 // few\n  }\n}', 3, 26, "there is a comment"],
    ["a comment between", '{\n  /* mine */\n  "theme": "dark"\n}', 2, 3, "there is a comment"],
    ["a comment behind a byte order mark", "\uFEFF// mine\n{}", 1, 1, "there is a comment"],
    ["a trailing comma in an object", '{\n  "theme": "dark",\n}', 3, 1, aKey],
    ["a trailing comma in a section, Windows line ends", '{\r\n "compaction": {"enabled": true,}\r\n}', 2, 34, aKey],
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

describe("what only the user's file may set", () => {
  const sent = { model: "offline", models: { "maker/thinker": { baseUrl: "https://elsewhere", contextWindow: 64_000 } } }

  it("is left out of the project's file, and a notice says so", async () => {
    const { files, session, untouched, workspace } = arrange({ project: { cutpoint: sent } })
    const { code, stderr, stdout } = await workspace.run(["compact", session, ...dryRun])
    expect(code).toBe(0)
    expect(stderr).toBe(
      ["cutpoint.model", 'cutpoint.models["maker/thinker"].baseUrl']
        .map((key) => `${files.project} sets ${key}, which only ${files.user} may; it is left out.\n`)
        .join("")
    )
    // The rest of what it says of that model holds.
    expect(stdout).toContain("4,012 of 64,000 tokens")
    const refused = await workspace.json(["compact", session, ...heuristic], 1)
    expect(refused.error._tag).toBe("NoSummarizer")
    untouched()
  })

  it("holds in the user's file, with the project's beside it", async () => {
    const { session, untouched, workspace } = arrange({
      user: { cutpoint: sent, compaction: { keepRecentTokens: 1500 } },
      project: { compaction: { reserveTokens: 0 } }
    })
    const { code, stderr, stdout } = await workspace.run(["compact", session, ...heuristic])
    expect(stderr).toBe("Summarizer: offline (cutpoint.model in your settings)\n")
    expect(stdout).toContain("compaction is due over 64,000")
    expect(code).toBe(0)
    untouched()
  })

  it("holds where the project is the user's own folder, even by another path to it", async () => {
    const workspace = makeWorkspace()
    const settings = { cutpoint: { model: "offline" }, compaction: { keepRecentTokens: 1500 } }
    const agentDir = join(workspace.root, "link", ".pi")
    workspace.write("work/.pi/settings.json", JSON.stringify(settings))
    symlinkSync(workspace.cwd, join(workspace.root, "link"))
    const session = workspace.write("s.jsonl", [header({ cwd: workspace.cwd }), ...turns])
    const env = { PI_CODING_AGENT_DIR: agentDir }
    const { code, stderr } = await workspace.run(["compact", session, ...heuristic], { env })
    expect(stderr).toBe(
      [
        "Summarizer: offline (cutpoint.model in your settings)",
        "The context window of maker/thinker is not known and taken to be 128000 tokens; set cutpoint.contextWindow to say otherwise.",
        ""
      ].join("\n")
    )
    expect(code).toBe(0)
  })

  it("cannot be smuggled in by a model's name", async () => {
    // A name with line breaks, as settings are told apart by them inside.
    const { files, session, workspace } = arrange({
      project: { cutpoint: { models: { "maker/thinker\ncontextWindow": { cost: { input: 1 }, contextWindow: 7 } } } }
    })
    expect(outcome(await workspace.json(["compact", session, ...dryRun]))).toEqual(byDefault)
    expect(existsSync(files.user)).toBe(false)
  })
})

describe("what settings do", () => {
  /** Runs a command in a workspace with these settings. */
  const ran = async (given: Given, args: (session: string) => ReadonlyArray<string>, entries = turns) => {
    const { session, untouched, workspace } = arrange(given, entries)
    const document = await workspace.json([...args(session), ...heuristic])
    untouched()
    return { document, session, workspace }
  }

  it("enabled: false stops compactions that come of themselves, and no other", async () => {
    const off = { compaction: { enabled: false, keepRecentTokens: 1500 }, cutpoint: { contextWindow: 20_000 } }
    const { document, session, workspace } = await ran({ user: off }, (file) => ["compact", file, "--auto", "--offline"])
    // The session is over the threshold of 3,616, so that it is not for want of a reason.
    expect(document).toMatchObject({ status: "disabled", contextTokens: 4012, threshold: 3616 })
    expect(document).not.toHaveProperty("result")
    const text = await workspace.run(["compact", session, "--auto", "--offline", ...heuristic])
    expect(text.stdout).toContain("Automatic compaction is turned off (compaction.enabled is false)")
    expect(readFileSync(session, "utf8")).not.toContain('"type":"compaction"')
    expect((await workspace.json(["compact", session, "--offline", ...heuristic])).status).toBe("compacted")
  })

  it("offlineSummaryTokens bounds the summary", async () => {
    const talk = Array.from({ length: 60 }, (_, n) => [
      user(`u${n}`, n === 0 ? null : `a${n - 1}`, `Always keep rule ${n} of the list: ${"never break it ".repeat(12)}`),
      reply(`a${n}`, `u${n}`, `Noted rule ${n}.`)
    ]).flat()
    const lengthWith = async (offlineSummaryTokens: number): Promise<number> => {
      const user = { compaction: { keepRecentTokens: 10 }, cutpoint: { offlineSummaryTokens, model: "offline" } }
      const { document } = await ran({ user }, (file) => ["compact", file], talk)
      return Math.ceil(document.result.summary.length / 4)
    }
    const [short, long] = [await lengthWith(400), await lengthWith(1200)]
    expect(short).toBeLessThanOrEqual(400)
    expect(long).toBeLessThanOrEqual(1200)
    // There is enough to say that a longer one is longer.
    expect(long).toBeGreaterThan(600)
  })

  it("includeThinking shows thinking, or leaves it out", async () => {
    const thought = [
      user("u0", null),
      reply("a0", "u0", "", { content: [{ type: "thinking", thinking: "hm, hm" }] }),
      user("u1", "a0")
    ]
    const transcript = async (includeThinking: boolean): Promise<string> => {
      const args = (file: string) => ["compact", file, "--dry-run", "--with-transcript", "--keep-recent-tokens", "0"]
      return (await ran({ project: { cutpoint: { includeThinking } } }, args, thought)).document.preparation.transcript
        .summarized
    }
    expect(await transcript(true)).toBe("[User]: u0\n\n[Assistant thinking]: hm, hm")
    expect(await transcript(false)).toBe("[User]: u0")
  })

  it("branchOverflow and the branch's reserve say how much of a branch is taken", async () => {
    const collected = async (branchOverflow: string, reserveTokens: number): Promise<ReadonlyArray<string>> => {
      const user = { cutpoint: { branchOverflow, contextWindow: 20_000 }, branchSummary: { reserveTokens } }
      return (await ran({ user }, (file) => ["tree", file, "--to", "a0", "--dry-run"])).document.collected.roles
    }
    const three = ["user", "assistant", "user", "assistant", "user", "assistant"]
    expect(await collected("fold", 18_000)).toEqual(three)
    expect(await collected("drop-oldest", 16_384)).toEqual(three)
    // 1,500 tokens: the newest turn, and the answer before it.
    expect(await collected("drop-oldest", 18_500)).toEqual(["assistant", "user", "assistant"])
  })

  it("are read anew each time", async () => {
    const { files, session, workspace }: { files: { user: string }; session: string; workspace: Workspace } = arrange({
      user: { compaction: { reserveTokens: 1 } }
    })
    expect(outcome(await workspace.json(["compact", session, ...dryRun]))).toEqual({ ...byDefault, ...reserve(1) })
    put(files.user, { compaction: { reserveTokens: 2 } })
    expect(outcome(await workspace.json(["compact", session, ...dryRun]))).toEqual({ ...byDefault, ...reserve(2) })
  })
})
