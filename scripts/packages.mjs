/**
 * What a package must show before it is published: `publint` and `attw` find
 * nothing, it installs with npm into an empty project, and the first example of
 * its README type-checks and runs there. Needs the registry.
 */
import { spawnSync } from "node:child_process"
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { build } from "./build.mjs"
import { installed, pnpm, root, run } from "./workspace.mjs"

const readJson = (file) => JSON.parse(readFileSync(file, "utf8"))

/** Everything that is published, by its folder. */
const packages = ["packages", "apps"]
  .flatMap((parent) => readdirSync(join(root, parent)).map((name) => join(root, parent, name)))
  .map((folder) => ({ folder, manifest: readJson(join(folder, "package.json")) }))
  .filter(({ manifest }) => !manifest.private)

/** What the examples use besides the packages: of the versions that the packages do. */
const beside = ["effect", "@effect/platform", "@effect/platform-node"]

const versionOf = (name) => packages.map(({ manifest }) => manifest.devDependencies[name]).find(Boolean)

const pack = ({ folder, manifest }, into) => {
  // pnpm rather than npm: it writes versions in place of workspace:*.
  run(...pnpm("pack", "--pack-destination", into), { cwd: folder, stdio: ["ignore", "ignore", 2] })
  return join(into, `${manifest.name.replace("@", "").replace("/", "-")}-${manifest.version}.tgz`)
}

const lint = (tarball, { manifest }) => {
  run(installed("publint"), ["run", "--strict", tarball])
  // The packages are ESM alone. A command has no types to be wrong.
  if (manifest.exports) run(installed("attw"), [tarball, "--profile", "esm-only", "--quiet"])
}

const examples = ({ folder }) =>
  [...readFileSync(join(folder, "README.md"), "utf8").matchAll(/```(ts|js)\n([\s\S]*?)```/g)].map(
    ([, language, code]) => ({ language, code })
  )

/** In the project: the example, as it stands and as JavaScript. */
const writeExample = async (project, pkg) => {
  const [example] = examples(pkg)
  if (example === undefined) return undefined
  const name = pkg.manifest.name.replace(/^@.*\//, "")
  const { transform } = await import("esbuild")
  const { code } = await transform(example.code, { loader: example.language, format: "esm" })
  if (example.language === "ts") writeFileSync(join(project, `${name}.ts`), example.code)
  writeFileSync(join(project, `${name}.mjs`), code)
  return { file: `${name}.mjs`, isTest: example.code.includes("node:test") }
}

const installPackages = (project, tarballs) => {
  const own = Object.fromEntries(packages.map(({ manifest }, index) => [manifest.name, `file:${tarballs[index]}`]))
  const dependencies = { ...own, ...Object.fromEntries(beside.map((name) => [name, versionOf(name)])) }
  const devDependencies = { "@types/node": readJson(join(root, "package.json")).devDependencies["@types/node"] }
  // None of them is in the registry yet: they find each other here.
  const overrides = Object.fromEntries(Object.keys(own).map((name) => [name, `$${name}`]))
  const manifest = { private: true, type: "module", dependencies, devDependencies, overrides }
  writeFileSync(join(project, "package.json"), JSON.stringify(manifest, null, 2))
  run("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"], { cwd: project })
}

const typeCheck = (project) => {
  const { compilerOptions: ours } = readJson(join(root, "tsconfig.base.json"))
  // An example may stop at a value that the reader goes on with.
  const compilerOptions = { ...ours, noEmit: true, noUnusedLocals: false }
  for (const key of ["composite", "incremental", "declaration", "declarationMap", "plugins"])
    delete compilerOptions[key]
  const config = { compilerOptions: { ...compilerOptions, types: ["node"] }, include: ["*.ts"] }
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify(config))
  run(installed("tsc"), ["-p", project])
}

const start = (project, program, args) => {
  console.log(`$ ${[program === process.execPath ? "node" : program, ...args].join(" ")}`)
  // Sessions of whoever runs this are none of its business.
  const env = { ...process.env, HOME: project, NODE_TEST_CONTEXT: undefined, PI_CODING_AGENT_DIR: undefined }
  const { status } = spawnSync(program, args, { cwd: project, env, stdio: ["ignore", "inherit", "inherit"] })
  if (status !== 0) throw new Error(`It ended with ${status}.`)
}

const check = async (work) => {
  const tarballs = packages.map((pkg) => pack(pkg, work))
  packages.forEach((pkg, index) => lint(tarballs[index], pkg))
  const project = mkdtempSync(join(work, "project-"))
  copyFileSync(join(root, "examples", "sessions", "todo-api.jsonl"), join(project, "session.jsonl"))
  installPackages(project, tarballs)
  const written = []
  for (const pkg of packages) written.push(await writeExample(project, pkg))
  typeCheck(project)
  for (const example of written.filter(Boolean)) {
    start(project, process.execPath, example.isTest ? ["--test", example.file] : [example.file])
  }
  start(project, join(project, "node_modules", ".bin", "cutpoint"), ["compact", "session.jsonl", "--dry-run"])
  start(project, join(project, "node_modules", ".bin", "cutpoint"), [
    "export",
    "session.jsonl",
    "--format",
    "anthropic",
    "-o",
    "out.json"
  ])
}

await build()
const work = mkdtempSync(join(tmpdir(), "cutpoint-packages-"))
// Whatever fails ends the process.
process.on("exit", () => rmSync(work, { recursive: true, force: true }))
await check(work)
