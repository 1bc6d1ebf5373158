//! `wharf mcp --print-config`: what to paste where, so that an agent has these terminals.
//!
//! Pure text. Every client writes the same three facts (a name, a program, its arguments) in a way of its own, and waits for
//! an answer for a time of its own: where that is no longer than the longest call here may take, it is set.

use clap::ValueEnum;
use serde_json::{Value, json};

/// The programs whose settings are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Client {
    ClaudeCode,
    Codex,
    Vscode,
    Zed,
    Cursor,
    Gemini,
    Qwen,
    Opencode,
}

/// The name that the agent sees in front of the tools.
const NAME: &str = "wharf";
/// Seconds that a client is to wait for an answer; a call here takes 60 at most.
const PATIENCE: u32 = 120;

/// What to do, in words, and what to paste. `program` is this program's file: an editor that was not started from a shell
/// has another PATH.
pub(crate) fn print(client: Client, program: &str) -> String {
    match client {
        Client::ClaudeCode => claude_code(program),
        Client::Codex => codex(program),
        Client::Vscode => vscode(program),
        Client::Zed => zed(program),
        Client::Cursor => cursor(program),
        Client::Gemini => gemini(program),
        Client::Qwen => qwen(program),
        Client::Opencode => opencode(program),
    }
}

fn claude_code(program: &str) -> String {
    format!(
        "Claude Code, for you in all projects; run this once:\n\n\
         claude mcp add --scope user {NAME} -- {} mcp\n\n\
         Or for everybody who works on a project: put this into .mcp.json at its root.\n\n{}",
        quoted(program),
        pretty(&json!({"mcpServers": {NAME: {"type": "stdio", "command": NAME, "args": ["mcp"]}}})),
    )
}

fn codex(program: &str) -> String {
    // It hands on few variables unless it is told to; these say where terminals are kept.
    format!(
        "Codex, for you in all projects: add this to ~/.codex/config.toml. The last line lets its\n\
         model use these tools without asking you each time; `codex exec`, which has nobody to ask,\n\
         refuses them without it. Leave it out to be asked.\n\n\
         [mcp_servers.{NAME}]\n\
         command = {}\n\
         args = [\"mcp\"]\n\
         env_vars = [\"XDG_STATE_HOME\", \"XDG_CONFIG_HOME\", \"WHARF_STATE_DIR\"]\n\
         tool_timeout_sec = {PATIENCE}\n\
         default_tools_approval_mode = \"approve\"\n",
        // A JSON string is a TOML one too.
        Value::from(program),
    )
}

fn vscode(program: &str) -> String {
    let server = json!({"type": "stdio", "command": program, "args": ["mcp"], "cwd": "${workspaceFolder}"});
    format!(
        "VS Code: put this into .vscode/mcp.json of the project, or into the file that the command\n\
         \"MCP: Open User Configuration\" opens.\n\n{}",
        pretty(&json!({"servers": {NAME: server}})),
    )
}

fn zed(program: &str) -> String {
    format!(
        "Zed: add this to its settings (the command \"zed: open settings file\").\n\n{}",
        pretty(&json!({"context_servers": {NAME: {"command": program, "args": ["mcp"], "env": {}}}})),
    )
}

fn cursor(program: &str) -> String {
    format!(
        "Cursor: put this into .cursor/mcp.json of the project (or ~/.cursor/mcp.json for all).\n\n{}",
        pretty(&json!({"mcpServers": {NAME: {"type": "stdio", "command": program, "args": ["mcp"]}}})),
    )
}

fn gemini(program: &str) -> String {
    let server = json!({"command": program, "args": ["mcp"], "timeout": PATIENCE * 1000});
    format!(
        "Gemini CLI, for you in all projects: add this to ~/.gemini/settings.json\n\
         (or to .gemini/settings.json of one project). It starts no server in a folder that you\n\
         have not told it to trust.\n\n{}",
        pretty(&json!({"mcpServers": {NAME: server}})),
    )
}

fn qwen(program: &str) -> String {
    // Otherwise its model is shown the tools only when it looks for some.
    let server =
        json!({"command": program, "args": ["mcp"], "timeout": PATIENCE * 1000, "alwaysLoadTools": true});
    format!(
        "Qwen Code, for you in all projects: add this to ~/.qwen/settings.json\n\
         (or to .qwen/settings.json of one project).\n\n{}",
        pretty(&json!({"mcpServers": {NAME: server}})),
    )
}

fn opencode(program: &str) -> String {
    let server = json!({
        "type": "local", "command": [program, "mcp"], "enabled": true, "timeout": PATIENCE * 1000
    });
    format!(
        "opencode, for you in all projects: add this to ~/.config/opencode/opencode.json\n\
         (or to opencode.json of one project).\n\n{}",
        pretty(&json!({"mcp": {NAME: server}})),
    )
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

/// For a shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-./".contains(c);
    if word.chars().all(plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: &str = "/opt/it's \"here\"/wharf";

    /// The part that is to be pasted into a JSON file.
    fn pasted(client: Client) -> Value {
        let text = print(client, PROGRAM);
        let from = text.find('{').unwrap();
        serde_json::from_str(&text[from..]).unwrap()
    }

    #[test]
    fn what_is_to_be_pasted_is_valid_and_starts_this_program() {
        for (client, pointer) in [
            (Client::Vscode, "/servers/wharf"),
            (Client::Zed, "/context_servers/wharf"),
            (Client::Cursor, "/mcpServers/wharf"),
            (Client::Gemini, "/mcpServers/wharf"),
            (Client::Qwen, "/mcpServers/wharf"),
        ] {
            let all = pasted(client);
            let server = all.pointer(pointer).unwrap_or_else(|| panic!("{client:?}: {all}"));
            assert_eq!(server["command"], PROGRAM, "{client:?}");
            assert_eq!(server["args"], json!(["mcp"]), "{client:?}");
        }
    }

    #[test]
    fn opencode_gets_program_and_argument_in_one_list() {
        let all = pasted(Client::Opencode);
        let server = &all["mcp"]["wharf"];
        assert_eq!(server["command"], json!([PROGRAM, "mcp"]));
        assert_eq!((&server["type"], &server["enabled"]), (&json!("local"), &json!(true)));
    }

    #[test]
    fn qwen_shows_its_model_the_tools_from_the_beginning() {
        assert_eq!(pasted(Client::Qwen)["mcpServers"]["wharf"]["alwaysLoadTools"], true);
    }

    #[test]
    fn codex_gets_toml_with_a_timeout_beyond_the_longest_call() {
        let text = print(Client::Codex, PROGRAM);
        let table: toml::Table = text[text.find('[').unwrap()..].parse().unwrap();
        let server = &table["mcp_servers"]["wharf"];
        assert_eq!(server["command"].as_str(), Some(PROGRAM));
        assert_eq!(server["args"].as_array().map(Vec::len), Some(1));
        assert!(server["tool_timeout_sec"].as_integer().unwrap() > 60);
        // Without it `codex exec` refuses whatever changes something.
        assert_eq!(server["default_tools_approval_mode"].as_str(), Some("approve"));
    }

    #[test]
    fn claude_code_gets_a_line_for_a_shell_and_a_file_for_a_project() {
        let text = print(Client::ClaudeCode, PROGRAM);
        assert!(text.contains(r#"-- '/opt/it'\''s "here"/wharf' mcp"#), "{text}");
        assert!(print(Client::ClaudeCode, "/usr/bin/wharf").contains("-- /usr/bin/wharf mcp\n"));
        let file: Value = serde_json::from_str(&text[text.find("\n{").unwrap()..]).unwrap();
        // A file that is shared names no place of this machine.
        assert_eq!(file["mcpServers"]["wharf"]["command"], "wharf");
    }

    #[test]
    fn every_client_is_told_where_it_goes() {
        for client in Client::value_variants() {
            let text = print(*client, "wharf");
            assert!(text.contains("mcp") && text.ends_with('\n') && !text.contains('\t'), "{text}");
            assert!(text.lines().next().unwrap().len() <= 100, "{text}");
        }
    }
}
