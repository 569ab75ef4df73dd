/** A program that writes the transcript of a session's messages by parity's rules: `transcriptProgram FILE TIMES`. */
import * as Projection from "@cutpoint/core/Projection"
import * as Rules from "@cutpoint/core/Rules"
import * as SessionLines from "@cutpoint/core/SessionLines"
import * as SessionTree from "@cutpoint/core/SessionTree"
import * as Transcript from "@cutpoint/core/Transcript"
import { readFileSync } from "node:fs"

const [file = "", times = "1"] = process.argv.slice(2)
const lines = SessionLines.parse(readFileSync(file, "utf8"))
if (lines === undefined) throw new Error(`${file} is no session.`)
const messages = Projection.messages(
  Projection.project(SessionTree.leafPath(SessionTree.make(lines.header, lines.entries)))
)

const options = { includeThinking: true, guarded: Rules.parity.guardedTranscript }
const taken: Array<number> = []
for (let run = 0; run < Number(times); run++) {
  const start = performance.now()
  Transcript.serialize(Projection.convertToLlm(messages), options)
  taken.push(performance.now() - start)
}
console.log(JSON.stringify({ times: taken, peak: process.resourceUsage().maxRSS / 1024 }))
