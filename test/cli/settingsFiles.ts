/** Runs the command among settings files, and sees that it leaves them as they are. */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { expect } from "vitest"
import { conversation, header, type Json, makeWorkspace } from "./cutpoint.js"

/** A settings file: its text, its JSON, or what stands in its place. */
export type Content = string | object | { readonly inPlace: (file: string) => void }

export interface Given {
  /** `settings.json` of the home's `.pi/agent`. */
  readonly user?: Content
  /** `.pi/settings.json` of the session's folder. */
  readonly project?: Content
  /** `.pi/settings.json` of the folder that the command is run in. */
  readonly here?: Content
  /** `settings.json` of the folder that `PI_CODING_AGENT_DIR` names. */
  readonly moved?: Content
  /** Whether the session's folder is there no more. */
  readonly isGone?: boolean
  /** After `compact SESSION`; a dry run with the heuristic tokenizer where left out. */
  readonly args?: ReadonlyArray<string>
}

export const heuristic = ["--tokenizer", "heuristic"]
export const dryRun = ["--dry-run", ...heuristic]

/** Four turns by the model `maker/thinker`, of 4,012 tokens by heuristic: 1,000 a question, 3 an answer. */
export const turns = conversation(4, 1000)

/** A workspace with these settings, a session, and a check that the settings are as they were. */
export const arrange = (given: Given, entries: ReadonlyArray<object> = turns) => {
  const workspace = makeWorkspace()
  const project = join(workspace.root, "project")
  if (given.isGone !== true) mkdirSync(project)
  const session = workspace.write("session.jsonl", [header({ cwd: project }), ...entries])
  const agentDir = join(workspace.root, "moved")
  const files = {
    user: join(workspace.home, ".pi", "agent", "settings.json"),
    project: join(project, ".pi", "settings.json"),
    here: join(workspace.cwd, ".pi", "settings.json"),
    moved: join(agentDir, "settings.json")
  }
  const names = ["user", "project", "here", "moved"] as const
  for (const name of names) put(files[name], given[name])
  const env: Record<string, string> = given.moved === undefined ? {} : { PI_CODING_AGENT_DIR: agentDir }
  const before = names.map((name) => bytesAround(files[name]))
  const untouched = () => expect(names.map((name) => bytesAround(files[name]))).toEqual(before)
  return { workspace, session, files, env, untouched }
}

export const put = (file: string, content: Content | undefined): void => {
  if (content === undefined) return
  mkdirSync(dirname(file), { recursive: true })
  if (typeof content === "string") writeFileSync(file, content)
  else if ("inPlace" in content) content.inPlace(file)
  else writeFileSync(file, JSON.stringify(content))
}

/** All settings in a settings file's folder, so that neither a change nor a new file beside it goes unseen. */
const bytesAround = (file: string): ReadonlyArray<string> =>
  statSync(dirname(file), { throwIfNoEntry: false })?.isDirectory() === true
    ? readdirSync(dirname(file), { withFileTypes: true }).map(
        (found) => `${found.name} ${found.isFile() ? readFileSync(join(dirname(file), found.name), "hex") : ""}`
      )
    : []

export const compact = async (given: Given, code: number, entries?: ReadonlyArray<object>): Promise<Json> => {
  const { env, session, untouched, workspace } = arrange(given, entries)
  const document = await workspace.json(["compact", session, ...(given.args ?? dryRun)], code, { env })
  untouched()
  return document
}

/** What settings come to: the numbers of a dry run. */
export const outcome = ({ contextTokens, contextWindow, preparation, status, threshold }: Json) => ({
  status,
  contextTokens,
  contextWindow,
  threshold,
  firstKept: preparation === null ? null : preparation.firstKeptEntryId
})

/** What comes of no settings: a window that is assumed, and all of the session within what is kept. */
export const byDefault = {
  status: "nothing-to-compact",
  contextTokens: 4012,
  contextWindow: 128_000,
  threshold: 111_616,
  firstKept: null
}

export const model = (name: string, fields: object) => ({ cutpoint: { models: { [name]: fields } } })
export const override = (name: string, fields: object) => ({ compaction: { modelOverrides: { [name]: fields } } })
