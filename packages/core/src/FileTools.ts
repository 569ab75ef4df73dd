/**
 * Recognizes the tools that read, write and edit files, and the paths in
 * their arguments.
 *
 * @since 0.1.0
 */
import * as Json from "./Json.js"

/** An operation on a file. */
export interface Operation {
  readonly kind: "read" | "written" | "edited"
  readonly path: string
}

/** The tools that are recognized under their exact names. */
const plainTools: ReadonlyMap<string, Operation["kind"]> = new Map([
  ["read", "read"],
  ["write", "written"],
  ["edit", "edited"]
])

/** Other names the same tools go by, in lower case and without a namespace. */
const otherTools: ReadonlyMap<string, Operation["kind"]> = new Map([
  ["read_file", "read"],
  ["write_file", "written"],
  ["edit_file", "edited"],
  ["multi_edit", "edited"],
  ["multiedit", "edited"]
])

/** Editors whose `command` argument says what they do. */
const editors: ReadonlySet<string> = new Set(["str_replace_editor", "str_replace_based_edit_tool"])

const editorCommands: ReadonlyMap<string, Operation["kind"]> = new Map([
  ["view", "read"],
  ["create", "written"]
])

const pathKeys: ReadonlyArray<string> = ["path", "file_path", "filePath", "filename"]

/** Arguments that have the same operations, without the texts that are written or replaced where these are known. */
export const withoutTexts = (name: string, args: Json.JsonObject): Json.JsonObject => {
  const { path } = args
  return plainTools.has(name) && typeof path === "string" && path !== "" ? { path } : args
}

/** The operations of a call; with `fold`, tools and paths under other names count. */
export const operations = (name: string, args: unknown, fold: boolean): ReadonlyArray<Operation> => {
  if (!fold) {
    const kind = plainTools.get(name)
    return kind === undefined ? [] : withPath(kind, args, ["path"])
  }
  const tool = plainTools.has(name) ? name : bareName(name)
  if (tool === "apply_patch") return patchOperations(args)
  if (editors.has(tool)) return withPath(editorKind(args), args, pathKeys)
  const kind = plainTools.get(tool) ?? otherTools.get(tool)
  return kind === undefined ? [] : withPath(kind, args, pathKeys)
}

/** `mcp__fs__Write`, `fs.write` and `fs/write` are all `write`. */
const bareName = (name: string): string => (name.split(/__|[.:/]/).at(-1) ?? name).toLowerCase()

const editorKind = (args: unknown): Operation["kind"] => {
  const command = Json.isObject(args) && typeof args.command === "string" ? args.command : ""
  return editorCommands.get(command) ?? "edited"
}

const withPath = (kind: Operation["kind"], args: unknown, keys: ReadonlyArray<string>): ReadonlyArray<Operation> => {
  if (!Json.isObject(args)) return []
  for (const key of keys) {
    const path = args[key]
    if (typeof path === "string" && path !== "") return [{ kind, path }]
  }
  return []
}

const patchHeaders: ReadonlyArray<readonly [RegExp, Operation["kind"]]> = [
  [/^\*\*\* Add File: (.+)$/gm, "written"],
  [/^\*\*\* (?:Update|Delete) File: (.+)$/gm, "edited"],
  [/^\*\*\* Move to: (.+)$/gm, "written"]
]

/** The paths in a patch's header lines. */
const patchOperations = (args: unknown): ReadonlyArray<Operation> => {
  const patch = patchText(args)
  return patchHeaders.flatMap(([header, kind]) =>
    [...patch.matchAll(header)].map((match) => ({ kind, path: (match[1] ?? "").trim() }))
  )
}

const patchText = (args: unknown): string => {
  if (typeof args === "string") return args
  if (!Json.isObject(args)) return ""
  return Object.values(args)
    .flat()
    .filter((value) => typeof value === "string")
    .join("\n")
}
