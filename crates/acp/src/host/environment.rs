//! The environment of a command that nobody sits in front of.
//!
//! Without these, `git log` waits in a pager, `git commit` in an editor and `git push` for a password. What a person is
//! called, who they are to git, and where their tools are stays as it is.

use agent_client_protocol::v1::schema::EnvVariable;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

/// Set for every command unless its agent says otherwise.
const DEFAULTS: [(&str, &str); 18] = [
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

/// What was inherited, then the defaults, then what the agent wants: the last of a name wins.
pub(super) fn of(inherited: &[(OsString, OsString)], asked: &[EnvVariable]) -> Vec<(OsString, OsString)> {
    // What has no proper name in our own environment is not worth refusing a command for.
    let has_name = |(name, _): &&(OsString, OsString)| !name.is_empty() && !name.as_bytes().contains(&b'=');
    let inherited = inherited.iter().filter(has_name).cloned();
    let defaults = DEFAULTS.iter().map(|(name, value)| (name.into(), value.into()));
    let asked =
        asked.iter().map(|variable| (OsString::from(&variable.name), OsString::from(&variable.value)));
    inherited.chain(defaults).chain(asked).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(pairs: &[(OsString, OsString)], name: &str) -> Option<String> {
        let found = pairs.iter().rev().find(|(known, _)| known == name);
        found.map(|(_, value)| value.to_str().unwrap().to_owned())
    }

    #[test]
    fn the_agent_wins_over_the_defaults_and_these_over_what_was_inherited() {
        let inherited =
            [("PAGER".into(), "less".into()), ("HOME".into(), "/h".into()), ("".into(), "x".into())];
        let pairs = of(&inherited, &[EnvVariable::new("TERM", "xterm"), EnvVariable::new("A", "1")]);
        for (name, expected) in [
            ("PAGER", Some("cat")),
            ("HOME", Some("/h")),
            ("TERM", Some("xterm")),
            ("A", Some("1")),
            ("", None),
        ] {
            assert_eq!(value(&pairs, name).as_deref(), expected, "{name}");
        }
    }

    #[test]
    fn who_somebody_is_to_git_is_left_alone() {
        for (name, _) in DEFAULTS {
            let identity = ["GIT_AUTHOR", "GIT_COMMITTER", "GIT_CONFIG", "GIT_SSH", "SSH_AUTH"];
            assert!(!identity.iter().any(|prefix| name.starts_with(prefix)), "{name}");
        }
    }
}
