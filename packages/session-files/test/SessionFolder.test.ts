import { describe, expect, it } from "@effect/vitest"
import { ConfigProvider, Effect, Either } from "effect"
import { SessionStore } from "@cutpoint/compaction/SessionStore"
import * as SessionFiles from "../src/SessionFiles.js"
import * as SessionFolder from "../src/SessionFolder.js"
import { header, lines, makeWorkspace, onFiles } from "./workspace.js"

const under = (variables: Record<string, string>) =>
  Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(variables))))

describe("SessionFolder", () => {
  it("names folders and files", () => {
    expect(SessionFolder.folderName("/home/me/my.project")).toBe("--home-me-my.project--")
    expect(SessionFolder.folderName("C:\\work\\a")).toBe("--C--work-a--")
    expect(SessionFolder.folderName("/")).toBe("----")
    expect(SessionFolder.fileName(0, "id")).toBe("1970-01-01T00-00-00-000Z_id.jsonl")
    expect(SessionFolder.idInName("1970-01-01T00-00-00-000Z_a_b.jsonl")).toBe("a_b")
    expect(SessionFolder.idInName("mine.jsonl")).toBe("mine")
  })

  it.effect("derives the default folder from the environment", () =>
    Effect.gen(function* () {
      const dir = SessionFolder.defaultSessionsDir
      expect(yield* under({ HOME: "/h" })(dir)).toBe("/h/.pi/agent/sessions")
      expect(yield* under({ USERPROFILE: "/u" })(dir)).toBe("/u/.pi/agent/sessions")
      expect(yield* under({ HOME: "/h", PI_CODING_AGENT_DIR: "/x" })(dir)).toBe("/x/sessions")
      expect(yield* under({ HOME: "/h", PI_CODING_AGENT_DIR: "~/x" })(dir)).toBe("/h/x/sessions")
      expect(yield* under({ HOME: "/h", PI_CODING_AGENT_DIR: "" })(dir)).toBe("/h/.pi/agent/sessions")
      expect(yield* under({ PI_CODING_AGENT_DIR: "/x" })(dir)).toBe("/x/sessions")
      expect(Either.isLeft(yield* Effect.either(under({})(dir)))).toBe(true)
    }).pipe(onFiles)
  )

  it.scoped("reads the environment when the layer is built", () =>
    Effect.gen(function* () {
      const { path, root, write } = yield* makeWorkspace
      const file = yield* write("agent/sessions/--w--/t_s1.jsonl", lines(header()))
      const found = yield* SessionStore.pipe(
        Effect.flatMap((store) => store.find("s1")),
        Effect.provide(SessionFiles.layerConfig),
        under({ PI_CODING_AGENT_DIR: path.join(root, "agent") })
      )
      expect(found).toBe(file)
    }).pipe(onFiles)
  )
})
