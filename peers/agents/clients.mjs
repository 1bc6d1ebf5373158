// How each agent is started: without an account, with settings in a home of its own, and with a model on this machine.
//
// `printed` is what `wharf mcp --print-config` printed for it, and goes into its settings as a user would paste it.

import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const here = dirname(fileURLToPath(import.meta.url))
const packages = join(here, "node_modules")
const platform = `${process.platform}-${process.arch}`

/// The installed program of a package that is made for one platform, without the script that would have linked it.
function native(dir, ...path) {
  return join(packages, `${dir}-${platform}`, ...path)
}

function write(path, content) {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content, null, 1))
}

const pasted = printed => JSON.parse(printed.slice(printed.indexOf("\n{")))

/// What the clients are told: no questions, one prompt.
const PROMPT = "Go on."

export const clients = {
  "claude-code": {
    named: tool => `mcp__wharf__${tool}`,
    words: () => [native("@anthropic-ai/claude-code", "claude")],
    environment: address => ({
      ANTHROPIC_BASE_URL: address, ANTHROPIC_API_KEY: "none", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1", DISABLE_TELEMETRY: "1",
    }),
    prepare({ words, printed, environment, home, cwd }) {
      // A second run finds the settings of the first.
      if (existsSync(join(home, ".claude.json"))) return
      const line = printed.split("\n").find(line => line.startsWith("claude mcp add"))
      // The line is for a shell.
      execFileSync("sh", ["-c", line.replace("claude", '"$CLAUDE"')], { env: { ...environment, CLAUDE: words[0] }, cwd })
    },
    args: () => ["-p", PROMPT, "--allowedTools", "mcp__wharf"],
  },
  codex: {
    named: tool => `mcp__wharf__${tool}`,
    words: () => {
      const vendor = native("@openai/codex", "vendor")
      return [join(vendor, readdirSync(vendor)[0], "bin/codex")]
    },
    environment: () => ({ SCRIPTED_KEY: "none" }),
    prepare({ printed, home, address, model = "scripted" }) {
      const own = `model = "${model}"\nmodel_provider = "scripted"\ncheck_for_update_on_startup = false\n` +
        `[analytics]\nenabled = false\n[model_providers.scripted]\nname = "scripted"\nbase_url = "${address}/v1"\n` +
        `env_key = "SCRIPTED_KEY"\nwire_api = "responses"\n`
      write(join(home, ".codex/config.toml"), own + printed.slice(printed.indexOf("[mcp_servers")))
    },
    args: () => ["exec", "--skip-git-repo-check", PROMPT],
  },
  gemini: {
    named: tool => `mcp_wharf_${tool}`,
    words: () => [process.execPath, join(packages, "@google/gemini-cli/bundle/gemini.js")],
    environment: address => ({
      GEMINI_API_KEY: "none", GOOGLE_GEMINI_BASE_URL: address, GEMINI_CLI_TRUST_WORKSPACE: "true", GEMINI_CLI_NO_RELAUNCH: "true",
    }),
    prepare({ printed, home }) {
      write(join(home, ".gemini/settings.json"), {
        ...pasted(printed),
        security: { auth: { selectedType: "gemini-api-key" } },
        general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
      })
    },
    args: () => ["-p", PROMPT, "--approval-mode", "yolo", "-m", "gemini-2.5-flash"],
  },
  qwen: {
    named: tool => `mcp__wharf__${tool}`,
    words: () => [process.execPath, join(packages, "@qwen-code/qwen-code/cli.js")],
    environment: address => ({ OPENAI_API_KEY: "none", OPENAI_BASE_URL: `${address}/v1`, OPENAI_MODEL: "scripted" }),
    prepare({ printed, home }) {
      write(join(home, ".qwen/settings.json"), {
        ...pasted(printed),
        security: { auth: { selectedType: "openai" } },
        general: { disableAutoUpdate: true, disableUpdateNag: true, enableAutoUpdate: false },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
      })
    },
    args: () => ["-p", PROMPT, "--approval-mode", "yolo"],
  },
  opencode: {
    named: tool => `wharf_${tool}`,
    words: () => [join(packages, `opencode-${platform}`, "bin/opencode")],
    environment: () => ({
      OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1", OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
      OPENCODE_DISABLE_DEFAULT_PLUGINS: "1", OPENCODE_DISABLE_SHARE: "1",
    }),
    prepare({ printed, home, address }) {
      write(join(home, ".config/opencode/opencode.json"), {
        ...pasted(printed),
        provider: {
          scripted: {
            npm: "@ai-sdk/openai-compatible",
            options: { baseURL: `${address}/v1`, apiKey: "none" },
            models: { scripted: { name: "scripted", tool_call: true, limit: { context: 200000, output: 8000 } } },
          },
        },
      })
    },
    args: () => ["run", "-m", "scripted/scripted", PROMPT],
  },
}
