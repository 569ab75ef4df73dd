/**
 * When two spellings of a path mean one file.
 *
 * @since 0.1.0
 */

const drive = /^[A-Za-z]:[\\/]/

const isWindowsStyle = (path: string): boolean => drive.test(path) || path.startsWith("\\\\")

const isAbsolute = (path: string): boolean => path.startsWith("/") || drive.test(path)

/**
 * A form that is equal for all spellings of a file: `./a` and `a`, a path
 * under the session's folder and its relative form; where path or folder are
 * Windows-style, case and separators make no difference.
 */
export const fold = (path: string, cwd?: string): string => {
  const windows = isWindowsStyle(path) || (cwd !== undefined && isWindowsStyle(cwd) && !path.startsWith("/"))
  const separated = windows ? path.replaceAll("\\", "/").toLowerCase() : path
  if (isAbsolute(separated) || cwd === undefined || cwd === "") return withoutDots(separated)
  const base = windows ? cwd.replaceAll("\\", "/").toLowerCase() : cwd
  return withoutDots(`${base}/${separated}`)
}

/** What a path starts with that no `..` leads above. */
const rootOf = (path: string): string => /^(?:\/\/?|[a-z]:\/)/.exec(path)?.[0] ?? ""

/** Takes `.`, `..` and doubled separators out; a `..` that leads above the start of a relative path stays. */
const withoutDots = (path: string): string => {
  const root = rootOf(path)
  const kept: Array<string> = []
  for (const part of path.slice(root.length).split("/")) {
    if (part === "" || part === ".") continue
    const above = kept.at(-1)
    if (part !== "..") kept.push(part)
    else if (above !== undefined && above !== "..") kept.pop()
    else if (root === "") kept.push(part)
  }
  return root + kept.join("/")
}
