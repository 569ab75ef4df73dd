import { describe, expect, it } from "vitest"
import * as ToolOutcome from "../src/ToolOutcome.js"

const judge = (command: string, result = "", isError = false) => ToolOutcome.judge("bash", { command }, result, isError)

describe("whether a command failed", () => {
  it.each([
    "Tests 2 failed | 5 passed",
    "src/a.ts(3,5): error TS2345: no",
    "error[E0308]: mismatched types",
    "error: script failed",
    "npm ERR! missing script",
    "FAIL src/a.test.ts",
    "fatal: not a git repository",
    "3 errors"
  ])("its last lines say so: %s", (line) => {
    expect(judge("make", `working\n${line}`).failed).toBe(true)
    expect(judge("make", `working\n${line}`).verdict).toBe(line)
  })

  it("the exit code says so, and the line before it says why", () => {
    expect(judge("make", "no rule for a\nCommand exited with code 2")).toMatchObject({
      failed: true,
      verdict: "no rule for a"
    })
    expect(judge("make", "Command exited with code 2")).toMatchObject({
      failed: true,
      verdict: "Command exited with code 2"
    })
  })

  it.each([
    "0 failed, 7 passed",
    "0 errors",
    "all good",
    "",
    "no errors found",
    "exited with code 0",
    "error handling: 3 files"
  ])("these do not: %j", (line) => {
    expect(judge("make", line).failed).toBe(false)
  })

  it("what was said long before the end does not count, and neither does the text of a file that was read", () => {
    expect(judge("make", `error: retrying\n${"ok\n".repeat(10)}done`).failed).toBe(false)
    expect(ToolOutcome.judge("read", { path: "log" }, "error: in a log file", false).failed).toBe(false)
  })

  it("the error flag decides, whatever the text", () => {
    expect(ToolOutcome.judge("edit", { path: "a" }, "fine", true)).toMatchObject({ failed: true, verdict: "fine" })
    expect(judge("make", "", true)).toMatchObject({ failed: true, verdict: "" })
  })

  it("the verdict is the line that names the error, not the stack or the exit code behind it", () => {
    const output =
      "start\nTypeError: x is undefined\n    at a (b.js:1:2)\n    at c (d.js:3:4)\n^^^\nCommand exited with code 1"
    expect(judge("node a.js", output).verdict).toBe("TypeError: x is undefined")
  })
})

describe("what a later success must equal", () => {
  it.each([
    ["cd /w && npm test", "npm test"],
    ["cd '/a b' && npm test 2>&1 | tail -20", "npm test"],
    ["npm test 2>&1", "npm test"],
    ["npm test | grep fail | head -5", "npm test"],
    ["  npm test\n", "npm test"]
  ])("%j is %s", (command, bare) => {
    expect(judge(command).key).toBe(bare)
    expect(judge(command).label).toBe(`\`${bare}\``)
  })

  it.each([
    ["edit", { path: "src/a.ts" }, "write", { file_path: "./src/a.ts" }],
    ["read", { path: "a" }, "Write", { path: "a" }],
    ["apply_patch", "*** Update File: a.ts", "edit", { path: "a.ts" }]
  ])("%s(%j) is settled by %s(%j)", (one, args, other, otherArgs) => {
    expect(ToolOutcome.judge(other, otherArgs, "", false).key).toBe(ToolOutcome.judge(one, args, "", true).key)
  })

  it("other commands and files are not the same", () => {
    expect(judge("npm test").key).not.toBe(judge("npm run build").key)
    expect(ToolOutcome.judge("edit", { path: "a" }, "", false).key).not.toBe(
      ToolOutcome.judge("edit", { path: "b" }, "", false).key
    )
  })
})

describe("what only looks around", () => {
  it.each([
    "ls -la",
    "cat a | grep b",
    "git status && git diff",
    "rg foo; wc -l a",
    "sed -n 1,5p a",
    "cd /w && cat a",
    "echo 'rm -rf a; npm test'",
    "# note"
  ])("%s", (command) => expect(judge(command).looksAround).toBe(true))

  it.each(["npm test", "sed -i s/a/b/ f", "git commit -m x", "ls && rm a", "cat a | node b"])("not %s", (command) =>
    expect(judge(command).looksAround).toBe(false)
  )

  it("a tool without a file does, one with a file does not", () => {
    expect(ToolOutcome.judge("web_search", { query: "x" }, "", false).looksAround).toBe(true)
    expect(ToolOutcome.judge("edit", { path: "a" }, "", false).looksAround).toBe(false)
  })
})

describe("odd input", () => {
  it.each([null, undefined, "rm", 7, [], {}, { command: 7 }, { command: null }, { command: "" }, { path: {} }])(
    "arguments %j never throw",
    (args) => {
      const outcome = ToolOutcome.judge("bash", args, "out\n\n", false)
      expect(outcome.label).not.toContain("\n")
      expect(outcome.verdict).toBe("out")
    }
  )

  it("long commands and results end in good time, and are cut", () => {
    const commands = [
      `cd ${"a ".repeat(50_000)}`,
      `x ${"'a' ".repeat(50_000)}|`,
      `npm test ${"| tail ".repeat(5000)}`,
      " ".repeat(100_000),
      `"${"\\".repeat(100_000)}`,
      `x${" ".repeat(50_000)}y`
    ]
    for (const command of commands) {
      const outcome = judge(command, `${"word ".repeat(50_000)}\n${" ".repeat(50_000)}x`)
      expect(outcome.label.length).toBeLessThan(250)
      expect(outcome.verdict.length).toBeLessThanOrEqual(240)
    }
  })
})

describe("ToolOutcome.oneLine", () => {
  it("is one line, cut with an ellipsis, and splits no emoji", () => {
    expect(ToolOutcome.oneLine(" a\n\tb\u2028c ", 10)).toBe("a b c")
    expect(ToolOutcome.oneLine("abcdef", 5)).toBe("abcd…")
    for (let max = 1; max < 12; max++) {
      const cut = ToolOutcome.oneLine("\u{1F600}".repeat(10), max)
      expect(cut.isWellFormed()).toBe(true)
      expect(cut.length).toBeLessThanOrEqual(max)
    }
    expect(ToolOutcome.oneLine("a\ud83d", 10).isWellFormed()).toBe(true)
  })
})
