// What each agent shows its model of the same answers, as rows of a table for docs/clients.md.
//
//   node measure.mjs WHARF [SERVER]
//
// WHARF prints the settings; SERVER, if it is another build, is what the agents start.

import { mkdtempSync, mkdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { talk } from "./talk.mjs"

const lines = "for i in $(seq 3000); do printf 'line %05d of an output that is about as wide as usual\\n' $i; done"
const CASES = [
  ["`true`", "terminal_execute", { command: "true" }],
  ["3000 lines", "terminal_execute", { command: lines }],
  ["`seq 1 20000`", "terminal_execute", { command: "seq 1 20000" }],
  ["`max_bytes` 100000", "terminal_execute", { command: lines, max_bytes: 100000 }],
  ["an error", "terminal_read", { terminal_id: "default", command_id: 99 }],
]
/// The error that is meant.
const ERROR = "has no command 99"
const AGENTS = [
  ["Claude Code", "claude-code"], ["Codex, a model it knows", "codex", "gpt-5.5"], ["Codex, another model", "codex"],
  ["Gemini CLI", "gemini"], ["Qwen Code", "qwen"], ["opencode", "opencode"],
]

/// What the agents write where they left something out.
const CUT = /truncated…|(lines|bytes) truncated\.|persisted-output|Output too large|exceeds maximum allowed/

function size(text) {
  const bytes = Buffer.byteLength(text)
  return bytes < 1000 ? `${bytes} B` : `${(bytes / 1000).toFixed(1)} KB`
}

/// In which form, how much of it, and whether the agent took away what matters.
function cell(text, [, tool, args]) {
  const isJson = /"(content|text)":/.test(text)
  const hasBoth = isJson && /^\[exit code \d/m.test(text)
  const form = hasBoth ? "JSON and text" : isJson ? "JSON" : "text"
  const said = `${form}, ${CUT.test(text) ? "cut by the client to " : ""}${size(text)}`
  const times = text.split(ERROR).length - 1
  if (tool === "terminal_read") return times > 1 ? `${said}; the same ${times} times` : said
  const missing = []
  if (!/exit code \d|"exit_code":\d/.test(text)) missing.push("; **no exit code**")
  if (args.command !== "true" && !text.includes("terminal_read {")) missing.push("; **no way to the rest**")
  return said + missing.join("")
}

async function measure(name, model, wharf, server) {
  const home = mkdtempSync(join(tmpdir(), "wharf-measure-"))
  const cwd = join(home, "project")
  mkdirSync(cwd)
  process.env.WHARF_STATE_DIR = join(home, "state")
  const close = { tool: "terminal_close", args: { terminal_id: "default" } }
  const script = [...CASES.map(([, tool, args]) => ({ tool, args })), close]
  // Codex hides tools from the models it knows.
  if (model) script.unshift({ tool: "tool_search", args: { query: "terminal" } })
  try {
    const { results } = await talk(name, { wharf, home, cwd, server, model }, script)
    const seen = results.slice(model ? 1 : 0)
    return CASES.map((test, index) => (seen[index] === undefined ? "not seen" : cell(seen[index], test)))
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

const [wharf, server] = process.argv.slice(2)
console.log(`| client | ${CASES.map(([title]) => title).join(" | ")} |`)
console.log(`| --- |${" --- |".repeat(CASES.length)}`)
for (const [title, name, model] of AGENTS) {
  console.log(`| ${title} | ${(await measure(name, model, wharf, server)).join(" | ")} |`)
}
