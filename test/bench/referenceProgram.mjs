/**
 * A program that does with the original agent's package what `prepareProgram`
 * and `transcriptProgram` do: `referenceProgram FOLDER prepare|transcript FILE
 * TIMES`. The package is a black box.
 */
import { join } from "node:path"

const [folder, work, file, times] = process.argv.slice(2)
const core = join(folder, "dist", "core")
const { prepareCompaction, serializeConversation } = await import(join(core, "compaction", "index.js"))
const { SessionManager } = await import(join(core, "session-manager.js"))
const { convertToLlm } = await import(join(core, "messages.js"))

const settings = { enabled: true, reserveTokens: 16_384, keepRecentTokens: 20_000 }
const prepare = () => prepareCompaction(SessionManager.open(file).getBranch(), settings)
const messages = work === "transcript" ? SessionManager.open(file).buildSessionContext().messages : []
const done = work === "transcript" ? () => serializeConversation(convertToLlm(messages)) : prepare

const taken = []
for (let run = 0; run < Number(times); run++) {
  const start = performance.now()
  if (!done()) throw new Error("Nothing came of it.")
  taken.push(performance.now() - start)
}
console.log(JSON.stringify({ times: taken, peak: process.resourceUsage().maxRSS / 1024 }))
