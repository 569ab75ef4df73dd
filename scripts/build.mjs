/** Builds the packages (JavaScript and types) and bundles the command. */
import { chmodSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { keepCompiled } from "./codeCache.mjs"
import { install, installed, root, run } from "./workspace.mjs"

const sources = join(root, "apps", "cli", "src")
const dist = join(root, "apps", "cli", "dist")
const chunks = join(dist, "chunks")

/** Builds everything; what has not changed is not built again. */
export const build = async () => {
  install()
  run(installed("tsc"), ["-b"], { stdio: ["ignore", 2, 2] })
  await bundle()
  keepCompiled(dist)
}

/** Schemas that the command does not use are left out: making one does nothing else. */
const unusedSchemas = {
  name: "unused-schemas",
  transform: {
    filter: { id: /packages\/[\w-]+\/dist\/\w+\.js$/ },
    handler: (code) => code.replaceAll(/\bSchema\.\w+\(|(?<= = )entry\(/g, "/* @__PURE__ */ $&")
  }
}

/** What takes Node milliseconds to load is loaded when it is used: names of temporary files, and questions at a terminal. */
const builtinsWhenUsed = {
  name: "builtins-when-used",
  transform: {
    filter: { id: /platform-node-shared\/dist\/esm\/internal\/\w+\.js$/ },
    handler: (code) =>
      code.replaceAll(
        /import \* as (\w+) from "(node:crypto|node:readline)";/g,
        'const $1 = new Proxy({}, { get: (_, key) => require("$2")[key] });'
      )
  }
}

/**
 * One folder of chunks, so that vocabularies are loaded only when they are used,
 * and the program that starts them. They are CommonJS: Node loads it faster, and
 * can be given compiled code for it.
 */
const bundle = async () => {
  const { build: rolldown } = await import("rolldown")
  // V8 takes compiled code for that of a chunk by its length alone: none may outlive its chunk.
  for (const folder of [join(dist, "compiled"), chunks]) rmSync(folder, { recursive: true, force: true })
  const common = {
    platform: "node",
    transform: { target: "node20" },
    resolve: {
      mainFields: ["module", "main"],
      alias: { "@anthropic-ai/tokenizer": join(root, "scripts", "noTokenizer.mjs") }
    },
    plugins: [unusedSchemas, builtinsWhenUsed],
    logLevel: "warn"
  }
  const output = { format: "cjs", minify: true, comments: false }
  await rolldown([
    {
      ...common,
      input: { main: join(sources, "bin.ts") },
      output: { ...output, dir: chunks, entryFileNames: "[name].js", chunkFileNames: "[name]-[hash].js" }
    },
    { ...common, input: join(sources, "start.ts"), output: { ...output, file: join(dist, "bin.js") } }
  ])
  writeFileSync(join(dist, "package.json"), `${JSON.stringify({ type: "commonjs" })}\n`)
  chmodSync(join(dist, "bin.js"), 0o755)
}

if (process.argv[1] === import.meta.filename) await build()
