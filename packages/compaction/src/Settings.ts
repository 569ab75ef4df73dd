/**
 * The port by which settings are had.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as SettingsValues from "./SettingsValues.js"

/** A settings file that says something it may not. It was not changed. */
export class SettingsFileInvalid extends Schema.TaggedError<SettingsFileInvalid>()("SettingsFileInvalid", {
  file: Schema.String,
  key: Schema.String,
  /** The value as JSON, shortened. */
  value: Schema.String,
  allowed: Schema.String
}) {
  override get message(): string {
    return `${this.file}: ${this.key} is ${this.value}; it may be ${this.allowed}. The file was not changed; correct the value or take it out.`
  }
}

/** A settings file that is no JSON. It was not changed. */
export class SettingsFileMalformed extends Schema.TaggedError<SettingsFileMalformed>()("SettingsFileMalformed", {
  file: Schema.String,
  /** 1-based. */
  line: Schema.Int,
  /** 1-based, in characters. */
  column: Schema.Int,
  problem: Schema.String
}) {
  override get message(): string {
    return `${this.file}, line ${this.line}, column ${this.column}: ${this.problem}. The file must be JSON, without comments and trailing commas; it was not changed.`
  }
}

/** A settings file that is there and cannot be read. */
export class SettingsFileUnreadable extends Schema.TaggedError<SettingsFileUnreadable>()("SettingsFileUnreadable", {
  file: Schema.String,
  cause: Schema.Defect
}) {
  override get message(): string {
    return `${this.file} is there but cannot be read. Get permission to read it, or take it away.`
  }
}

/** Why settings cannot be had. */
export type SettingsError = SettingsFileInvalid | SettingsFileMalformed | SettingsFileUnreadable

/** The settings in force, and what was left out of files on the way. */
export interface Loaded {
  readonly values: SettingsValues.Values
  /** Sentences for the user. */
  readonly notices: ReadonlyArray<string>
}

/** Gives the settings in force. */
export interface Service {
  /** The settings of a project: of the folder a session was held in. */
  readonly load: (cwd: string | undefined) => Effect.Effect<Loaded, SettingsError>
}

/** Gives the settings in force. */
export class Settings extends Context.Tag("@cutpoint/compaction/Settings")<Settings, Service>() {}

/** Settings by section, each as far as it differs from the default. */
export type Given = { readonly [section in keyof SettingsValues.Values]?: Partial<SettingsValues.Values[section]> }

/** The defaults, and what is given over them, for every project. */
export const layerMemory = (given: Given = {}): Layer.Layer<Settings> => {
  const { defaults } = SettingsValues
  const values: SettingsValues.Values = {
    compaction: { ...defaults.compaction, ...given.compaction },
    branchSummary: { ...defaults.branchSummary, ...given.branchSummary },
    cutpoint: { ...defaults.cutpoint, ...given.cutpoint }
  }
  return Layer.succeed(Settings, Settings.of({ load: () => Effect.succeed({ values, notices: [] }) }))
}
