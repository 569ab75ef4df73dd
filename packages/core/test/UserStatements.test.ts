import { describe, expect, it } from "vitest"
import * as UserStatements from "../src/UserStatements.js"

const directives = (text: string) =>
  UserStatements.directives(UserStatements.withoutPasted(text)).map((statement) => statement.text)

const strongest = (text: string) =>
  Math.max(-1, ...UserStatements.directives(UserStatements.withoutPasted(text)).map((statement) => statement.weight))

describe("what reads like a directive", () => {
  it.each([
    ["English", "Never commit to main."],
    ["English", "You must run the linter first."],
    ["English", "Use tabs instead of spaces."],
    ["English", "Don't touch the migrations."],
    ["German", "Ändere niemals die Schnittstelle."],
    ["German", "Bitte keine neuen Abhängigkeiten."],
    ["German", "Die Tests müssen immer grün sein."],
    ["French", "Ne modifie jamais le schéma."],
    ["French", "Utilise toujours des guillemets doubles."],
    ["French", "Écris le code sans dépendances."],
    ["Spanish", "Nunca borres los datos."],
    ["Spanish", "El código debe tener pruebas."],
    ["Spanish", "Responde siempre en español."],
    ["Chinese", "不要修改测试。"],
    ["Chinese", "必须用中文写注释。"],
    ["Chinese", "请用中文回答"],
    ["Japanese", "テストは必ず書いてください。"],
    ["Japanese", "英語だけで書く。"],
    ["Japanese", "本番環境に触ることは禁止です。"],
    ["Russian", "Никогда не удаляй файлы."],
    ["Russian", "Нужно писать тесты."],
    ["Russian", "Пиши только на русском."]
  ])("%s: %s", (_, sentence) => {
    expect(directives(`Hello there, friend of mine\n${sentence}`)).toContain(sentence)
    expect(strongest(sentence)).toBeGreaterThanOrEqual(2)
  })

  it.each(["Never", "NEVER", "never", "Always", "Must", "Niemals", "Jamais", "Nunca", "Никогда"])(
    "%s is absolute at a sentence's start too",
    (word) => {
      expect(strongest(`${word} change the public names`)).toBeGreaterThanOrEqual(4)
    }
  )

  it("weighs a statement without such a word less", () => {
    expect(strongest("The server listens on port 4711")).toBe(0)
    expect(strongest("Set `PORT` to 4711")).toBe(1)
  })

  it("keeps sentences apart, at a line's end, and at the stops of other scripts", () => {
    expect(directives("Use tabs everywhere. Avoid semicolons!\n- Keep lines short")).toEqual([
      "Use tabs everywhere.",
      "Avoid semicolons!",
      "Keep lines short"
    ])
    expect(directives("不要修改测试文件。必须使用中文写注释。")).toEqual(["不要修改测试文件。", "必须使用中文写注释。"])
  })

  it("keeps versions, paths and brackets whole", () => {
    expect(directives("Use node 20.19.4 with src/a.test.ts only")).toEqual(["Use node 20.19.4 with src/a.test.ts only"])
    expect(directives("Use this (e.g. in tests. Really.) and nothing else")).toHaveLength(1)
  })

  it("questions, single words and very long texts are none", () => {
    for (const text of [
      "Should we never do that?",
      "我们不要修改测试文件吗？",
      "ok",
      "嗯",
      "go on",
      "",
      "   ",
      `never ${"word ".repeat(100)}`
    ]) {
      expect(directives(text)).toEqual([])
    }
  })
})

describe("what was only pasted", () => {
  it.each([
    [
      "a Node stack trace",
      "TypeError: x must not be null\n    at never (/a/b.js:1:2)\n    at Module._compile (node:internal:1:2)"
    ],
    ["a Node error with a code", "Error [ERR_X]: You must always pass a path\n    at a (b.js:1:2)"],
    [
      "a Python trace",
      'Traceback (most recent call last):\n  File "/a/b.py", line 3, in <module>\n    raise ValueError("never do this")\nValueError: never do this'
    ],
    [
      "a Java trace",
      'Exception in thread "main" java.lang.NullPointerException: value must not be null\n\tat com.a.B.only(B.java:3)\nCaused by: java.io.IOException: never'
    ],
    ["a bare Java exception", "java.lang.IllegalStateException: must never happen\n\tat com.a.B.c(B.java:3)"],
    ["a Go panic", "panic: must not be called\n\ngoroutine 1 [running]:\nmain.never()"],
    ["a Rust error", "error[E0308]: you must not use mismatched types\n --> src/main.rs:1:1"],
    ["an npm error", "npm ERR! You must always install peer dependencies\nnpm ERR! never mind"],
    ["a git error", "fatal: You must not push to main without permission"],
    ["a code block", "```ts\n// you must never call this\nfoo()\n```"],
    ["JSON", '{"rule": "must never"}\n'],
    ["a shell prompt", "$ make always must"]
  ])("%s has no directives, and the words around it have", (_, paste) => {
    const text = `I get this every time.\n\n${paste}\n\nPlease never retry automatically.`
    expect(
      directives(text).filter((one) => one !== "I get this every time." && !/^main\.|goroutine/.test(one))
    ).toEqual(["Please never retry automatically."])
  })

  it.each([
    "Error messages must be in German.",
    "Errors should never be swallowed.",
    "Exception classes must end in Exception."
  ])("%s is a directive, although it starts like an error", (sentence) =>
    expect(directives(sentence)).toEqual([sentence])
  )

  it("names the error of what was pasted", () => {
    expect(UserStatements.pastedError("look:\n\nTypeError: x is undefined\n    at a")).toBe("TypeError: x is undefined")
    expect(UserStatements.pastedError("all is well")).toBeUndefined()
  })
})

describe("UserStatements.isRequest", () => {
  it.each(["Add a retry to the client", "why?", "修复登录", "ログイン修正", "Почини вход в систему"])(
    "%s asks for something",
    (text) => {
      expect(UserStatements.isRequest(UserStatements.withoutPasted(text))).toBe(true)
    }
  )

  it.each(["ok", "go on", "yes", "", "   ", "好"])("%j only agrees", (text) =>
    expect(UserStatements.isRequest(UserStatements.withoutPasted(text))).toBe(false)
  )
})

describe("UserStatements.closingQuestion", () => {
  it("is the question at the end", () => {
    expect(UserStatements.closingQuestion("I found two ways. Which one?")).toBe("Which one?")
    expect(UserStatements.closingQuestion("有两种方法。用哪个？")).toBe("用哪个？")
    expect(UserStatements.closingQuestion("Which one? I took the first.")).toBeUndefined()
    expect(UserStatements.closingQuestion("")).toBeUndefined()
  })
})

describe("what only looks pasted", () => {
  it.each([
    "[URGENT] Never deploy on Fridays, Maria is on call then.",
    "at the end of each step always run the linter, please",
    "<b>Do not</b> use the word blockchain anywhere."
  ])("%s", (text) => {
    expect(UserStatements.directives(UserStatements.withoutPasted(text)).map((statement) => statement.text)).toEqual([
      text.replace(/\.$/, ".")
    ])
  })

  it.each([
    ["IDs 12345, 67890, 11121, 31415, 92653:", "Never delete these five rows from the ledger."],
    ["> you said yarn", "Use pnpm instead, always."]
  ])("a line such as %j does not swallow the next", (pasted, directive) => {
    const found = UserStatements.directives(UserStatements.withoutPasted(`${pasted}\n${directive}`)).map(
      (statement) => statement.text
    )
    expect(found).toContain(directive)
  })
})
