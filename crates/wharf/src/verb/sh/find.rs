//! Which shell is meant: one of this project by its name, or any by its id.
//!
//! A shell belongs to the directory that it was started in and to all below. Only those that live count: a name becomes
//! free with the shell that had it.

use crate::place::Place;
use crate::report::Failure;
use crate::show;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use wharf_core::shell::{HUMAN, ShellMeta};
use wharf_core::{Phase, Store, Terminal};

/// What a name means here.
#[derive(Debug)]
pub(super) enum Meant {
    /// A shell that is there.
    Join(Terminal),
    /// None yet; it can be opened.
    Open,
}

/// So much of an id is enough of it, if only one shell has it. Shorter ones would be taken for ids by accident.
const LEAST_ID: usize = 4;
/// Longer names help nobody.
const LONGEST_NAME: usize = 64;

/// What is kept with a terminal if it is a shell.
pub(super) fn shell_of(terminal: &Terminal) -> Option<&ShellMeta> {
    terminal.meta().integration.as_ref()
}

/// Whose it is, in words.
pub(super) fn owner(terminal: &Terminal) -> String {
    match shell_of(terminal) {
        Some(shell) if shell.seat == HUMAN => "yours".to_owned(),
        _ => show::one_line(&terminal.meta().origin, 30),
    }
}

/// All shells that live, oldest first.
pub(super) async fn living(store: &Store) -> Result<Vec<Terminal>, Failure> {
    let mut living = Vec::new();
    for found in store.list()? {
        let Ok(terminal) = found.terminal else { continue };
        if shell_of(&terminal).is_none() {
            continue;
        }
        let phase = terminal.look_and_settle().await.map(|look| look.phase);
        if matches!(phase, Ok(Phase::Starting | Phase::Running { .. })) {
            living.push(terminal);
        }
    }
    Ok(living)
}

/// Those that belong here.
pub(super) fn here(shells: &[Terminal], place: &Place) -> Result<Vec<Terminal>, Failure> {
    let here = real(&place.directory(None)?);
    let home = place.home().map(|home| real(&home));
    let ours = |terminal: &&Terminal| belongs(&real(&terminal.meta().cwd), &here, home.as_deref());
    Ok(shells.iter().filter(ours).cloned().collect())
}

/// One within the other, so that it does not matter in which part of the project one stands. What was started at home, or
/// at the root, belongs there only: everything is within those.
fn belongs(started: &Path, here: &Path, home: Option<&Path>) -> bool {
    let wide = started.parent().is_none() || Some(started) == home;
    started == here || started.starts_with(here) || (!wide && here.starts_with(started))
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// The shell that is meant.
pub(super) fn meant(name: &str, shells: &[Terminal], place: &Place) -> Result<Meant, Failure> {
    let named = |terminal: &Terminal| shell_of(terminal).is_some_and(|shell| shell.name == name);
    let mut found: Vec<Terminal> = here(shells, place)?.into_iter().filter(named).collect();
    if found.is_empty() && name.len() >= LEAST_ID {
        let id = name.to_ascii_lowercase();
        found = shells.iter().filter(|shell| shell.id().as_str().starts_with(&id)).cloned().collect();
    }
    match found.as_slice() {
        [] => check_name(name).map(|()| Meant::Open),
        [shell] => Ok(Meant::Join(shell.clone())),
        several => {
            let message = format!("there are {} shells {name:?} here", several.len());
            Err(Failure::no_such_terminal(message).hint(format!("say which, by its id:{}", list(several))))
        }
    }
}

fn check_name(name: &str) -> Result<(), Failure> {
    let proper = |c: char| c.is_alphanumeric() || "._-+@".contains(c);
    if !name.is_empty() && name.len() <= LONGEST_NAME && name.chars().all(proper) {
        return Ok(());
    }
    Err(Failure::usage(format!("{name:?} is not a name for a shell"))
        .hint("letters, digits and . _ - + @, at most 64 of them"))
}

fn list(shells: &[Terminal]) -> String {
    let mut text = String::new();
    for shell in shells {
        let meta = shell.meta();
        let directory = show::one_line(&meta.cwd.display().to_string(), 200);
        let _ = write!(
            text,
            "\n         wharf sh {}   {}, sandbox {}, started in {directory}",
            shell.id().short(),
            owner(shell),
            meta.sandbox
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_belongs_where_it_was_started_and_around() {
        for (started, here, belonging) in [
            ("/h/me/app", "/h/me/app", true),
            ("/h/me/app", "/h/me/app/src", true),
            ("/h/me/app/src", "/h/me/app", true),
            ("/h/me/app", "/h/me/apple", false),
            ("/h/me/app", "/h/me/other", false),
            ("/h/me", "/h/me/app", false),
            ("/h/me", "/h/me", true),
            ("/", "/h/me/app", false),
            ("/h/me/app", "/", true),
        ] {
            let found = belongs(Path::new(started), Path::new(here), Some(Path::new("/h/me")));
            assert_eq!(found, belonging, "started in {started}, now in {here}");
        }
    }

    #[test]
    fn names_are_such_that_one_can_type_them() {
        for name in ["default", "dev-server", "a.b_c", "grün"] {
            assert!(check_name(name).is_ok(), "{name}");
        }
        for name in ["", "a b", "a/b", "a\nb", "-\u{1b}[31m", &"x".repeat(65)] {
            assert!(check_name(name).is_err(), "{name:?}");
        }
    }
}
