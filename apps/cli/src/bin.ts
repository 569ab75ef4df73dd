/**
 * The `cutpoint` command: every service it runs on, on one screen.
 */
import * as SessionFiles from "@cutpoint/session-files/SessionFiles"
import * as SettingsFiles from "@cutpoint/session-files/SettingsFiles"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeTerminal from "@effect/platform-node/NodeTerminal"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as App from "./App.js"
import * as Failure from "./Failure.js"
import * as Output from "./Output.js"

const files = Layer.merge(SessionFiles.layerConfig, SettingsFiles.layerConfig).pipe(
  Layer.mapError(() => new Failure.NoSessionsFolder())
)
const services = Layer.mergeAll(NodeFileSystem.layer, NodePath.layer, NodeTerminal.layer, Output.layerProcess)

App.main(process.argv, files).pipe(
  Effect.provide(services),
  NodeRuntime.runMain({
    disableErrorReporting: true,
    teardown: (exit, end) =>
      end(Exit.isSuccess(exit) && typeof exit.value === "number" ? exit.value : Failure.exitCodes.interrupted)
  })
)
