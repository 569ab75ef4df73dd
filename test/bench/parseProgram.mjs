/** A program that parses a file's lines as JSON and lets go of them: `parseProgram FILE`. */
import { readFileSync } from "node:fs"

const bytes = readFileSync(process.argv[2])
const start = performance.now()
for (let at = 0, end = bytes.indexOf(10); end >= 0; at = end + 1, end = bytes.indexOf(10, at)) {
  JSON.parse(bytes.toString("utf8", at, end))
}
console.log(JSON.stringify({ times: [performance.now() - start], peak: process.resourceUsage().maxRSS / 1024 }))
