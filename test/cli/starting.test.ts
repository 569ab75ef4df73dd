import { chmodSync, cpSync, existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { describe, expect, it } from "vitest"
import { bin, conversation, header, makeWorkspace, start } from "./cutpoint.js"

const workspace = makeWorkspace()
const session = workspace.write("session.jsonl", [header(), ...conversation(40, 900)])
const args = ["compact", session, "--dry-run", "--offline", "--tokenizer", "heuristic", "--context-window", "128000"]

/** The folder of the code that the build has compiled; a Node that compiles for itself has none. */
const compiledFolder = join("compiled", `${process.version}-${process.platform}-${process.arch}`)
const isCompiled = existsSync(join(dirname(bin), compiledFolder))

const filesOf = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).toSorted()

const foldersOf = (copy: string): ReadonlyArray<string> =>
  ["", "chunks", "compiled"].map((name) => join(copy, name)).filter((folder) => existsSync(folder))

/** Runs a copy of the command whose compiled code was tampered with. */
const runCopy = async (name: string, tamper: (compiled: string) => void) => {
  const copy = join(workspace.root, name)
  cpSync(dirname(bin), copy, { recursive: true })
  if (isCompiled) tamper(join(copy, compiledFolder))
  const before = filesOf(copy)
  for (const folder of foldersOf(copy)) chmodSync(folder, 0o555)
  const ran = await start(process.execPath, [join(copy, "bin.js"), ...args], {
    cwd: workspace.cwd,
    env: { HOME: workspace.home }
  })
  for (const folder of foldersOf(copy)) chmodSync(folder, 0o755)
  expect(filesOf(copy)).toEqual(before)
  return ran
}

describe("compiled code", () => {
  it.each<[string, (compiled: string) => void]>([
    ["that is not there", (compiled) => rmSync(compiled, { recursive: true })],
    ["that is cut off", (compiled) => each(compiled, (bytes) => bytes.subarray(0, bytes.length / 2))],
    ["of another version", (compiled) => each(compiled, (bytes) => bytes.fill(0x55, 0, 8))],
    ["that is empty", (compiled) => each(compiled, () => Buffer.alloc(0))]
  ])("%s changes nothing", async (name, tamper) => {
    const expected = await workspace.run(args)
    expect(expected).toMatchObject({ code: 0, stderr: "" })
    expect(await runCopy(name, tamper)).toEqual(expected)
  })

  it("is found where the command is called by a link", async () => {
    const link = join(workspace.root, "link")
    symlinkSync(bin, link)
    const options = { cwd: workspace.cwd, env: { HOME: workspace.home } }
    expect(await start(process.execPath, [link, ...args], options)).toEqual(await workspace.run(args))
  })
})

const each = (folder: string, change: (bytes: Buffer) => Buffer): void => {
  for (const name of readdirSync(folder)) {
    const file = join(folder, name)
    writeFileSync(file, change(readFileSync(file)))
  }
}
