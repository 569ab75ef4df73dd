/** A file system that fails when it is told to, for seeing what is left then. */
import * as PlatformError from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"

/** How calls fail; a short write writes half of the bytes before it finds the disk full. */
export const faults = ["ENOSPC", "EIO", "EACCES", "EMFILE", "short write"] as const

/** How calls fail. */
export type Fault = (typeof faults)[number]

/** A file system with a switch. */
export interface FaultyFiles {
  readonly fs: FileSystem.FileSystem
  /** Counts calls anew; the one of this number fails, and with `onwards` every one after it. */
  readonly arm: (call: number, fault: Fault, onwards?: boolean) => void
  /** From here on nothing fails. */
  readonly disarm: () => void
  /** How many calls there were since it was armed. */
  readonly calls: () => number
  /** Whether a call has failed since it was armed. */
  readonly hasFailed: () => boolean
}

const errorOf = (fault: Fault, method: string): PlatformError.SystemError => {
  const code = fault === "short write" ? "ENOSPC" : fault
  const cause = Object.assign(new Error(`${code}: made to fail, ${method}`), { code })
  const reason = fault === "EACCES" ? "PermissionDenied" : "Unknown"
  return new PlatformError.SystemError({ module: "FileSystem", method, reason, description: cause.message, cause })
}

/** The same file system, until it is armed. */
export const make = (real: FileSystem.FileSystem): FaultyFiles => {
  const state: { call: number; armed: { call: number; fault: Fault; onwards: boolean } | undefined; failed: boolean } =
    {
      call: 0,
      armed: undefined,
      failed: false
    }
  /** The fault of this call, if it is to fail. */
  const next = (isWrite: boolean): Fault | undefined => {
    state.call++
    const { armed } = state
    if (armed === undefined) return undefined
    const isDue = armed.onwards ? state.call >= armed.call : state.call === armed.call
    if (!isDue || (armed.fault === "short write" && !isWrite)) return undefined
    state.failed = true
    return armed.fault
  }
  const guard = <A, E, R>(method: string, effect: Effect.Effect<A, E, R>) =>
    Effect.suspend((): Effect.Effect<A, E | PlatformError.PlatformError, R> => {
      const fault = next(false)
      return fault === undefined ? effect : Effect.fail(errorOf(fault, method))
    })
  const guardFile = (file: FileSystem.File): FileSystem.File => ({
    [FileSystem.FileTypeId]: FileSystem.FileTypeId,
    fd: file.fd,
    stat: guard("stat", file.stat),
    sync: guard("sync", file.sync),
    seek: (offset, from) => file.seek(offset, from),
    read: (buffer) => guard("read", file.read(buffer)),
    readAlloc: (size) => guard("readAlloc", file.readAlloc(size)),
    truncate: (length) => guard("truncate", file.truncate(length)),
    write: (buffer) => guard("write", file.write(buffer)),
    writeAll: (bytes) =>
      Effect.suspend(() => {
        const fault = next(true)
        if (fault === undefined) return file.writeAll(bytes)
        const half = fault === "short write" ? file.writeAll(bytes.subarray(0, bytes.length / 2)) : Effect.void
        return Effect.zipRight(half, Effect.fail(errorOf(fault, "writeAll")))
      })
  })
  const fs: FileSystem.FileSystem = {
    ...real,
    access: (...args) => guard("access", real.access(...args)),
    chmod: (...args) => guard("chmod", real.chmod(...args)),
    chown: (...args) => guard("chown", real.chown(...args)),
    copyFile: (...args) => guard("copyFile", real.copyFile(...args)),
    exists: (...args) => guard("exists", real.exists(...args)),
    link: (...args) => guard("link", real.link(...args)),
    makeDirectory: (...args) => guard("makeDirectory", real.makeDirectory(...args)),
    open: (...args) => guard("open", Effect.map(real.open(...args), guardFile)),
    readDirectory: (...args) => guard("readDirectory", real.readDirectory(...args)),
    readFileString: (...args) => guard("readFileString", real.readFileString(...args)),
    readLink: (...args) => guard("readLink", real.readLink(...args)),
    realPath: (...args) => guard("realPath", real.realPath(...args)),
    remove: (...args) => guard("remove", real.remove(...args)),
    rename: (...args) => guard("rename", real.rename(...args)),
    stat: (...args) => guard("stat", real.stat(...args))
  }
  return {
    fs,
    arm: (call, fault, onwards = false) =>
      Object.assign(state, { call: 0, failed: false, armed: { call, fault, onwards } }),
    disarm: () => Object.assign(state, { armed: undefined }),
    calls: () => state.call,
    hasFailed: () => state.failed
  }
}
