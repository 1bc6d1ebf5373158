//! Which shell a terminal gets: the one that was asked for, the user's, or bash, in this order.

use super::refusal::Refusal;
use crate::asked;
use crate::place::Place;
use crate::report::Failure;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use wharf_core::shell::Kind;

/// The shells of this place.
#[derive(Debug)]
pub(super) struct Programs {
    usual: (Kind, PathBuf),
    /// By the names in requests, as far as they were there at the beginning: looking for one walks along PATH.
    named: Vec<(&'static str, (Kind, PathBuf))>,
    path: OsString,
}

const NAMES: [&str; 3] = ["bash", "zsh", "sh"];

impl Programs {
    /// `asked` is what `--shell` says.
    pub(super) fn find(asked: Option<&Path>, place: &Place) -> Result<Self, Failure> {
        let path =
            place.variable(OsStr::new("PATH")).unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
        let usual = match asked {
            Some(asked) => usable(asked, &path).ok_or_else(|| {
                Failure::usage(format!("{} is not a shell that can be used", asked.display()))
                    .hint("--shell takes bash, zsh or a POSIX sh, by name or by path")
            })?,
            None => {
                let own = place.variable(OsStr::new("SHELL")).map(PathBuf::from);
                let bash = asked::shell(&place.environment());
                own.and_then(|own| usable(&own, &path))
                    .or_else(|| usable(Path::new(bash), &path))
                    .ok_or_else(|| Failure::new("there is no shell here").hint("--shell PROGRAM names one"))?
            }
        };
        let found = |name| Some((name, usable(Path::new(name), &path)?));
        Ok(Self { usual, named: NAMES.into_iter().filter_map(found).collect(), path })
    }

    /// By the name in a request; the usual one if that is empty.
    pub(super) fn named(&self, name: &str) -> Result<(Kind, PathBuf), Refusal> {
        if name.is_empty() {
            return Ok(self.usual.clone());
        }
        if let Some((_, program)) = self.named.iter().find(|(known, _)| *known == name) {
            return Ok(program.clone());
        }
        NAMES.contains(&name).then(|| usable(Path::new(name), &self.path)).flatten().ok_or_else(|| {
            Refusal::new(
                "invalid",
                format!("There is no shell {name:?} here. Leave `shell` out, or say bash, zsh or sh."),
            )
        })
    }
}

/// What it is called in requests and answers.
pub(super) fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Bash => "bash",
        Kind::Zsh => "zsh",
        Kind::Sh => "sh",
    }
}

/// Its file, if it is there and we know how to talk to it.
fn usable(program: &Path, path: &OsStr) -> Option<(Kind, PathBuf)> {
    let kind = Kind::of(program)?;
    let file = if program.components().count() > 1 {
        std::path::absolute(program).ok()?
    } else {
        std::env::split_paths(path)
            .map(|dir| dir.join(program))
            .find(|file| file.is_absolute() && file.is_file())?
    };
    file.is_file().then_some((kind, file))
}
