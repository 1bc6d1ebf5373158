//! The environment of a command that nobody sits in front of.
//!
//! Without these, `git log` waits in a pager, `git commit` in an editor and `git push` for a password. What a person is
//! called, who they are to git, and where their tools are stays as it is.

/// Set for every command unless its agent says otherwise; wins over what is inherited.
pub(super) const DEFAULTS: [(&str, &str); 18] = [
    // A pipe is no terminal. Programs that do not look are told.
    ("TERM", "dumb"),
    // Pagers.
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GH_PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("SYSTEMD_PAGER", "cat"),
    ("AWS_PAGER", ""),
    // Editors. To git `:` is an editor that changes nothing, without a process.
    ("GIT_EDITOR", ":"),
    ("GIT_SEQUENCE_EDITOR", ":"),
    ("GIT_MERGE_AUTOEDIT", "no"),
    ("EDITOR", "true"),
    ("VISUAL", "true"),
    // Credentials: helpers that know them are asked, people are not.
    ("GIT_TERMINAL_PROMPT", "0"),
    // Empty is none to git; unset, it would go on to ask with whatever ssh asks with.
    ("GIT_ASKPASS", ""),
    ("GCM_INTERACTIVE", "never"),
    ("SSH_ASKPASS_REQUIRE", "never"),
    // Package managers.
    ("DEBIAN_FRONTEND", "noninteractive"),
    ("PIP_NO_INPUT", "1"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_somebody_is_to_git_is_left_alone() {
        for (name, _) in DEFAULTS {
            let identity = ["GIT_AUTHOR", "GIT_COMMITTER", "GIT_CONFIG", "GIT_SSH", "SSH_AUTH"];
            assert!(!identity.iter().any(|prefix| name.starts_with(prefix)), "{name}");
        }
    }
}
