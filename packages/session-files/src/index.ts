/**
 * Sessions as JSON Lines files.
 *
 * @since 0.1.0
 */
export * as SessionDoctor from "./SessionDoctor.js"
export * as SessionFiles from "./SessionFiles.js"
export * as SessionFolder from "./SessionFolder.js"
export * as SettingsFiles from "./SettingsFiles.js"
