/** Runs programs and takes their time and memory. */
import { spawnSync } from "node:child_process"

/** What one run of a program took. */
export interface Run {
  /** From start to end, in milliseconds. */
  readonly wall: number
  /** What the program itself says of its work, where it says something. */
  readonly said: Said | undefined
  /** The last line that it printed. */
  readonly last: string
}

/** What a measured program prints as its last line. */
export interface Said {
  /** One number for each time the work was done, in milliseconds. */
  readonly times: ReadonlyArray<number>
  /** The most memory it had, in MB. */
  readonly peak: number
}

/** Runs Node with arguments. */
export const run = (args: ReadonlyArray<string>, env: NodeJS.ProcessEnv = {}): Run => {
  const start = performance.now()
  const { status, stderr, stdout } = spawnSync(process.execPath, args, {
    env: { ...process.env, NO_COLOR: "1", ...env },
    encoding: "utf8",
    maxBuffer: 1 << 30
  })
  const wall = performance.now() - start
  if (status !== 0) throw new Error(`node ${args.join(" ")} ended with ${status}:\n${stderr}`)
  const last = stdout.trim().split("\n").at(-1) ?? ""
  return { wall, last, said: last.startsWith('{"times"') ? JSON.parse(last) : undefined }
}

/** The most memory that a program run with these arguments has, in MB, as the system counts it. */
export const peakOf = (args: ReadonlyArray<string>, env: NodeJS.ProcessEnv = {}): number => {
  const { stderr } = spawnSync("/usr/bin/time", ["-f", "%M", process.execPath, ...args], {
    env: { ...process.env, NO_COLOR: "1", ...env },
    encoding: "utf8",
    maxBuffer: 1 << 30
  })
  return Number(stderr.trim().split("\n").at(-1)) / 1024
}

/** The middle of numbers. */
export const median = (numbers: ReadonlyArray<number>): number => {
  const sorted = numbers.toSorted((one, other) => one - other)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

/** Each program so many times, by turns, so that all have the same weather; the median of each, in milliseconds. */
export const byTurns = <Name extends string>(
  programs: Record<Name, () => number>,
  times: number
): Record<Name, number> => {
  const names = Object.keys(programs) as Array<Name>
  const taken = new Map<Name, Array<number>>(names.map((name) => [name, []]))
  for (let turn = 0; turn < times; turn++) {
    for (const name of names) taken.get(name)?.push(programs[name]())
  }
  return Object.fromEntries(names.map((name) => [name, median(taken.get(name) ?? [])])) as Record<Name, number>
}
