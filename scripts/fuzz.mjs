/** Damages so many sessions and works on each: `node scripts/fuzz.mjs 20000`. */
import { stress } from "./workspace.mjs"

await stress("test/fault/fuzz.test.ts", "CUTPOINT_FUZZ", 20_000)
