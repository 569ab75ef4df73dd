/** Loaded before the command: writes what V8 has compiled of each chunk into a folder beside theirs, when the command ends. */
import { mkdirSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import vm from "node:vm"

const scripts = new Map()

vm.Script = class extends vm.Script {
  constructor(source, options) {
    super(source, options)
    scripts.set(options.filename, this)
  }
}

process.on("exit", () => {
  for (const [filename, script] of scripts) {
    const dist = dirname(dirname(filename))
    const folder = join(dist, "compiled", `${process.version}-${process.platform}-${process.arch}`)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, basename(filename)), script.createCachedData())
  }
})
