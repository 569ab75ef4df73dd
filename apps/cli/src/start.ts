#!/usr/bin/env node
/**
 * Starts the command from compiled code that has been kept, since compiling it
 * takes longer than most of what the command does.
 *
 * Where Node can keep compiled code itself (from 22.1 on), it does. Before, what
 * is in a folder beside the chunks is used, which the build left there for its
 * own version of Node. Where that is not there, or V8 turns it down, the code
 * is compiled. It is not published: it would fit few who install the command.
 */
import { readFileSync } from "node:fs"
import nodeModule from "node:module"
import { basename, join } from "node:path"
import { Script } from "node:vm"

const chunks = join(__dirname, "chunks")
const compiled = join(__dirname, "compiled", `${process.version}-${process.platform}-${process.arch}`)

/** What each chunk exports. */
const loaded = new Map<string, { exports: unknown }>()

/** Loads a chunk as `require` does. */
const load = (name: string): unknown => {
  const known = loaded.get(name)
  if (known !== undefined) return known.exports
  const module = { exports: {} }
  loaded.set(name, module)
  const filename = join(chunks, name)
  const script = new Script(nodeModule.wrap(readFileSync(filename, "utf8")), { filename, cachedData: cacheOf(name) })
  script.runInThisContext()(module.exports, requireFromChunk, module, filename, chunks)
  return module.exports
}

const requireFromChunk = (id: string): unknown => (id.startsWith("./") ? load(basename(id)) : require(id))

const cacheOf = (name: string): Buffer | undefined => {
  try {
    return readFileSync(join(compiled, name))
  } catch {
    return undefined
  }
}

// The types are those of the oldest Node that is supported.
if ("enableCompileCache" in nodeModule && typeof nodeModule.enableCompileCache === "function") {
  nodeModule.enableCompileCache()
  require(join(chunks, "main.js"))
} else {
  load("main.js")
}
