/** A real HTTP server on 127.0.0.1 that answers as it is told, and remembers what it was asked. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/** What a test reads out of a request is for its assertions to say. */
export type Json = ReturnType<typeof JSON.parse>

/** A piece of an answer, written at once. */
export type Piece = string | Uint8Array

/** How an answer goes: whole, broken off, or never to its end. */
export interface Answer {
  readonly status?: number
  readonly headers?: { readonly [name: string]: string }
  readonly pieces: ReadonlyArray<Piece>
  readonly end?: "end" | "destroy" | "hang"
}

/** A request as it came in. */
export interface Received {
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: Json
  /** Done when the connection is closed or the answer has been given whole. */
  readonly over: Promise<"closed" | "answered">
}

/** What the server does about the nth request, counted from 0. */
export type Script = (received: Received, index: number) => Answer

export interface Server {
  readonly origin: string
  /** In order. */
  readonly received: ReadonlyArray<Received>
  /** Done when an answer hangs. */
  readonly hanging: Promise<void>
}

/** Gives these answers in order, and the last one from then on. */
export const inOrder =
  (answers: ReadonlyArray<Answer>): Script =>
  (_, index) => {
    const answer = answers[Math.min(index, answers.length - 1)]
    if (answer === undefined) throw new Error("There is no answer to give.")
    return answer
  }

/** Serves for as long as the scope lasts. */
export const serve = (script: Script): Effect.Effect<Server, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(() => listen(script)),
      ({ close }) => Effect.promise(close)
    ),
    ({ server }) => server
  )

/** Serves until it is closed. */
export const listen = async (script: Script) => {
  const received: Array<Received> = []
  let onHang = () => {}
  const hanging = new Promise<void>((resolve) => {
    onHang = resolve
  })
  const http = createServer((request, response) => {
    const bytes: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => void bytes.push(chunk))
    request.on("end", () => {
      const one = receivedOf(request, Buffer.concat(bytes).toString("utf8"), response)
      received.push(one)
      void give(response, script(one, received.length - 1), onHang)
    })
  })
  await new Promise<void>((resolve) => void http.listen(0, "127.0.0.1", resolve))
  const address = http.address()
  if (address === null || typeof address === "string") throw new Error("There is no port.")
  const server: Server = { origin: `http://127.0.0.1:${address.port}`, received, hanging }
  const close = () =>
    new Promise<void>((resolve) => {
      http.close(() => resolve())
      http.closeAllConnections()
    })
  return { server, close }
}

const receivedOf = (
  request: { readonly url?: string | undefined; readonly headers: IncomingHttpHeaders },
  text: string,
  response: ServerResponse
): Received => ({
  url: request.url ?? "",
  headers: request.headers,
  body: JSON.parse(text),
  over: new Promise((resolve) => response.on("close", () => resolve(response.writableFinished ? "answered" : "closed")))
})

const give = async (response: ServerResponse, answer: Answer, onHang: () => void): Promise<void> => {
  response.on("error", () => {})
  response.writeHead(answer.status ?? 200, answer.headers)
  response.flushHeaders()
  for (const piece of answer.pieces) {
    if (response.destroyed) return
    await new Promise<void>((resolve) => void response.write(piece, () => resolve()))
  }
  switch (answer.end ?? "end") {
    case "end":
      return void response.end()
    case "destroy":
      return void response.destroy()
    case "hang":
      return onHang()
  }
}
