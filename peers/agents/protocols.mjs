// How four protocols say the same: which tools there are, which results came, a call of a tool, a text.

function events(response, all, named = false) {
  response.writeHead(200, { "content-type": "text/event-stream" })
  for (const event of all) response.write(`${named ? `event: ${event.type}\n` : ""}data: ${JSON.stringify(event)}\n\n`)
  response.end()
}

function whole(response, value) {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value))
}

/// Content is a string or a list of blocks.
function text(content) {
  if (typeof content === "string") return content
  if (!Array.isArray(content)) return content === undefined ? "" : JSON.stringify(content)
  return content.map(block => block.text ?? (typeof block === "string" ? block : JSON.stringify(block))).join("\n")
}

const messages = {
  path: /\/v1\/messages(\?|$)/,
  tools: ({ tools = [] }) =>
    tools.map(tool => ({ name: tool.name, description: tool.description, schema: tool.input_schema, deferred: tool.defer_loading })),
  system: ({ system, messages }) => `${text(system)}\n${text(messages[0]?.content)}`,
  results: ({ messages }) =>
    messages.flatMap(({ content }) => (Array.isArray(content) ? content : []))
      .filter(({ type }) => type === "tool_result").map(({ content }) => text(content)),
  say(response, _url, { model, stream }, say) {
    const usage = { input_tokens: 1, output_tokens: 1 }
    const block = say.tool
      ? { type: "tool_use", id: say.id, name: say.tool, input: say.args } : { type: "text", text: say.text }
    const stop_reason = say.tool ? "tool_use" : "end_turn"
    const message = { id: "msg_1", type: "message", role: "assistant", model, content: [], stop_reason: null, stop_sequence: null, usage }
    if (!stream) return whole(response, { ...message, content: [block], stop_reason })
    const delta = say.tool
      ? { type: "input_json_delta", partial_json: JSON.stringify(say.args) } : { type: "text_delta", text: say.text }
    events(response, [
      { type: "message_start", message },
      { type: "content_block_start", index: 0, content_block: say.tool ? { ...block, input: {} } : { ...block, text: "" } },
      { type: "content_block_delta", index: 0, delta },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage },
      { type: "message_stop" },
    ], true)
  },
}

const responses = {
  path: /\/responses(\?|$)/,
  /// Those that a search has found are in its result.
  tools: ({ tools = [], input }) => [...tools, ...input.flatMap(item => item.tools ?? [])].flatMap(tool => {
    const of = ({ name, type, description, parameters }, namespace) =>
      ({ name: name ?? type, description, schema: parameters, namespace })
    return tool.type === "namespace" ? tool.tools.map(inner => of(inner, tool.name)) : [of(tool)]
  }),
  system: ({ instructions, input }) => [instructions, ...input.map(({ content }) => text(content))].join("\n"),
  results: ({ input }) =>
    input.filter(({ type }) => ["function_call_output", "custom_tool_call_output", "tool_search_output"].includes(type))
      .map(item => text(item.output ?? item.tools)),
  say(response, _url, _asked, say) {
    const item = say.tool === "tool_search"
      ? { type: "tool_search_call", call_id: say.id, execution: "client", status: "completed", arguments: say.args }
      : say.tool
        ? { type: "function_call", call_id: say.id, name: say.tool, namespace: say.namespace, arguments: JSON.stringify(say.args) }
        : { type: "message", role: "assistant", id: "msg_1", content: [{ type: "output_text", text: say.text }] }
    const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
    events(response, [
      { type: "response.created", response: { id: "resp_1" } },
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.completed", response: { id: "resp_1", usage } },
    ], true)
  },
}

const chat = {
  path: /\/chat\/completions(\?|$)/,
  tools: ({ tools = [] }) =>
    tools.map(({ function: tool }) => ({ name: tool.name, description: tool.description, schema: tool.parameters })),
  system: ({ messages }) => messages.filter(({ role }) => role !== "tool").map(({ content }) => text(content)).join("\n"),
  results: ({ messages }) => messages.filter(({ role }) => role === "tool").map(({ content }) => text(content)),
  say(response, _url, { model, stream }, say) {
    const call = { index: 0, id: say.id, type: "function", function: { name: say.tool, arguments: JSON.stringify(say.args) } }
    const message = say.tool ? { role: "assistant", content: null, tool_calls: [call] } : { role: "assistant", content: say.text }
    const finish_reason = say.tool ? "tool_calls" : "stop"
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
    const head = { id: "chat_1", created: 1, model }
    if (!stream) {
      return whole(response, { ...head, object: "chat.completion", choices: [{ index: 0, message, finish_reason }], usage })
    }
    const chunk = { ...head, object: "chat.completion.chunk" }
    response.writeHead(200, { "content-type": "text/event-stream" })
    for (const event of [
      { ...chunk, choices: [{ index: 0, delta: message, finish_reason: null }] },
      { ...chunk, choices: [{ index: 0, delta: {}, finish_reason }], usage },
    ]) response.write(`data: ${JSON.stringify(event)}\n\n`)
    response.end("data: [DONE]\n\n")
  },
}

const generate = {
  path: /:(streamG|g)enerateContent(\?|$)/,
  tools: ({ tools = [] }) => tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations)
    .map(({ name, description, parametersJsonSchema, parameters }) =>
      ({ name, description, schema: parametersJsonSchema ?? parameters })),
  system: ({ systemInstruction, contents }) => `${text(systemInstruction?.parts)}\n${text(contents[0]?.parts)}`,
  results: ({ contents }) => contents.flatMap(({ parts = [] }) => parts).filter(part => part.functionResponse)
    .map(({ functionResponse: { response } }) => response.output ?? response.error ?? JSON.stringify(response)),
  say(response, url, _asked, say) {
    const part = say.tool ? { functionCall: { id: say.id, name: say.tool, args: say.args } } : { text: say.text }
    const candidates = [{ index: 0, content: { role: "model", parts: [part] }, finishReason: "STOP" }]
    const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }
    const value = { candidates, usageMetadata, modelVersion: "scripted" }
    if (url.includes(":stream")) events(response, [value])
    else whole(response, value)
  },
}

export const protocols = [messages, responses, chat, generate]
