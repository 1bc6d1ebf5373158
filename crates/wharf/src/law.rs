//! What may run here: the policy file, the sandbox that was chosen, and where things are.
//!
//! The policy is read once, when a front end starts. A project's own file is read for every request, since it may come
//! and go; one that cannot be used refuses everything in that project.

use crate::cli::Choice;
use crate::place::Place;
use crate::report::Failure;
use crate::temporary::Temporary;
use rustix::fs::{Mode, OFlags};
use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, PoisonError};
use wharf_core::policy::{
    Denial, Judge, Judgement, Keeper, Known, Line, Places, Policy, PolicyError, Ruled, Seen, SessionPlace,
    Situation, Whose,
};
use wharf_core::{Grant, Spec, SpecError};

/// A policy is a page or two.
const LONGEST: u64 = 1 << 20;

/// The policy that is in force here.
#[derive(Debug)]
pub(crate) struct Law {
    pub(crate) policy: Policy,
    pub(crate) places: Places,
    sandbox: Option<String>,
    seen: Seen,
    /// Whether the caches of tools were looked after.
    caches: Once,
    /// Nothing of it once it was left.
    standing: Mutex<Option<Standing>>,
}

/// What this front end has in the file system while commands run.
#[derive(Debug)]
struct Standing {
    temporary: Temporary,
    keeper: Keeper,
}

impl Law {
    /// Reads it. Nothing runs under a policy that was half understood.
    pub(crate) fn read(choice: &Choice, place: &Place) -> Result<Self, Failure> {
        let home = place.home().unwrap_or_else(|| PathBuf::from("/nonexistent"));
        let usual = place.config()?.join("policy.toml");
        let named = choice.policy.as_deref().map(std::path::absolute).transpose()?;
        let policy = match &named {
            Some(file) => parse(file, &home)?,
            None if usual.exists() => parse(&usual, &home)?,
            None => Policy::built_in(&home).map_err(refused)?,
        };
        if let Some(name) = &choice.sandbox {
            policy.check_sandbox(name).map_err(Failure::usage)?;
        }
        let places = Places {
            home: place.home(),
            state: place.dirs.state.clone(),
            runtime: place.dirs.runtime.clone(),
            config: place.config()?,
            policy: named,
            environment: place.environment(),
            programs: place.programs(),
            known: Known::default(),
        };
        let temporary = Temporary::under(&place.dirs.state)?;
        let standing = Mutex::new(Some(Standing { temporary, keeper: Keeper::default() }));
        Ok(Self {
            policy,
            places,
            sandbox: choice.sandbox.clone(),
            seen: Seen::default(),
            caches: Once::new(),
            standing,
        })
    }

    /// The policy as a project tightens it.
    pub(crate) fn in_project(&self, directory: &Path) -> Result<Policy, PolicyError> {
        match project_file(directory) {
            Ok(None) => Ok(self.policy.clone()),
            Ok(Some((file, text))) => self.policy.tightened(&text, &file),
            Err((file, error)) => Err(PolicyError {
                file,
                line: None,
                what: format!("the project's policy cannot be read: {error}"),
                fix: "make it a readable file, or remove it".to_owned(),
            }),
        }
    }

    /// Judges a request in a directory.
    pub(crate) fn look<T>(
        &self,
        whose: Whose,
        place: &SessionPlace,
        look: impl FnOnce(&Policy, &Situation<'_>) -> Result<T, SpecError>,
    ) -> Result<Result<T, String>, SpecError> {
        let policy = match self.in_project(&place.cwd) {
            Ok(policy) => policy,
            Err(error) => return Ok(Err(format!("{error}; {}", error.fix))),
        };
        let temp = match self.temporary(&place.key) {
            Ok(temp) => temp,
            Err(error) => return Ok(Err(format!("there is no place for temporary files: {error}"))),
        };
        let sandbox = self.sandbox.as_deref();
        let at = Situation {
            whose,
            places: &self.places,
            directory: &place.cwd,
            temp: &temp,
            sandbox,
            seen: &self.seen,
        };
        look(&policy, &at).map(Ok)
    }
}

impl Law {
    /// Judges what a person has typed, with this directory for its temporary files.
    pub(crate) fn judge_typed(
        &self,
        spec: Spec,
        directory: &Path,
        temp: &Path,
    ) -> Result<Judgement, SpecError> {
        let sandbox = self.sandbox.as_deref();
        self.make_caches(Whose::Person);
        let at = Situation {
            whose: Whose::Person,
            places: &self.places,
            directory,
            temp,
            sandbox,
            seen: &self.seen,
        };
        self.policy.judge(spec, &at)
    }
}

/// What is judged of shells: once when one is opened, and then each line that it is given.
impl Law {
    /// Judges the opening of a shell for an agent. Its temporary files are in `temp`, which lives as long as the shell does;
    /// nothing that this front end keeps is used for it.
    pub(crate) fn judge_shell(
        &self,
        spec: Spec,
        project: &Path,
        temp: &Path,
    ) -> Result<Judgement, SpecError> {
        let policy = match self.project(project) {
            Ok(policy) => policy,
            Err(denial) => return Ok(Judgement::Deny(denial)),
        };
        let at = Situation {
            whose: Whose::Agent,
            places: &self.places,
            directory: project,
            temp,
            sandbox: self.sandbox.as_deref(),
            seen: &self.seen,
        };
        policy.judge(spec, &at)
    }

    /// Judges a line for a shell that is open, by the rules of today.
    pub(crate) fn judge_line(&self, line: &Line<'_>) -> Ruled {
        match self.project(line.root) {
            Ok(policy) => policy.decide_line(line),
            Err(denial) => Ruled::Deny(denial),
        }
    }

    /// The sandbox that a shell of an agent gets in a project today, and what the policy says of it.
    pub(crate) fn sandbox_in(&self, project: &Path) -> Result<(String, Vec<String>), Denial> {
        let policy = self.project(project)?;
        let name = self.sandbox.clone().unwrap_or_else(|| policy.sandbox().to_owned());
        let terms = policy.terms(&name);
        Ok((name, terms))
    }

    /// Whether a command in a project could be asked about or denied today.
    pub(crate) fn restricts(&self, project: &Path) -> bool {
        self.project(project).map_or(true, |policy| policy.restricts())
    }

    /// As [`Law::in_project`], without a copy where the project says nothing.
    fn project(&self, directory: &Path) -> Result<Cow<'_, Policy>, Denial> {
        if matches!(project_file(directory), Ok(None)) {
            return Ok(Cow::Borrowed(&self.policy));
        }
        self.in_project(directory).map(Cow::Owned).map_err(|error| {
            let reason = format!("{error}; {}", error.fix);
            Denial { reason, ..Denial::default() }
        })
    }
}

impl Law {
    /// Here and not in a command, which could not; and not for somebody who only asks what would be said.
    fn make_caches(&self, whose: Whose) {
        let sandbox = self.sandbox.as_deref();
        self.caches.call_once(|| self.policy.make_caches(whose, sandbox, &self.places));
    }

    fn temporary(&self, session: &str) -> io::Result<PathBuf> {
        let standing = self.standing.lock().unwrap_or_else(PoisonError::into_inner);
        standing.as_ref().ok_or(io::ErrorKind::NotFound)?.temporary.of(session)
    }

    /// Takes away what stands in the file system: nothing runs any more.
    pub(crate) fn leave(&self) {
        drop(self.standing.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    fn keep(&self, grant: &Grant) {
        if let Some(standing) = self.standing.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            grant.keep_standing(&mut standing.keeper);
        }
    }
}

impl Judge for Law {
    fn judge(&self, spec: Spec, place: &SessionPlace) -> Result<Judgement, SpecError> {
        self.make_caches(Whose::Agent);
        let judged = self.look(Whose::Agent, place, |policy, at| policy.judge(spec, at))?;
        let judged = judged.unwrap_or_else(|reason| Judgement::Deny(Denial { reason, ..Denial::default() }));
        match &judged {
            Judgement::Allow(grant) => self.keep(grant),
            Judgement::Ask(_, pending) => self.keep(pending.grant()),
            Judgement::Deny(_) => {}
        }
        Ok(judged)
    }

    /// As the project says; a file of its that cannot be used is told of by the judgement.
    fn most_terminals(&self, place: &SessionPlace) -> Option<usize> {
        self.in_project(&place.cwd).ok()?.limits().terminals
    }
}

/// A person's file must be theirs: who can write it decides what runs.
fn parse(file: &Path, home: &Path) -> Result<Policy, Failure> {
    let failed =
        |error: io::Error| Failure::new(format!("the policy {} cannot be read: {error}", file.display()));
    let mut open = File::open(file).map_err(failed)?;
    let meta = open.metadata().map_err(failed)?;
    let own = rustix::process::geteuid().as_raw();
    if !meta.is_file() || (meta.uid() != own && meta.uid() != 0) || meta.mode() & 0o022 != 0 {
        let message = format!("the policy {} could have been written by somebody else", file.display());
        return Err(
            Failure::new(message).hint(format!("chown it to yourself and chmod 644 {}", file.display()))
        );
    }
    let mut text = String::new();
    open.by_ref().take(LONGEST + 1).read_to_string(&mut text).map_err(failed)?;
    too_long(&text).map_err(failed)?;
    Policy::parse(&text, file, home).map_err(refused)
}

/// In words, with what to write instead.
pub(crate) fn refused(error: PolicyError) -> Failure {
    let fix = error.fix.clone();
    Failure::new(error.to_string()).hint(fix)
}

type Found = Result<Option<(PathBuf, String)>, (PathBuf, io::Error)>;

/// A project's own file. It lies where agents write, so no link in it is followed.
fn project_file(directory: &Path) -> Found {
    let file = directory.join(".wharf").join("policy.toml");
    let failed = |error: io::Error| (file.clone(), error);
    let plain = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let missing = [rustix::io::Errno::NOENT, rustix::io::Errno::NOTDIR];
    let open = |at: &dyn Fn(OFlags) -> rustix::io::Result<rustix::fd::OwnedFd>, flags| match at(flags) {
        Ok(fd) => Ok(Some(fd)),
        Err(errno) if missing.contains(&errno) => Ok(None),
        Err(errno) => Err(failed(errno.into())),
    };
    let below = directory.join(".wharf");
    let Some(dir) = open(&|flags| rustix::fs::open(&below, flags, Mode::empty()), plain | OFlags::DIRECTORY)?
    else {
        return Ok(None);
    };
    let name = OsStr::new("policy.toml");
    let Some(fd) = open(&|flags| rustix::fs::openat(&dir, name, flags, Mode::empty()), plain)? else {
        return Ok(None);
    };
    let mut text = String::new();
    let open = File::from(fd);
    if !open.metadata().map_err(failed)?.is_file() {
        return Err(failed(io::Error::other("it is not a file")));
    }
    open.take(LONGEST + 1).read_to_string(&mut text).map_err(failed)?;
    too_long(&text).map_err(failed)?;
    Ok(Some((file, text)))
}

/// What was cut is half a policy.
fn too_long(text: &str) -> io::Result<()> {
    if text.len() as u64 > LONGEST { Err(io::Error::other("it is longer than 1 MiB")) } else { Ok(()) }
}
