/** Measures everything, or the parts that are named, and prints a table in Markdown; called by `scripts/bench.mjs`. */
import { cpus, totalmem } from "node:os"
import { join } from "node:path"
import { compacting, functions, type Line, preparing, type Programs, starting, transcript } from "./table.js"

const [folder = "", cutpoint = "", sources = "", ...named] = process.argv.slice(2)

const programs: Programs = {
  cutpoint,
  prepare: join(folder, "prepareProgram.js"),
  transcript: join(folder, "transcriptProgram.js"),
  functions: join(folder, "functionsProgram.js"),
  parse: join(sources, "parseProgram.mjs"),
  reference: join(sources, "referenceProgram.mjs"),
  referenceFolder: process.env.CUTPOINT_REFERENCE
}

const cpu = cpus()
console.log(
  `${cpu.length} × ${cpu[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GB, Node ${process.version}\n`
)
if (programs.referenceFolder === undefined)
  console.log("CUTPOINT_REFERENCE is not set: nothing is compared with the original agent.\n")
console.log("| work | measured | against | of the bar |\n|---|---|---|---|")

const show = ({ against, measured, ofBar, work }: Line): void => {
  const share =
    ofBar === undefined || Number.isNaN(ofBar) ? "-" : `${Math.round(ofBar * 100)} %${ofBar > 1 ? " **missed**" : ""}`
  console.log(`| ${work} | ${measured} | ${against} | ${share} |`)
}

const parts = { preparing, compacting, functions, transcript, starting }
for (const [name, part] of Object.entries(parts)) {
  if (named.length === 0 || named.includes(name)) part(programs).forEach(show)
}
