/** The wire formats, one for each kind of provider. */
import { anthropic } from "./anthropic.js"
import { bedrock } from "./bedrock.js"
import { compatible, openRouter } from "./chat.js"
import { google } from "./google.js"
import { openAi } from "./openAi.js"
import type { Wire } from "../wire.js"

export const wires: ReadonlyArray<Wire> = [anthropic, openAi, google, openRouter, compatible, bedrock]
