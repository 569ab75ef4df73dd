/**
 * Compares two commits in one run, by turns: `node scripts/compare.mjs BEFORE
 * [AFTER]`. AFTER is what is checked out now where it is left out. Each commit
 * is built in a folder of its own.
 */
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { bundlePrograms } from "./benchPrograms.mjs"
import { build } from "./build.mjs"
import { root, run } from "./workspace.mjs"

const [before, after] = process.argv.slice(2)
if (before === undefined) {
  console.error("Usage: node scripts/compare.mjs BEFORE [AFTER]")
  process.exit(2)
}

const work = mkdtempSync(join(tmpdir(), "cutpoint-compare-"))

/** A commit, checked out and built. */
const built = (commit, name) => {
  const folder = join(work, name)
  run("git", ["worktree", "add", "--detach", folder, commit])
  const { status } = spawnSync(process.execPath, [join(folder, "scripts", "build.mjs")], { stdio: "inherit" })
  if (status !== 0) process.exit(status ?? 1)
  return folder
}

try {
  await build()
  await bundlePrograms(root, join(work, "programs"))
  const folders = [built(before, "before"), after === undefined ? root : built(after, "after")]
  const commands = folders.map((folder) => join(folder, "apps", "cli", "dist", "bin.js"))
  run(process.execPath, [join(work, "programs", "compareProgram.js"), ...commands])
} finally {
  for (const name of ["before", "after"]) {
    spawnSync("git", ["worktree", "remove", "--force", join(work, name)], { cwd: root, stdio: "ignore" })
  }
  rmSync(work, { recursive: true, force: true })
}
