/**
 * Keeps the command's code as V8 compiles it, for `apps/cli/src/start.ts`. It is
 * taken when a run ends: functions are compiled when they are first called, and
 * only what has been compiled is kept.
 */
import { spawnSync } from "node:child_process"
import { copyFileSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { root } from "./workspace.mjs"

const record = join(root, "scripts", "recordCompiled.mjs")

/** What is done with a session, so that most functions are called which need no model. */
const runs = [["tree"], ["context"], ["compact", "--dry-run", "--tokenizer", "heuristic"], ["compact", "--offline"]]

/** Runs the command of a folder, and keeps its code there for this version of Node. */
export const keepCompiled = (dist) => {
  const folder = mkdtempSync(join(tmpdir(), "cutpoint-build-"))
  const session = join(folder, "todo-api.jsonl")
  copyFileSync(join(root, "examples", "sessions", "todo-api.jsonl"), session)
  const env = { ...process.env, PI_CODING_AGENT_DIR: folder }
  for (const [command, ...options] of runs) {
    spawnSync(process.execPath, ["--import", record, join(dist, "bin.js"), command, session, ...options], { env })
  }
  rmSync(folder, { recursive: true, force: true })
}
