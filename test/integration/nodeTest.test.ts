import { spawnSync } from "node:child_process"
import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"

const readme = fileURLToPath(new URL("../../packages/testing/README.md", import.meta.url))

it("the example of @cutpoint/testing runs under plain node:test", () => {
  const example = /```js\n([\s\S]*?)```/.exec(readFileSync(readme, "utf8"))?.[1] ?? ""
  // It lies here while it runs, where the packages are found; they are built before the tests are run.
  const file = fileURLToPath(new URL(`readme-${process.pid}.mjs`, import.meta.url))
  writeFileSync(file, example)
  try {
    const { status, stdout } = spawnSync(process.execPath, ["--test", "--test-reporter=tap", file], {
      encoding: "utf8",
      // The runner would take itself for a part of this one.
      env: { ...process.env, NODE_TEST_CONTEXT: undefined }
    })
    expect(stdout).toMatch(/^# fail 0$/m)
    expect(stdout).toMatch(/^# pass (1[0-9]|[2-9][0-9])$/m)
    expect(status).toBe(0)
  } finally {
    rmSync(file)
  }
})
