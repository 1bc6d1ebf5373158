// A model that plays a script, for real agents on the same machine: it calls one tool after the other and writes down what
// its client shows it. It speaks Anthropic's Messages, OpenAI's Responses and chat completions, and Gemini's generateContent.
//
// It keeps no state about a conversation: every request brings all that was said, so the number of results in it says
// which step comes next. A client that asks again is answered the same again.
//
// As a program: node model.mjs SCRIPT.json RECORD.json; it prints its address, and writes the record when it is ended.

import { createServer } from "node:http"
import { readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { protocols } from "./protocols.mjs"

/// A step is {tool, args}; `tool` is the server's name for it, and the client's own is looked up among those it showed.
/// `named` makes the client's name of a tool that it did not show.
export async function serve(script, named = tool => tool) {
  const record = { tools: [], system: "", results: [], calls: [], failed: [] }
  const server = createServer((request, response) => {
    const body = []
    request.on("data", piece => body.push(piece))
    request.on("end", () => {
      try {
        answer(request, response, Buffer.concat(body).toString())
      } catch (error) {
        record.failed.push(`${request.url}: ${error.stack}`)
        response.writeHead(500).end()
      }
    })
  })

  function answer(request, response, body) {
    const protocol = protocols.find(({ path }) => path.test(request.url))
    if (request.method !== "POST" || !protocol) {
      if (request.method === "POST" && !request.url.includes("count_tokens")) record.failed.push(`unknown: ${request.url}`)
      return response.writeHead(request.method === "HEAD" ? 200 : 404).end()
    }
    const asked = JSON.parse(body)
    const tools = protocol.tools(asked)
    // Titles, summaries and the like are asked for without tools.
    if (tools.length === 0) return protocol.say(response, request.url, asked, { text: "ok" })
    const results = protocol.results(asked)
    if (record.tools.length === 0) Object.assign(record, { tools, system: protocol.system(asked) })
    // As they were shown first: some clients shorten what is long ago.
    record.results.push(...results.slice(record.results.length))
    const step = script[results.length]
    const say = step ? call(step, tools, results.length) : { text: "done" }
    protocol.say(response, request.url, asked, say)
  }

  function call({ tool, args }, tools, number) {
    const shown = tools.find(({ name }) => name === tool || name.endsWith(`_${tool}`))
    const name = shown?.name ?? named(tool)
    record.calls[number] = { tool, name, shown: Boolean(shown) }
    return { tool: name, namespace: shown?.namespace, args, id: `call_${number}` }
  }

  await new Promise(listening => server.listen(0, "127.0.0.1", listening))
  const close = () => new Promise(closed => { server.close(closed); server.closeAllConnections() })
  return { address: `http://127.0.0.1:${server.address().port}`, record, close }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [script, kept] = process.argv.slice(2)
  const model = await serve(JSON.parse(readFileSync(script, "utf8")))
  console.log(model.address)
  process.on("SIGTERM", async () => {
    writeFileSync(kept, JSON.stringify(model.record, null, 1))
    await model.close()
  })
}
