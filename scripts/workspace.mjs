/**
 * What every script needs first: the packages installed, the command built.
 * Plain Node, so that it runs on a machine with nothing but Node and npm.
 */
import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

/** The repository's folder. */
export const root = fileURLToPath(new URL("..", import.meta.url))

/** Runs a program in the repository and ends this one where it fails. */
export const run = (program, args, options = {}) => {
  const { status, error } = spawnSync(program, args, { cwd: root, stdio: "inherit", ...options })
  if (error) throw error
  if (status !== 0) process.exit(status ?? 1)
}

/** The program of an installed package. */
export const installed = (name) => join(root, "node_modules", ".bin", name)

const pnpmVersion = () => {
  const { packageManager } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
  return packageManager.split("@").at(-1)
}

/** The workspace's pnpm as a program and its arguments. npx rather than corepack: it needs nothing but npm. */
export const pnpm = (...args) => ["npx", ["-y", `pnpm@${pnpmVersion()}`, ...args]]

/** Installs what the lock file names, unless that very lock file has been installed already. */
export const install = () => {
  const lock = createHash("sha256")
    .update(readFileSync(join(root, "pnpm-lock.yaml")))
    .digest("hex")
  const mark = join(root, "node_modules", ".installed-lock")
  if (existsSync(mark) && readFileSync(mark, "utf8") === lock) return
  // Its output must not mix with a script's result.
  run(...pnpm("install", "--frozen-lockfile"), { stdio: ["ignore", 2, 2] })
  writeFileSync(mark, lock)
}

/** Runs one file of tests with the amount that the first argument gives, or more than `npm test` takes the time for. */
export const stress = async (tests, variable, amount) => {
  const { build } = await import("./build.mjs")
  await build()
  const env = { ...process.env, [variable]: process.argv[2] ?? String(amount) }
  run(installed("vitest"), ["run", tests], { env })
}
