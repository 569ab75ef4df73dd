import { mkdirSync, utimesSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { fingerprint, header, makeWorkspace, reply, user, type Workspace } from "./cutpoint.js"

const entries = [user("u1", null, "Please do it"), reply("a1", "u1", "Done")]

/** Three sessions, two of them of the working folder; the times set their order. */
const makeSessions = (agent = "home/.pi/agent") => {
  const workspace = makeWorkspace()
  const write = (id: string, cwd: string, minutesAgo: number) => {
    const file = workspace.write(`${agent}/sessions/--some--/2026-01-01_${id}.jsonl`, [header({ id, cwd }), ...entries])
    const time = new Date().getTime() / 1000 - minutesAgo * 60
    utimesSync(file, time, time)
    return file
  }
  return {
    workspace,
    oldest: write("abc-111", workspace.cwd, 30),
    newest: write("abc-222", workspace.cwd, 10),
    elsewhere: write("xyz", "/elsewhere", 0)
  }
}

const sessionOf = async (workspace: Workspace, query: string): Promise<string> =>
  (await workspace.json(["context", query])).session

describe("[session]", () => {
  const { elsewhere, newest, oldest, workspace } = makeSessions()

  it("is a path, whole or from the working folder on", async () => {
    expect(await sessionOf(workspace, oldest)).toBe(oldest)
    expect(await sessionOf(workspace, "../home/.pi/agent/sessions/--some--/2026-01-01_xyz.jsonl")).toBe(elsewhere)
  })

  it("is an id, or an unambiguous start of one", async () => {
    expect(await sessionOf(workspace, "abc-222")).toBe(newest)
    expect(await sessionOf(workspace, "abc-1")).toBe(oldest)
    expect(await sessionOf(workspace, "x")).toBe(elsewhere)
  })

  it("fails where it fits several, and names them", async () => {
    const { error } = await workspace.json(["context", "abc"], 1)
    expect(error._tag).toBe("AmbiguousSession")
    expect(error.candidates).toHaveLength(2)
    const { stderr } = await workspace.run(["context", "abc"])
    for (const said of ["abc-111", oldest, "abc-222", newest]) expect(stderr).toContain(said)
    expect(stderr).not.toContain("xyz")
  })

  it.each(["", "  ", "nope", "./nope.jsonl"])("fails where it is %j, and names what there is", async (query) => {
    const { error } = await workspace.json(["compact", query, "--offline"], 1)
    expect(error).toMatchObject({ _tag: "SessionNotFound", query })
    const { stderr } = await workspace.run(["tree", query])
    for (const said of ["abc-111", "abc-222", "xyz"]) expect(stderr).toContain(said)
  })

  it("left out is the newest of the working folder, whose path is said", async () => {
    for (const shown of [["context"], ["tree"], ["compact", "--dry-run"]]) {
      const ran = await workspace.run(shown)
      expect(ran).toMatchObject({ code: 0, stderr: expect.stringContaining(`Session: ${newest}\n`) })
    }
    const silent = await workspace.run(["context", "--json"])
    expect(JSON.parse(silent.stdout).session).toBe(newest)
  })

  it("left out where there is none of the folder is an error that names the others", async () => {
    mkdirSync(`${workspace.root}/empty`)
    const options = { cwd: `${workspace.root}/empty` }
    const ran = await workspace.run(["compact", "--offline"], options)
    expect(ran).toMatchObject({ code: 1, stdout: "" })
    for (const said of [options.cwd, "abc-111", "xyz"]) expect(ran.stderr).toContain(said)
    expect((await workspace.json(["tree"], 1, options)).error._tag).toBe("SessionNotFound")
  })

  it("is asked for nothing before it is written to, away from a terminal", async () => {
    const before = fingerprint(newest)
    const ran = await workspace.run(["tree", "--to", "u1"])
    expect(ran.code).toBe(0)
    expect(fingerprint(newest)).not.toBe(before)
  })
})

describe("sessions", () => {
  const { elsewhere, newest, oldest, workspace } = makeSessions()

  it("lists those of the folder, the newest first", async () => {
    const { sessions } = await workspace.json(["sessions"])
    expect(sessions).toMatchObject([
      { id: "abc-222", path: newest, cwd: workspace.cwd, name: null, contextTokens: null },
      { id: "abc-111", path: oldest }
    ])
    expect(Object.keys(sessions[0])).toEqual(["id", "path", "cwd", "name", "bytes", "modified", "contextTokens"])
    expect((await workspace.run(["sessions"])).stdout).toMatch(/^abc-222 .* 10 min .*\nabc-111 .* 30 min .*\n$/)
  })

  it("lists those of every folder, with counts where wanted", async () => {
    const { sessions } = await workspace.json(["sessions", "--all", "--counts"])
    expect(sessions.map((each: { readonly path: string }) => each.path)).toEqual([elsewhere, newest, oldest])
    expect(sessions[0]).toMatchObject({ entries: 2, compactions: 0 })
    expect((await workspace.run(["sessions", "--all", "--counts"])).stdout).toContain("2 entries, 0 compactions")
  })

  it("says where there are none", async () => {
    const ran = await makeWorkspace().run(["sessions"])
    expect(ran).toMatchObject({ code: 0, stdout: "" })
    expect(ran.stderr).toContain("--all")
  })

  it("follows PI_CODING_AGENT_DIR", async () => {
    const { newest, workspace } = makeSessions("moved")
    expect((await workspace.json(["sessions"])).sessions).toEqual([])
    const options = { env: { PI_CODING_AGENT_DIR: `${workspace.root}/moved` } }
    expect((await workspace.json(["sessions"], 0, options)).sessions).toHaveLength(2)
    expect((await workspace.json(["context"], 0, options)).session).toBe(newest)
  })
})
