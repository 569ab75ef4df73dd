/** Every line of the benchmark: what is measured, against what, and the bar that it should not exceed. */
import { copyFileSync } from "node:fs"
import { join } from "node:path"
import { byTurns, median, peakOf, run } from "./measure.js"
import * as Sessions from "./sessions.js"

/** A measured line. */
export interface Line {
  readonly work: string
  /** What was measured, with its unit. */
  readonly measured: string
  readonly against: string
  /** Measured over its bar: 1 or less is within it. Undefined where nothing can be compared. */
  readonly ofBar: number | undefined
}

/** What the benchmark is run with. */
export interface Programs {
  readonly cutpoint: string
  readonly prepare: string
  readonly transcript: string
  readonly functions: string
  readonly parse: string
  readonly reference: string
  /** The folder of the original agent's package; without it nothing is compared with it. */
  readonly referenceFolder: string | undefined
}

/** How often a program is run in turns with others, and the work is done within one. */
const turns = 7
const times = 25

const ms = (time: number): string => `${time < 10 ? time.toFixed(1) : time.toFixed(0)} ms`
const mb = (size: number): string => `${size.toFixed(0)} MB`

const timeOf = (args: ReadonlyArray<string>) => (): number => median(run(args).said?.times ?? [])
const wallOf =
  (args: ReadonlyArray<string>, env: NodeJS.ProcessEnv = {}) =>
  (): number =>
    run(args, env).wall

const line = (work: string, measured: string, against: string, value: number, bar: number): Line => ({
  work,
  measured,
  against,
  ofBar: Number.isNaN(bar) ? undefined : value / bar
})

/** Preparing in process, and the same through the command. */
export const preparing = (programs: Programs): ReadonlyArray<Line> => {
  const { cutpoint, prepare, reference, referenceFolder } = programs
  const small = Sessions.compacted(100_000)
  const large = Sessions.compacted(1_000_000)
  const never = Sessions.never(100_000)
  const refers = (file: string) =>
    referenceFolder === undefined ? undefined : [reference, referenceFolder, "prepare", file, String(times)]
  const nothing = () => Number.NaN
  const ofReference = (file: string) => timeOrNothing(refers(file)) ?? nothing
  // What requests a model would be sent, the reference does not say either.
  const command = (file: string) => [cutpoint, "compact", file, "--dry-run", "--offline", "--tokenizer", "heuristic"]
  const inProcess = byTurns(
    {
      small: timeOf([prepare, small, "context", String(times)]),
      large: timeOf([prepare, large, "context", String(times)]),
      never: timeOf([prepare, never, "outline", String(times)]),
      reference: ofReference(small),
      referenceNever: ofReference(never)
    },
    turns
  )
  const whole = byTurns(
    {
      small: wallOf(command(small)),
      large: wallOf(command(large)),
      reference: referenceFolder === undefined ? nothing : wallOf([reference, referenceFolder, "prepare", small, "1"])
    },
    turns
  )
  const peak = (args: ReadonlyArray<string> | undefined) =>
    args === undefined ? Number.NaN : (run(args).said?.peak ?? Number.NaN)
  const smallPeak = peak([prepare, small, "context", "1"])
  const neverPeak = peak([prepare, never, "outline", "1"])
  const referencePeak =
    referenceFolder === undefined ? Number.NaN : peak([reference, referenceFolder, "prepare", never, "1"])
  return [
    line(
      "prepare, 100k entries, compacted 500 before the end, in process",
      ms(inProcess.small),
      `reference ${ms(inProcess.reference)}; at most 1/50`,
      inProcess.small,
      inProcess.reference / 50
    ),
    line("the same, peak memory", mb(smallPeak), "at most 100 MB", smallPeak, 100),
    line(
      "the same by compact --dry-run --offline, whole process",
      ms(whole.small),
      `reference ${ms(whole.reference)}; at most 1/6`,
      whole.small,
      whole.reference / 6
    ),
    line(
      "the same in process, 1M entries, 1.6 GB",
      ms(inProcess.large),
      `100k entries ${ms(inProcess.small)}; at most 1.3 times`,
      inProcess.large,
      inProcess.small * 1.3
    ),
    line(
      "the same by compact --dry-run --offline, 1M entries",
      ms(whole.large),
      `100k entries ${ms(whole.small)}; at most 1.3 times`,
      whole.large,
      whole.small * 1.3
    ),
    line(
      "prepare (outline), 100k entries, never compacted, in process",
      ms(inProcess.never),
      `reference ${ms(inProcess.referenceNever)}; at most 1/2`,
      inProcess.never,
      inProcess.referenceNever / 2
    ),
    line(
      "the same, peak memory",
      mb(neverPeak),
      `reference ${mb(referencePeak)}; at most 1/2`,
      neverPeak,
      referencePeak / 2
    )
  ]
}

const timeOrNothing = (args: ReadonlyArray<string> | undefined) => (args === undefined ? undefined : timeOf(args))

/** A whole compaction without a model. */
export const compacting = ({ cutpoint, parse }: Programs): ReadonlyArray<Line> => {
  const never = Sessions.never(100_000)
  const copy = join(Sessions.folder, "written.jsonl")
  const args = [cutpoint, "compact", copy, "--offline", "--tokenizer", "heuristic"]
  const fresh = () => copyFileSync(never, copy)
  const taken = byTurns(
    {
      compact: () => {
        fresh()
        return wallOf(args)()
      },
      parse: wallOf([parse, never])
    },
    turns
  )
  fresh()
  const peak = peakOf(args)
  return [
    line(
      "compact --offline, whole process, 100k entries, never compacted",
      ms(taken.compact),
      `a program that parses its lines and does nothing else ${ms(taken.parse)}; at most 2 times`,
      taken.compact,
      taken.parse * 2
    ),
    line("the same, peak memory", mb(peak), "at most 400 MB", peak, 400)
  ]
}

/** What a turn of an agent costs, and how counting grows. */
export const functions = (programs: Programs): ReadonlyArray<Line> => {
  const { last } = run([programs.functions, Sessions.compacted(1000), Sessions.compacted(100_000)])
  const found: { readonly [name: string]: number } = JSON.parse(last)
  const of = (name: string): number => found[name] ?? Number.NaN
  const us = (time: number): string => `${time.toFixed(time < 10 ? 2 : 0)} µs`
  const linear = ["one character", "base64", "Chinese"].map((text) => {
    const [small, large] = [of(`o200k ${text} 100000`), of(`o200k ${text} 1000000`)]
    return line(
      `o200k_base on 1 MB of ${text}`,
      ms(large / 1000),
      `100 kB ${ms(small / 1000)}; at most 12 times`,
      large,
      small * 12
    )
  })
  return [
    line(
      "should we compact? after an append, 1k entries",
      us(of("check short")),
      "at most 20 µs",
      of("check short"),
      20
    ),
    line("the same, 100k entries", us(of("check long")), "at most 20 µs", of("check long"), 20),
    line(
      "the cut after an append, 100k entries",
      us(of("cut long")),
      `1k entries ${us(of("cut short"))}; flat (at most 3 times)`,
      of("cut long"),
      of("cut short") * 3
    ),
    line(
      "the context after an append, 100k entries",
      us(of("context long")),
      `1k entries ${us(of("context short"))}; flat (at most 3 times)`,
      of("context long"),
      of("context short") * 3
    ),
    ...linear
  ]
}

/** The transcript of 10,000 messages. */
export const transcript = ({ reference, referenceFolder, transcript }: Programs): ReadonlyArray<Line> => {
  const file = Sessions.never(10_000)
  const taken = byTurns(
    {
      ours: timeOf([transcript, file, String(times)]),
      reference:
        referenceFolder === undefined
          ? () => Number.NaN
          : timeOf([reference, referenceFolder, "transcript", file, String(times)])
    },
    turns
  )
  return [
    line(
      "transcript of 10k messages, parity",
      ms(taken.ours),
      `reference ${ms(taken.reference)}; at most as long`,
      taken.ours,
      taken.reference
    )
  ]
}

/** How long the command takes to start, and to list. */
export const starting = ({ cutpoint }: Programs): ReadonlyArray<Line> => {
  const small = Sessions.never(1000)
  const agent = Sessions.listed(1000)
  const dry = [cutpoint, "compact", small, "--dry-run", "--offline"]
  const taken = byTurns(
    {
      node: wallOf(["-e", "0"]),
      version: wallOf([cutpoint, "--version"]),
      heuristic: wallOf([...dry, "--tokenizer", "heuristic"]),
      o200k: wallOf(dry),
      list: wallOf([cutpoint, "sessions", "--all"], { PI_CODING_AGENT_DIR: agent })
    },
    turns * 2 + 1
  )
  const peak = peakOf([cutpoint, "sessions", "--all"], { PI_CODING_AGENT_DIR: agent })
  const bare = `node -e 0 ${ms(taken.node)}`
  return [
    line("cutpoint --version", ms(taken.version), `${bare}; at most 3 times`, taken.version, taken.node * 3),
    line(
      "compact --dry-run --offline, 1k entries, heuristic",
      ms(taken.heuristic),
      `${bare}; at most 4.5 times`,
      taken.heuristic,
      taken.node * 4.5
    ),
    line("the same, o200k_base", ms(taken.o200k), `${bare}; at most 9 times`, taken.o200k, taken.node * 9),
    line("sessions --all, 1,000 files of 1 MB", ms(taken.list), "at most 1.5 s", taken.list, 1500),
    line("the same, peak memory", mb(peak), "at most 150 MB", peak, 150)
  ]
}
