/** Settings files, each with exactly what comes of it through the command. */
import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { describe, expect, it } from "vitest"
import { header, makeWorkspace, reply, user } from "./cutpoint.js"
import {
  arrange,
  byDefault,
  compact,
  dryRun,
  type Given,
  heuristic,
  model,
  outcome,
  override,
  put,
  turns
} from "./settingsFiles.js"

const prepared = (firstKept: string) => ({ status: "prepared", firstKept })
const window = (contextWindow: number, reserve = 16_384) => ({ contextWindow, threshold: contextWindow - reserve })
const reserve = (reserveTokens: number) => ({ threshold: 128_000 - reserveTokens })

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
        args: [...dryRun, "--reserve-tokens=1000", "--keep-recent-tokens=1500", "--context-window=30000"]
      },
      { ...window(30_000, 1000), ...prepared("u2") }
    ],
    // Each question has three tokens more than by heuristic, as digits and punctuation are tokens of their own.
    ["a tokenizer", { user: { cutpoint: { tokenizer: "heuristic" } }, args: ["--dry-run"] }, { contextTokens: 4012 }],
    ["the default tokenizer", { args: ["--dry-run"] }, { contextTokens: 4024 }],
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

  it.each(["o200k_base", "cl100k_base", "p50k_base"])(
    "the tokenizer %s counts what its vocabulary says",
    async (name) => {
      // The three vocabularies have words of different lengths.
      const word = [user("u", null, "Donaudampfschifffahrtsgesellschaft 你好世界 \u{1f9d1}\u200d\u{1f680}")]
      const shown = await compact({ project: { cutpoint: { tokenizer: name } }, args: ["--dry-run"] }, 0, word)
      expect(shown.contextTokens).toBe({ o200k_base: 19, cl100k_base: 27, p50k_base: 31 }[name])
    }
  )
})

describe("what only the user's file may set", () => {
  const sent = {
    model: "offline",
    models: { "maker/thinker": { baseUrl: "https://elsewhere", contextWindow: 64_000 } }
  }

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
    const { document, session, workspace } = await ran({ user: off }, (file) => [
      "compact",
      file,
      "--auto",
      "--offline"
    ])
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
    const { files, session, workspace } = arrange({
      user: { compaction: { reserveTokens: 1 } }
    })
    expect(outcome(await workspace.json(["compact", session, ...dryRun]))).toEqual({ ...byDefault, ...reserve(1) })
    put(files.user, { compaction: { reserveTokens: 2 } })
    expect(outcome(await workspace.json(["compact", session, ...dryRun]))).toEqual({ ...byDefault, ...reserve(2) })
  })
})
