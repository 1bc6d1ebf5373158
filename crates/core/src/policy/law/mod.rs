//! A judge that is ready to use: a policy, where things are, and what has to stand in the file system while commands run.
//!
//! The policy is read once. A project's own file is read for every request, since it may come and go; one that cannot be
//! used refuses everything in that project. Temporary directories of sessions, caches of tools and what stands in for
//! protected files are made here, and go with [`Law::leave`] or with the last handle to it.

mod file;
#[cfg(test)]
mod tests;

use super::roots::Root;
use super::temporary::Temporary;
use super::{
    Denial, Judge, Judgement, Keeper, Line, Outlook, Places, Policy, PolicyError, Ruled, Seen, SessionPlace,
    Settings, Situation, Whose,
};
use crate::grant::{Grant, SpecError};
use crate::spec::Spec;
use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, PoisonError};

/// The policy that is in force for one front end.
#[derive(Debug)]
pub struct Law {
    /// What may run where no project says otherwise.
    pub policy: Policy,
    /// Where things are.
    pub places: Places,
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
    /// Puts a policy in force. Makes a directory for temporary files in the state directory.
    pub fn open(policy: Policy, places: Places) -> io::Result<Self> {
        let temporary = Temporary::under(&places.state)?;
        let standing = Mutex::new(Some(Standing { temporary, keeper: Keeper::default() }));
        Ok(Self { policy, places, sandbox: None, seen: Seen::default(), caches: Once::new(), standing })
    }

    /// Chooses another sandbox than the policy does. Says which there are if it is none of them.
    pub fn in_sandbox(mut self, name: &str) -> Result<Self, String> {
        self.policy.check_sandbox(name)?;
        self.sandbox = Some(name.to_owned());
        Ok(self)
    }

    /// The policy as a project tightens it.
    pub fn in_project(&self, directory: &Path) -> Result<Policy, PolicyError> {
        self.tightened(directory).map(Cow::into_owned)
    }

    /// Looks at a request in a session, without making anything; the text is why there can be no answer.
    pub fn look<T>(
        &self,
        whose: Whose,
        place: &SessionPlace,
        look: impl FnOnce(&Policy, &Situation<'_>) -> Result<T, SpecError>,
    ) -> Result<Result<T, String>, SpecError> {
        let policy = match self.project(&place.cwd) {
            Ok(policy) => policy,
            Err(denial) => return Ok(Err(denial.reason)),
        };
        let temp = match self.temporary(&place.key) {
            Ok(temp) => temp,
            Err(error) => return Ok(Err(format!("there is no place for temporary files: {error}"))),
        };
        look(&policy, &self.situation(whose, &place.cwd, &[], &temp)).map(Ok)
    }

    /// Judges what a person has typed, with this directory for its temporary files.
    pub fn judge_typed(&self, spec: Spec, directory: &Path, temp: &Path) -> Result<Judgement, SpecError> {
        self.make_caches(Whose::Person);
        self.policy.judge(spec, &self.situation(Whose::Person, directory, &[], temp))
    }

    /// Takes away what stands in the file system: nothing runs any more.
    pub fn leave(&self) {
        drop(self.standing.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    fn situation<'a>(
        &'a self,
        whose: Whose,
        directory: &'a Path,
        more: &'a [PathBuf],
        temp: &'a Path,
    ) -> Situation<'a> {
        let (places, seen) = (&self.places, &self.seen);
        Situation { whose, places, directory, more, temp, sandbox: self.sandbox.as_deref(), seen }
    }

    /// Here and not in a command, which could not; and not for somebody who only asks what would be said.
    fn make_caches(&self, whose: Whose) {
        let sandbox = self.sandbox.as_deref();
        self.caches.call_once(|| self.policy.make_caches(whose, sandbox, &self.places));
    }

    fn temporary(&self, session: &str) -> io::Result<PathBuf> {
        let standing = self.standing.lock().unwrap_or_else(PoisonError::into_inner);
        standing.as_ref().ok_or(io::ErrorKind::NotFound)?.temporary.of(session)
    }

    fn keep(&self, grant: &Grant) {
        if let Some(standing) = self.standing.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            grant.keep_standing(&mut standing.keeper);
        }
    }

    /// Without a copy where the project says nothing.
    fn tightened(&self, directory: &Path) -> Result<Cow<'_, Policy>, PolicyError> {
        let own = self.policy.of_project(directory)?;
        Ok(own.map_or(Cow::Borrowed(&self.policy), Cow::Owned))
    }

    /// The same for those who can only refuse.
    fn project(&self, directory: &Path) -> Result<Cow<'_, Policy>, Denial> {
        self.tightened(directory).map_err(|error| {
            let reason = format!("{error}; {}", error.fix);
            Denial { reason, ..Denial::default() }
        })
    }
}

/// What is judged of shells: once when one is opened, and then each line that it is given.
impl Law {
    /// Judges the opening of a shell for an agent. Its temporary files are in `temp`, which lives as long as the shell does;
    /// nothing that this front end keeps is used for it.
    pub fn judge_shell(
        &self,
        spec: Spec,
        (project, more): (&Path, &[PathBuf]),
        temp: &Path,
    ) -> Result<Judgement, SpecError> {
        self.make_caches(Whose::Agent);
        match self.project(project) {
            Ok(policy) => policy.judge(spec, &self.situation(Whose::Agent, project, more, temp)),
            Err(denial) => Ok(Judgement::Deny(denial)),
        }
    }

    /// Judges a line for a shell that is open, by the rules of today.
    pub fn judge_line(&self, line: &Line<'_>) -> Ruled {
        match self.project(line.root) {
            Ok(policy) => policy.decide_line(line),
            Err(denial) => Ruled::Deny(denial),
        }
    }

    /// The sandbox that a shell of an agent gets in a project today, and what the policy says of it.
    pub fn sandbox_in(&self, project: &Path) -> Result<(String, Vec<String>), Denial> {
        let policy = self.project(project)?;
        let name = self.sandbox.clone().unwrap_or_else(|| policy.sandbox().to_owned());
        let terms = policy.terms(&name);
        Ok((name, terms))
    }

    /// Settings in a project that make programs outside run something, as they are now.
    #[must_use]
    pub fn settings_in(&self, project: &Path, more: &[PathBuf]) -> Option<Settings> {
        self.policy.settings(project, more, &self.places)
    }

    /// Why commands cannot write in a directory that a conversation is about, if they cannot: it is too wide to be given away.
    #[must_use]
    pub fn too_wide(&self, project: &Path) -> Option<String> {
        let has_sandbox = self.outlook().held.is_ok_and(|means| means.is_some());
        let root = Root::open(project).ok().filter(|_| has_sandbox)?;
        root.check_width(&self.places).err().filter(|wide| !wide.is_shared()).map(|wide| wide.to_string())
    }

    /// What the sandbox of agents' commands holds on this machine.
    #[must_use]
    pub fn outlook(&self) -> Outlook {
        self.policy.outlook(self.sandbox.as_deref(), &self.places)
    }

    /// Whether a command in a project could be asked about or denied today.
    #[must_use]
    pub fn restricts(&self, project: &Path) -> bool {
        self.project(project).map_or(true, |policy| policy.restricts())
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

    fn settings(&self, place: &SessionPlace) -> Option<Settings> {
        self.settings_in(&place.cwd, &[])
    }

    /// As the project says; a file of its that cannot be used is told of by the judgement.
    fn most_terminals(&self, place: &SessionPlace) -> Option<usize> {
        self.tightened(&place.cwd).ok()?.limits().terminals
    }
}
