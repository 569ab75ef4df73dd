/**
 * Arbitrary texts, file names and tool arguments, with all that has ever gone
 * wrong in one: emoji, halves of them, tags and markers that belong to
 * Cutpoint, line ends of every kind, texts longer than is shown of a part.
 *
 * @since 0.1.0
 */
import * as FastCheck from "effect/FastCheck"

const words = FastCheck.array(
  FastCheck.constantFrom(
    "the",
    "fix",
    "parser",
    "fails",
    "run",
    "tests",
    "in",
    "src/a.ts",
    "again:",
    "404",
    "please",
    "não"
  ),
  { maxLength: 12 }
).map((some) => some.join(" "))

const oddPieces = FastCheck.constantFrom(
  "😀",
  "\ud83d",
  "\ude00",
  "漢字",
  "e\u0301",
  "\u2028",
  "\r\n",
  "\n\n",
  "\0",
  " ",
  "<",
  "/",
  "[",
  "]:",
  "<conversation>",
  "</conversation>",
  "< / Previous-Summary >",
  "</turn-prefix",
  "<pinned>\nthis\n</pinned>",
  "<read-files>\na.ts\n</read-files>",
  "</modified-files>",
  "[User]: ",
  "[Tool result] :",
  "[assistant tool calls]:",
  "[Assistant]:",
  "[... 7 characters left out ...]",
  "## Goal\n",
  "- [x] ",
  "**",
  "<|endoftext|>",
  "word"
)

const oddText = FastCheck.array(oddPieces, { minLength: 1, maxLength: 8 }).map((pieces) => pieces.join(""))

/** Around and far over the most that is shown of a part, so that cuts fall anywhere in a piece. */
const longText = FastCheck.tuple(words, oddPieces, FastCheck.integer({ min: 1900, max: 4500 })).map(
  ([start, piece, length]) => (start + piece.repeat(Math.ceil(length / piece.length))).slice(0, length)
)

/** Any text. */
export const text: FastCheck.Arbitrary<string> = FastCheck.oneof(
  { arbitrary: words, weight: 12 },
  { arbitrary: oddText, weight: 5 },
  { arbitrary: FastCheck.constant(""), weight: 1 },
  { arbitrary: FastCheck.string(), weight: 1 },
  { arbitrary: longText, weight: 1 }
)

/** A text on one line with nothing to trim, as items of summaries are; at times of odd characters. */
export const line: FastCheck.Arbitrary<string> = text.map((some) => some.replaceAll("\n", " ").trim() || "item")

/** Names of files: several spellings of one file, and names that are hard to list. */
export const path: FastCheck.Arbitrary<string> = FastCheck.constantFrom(
  "a.ts",
  "./a.ts",
  "src/../a.ts",
  "/work/app/a.ts",
  "/work/app/src/b.ts",
  "src//b.ts",
  "../other/c.md",
  "C:\\work\\A.ts",
  "c:/work/a.ts",
  "日本.md",
  "with space.txt",
  "two\nlines.ts",
  "</read-files>",
  "half\ud83d.ts"
)

/** The folder of a session, at times unknown, at times Windows-style. */
export const cwd: FastCheck.Arbitrary<string | undefined> = FastCheck.constantFrom(undefined, "/work/app", "C:\\work")

/** Names that tools go by. */
export const toolName: FastCheck.Arbitrary<string> = FastCheck.constantFrom(
  "read",
  "write",
  "edit",
  "Read",
  "mcp__fs__write",
  "fs.edit",
  "read_file",
  "multi_edit",
  "str_replace_editor",
  "apply_patch",
  "bash"
)

const pathKey = FastCheck.constantFrom("path", "file_path", "filePath", "filename", "target")

const patch = FastCheck.tuple(FastCheck.constantFrom("Add File", "Update File", "Delete File", "Move to"), path).map(
  ([kind, file]) => `*** Begin Patch\n*** ${kind}: ${file}\n*** End Patch`
)

/** What a model may give a tool: an object, or anything else. */
export const toolArguments: FastCheck.Arbitrary<unknown> = FastCheck.oneof(
  { arbitrary: FastCheck.tuple(pathKey, path).map(([key, file]) => ({ [key]: file })), weight: 6 },
  {
    arbitrary: FastCheck.tuple(pathKey, path, text).map(([key, file, rest]) => ({ [key]: file, content: rest })),
    weight: 3
  },
  { arbitrary: FastCheck.record({ command: FastCheck.constantFrom("view", "create", "ls"), path }), weight: 2 },
  { arbitrary: patch.map((input) => ({ input })), weight: 1 },
  { arbitrary: patch, weight: 1 },
  {
    arbitrary: FastCheck.constantFrom(null, undefined, "path", 7, [], {}, { path: null }, { path: { deep: ["a.ts"] } }),
    weight: 2
  },
  { arbitrary: text, weight: 1 },
  { arbitrary: FastCheck.tuple(text, text).map(([key, value]) => ({ [key]: [value] })), weight: 1 }
)
