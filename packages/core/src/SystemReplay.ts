/**
 * Folds the system messages of a context into one that says the same.
 *
 * @since 0.1.0
 */
import * as Message from "./Message.js"

/**
 * Non-empty contents joined by a blank line; sections patched by name, null
 * taking one away; within a message tools are first removed, then added, and
 * one declared again keeps its place. The first one's timestamp. Undefined
 * where there is no system message.
 */
export const fold = (messages: ReadonlyArray<Message.SystemMessage>): Message.SystemMessage | undefined => {
  const first = messages[0]
  if (first === undefined) return undefined
  const contents: Array<string> = []
  const sections = new Map<string, string>()
  const tools = new Map<string, Message.ToolDeclaration>()
  for (const message of messages) {
    const content = Message.texts(message.content).join("\n")
    if (content !== "") contents.push(content)
    for (const [name, text] of Object.entries(message.sections ?? {})) {
      if (text === null) sections.delete(name)
      else sections.set(name, text)
    }
    for (const tool of message.toolsRemoved ?? []) tools.delete(tool.name)
    for (const tool of message.toolsAdded ?? []) tools.set(tool.name, tool)
  }
  return {
    role: "system",
    content: contents.join("\n\n"),
    ...(sections.size === 0 ? {} : { sections: Object.fromEntries(sections) }),
    ...(tools.size === 0 ? {} : { toolsAdded: [...tools.values()] }),
    ...(first.timestamp === undefined ? {} : { timestamp: first.timestamp })
  }
}
