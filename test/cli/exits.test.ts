import { createWriteStream, existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs"
import { once } from "node:events"
import { describe, expect, it } from "vitest"
import {
  bin,
  conversation,
  fingerprint,
  header,
  lines,
  makeWorkspace,
  reply,
  type RunOptions,
  start,
  user
} from "./cutpoint.js"

const workspace = makeWorkspace()
const session = workspace.write("session.jsonl", [header(), user("u1", null), reply("a1", "u1")])

describe("wrong use", () => {
  it.each([
    [["compact", session, "--dry-run", "--nope"], "--nope"],
    [["compact", "--nope", session], "There is no option --nope"],
    [["compact", session, "--offlin"], "--offlin"],
    [["nope"], "compact"],
    [["compact", session, "other.jsonl"], "other.jsonl"],
    [["compact", session, "--dry-run", "--keep-recent-tokens", "-5"], "--keep-recent-tokens"],
    [["compact", session, "--dry-run", "--keep-recent-tokens=-5"], "--keep-recent-tokens"],
    [["compact", session, "--dry-run", "--reserve-tokens", "1.5"], "1.5"],
    [["context", session, "--context-window", "many"], "many"],
    [["context", session, "--tokenizer", "abacus"], "heuristic"],
    [["compact", session, "--tokenizer"], "--tokenizer"],
    [["tree", session, "--to", "u1", "--from", "a1"], "--from goes with --dry-run"],
    [["tree", session, "--dry-run"], "--dry-run goes with --to"],
    [["tree", session, "--label", "x"], "--label goes with --to"],
    [["sessions", "surplus"], "surplus"],
    [["--log-level", "debug"], "compact, tree, context"]
  ])("%j ends with 2 and says what is wrong", async (args, said) => {
    const before = fingerprint(session)
    const ran = await workspace.run(args)
    expect(ran).toMatchObject({ code: 2, stdout: "" })
    expect(ran.stderr).toContain(said)
    const document = await workspace.json(args, 2)
    expect(document.error._tag).toBe("WrongUse")
    expect(document.error.message).not.toBe("")
    expect(fingerprint(session)).toBe(before)
  })

  it("without a command prints the help on stderr", async () => {
    const ran = await workspace.run([])
    expect(ran).toMatchObject({ code: 2, stdout: "" })
    expect(ran.stderr).toContain("COMMANDS")
  })

  it("asks nothing where nobody sits at a terminal", async () => {
    expect(await workspace.run(["compact", "--wizard"])).toMatchObject({ code: 2, stdout: "" })
  })
})

describe("help and version", () => {
  it.each([[[]], [["compact"]], [["tree"]], [["context"]], [["sessions"]]])(
    "%j --help is plain text on stdout",
    async (command) => {
      for (const env of [{}, { NO_COLOR: "1" }]) {
        const ran = await workspace.run([...command, "--help"], { env })
        expect(ran).toMatchObject({ code: 0, stderr: "" })
        expect(ran.stdout).toContain("USAGE")
        expect(ran.stdout).not.toContain("\u001b")
      }
    }
  )

  it("says its version", async () => {
    const manifest = new URL("../../apps/cli/package.json", import.meta.url)
    const { version } = JSON.parse(readFileSync(manifest, "utf8"))
    expect(await workspace.run(["--version"])).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" })
  })
})

describe("failures", () => {
  it("are a sentence on stderr, or one JSON document on stdout, with the same exit code", async () => {
    const args = ["context", session, "--leaf", "nope"]
    const ran = await workspace.run(args)
    expect(ran).toMatchObject({ code: 1, stdout: "" })
    expect(ran.stderr).toContain("nope")
    const silent = await workspace.run([...args, "--json"])
    expect(silent).toMatchObject({ code: 1, stderr: "" })
    const { error } = JSON.parse(silent.stdout)
    expect(error).toMatchObject({ _tag: "EntryNotFound", session, entryId: "nope" })
    expect(error.message).toBe(ran.stderr.trim())
  })

  it("say what is missing where no home is known", async () => {
    const run = (args: ReadonlyArray<string>) => start(process.execPath, [bin, ...args], { env: {} })
    const ran = await run(["sessions"])
    expect(ran).toMatchObject({ code: 1, stdout: "" })
    expect(ran.stderr).toContain("PI_CODING_AGENT_DIR")
    expect(JSON.parse((await run(["sessions", "--json"])).stdout).error._tag).toBe("NoSessionsFolder")
  })

  it("leave a folder and a pipe alone", async () => {
    expect((await workspace.json(["context", `${workspace.root}/`], 1)).error._tag).toBe("SessionUnreadable")
    const pipe = `${workspace.root}/pipe.jsonl`
    await start("mkfifo", [pipe])
    expect((await workspace.json(["context", pipe], 1)).error._tag).toBe("SessionUnreadable")
  })
})

describe("output", () => {
  it("has no colours in a pipe", async () => {
    for (const shown of ["tree", "context"])
      expect((await workspace.run([shown, session])).stdout).not.toContain("\u001b")
  })

  it("is one JSON document with what is asked for, and nothing on stderr", async () => {
    const ran = await workspace.run(["context", session, "--json", "--tokenizer", "heuristic"])
    expect(ran.stderr).toBe("")
    expect(JSON.parse(ran.stdout)).toEqual({
      session,
      leafId: "a1",
      model: "maker/thinker",
      thinkingLevel: null,
      contextTokens: 2,
      contextWindow: 128_000,
      totals: { tokens: 0, cost: 0 },
      messages: [
        { entryId: "u1", role: "user", tokens: 1, preview: "u1" },
        { entryId: "a1", role: "assistant", tokens: 1, preview: "a1" }
      ],
      diagnostics: []
    })
  })

  it("comes whole through a slow pipe", async () => {
    const large = workspace.write("large.jsonl", [header(), ...conversation(3000, 100)])
    const piped = await start(
      "bash",
      ["-c", '"$0" "$@" | (sleep 0.5; wc -c)', process.execPath, bin, "tree", large, "--json"],
      {
        env: { HOME: workspace.home }
      }
    )
    const whole = await workspace.run(["tree", large, "--json"])
    expect(whole.stdout.length).toBeGreaterThan(1_000_000)
    expect(Number(piped.stdout)).toBe(Buffer.byteLength(whole.stdout))
  })
})

describe("an interruption", () => {
  /** Whether a process has a file open; undefined where the system does not tell. */
  const hasOpen = (pid: number | undefined, file: string): boolean | undefined => {
    if (!existsSync("/proc/self/fd")) return undefined
    try {
      const opened = readdirSync(`/proc/${pid}/fd`)
      return opened.some((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`) === file)
    } catch {
      // A file was closed while it was looked at.
      return false
    }
  }

  /** Interrupts while a session is being read, or soon after; by the clock where nothing better is known. */
  const interruptAt = (moment: "reading" | "counting", file: string): RunOptions => ({
    meanwhile: (child) => {
      const started = performance.now()
      let lastOpen: number | undefined
      const isDue = (): boolean => {
        const now = performance.now()
        const isOpen = hasOpen(child.pid, file)
        if (isOpen === undefined) return now - started > 800
        if (isOpen) lastOpen = now
        return lastOpen !== undefined && (moment === "reading" || now - lastOpen > 300)
      }
      const timer = setInterval(() => {
        if (isDue()) child.kill("SIGINT")
        else if (child.exitCode === null) return
        clearInterval(timer)
      }, 5)
    }
  })

  /** A session that takes seconds to read. */
  const writeHuge = async (name: string): Promise<string> => {
    const file = workspace.write(name, [header()])
    const stream = createWriteStream(file, { flags: "a" })
    const text = "lorem ipsum dolor ".repeat(60)
    for (let block = 0; block < 60; block++) {
      const turns = Array.from({ length: 1000 }, (_, index) => {
        const number = block * 1000 + index
        return reply(`e${number}`, number === 0 ? null : `e${number - 1}`, `${number} ${text}`)
      })
      if (!stream.write(lines(turns))) await once(stream, "drain")
    }
    await new Promise((resolve) => void stream.end(resolve))
    return file
  }

  it("ends with 130, says so, and leaves the session as it was", async () => {
    const huge = await writeHuge("huge.jsonl")
    const before = fingerprint(huge)
    const ran = await workspace.run(["compact", huge, "--offline"], interruptAt("reading", huge))
    expect(ran).toMatchObject({ code: 130, stdout: "", stderr: expect.stringMatching(/(?:^|\n)Interrupted\.\n$/) })
    const silent = await workspace.run(["context", huge, "--json"], interruptAt("reading", huge))
    expect(silent).toMatchObject({ code: 130, stderr: "" })
    expect(JSON.parse(silent.stdout)).toEqual({ error: { _tag: "Interrupted", message: "Interrupted." } })
    expect(fingerprint(huge)).toBe(before)
  })

  it("is heard before anything is written, though it came while tokens were counted", async () => {
    // Read in a moment, counted in seconds.
    const busy = workspace.write("busy.jsonl", [header(), ...conversation(3000, 2500)])
    const before = fingerprint(busy)
    const ran = await workspace.run(["compact", busy, "--offline"], interruptAt("counting", busy))
    expect(ran).toMatchObject({ code: 130, stdout: "", stderr: expect.stringMatching(/(?:^|\n)Interrupted\.\n$/) })
    expect(fingerprint(busy)).toBe(before)
  })
})
