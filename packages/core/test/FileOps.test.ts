import { describe, expect, it } from "vitest"
import * as FileOps from "../src/FileOps.js"
import * as FilePath from "../src/FilePath.js"
import * as FileTools from "../src/FileTools.js"
import { answered, call, gave } from "./SessionBuilder.js"

describe("FilePath.fold", () => {
  it.each([
    ["a.ts", "./a.ts", "/w"],
    ["a.ts", "././/a.ts", "/w"],
    ["a.ts", "/w/a.ts", "/w"],
    ["a.ts", "/w/./src/../a.ts", "/w/"],
    ["../x/a.ts", "/x/a.ts", "/w"],
    ["a.ts", "./a.ts", undefined],
    ["a.ts", "b/../a.ts", undefined],
    ["/a/b", "/a//b/", undefined],
    ["/../a", "/a", undefined],
    ["c:/x/a", "C:\\x\\a", undefined],
    ["c:/x/a", "C:\\X\\.\\A", undefined],
    ["src\\a.ts", "C:\\proj\\SRC\\A.ts", "c:\\proj"],
    ["src/a.ts", "C:/proj/src/a.ts", "C:\\proj"],
    ["\\\\server\\share\\a", "\\\\SERVER\\share\\a", undefined],
    ["C:\\..\\a", "c:\\a", undefined],
    ["C:\\x\\..\\..\\..\\a", "c:/a", undefined]
  ])("%s and %s are one file in %s", (one, other, cwd) => {
    expect(FilePath.fold(one, cwd)).toBe(FilePath.fold(other, cwd))
  })

  it.each([
    ["a.ts", "A.ts", "/w"],
    ["a.ts", "b/a.ts", "/w"],
    ["a.ts", "/a.ts", "/w"],
    ["../a", "a", undefined],
    ["../../a", "../a", undefined],
    ["..a", "a", "/w"],
    ["a\\b", "a/b", "/w"],
    ["c:/x/a", "d:/x/a", undefined],
    ["/w2/a", "a", "/w"]
  ])("%s and %s are two files in %s", (one, other, cwd) => {
    expect(FilePath.fold(one, cwd)).not.toBe(FilePath.fold(other, cwd))
  })

  it("folding twice changes nothing", () => {
    for (const path of ["a/../b", "../a", "/x//y", "C:\\a\\..\\B", "\\\\s\\h", "", ".", "/"]) {
      expect(FilePath.fold(FilePath.fold(path))).toBe(FilePath.fold(path))
    }
  })
})

describe("FileTools.operations", () => {
  const of = (name: string, args: unknown, fold = true) =>
    FileTools.operations(name, args, fold).map(({ kind, path }) => `${kind} ${path}`)

  it.each([
    ["read", { path: "a" }, "read a"],
    ["Read", { file_path: "a" }, "read a"],
    ["READ", { filePath: "a" }, "read a"],
    ["write", { filename: "a" }, "written a"],
    ["mcp__fs__write", { path: "a" }, "written a"],
    ["mcp__fs__write_file", { path: "a" }, "written a"],
    ["fs.edit", { path: "a" }, "edited a"],
    ["fs/Edit", { path: "a" }, "edited a"],
    ["multi_edit", { path: "a" }, "edited a"],
    ["MultiEdit", { file_path: "a" }, "edited a"],
    ["str_replace_editor", { command: "view", path: "a" }, "read a"],
    ["str_replace_editor", { command: "create", path: "a" }, "written a"],
    ["str_replace_editor", { command: "str_replace", path: "a" }, "edited a"],
    ["str_replace_editor", { path: "a" }, "edited a"]
  ])("%s(%j) is %s", (name, args, operation) => expect(of(name, args)).toEqual([operation]))

  it("takes the first argument that names a path", () => {
    expect(of("read", { path: "", file_path: "b" })).toEqual(["read b"])
    expect(of("read", { path: null, filename: "c" })).toEqual(["read c"])
  })

  it.each([null, undefined, "rm", 7, [], {}, { path: 7 }, { path: "" }, { path: null }])("no path in %j", (args) => {
    expect(of("read", args)).toEqual([])
    expect(of("str_replace_editor", args)).toEqual([])
  })

  it("does not guess at shell commands or other tools", () => {
    expect(of("bash", { command: "sed -i s/a/b/ a.ts; mv a b" })).toEqual([])
    expect(of("reader", { path: "a" })).toEqual([])
    expect(of("readwrite", { path: "a" })).toEqual([])
    expect(of("", { path: "a" })).toEqual([])
  })

  const patch = [
    "*** Begin Patch",
    "*** Add File: new.ts",
    "+x",
    "*** Update File: old name.ts",
    "*** Move to: moved.ts",
    "@@",
    "-*** Add File: not.ts",
    "*** Delete File: gone.ts",
    "*** End Patch"
  ].join("\n")

  it.each([
    ["as a text", patch],
    ["under any name", { input: patch }],
    ["in a list", { command: ["apply_patch", patch] }],
    ["with carriage returns", { patch: patch.replaceAll("\n", "\r\n") }]
  ])("reads the paths of a patch %s", (_, args) => {
    expect(of("apply_patch", args).toSorted()).toEqual([
      "edited gone.ts",
      "edited old name.ts",
      "written moved.ts",
      "written new.ts"
    ])
  })

  it("of a patch that is none", () => {
    for (const args of [null, undefined, 7, "", { input: 7 }]) expect(of("apply_patch", args)).toEqual([])
  })

  it("without folding only the plain names count", () => {
    expect(of("read", { path: "a" }, false)).toEqual(["read a"])
    expect(of("Read", { path: "a" }, false)).toEqual([])
    expect(of("read", { file_path: "a" }, false)).toEqual([])
    expect(of("apply_patch", patch, false)).toEqual([])
  })
})

describe("FileOps", () => {
  const recognition: FileOps.Recognition = { cwd: "/w", fold: true }
  const tool = (name: string, path: string) => FileOps.fromMessage(answered([call("1", name, { path })]), recognition)
  const lists = (...all: ReadonlyArray<FileOps.FileOps>) => FileOps.lists(FileOps.combineAll(all))

  it("a file that was read and modified stands under modified only, as first spelled", () => {
    expect(lists(tool("read", "./src/a.ts"), tool("edit", "src/a.ts"))).toEqual({
      readFiles: [],
      modifiedFiles: ["src/a.ts"]
    })
    expect(lists(tool("edit", "/w/a"), tool("read", "a"), tool("edit", "./a"))).toEqual({
      readFiles: [],
      modifiedFiles: ["/w/a"]
    })
    expect(lists(tool("write", "c:/x/a"), tool("edit", "C:\\x\\a"))).toEqual({
      readFiles: [],
      modifiedFiles: ["c:/x/a"]
    })
  })

  it("without folding they are two", () => {
    const plain = { fold: false }
    const of = (name: string, path: string) => FileOps.fromMessage(answered([call("1", name, { path })]), plain)
    expect(lists(of("read", "./a"), of("edit", "a"))).toEqual({ readFiles: ["./a"], modifiedFiles: ["a"] })
  })

  it("sorts by UTF-16 code unit, without duplicates", () => {
    const names = ["b", "a", "B", "\u{1F600}", "\uFF5E", "10", "9", "a"]
    expect(lists(...names.map((name) => tool("read", name))).readFiles).toEqual([
      "10",
      "9",
      "B",
      "a",
      "b",
      "\u{1F600}",
      "\uFF5E"
    ])
  })

  it("is a monoid", () => {
    const [a, b, c] = [tool("read", "a"), tool("edit", "./a"), tool("write", "c")]
    expect(lists(FileOps.combine(a, FileOps.empty))).toEqual(lists(a))
    expect(lists(FileOps.combine(FileOps.empty, b))).toEqual(lists(b))
    expect(FileOps.combine(FileOps.combine(a, b), c)).toEqual(FileOps.combine(a, FileOps.combine(b, c)))
  })

  it("takes the calls that a tool made itself, whatever their arguments", () => {
    const calls = [
      { name: "read", arguments: { path: "n" } },
      { name: "edit", arguments: null },
      { name: "write", arguments: "x" }
    ]
    const ops = FileOps.fromMessage(gave("1", "ok", { nestedCalls: { calls } }), recognition)
    expect(FileOps.lists(ops)).toEqual({ readFiles: ["n"], modifiedFiles: [] })
  })

  it("recorded once and read from the record again, the lists are the same", () => {
    const first = lists(tool("read", "r"), tool("edit", "e"), tool("write", "w"))
    expect(FileOps.lists(FileOps.fromDetails({ details: first }, recognition))).toEqual(first)
  })
})
