#!/usr/bin/env node
// How long an answer may be before an agent keeps a part of it from its model.
//
//   node limits.mjs WHARF [AGENT ...]
//
// Prints for each agent the longest answer that its model saw whole: of wide lines, of wide lines with characters of two
// bytes, and of short lines. The agents' server is this program too, started with `mcp`: its one tool answers with a text of
// exactly the size that is asked for.

import { mkdtempSync, mkdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { talk } from "./talk.mjs"

const AGENTS = [
  ["Claude Code", "claude-code"], ["Codex, a model it knows", "codex", "gpt-5.5"], ["Codex, another model", "codex"],
  ["Gemini CLI", "gemini"], ["Qwen Code", "qwen"], ["opencode", "opencode"],
]
/// Of one text: how wide a line is, and what it is filled with.
const KINDS = [{ width: 56, fill: "x" }, { width: 56, fill: "ä" }, { width: 7, fill: "x" }]
/// Nobody shows so many characters, and everybody shows so few.
const [MANY, FEW] = [130_000, 1000]
/// Sizes that are tried in one run of an agent.
const POINTS = 6

function text({ length, width, fill }) {
  const all = []
  for (let line = 1; all.length * width < length; line++) {
    all.push(String(line).padStart(6, "0").padEnd(width - 1, fill))
  }
  return all.join("\n").slice(0, length - 4) + "\nEND"
}

function serve() {
  const tool = { name: "say", description: "Says a text.", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } }
  const answers = {
    initialize: ({ protocolVersion }) =>
      ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "limits", version: "1" } }),
    "tools/list": () => ({ tools: [tool] }),
    "tools/call": ({ arguments: asked }) => ({ content: [{ type: "text", text: text(asked) }] }),
    ping: () => ({}),
  }
  createInterface({ input: process.stdin }).on("line", line => {
    const { id, method, params } = JSON.parse(line)
    if (id === undefined) return
    const answer = answers[method]
      ? { result: answers[method](params) } : { error: { code: -32601, message: "not here" } }
    console.log(JSON.stringify({ jsonrpc: "2.0", id, ...answer }))
  })
}

/// For each of these sizes, whether the model saw all of it.
async function seen(name, model, wharf, sizes) {
  const home = mkdtempSync(join(tmpdir(), "wharf-limits-"))
  const cwd = join(home, "project")
  mkdirSync(cwd)
  const script = sizes.map(args => ({ tool: "say", args }))
  if (model) script.unshift({ tool: "tool_search", args: { query: "say" } })
  const server = fileURLToPath(import.meta.url)
  try {
    const { results } = await talk(name, { wharf, home, cwd, server, model }, script)
    return results.slice(model ? 1 : 0).map((result, index) => result.includes(text(sizes[index])))
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

async function limit(name, model, wharf, kind) {
  let [whole, cut] = [FEW, MANY]
  while (cut - whole > 1) {
    const step = Math.max(1, Math.floor((cut - whole) / (POINTS + 1)))
    const lengths = Array.from({ length: POINTS }, (_, index) => whole + (index + 1) * step).filter(length => length < cut)
    const shown = await seen(name, model, wharf, lengths.map(length => ({ length, ...kind })))
    const first = shown.indexOf(false)
    if (shown.length < lengths.length) throw new Error(`${name} ended early`)
    if (first >= 0) cut = lengths[first]
    if (first !== 0) whole = lengths[first < 0 ? lengths.length - 1 : first - 1]
  }
  const longest = text({ length: whole, ...kind })
  return `${whole} characters, ${Buffer.byteLength(longest)} bytes, ${longest.split("\n").length} lines`
}

if (process.argv[2] === "mcp") {
  serve()
} else {
  const [wharf, ...only] = process.argv.slice(2)
  console.log("| client | wide lines | two bytes a character | short lines |\n| --- | --- | --- | --- |")
  for (const [title, name, model] of AGENTS.filter(([, name]) => only.length === 0 || only.includes(name))) {
    const cells = []
    for (const kind of KINDS) cells.push(await limit(name, model, wharf, kind))
    console.log(`| ${title} | ${cells.join(" | ")} |`)
  }
}
