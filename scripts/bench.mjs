/**
 * Runs the benchmarks, or those that are named (preparing, compacting,
 * functions, transcript, starting), and prints their table. `CUTPOINT_REFERENCE` names the
 * folder of the original agent's package, to compare with; `CUTPOINT_BENCH`
 * where the sessions are kept that it works on (2.7 GB in the end).
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { build } from "./build.mjs"
import { bundlePrograms } from "./benchPrograms.mjs"
import { root, run } from "./workspace.mjs"

await build()
const folder = mkdtempSync(join(tmpdir(), "cutpoint-bench-"))
try {
  await bundlePrograms(root, folder)
  const cutpoint = join(root, "apps", "cli", "dist", "bin.js")
  run(process.execPath, [
    join(folder, "bench.js"),
    folder,
    cutpoint,
    join(root, "test", "bench"),
    ...process.argv.slice(2)
  ])
} finally {
  rmSync(folder, { recursive: true, force: true })
}
