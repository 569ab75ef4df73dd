/** Kills a process that writes to sessions, so many times: `node scripts/crash.mjs 500`. */
import { stress } from "./workspace.mjs"

await stress("test/fault/crash.test.ts", "CUTPOINT_KILLS", 500)
