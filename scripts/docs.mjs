/** Makes the API docs in `docs/api`, from the comments in the sources. */
import { join } from "node:path"
import { build } from "./build.mjs"
import { root, run } from "./workspace.mjs"

await build()
const folder = join(root, "scripts", "docs")
// TypeDoc needs a TypeScript of before 7, which stands beside it there.
run(join(folder, "node_modules", ".bin", "typedoc"), [], { cwd: folder })
