/**
 * Compacts a copy of the example session without a model and shows what
 * happened: before, the cut, the summary, after.
 */
import { copyFileSync, mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { build } from "./build.mjs"
import { root, run } from "./workspace.mjs"

await build()

const session = join(mkdtempSync(join(tmpdir(), "cutpoint-")), "todo-api.jsonl")
copyFileSync(join(root, "examples", "sessions", "todo-api.jsonl"), session)

const cutpoint = (...args) => run(process.execPath, [join(root, "apps", "cli", "dist", "bin.js"), ...args])
const title = (text) => console.log(`\n\u2500\u2500 ${text} ${"\u2500".repeat(Math.max(0, 70 - text.length))}\n`)

console.log(`A copy of examples/sessions/todo-api.jsonl is compacted: ${session}`)
title("The session's tree")
cutpoint("tree", session)
title("Before: where the cut would fall (--dry-run)")
cutpoint("compact", session, "--dry-run")
title("The compaction (--offline): the cut and the summary")
cutpoint("compact", session, "--offline")
title("After: what the model sees now")
cutpoint("context", session)
