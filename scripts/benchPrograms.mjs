/** Bundles the programs of the benchmarks, so that they start like a program of a user's. */
import { readdirSync } from "node:fs"
import { join } from "node:path"

/** Bundles those of the repository at `root` into a folder. */
export const bundlePrograms = async (root, folder) => {
  const { build } = await import("esbuild")
  const sources = join(root, "test", "bench")
  const programs = readdirSync(sources).filter((name) => name.endsWith("Program.ts") || name === "bench.ts")
  await build({
    entryPoints: programs.map((name) => join(sources, name)),
    outdir: folder,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    mainFields: ["module", "main"],
    banner: {
      js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);'
    },
    logLevel: "warning"
  })
}
