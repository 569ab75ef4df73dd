/** The sessions that the benchmarks work on: written once into a folder of their own, and kept there. */
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Shape, write } from "./generate.js"

/** Where they are. */
export const folder = process.env.CUTPOINT_BENCH ?? join(tmpdir(), "cutpoint-bench")

/** How many entries follow the last compaction of a compacted session. */
const sinceCompaction = 500

const made = (name: string, shape: Shape): string => {
  const path = join(folder, name)
  if (existsSync(path)) return path
  mkdirSync(folder, { recursive: true })
  write(`${path}.new`, shape)
  renameSync(`${path}.new`, path)
  return path
}

/** A session that was never compacted. */
export const never = (entries: number): string => made(`never-${entries}.jsonl`, { entries })

/** A session that was compacted 500 entries before its end. */
export const compacted = (entries: number): string => made(`compacted-${entries}.jsonl`, { entries, sinceCompaction })

/** An agent's folder with so many sessions of about 1 MB. */
export const listed = (count: number): string => {
  const agent = join(folder, `agent-${count}`)
  if (existsSync(agent)) return agent
  const making = `${agent}.new`
  rmSync(making, { recursive: true, force: true })
  for (let index = 0; index < count; index++) {
    const project = join(making, "sessions", `--bench-project-${index % 20}--`)
    mkdirSync(project, { recursive: true })
    const name = `2026-01-01T00-00-00-000Z_${index.toString(16).padStart(8, "0")}.jsonl`
    write(join(project, name), { entries: 620, ...(index % 2 === 0 ? {} : { sinceCompaction }) })
  }
  renameSync(making, agent)
  return agent
}
