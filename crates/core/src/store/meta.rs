//! What was asked for, kept beside the journal for people and listings.
//!
//! Names of environment variables are kept, values never: they hold secrets.

use crate::grant::Grant;
use crate::id::TerminalId;
use crate::policy::OPEN;
use crate::shell::ShellMeta;
use crate::spec::{Command, SpecIo};
use serde::{Deserialize, Serialize};
use std::io;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};
use wharf_shim::journal::format::Damage;

/// The `meta` file of a terminal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Meta {
    /// Version of this file's layout. Fields may be added without changing it.
    pub version: u32,
    /// The terminal's name.
    pub id: String,
    /// When it was asked for, in milliseconds since 1970.
    pub created_ms: u64,
    /// The command for display: an argument list, or the line if a shell reads it.
    pub command: Vec<String>,
    /// Whether a shell reads it.
    pub shell: bool,
    /// Where it starts.
    pub cwd: PathBuf,
    /// Names of the variables it was given.
    pub env: Vec<String>,
    /// Columns and rows, if it is a PTY.
    pub size: Option<(u16, u16)>,
    /// Who asked.
    pub origin: String,
    /// The sandbox it runs in; `open` if it has none.
    #[serde(default = "open")]
    pub sandbox: String,
    /// What the policy said of that sandbox, one thing each; nothing if it is not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub terms: Vec<String>,
    /// What that sandbox is, in one line; empty if it has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sandbox_note: String,
    /// What that sandbox should hold and does not on this machine, by [`Extra::code`](crate::policy::Extra::code).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_held: Vec<String>,
    /// The conversation it was asked for in, if the protocol has such.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// What is to be known to join it, if it is a shell of ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub integration: Option<ShellMeta>,
}

fn open() -> String {
    OPEN.to_owned()
}

impl Meta {
    pub(super) fn new(id: &TerminalId, grant: &Grant) -> Self {
        let spec = &grant.spec;
        let lossy = |text: &std::ffi::OsString| text.to_string_lossy().into_owned();
        let (command, shell) = match &spec.command {
            // Not an argument list but words for people: what runs is a bootstrap that nobody asked for.
            Command::Argv { program, .. } if spec.shell.is_some() => {
                let name = spec.shell.as_ref().map_or("", |shell| &shell.meta.name);
                (vec![format!("{} ({name})", base(program))], true)
            }
            Command::Argv { program, args } => {
                (std::iter::once(program).chain(args).map(lossy).collect(), false)
            }
            Command::ShellLine { line, .. } => (vec![lossy(line)], true),
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            version: 1,
            id: id.to_string(),
            created_ms: u64::try_from(now.as_millis()).unwrap_or(u64::MAX),
            command,
            shell,
            cwd: spec.cwd.clone(),
            env: grant.names.iter().map(lossy).collect(),
            size: match spec.io {
                SpecIo::Pty(size) => Some((size.cols, size.rows)),
                SpecIo::Plain | SpecIo::PlainWithInput => None,
            },
            origin: spec.origin.clone(),
            sandbox: grant.sandbox().to_owned(),
            terms: grant.terms.clone(),
            sandbox_note: grant.note.clone(),
            not_held: grant.missing.iter().map(|extra| extra.code().to_owned()).collect(),
            session: spec.session.clone(),
            integration: spec.shell.as_ref().map(|shell| shell.meta.clone()),
        }
    }

    pub(super) fn to_json(&self) -> io::Result<Vec<u8>> {
        Ok(serde_json::to_vec(self)?)
    }

    pub(crate) fn from_json(bytes: &[u8]) -> Result<Self, Damage> {
        serde_json::from_slice(bytes).map_err(|error| Damage::Meta { why: error.to_string() })
    }

    /// The command on one line, quoted where a reader of shell would need it.
    #[must_use]
    pub fn command_line(&self) -> String {
        if self.shell {
            return self.command.join(" ");
        }
        let words: Vec<String> = self.command.iter().map(|word| quote(word)).collect();
        words.join(" ")
    }
}

/// The last part of a path.
fn base(program: &std::ffi::OsString) -> String {
    PathBuf::from(program).file_name().unwrap_or(program).to_string_lossy().into_owned()
}

fn quote(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_only_where_needed() {
        for (word, quoted) in
            [("ls", "ls"), ("--a=b/c", "--a=b/c"), ("", "''"), ("a b", "'a b'"), ("it's", "'it'\\''s'")]
        {
            assert_eq!(quote(word), quoted);
        }
    }
}
