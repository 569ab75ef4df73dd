/** Every `@example` in a comment of the packages compiles, on the built packages. */
import { spawnSync } from "node:child_process"
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"

const root = fileURLToPath(new URL("../..", import.meta.url))

const sources = readdirSync(join(root, "packages")).flatMap((name) =>
  readdirSync(join(root, "packages", name, "src")).map((file) => join("packages", name, "src", file))
)

const examplesOf = (file: string): ReadonlyArray<string> =>
  [...readFileSync(join(root, file), "utf8").matchAll(/^ \* @example\n((?: \*.*\n)+?) \* ```\n/gm)].map(
    ([, lines = ""]) => lines.replace(/^ \* ?/gm, "").replace(/^```ts\n/, "")
  )

it("examples in comments compile", () => {
  // They lie here while they are checked, where the packages are found.
  const folder = fileURLToPath(new URL(`comments-${process.pid}`, import.meta.url))
  mkdirSync(folder)
  try {
    let count = 0
    for (const file of sources) {
      for (const example of examplesOf(file))
        writeFileSync(join(folder, `example${count++}.ts`), `// ${file}\n${example}`)
    }
    const mentioned = sources.map((file) => readFileSync(join(root, file), "utf8").split("@example").length - 1)
    expect(count).toBe(mentioned.reduce((sum, each) => sum + each, 0))
    expect(count).toBeGreaterThan(0)
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({
        extends: "../../../tsconfig.test.json",
        compilerOptions: { noUnusedLocals: false },
        include: ["*.ts"]
      })
    )
    const { stdout } = spawnSync(join(root, "node_modules", ".bin", "tsc"), ["-p", folder, "--pretty", "false"], {
      encoding: "utf8"
    })
    expect(stdout).toBe("")
  } finally {
    rmSync(folder, { recursive: true })
  }
})
