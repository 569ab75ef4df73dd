/** Builds the packages (JavaScript and types) and bundles the command. */
import { chmodSync, rmSync } from "node:fs"
import { join } from "node:path"
import { install, installed, root, run } from "./workspace.mjs"

const dist = join(root, "apps", "cli", "dist")

/** Builds everything; what has not changed is not built again. */
export const build = async () => {
  install()
  run(installed("tsc"), ["-b"], { stdio: ["ignore", 2, 2] })
  await bundle()
}

/** One folder of chunks, so that vocabularies are loaded only when they are used. */
const bundle = async () => {
  const { build: esbuild } = await import("esbuild")
  rmSync(join(dist, "chunks"), { recursive: true, force: true })
  await esbuild({
    entryPoints: [join(root, "apps", "cli", "src", "bin.ts")],
    outdir: dist,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    mainFields: ["module", "main"],
    chunkNames: "chunks/[name]-[hash]",
    sourcemap: false,
    minify: true,
    keepNames: true,
    legalComments: "none",
    alias: { "@anthropic-ai/tokenizer": join(root, "scripts", "noTokenizer.mjs") },
    // Some dependencies are CommonJS and ask for Node's modules at run time.
    banner: {
      js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);'
    },
    logLevel: "warning"
  })
  chmodSync(join(dist, "bin.js"), 0o755)
}

if (process.argv[1] === import.meta.filename) await build()
