// A conversation of a real agent with the scripted model, through `wharf mcp`.
//
//   node talk.mjs CLIENT --wharf PROGRAM --home DIR --cwd DIR [--server FILE] [--model NAME] < SCRIPT.json
//
// Prints one line of JSON: the tools that the model was shown first, the calls it made, the results as it was shown them,
// and how the agent ended. `--server` is started by the agent in place of the program that printed the settings.

import { execFileSync, spawn } from "node:child_process"
import { mkdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { parseArgs } from "node:util"
import { clients } from "./clients.mjs"
import { serve } from "./model.mjs"

/// An agent that is stuck is ended; the test's own guard comes later.
const GUARD = 40_000

/// Nothing outside this machine can be reached: the proxy is a port at which nobody listens.
const NOWHERE = "http://127.0.0.1:9"

export async function talk(name, { wharf, home, cwd, server, model }, script) {
  const client = clients[name]
  const scripted = await serve(script, client.named)
  const { address, record } = scripted
  const environment = {
    PATH: `/usr/bin:/bin:${dirname(process.execPath)}`, HOME: home, TMPDIR: join(home, "tmp"), LANG: "C.UTF-8", TERM: "dumb", ...inherited(),
    HTTP_PROXY: NOWHERE, HTTPS_PROXY: NOWHERE, NO_PROXY: "127.0.0.1,localhost", ...client.environment(address),
  }
  mkdirSync(environment.TMPDIR, { recursive: true })
  let printed = execFileSync(wharf, ["mcp", "--print-config", name], { encoding: "utf8" })
  if (server) printed = printed.replaceAll(wharf, server)
  const words = client.words()
  client.prepare({ words, printed, environment, home, cwd, address, model })
  const end = await run([...words, ...client.args()], environment, cwd)
  await scripted.close()
  return { client: name, ...record, ...end }
}

/// By these the tests keep everything of a run in one place, and find what is left.
function inherited() {
  const names = ["WHARF_STATE_DIR", "TEST_PLACE"].filter(name => process.env[name])
  return Object.fromEntries(names.map(name => [name, process.env[name]]))
}

function run([program, ...args], env, cwd) {
  const begun = Date.now()
  return new Promise((ended, failed) => {
    const child = spawn(program, args, { env, cwd, stdio: ["ignore", "pipe", "pipe"] })
    const said = { out: "", err: "" }
    child.stdout.on("data", piece => (said.out += piece))
    child.stderr.on("data", piece => (said.err += piece))
    const guard = setTimeout(() => child.kill("SIGKILL"), GUARD)
    child.on("error", failed)
    child.on("exit", (code, signal) => {
      clearTimeout(guard)
      // What it left running may still have its pipes.
      child.stdout.destroy()
      child.stderr.destroy()
      ended({ code, signal, ...said, seconds: (Date.now() - begun) / 1000 })
    })
  })
}

if (process.argv[1] === import.meta.filename) {
  const string = { type: "string" }
  const options = { wharf: string, home: string, cwd: string, server: string, model: string }
  const { values, positionals } = parseArgs({ options, allowPositionals: true })
  const record = await talk(positionals[0], values, JSON.parse(readFileSync(0, "utf8")))
  console.log(JSON.stringify(record))
}
