/** Every example of `examples/` runs, on the built packages, and prints what it promises. */
import { spawnSync } from "node:child_process"
import { readdirSync, rmSync } from "node:fs"
import { basename, join } from "node:path"
import { fileURLToPath } from "node:url"
import { build } from "esbuild"
import { afterAll, expect, it } from "vitest"
import * as SessionStoreContract from "@cutpoint/testing/SessionStoreContract"

const folder = fileURLToPath(new URL("../../examples", import.meta.url))
// They lie there while they run, where the packages are found.
const out = join(folder, "dist", `test-${process.pid}`)

afterAll(() => rmSync(out, { recursive: true, force: true }))

const printed: { readonly [name: string]: RegExp } = {
  "cancelingHook.ts": /^Canceled: A migration is running\.\n3 entries, as before\n$/,
  "customStore.ts": new RegExp(`^(ok: it .+\n){${SessionStoreContract.checks.length}}$`),
  "customSummarizer.ts": /^- asked: Question 0\./,
  "selfCompactingAgent.ts": /^[3-9] compactions\n80 requests, the largest of \d+ tokens, none refused\n$/,
  "telemetry.ts":
    /^Compaction\.run session=example reason=manual tokensBefore=2118 tokensAfter=\d+ requests=0 \d+ ms$(.|\n)*^cutpoint_compactions reason=manual writer=offline 1$/m,
  "tokenizerLaws.ts": /^The laws hold\.\n$/
}

it("all are tested", () => {
  expect(readdirSync(folder).filter((name) => name.endsWith(".ts"))).toEqual(Object.keys(printed))
})

it.each(Object.entries(printed))("%s", async (name, pattern) => {
  const outfile = join(out, `${basename(name, ".ts")}.mjs`)
  await build({ entryPoints: [join(folder, name)], outfile, bundle: true, packages: "external", format: "esm" })
  const { status, stderr, stdout } = spawnSync(process.execPath, [outfile], { encoding: "utf8" })
  expect(stderr).toBe("")
  expect(stdout).toMatch(pattern)
  expect(status).toBe(0)
})
