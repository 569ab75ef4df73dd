/** Runs two builds of the command by turns and prints how the second compares: `compareProgram BEFORE AFTER`. */
import { copyFileSync } from "node:fs"
import { join } from "node:path"
import { byTurns, run } from "./measure.js"
import * as Sessions from "./sessions.js"

const [before = "", after = ""] = process.argv.slice(2)

const turns = 9
const copy = join(Sessions.folder, "compared.jsonl")

/** The arguments of what is compared; what is written to is a fresh copy each time. */
const works: ReadonlyArray<{ readonly work: string; readonly args: ReadonlyArray<string>; readonly copyOf?: string }> =
  [
    { work: "--version", args: ["--version"] },
    { work: "compact --dry-run, 1k entries", args: ["compact", Sessions.never(1000), "--dry-run"] },
    {
      work: "compact --dry-run, 100k entries, compacted",
      args: ["compact", Sessions.compacted(100_000), "--dry-run", "--tokenizer", "heuristic"]
    },
    {
      work: "compact --offline, 10k entries, never compacted",
      args: ["compact", copy, "--offline", "--tokenizer", "heuristic"],
      copyOf: Sessions.never(10_000)
    },
    {
      work: "context, 10k entries, compacted",
      args: ["context", Sessions.compacted(10_000), "--tokenizer", "heuristic"]
    },
    { work: "tree, 10k entries", args: ["tree", Sessions.never(10_000), "--tokenizer", "heuristic"] }
  ]

console.log("| work | before | after | after / before |\n|---|---|---|---|")
for (const { args, copyOf, work } of works) {
  const timed = (command: string) => () => {
    if (copyOf !== undefined) copyFileSync(copyOf, copy)
    return run([command, ...args]).wall
  }
  const taken = byTurns({ before: timed(before), after: timed(after) }, turns)
  const ratio = (taken.after / taken.before).toFixed(2)
  console.log(`| ${work} | ${taken.before.toFixed(0)} ms | ${taken.after.toFixed(0)} ms | ${ratio} |`)
}
