/** Runs an example by its name: `npm run example -- customStore`. Node 20 takes no TypeScript, so it is transformed first. */
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { build } from "./build.mjs"
import { root, run } from "./workspace.mjs"

const folder = join(root, "examples")
const names = readdirSync(folder).filter((name) => name.endsWith(".ts"))
const name = `${process.argv[2]}.ts`
if (!names.includes(name)) {
  console.error(`Name an example: ${names.map((each) => each.slice(0, -3)).join(", ")}.`)
  process.exit(2)
}

await build()
const { build: esbuild } = await import("esbuild")
const outfile = join(folder, "dist", name.replace(".ts", ".mjs"))
await esbuild({ entryPoints: [join(folder, name)], outfile, bundle: true, packages: "external", format: "esm" })
run(process.execPath, [outfile])
