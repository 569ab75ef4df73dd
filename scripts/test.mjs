/** Installs and builds what is missing, then runs the whole test suite. Arguments go to vitest. */
import { build } from "./build.mjs"
import { installed, run } from "./workspace.mjs"

await build()
run(installed("vitest"), ["run", ...process.argv.slice(2)])
