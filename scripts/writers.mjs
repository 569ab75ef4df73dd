/** Lets 8 processes write to one session, so many operations in all: `node scripts/writers.mjs 2000`. */
import { stress } from "./workspace.mjs"

await stress("test/fault/writers.test.ts", "CUTPOINT_OPERATIONS", 2000)
