//! Files in a root that make a program *outside* the sandbox run something, the next time a person opens the project. Where
//! git has no business with them, those that exist stay as they are although the root may be written; of all that are made
//! or changed a person is told (see `settings`).
//!
//! The hooks of the repository are found by `repository`. Not here, and why: `.husky` and other directories that a
//! repository names as its hooks, `package.json`, `Makefile`, `build.rs`: they are the project's own code, which commands
//! are meant to change and `npm ci` writes; `.envrc`, `.dir-locals.el` and `.nvim.lua`, which their programs run only after
//! asking again whenever they change; `CLAUDE.md`, `AGENTS.md` and rules of editors, which are text.

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Protected {
    /// Relative to a root.
    pub(crate) name: &'static str,
    pub(crate) when: When,
    pub(crate) why: &'static str,
}

/// When a strict profile protects it. For what does not exist, an empty directory stands in the root while a terminal
/// runs: so only for what many use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    /// Also if it does not exist.
    Always,
    IfThere,
}

const fn always(name: &'static str, why: &'static str) -> Protected {
    Protected { name, when: When::Always, why }
}

const fn if_there(name: &'static str, why: &'static str) -> Protected {
    Protected { name, when: When::IfThere, why }
}

const PROTECTED: &[Protected] = &[
    always(".wharf", "wharf's own rules for this project"),
    always(".vscode", "tasks run when the folder is opened, and settings name programs"),
    always(".idea", "run configurations and file watchers name programs"),
    if_there(".fleet", "run configurations name programs"),
    always(".zed", "tasks and language servers name programs"),
    if_there(".helix", "language servers name programs"),
    always(".cursor", "servers and hooks of the agent name programs"),
    if_there(".windsurf", "hooks and servers of the agent name programs"),
    always(".claude", "hooks and permissions of the agent"),
    always(".codex", "settings of the agent name programs and loosen its sandbox"),
    always(".gemini", "settings of the agent name programs and loosen its sandbox"),
    if_there(".qwen", "settings of the agent name programs and loosen its sandbox"),
    if_there(".opencode", "plugins of the agent are code"),
    if_there(".continue", "servers of the agent name programs"),
    if_there(".kiro", "hooks and servers of the agent name programs"),
    if_there(".roo", "servers of the agent name programs"),
    if_there(".amazonq", "servers of the agent name programs"),
    always(".devcontainer", "its commands run on the host when the container is made"),
    if_there(".devcontainer.json", "its commands run on the host when the container is made"),
    always(".mcp.json", "names the programs that an agent starts as its servers"),
    if_there("opencode.json", "names the programs that an agent starts as its servers"),
    if_there(".crush.json", "names the programs that an agent starts as its servers"),
    if_there(
        "mise.toml",
        "tasks and hooks run when the directory is entered, once it is trusted by its path",
    ),
    if_there(
        ".mise.toml",
        "tasks and hooks run when the directory is entered, once it is trusted by its path",
    ),
    if_there(".aider.conf.yml", "names programs that the agent runs after each change"),
];

/// All of them.
pub(crate) fn protected() -> &'static [Protected] {
    PROTECTED
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_protected_name_is_one_plain_name_with_a_reason() {
        for (index, protected) in protected().iter().enumerate() {
            let name = protected.name;
            assert!(!name.is_empty() && !name.contains('/') && name != "." && name != "..", "{name}");
            assert!(protected.why.len() > 10, "{name}");
            assert_eq!(PROTECTED.iter().position(|other| other.name == name), Some(index), "{name} twice");
        }
        // Ordinary work writes these.
        for name in [".git", ".husky", "node_modules", "package.json", "target", ".venv", "Makefile"] {
            assert!(PROTECTED.iter().all(|protected| protected.name != name), "{name}");
        }
    }
}
