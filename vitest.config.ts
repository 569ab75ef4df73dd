import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"

const packages = fileURLToPath(new URL("packages", import.meta.url))

export default defineConfig({
  resolve: {
    // Tests run on the sources, so that a failure points at the line that is wrong.
    alias: [
      { find: /^@cutpoint\/([a-z-]+)\/(.+)$/, replacement: `${packages}/$1/src/$2.ts` },
      { find: /^@cutpoint\/([a-z-]+)$/, replacement: `${packages}/$1/src/index.ts` }
    ]
  },
  test: {
    include: ["packages/*/test/**/*.test.ts", "apps/*/test/**/*.test.ts", "test/**/*.test.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000
  }
})
