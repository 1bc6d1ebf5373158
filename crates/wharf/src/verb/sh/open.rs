//! A new shell of one's own.
//!
//! It belongs to no agent's seat, so that none finds itself in a shell that is not sandboxed.

use crate::asked;
use crate::cli::Sh;
use crate::interact;
use crate::place::Place;
use crate::report::Failure;
use crate::verb::run;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use wharf_core::policy::audit::{self, Entry, Ruling, Who};
use wharf_core::policy::{Facts, Shown};
use wharf_core::shell::{self, HUMAN, Kind};
use wharf_core::{Store, Terminal, TerminalId};

/// Opens it.
pub(super) async fn open(name: &str, args: &Sh, store: &Store, place: &Place) -> Result<Terminal, Failure> {
    let (kind, program) = program(args.shell.as_deref(), place)?;
    let spec = shell::spec(kind, &program, name, HUMAN, interact::window().unwrap_or_default())
        .cwd(place.directory(args.cwd.as_deref())?)
        .inherit(place.environment())
        // What every terminal it will be joined from can do, and what its follower answers for.
        .preset([("TERM", "xterm-256color")])
        .origin("wharf sh");
    let id = TerminalId::random()?;
    let (command, cwd) = (Shown::of(&spec), spec.directory().to_owned());
    let grant = run::grant(spec, &args.choice, place, &id)?
        .map_err(|denial| Failure { word: "denied", ..Failure::new(denial.reason) })?;
    let facts = Facts { sandbox: grant.sandbox().to_owned(), ..grant.facts().clone() };
    place.audit()?.write(&Entry::Decision(audit::Decision {
        who: Who { front_end: "sh".to_owned(), ..Who::default() },
        terminal: Some(id.clone()),
        command,
        cwd,
        env_names: Vec::new(),
        ruling: Ruling::Allowed,
        facts,
    }))?;
    Ok(store.create_as(id, grant).await?)
}

/// The shell that was asked for; else one's own if wharf knows it; else the one there is.
fn program(asked: Option<&OsStr>, place: &Place) -> Result<(Kind, PathBuf), Failure> {
    let environment = place.environment();
    let own = || place.variable(OsStr::new("SHELL")).map(PathBuf::from);
    let wanted = match asked {
        Some(asked) => PathBuf::from(asked),
        None => own()
            .filter(|own| own.is_file() && Kind::of(own).is_some())
            .unwrap_or_else(|| asked::shell(&environment).into()),
    };
    let file = locate(&wanted, place)
        .ok_or_else(|| Failure::new(format!("there is no shell {}", wanted.display())))?;
    let kind = Kind::of(&file).ok_or_else(|| {
        Failure::usage(format!("{} is not a shell that wharf knows", file.display()))
            .hint("bash, zsh and sh are; `wharf run --pty -- PROGRAM` runs any program")
    })?;
    Ok((kind, file))
}

/// The file: as it is named, or in PATH.
fn locate(wanted: &Path, place: &Place) -> Option<PathBuf> {
    if wanted.components().count() > 1 {
        return place.directory(Some(wanted)).ok().filter(|file| file.is_file());
    }
    let path = place.variable(OsStr::new("PATH"))?;
    std::env::split_paths(&path).map(|dir| dir.join(wanted)).find(|file| file.is_file())
}
