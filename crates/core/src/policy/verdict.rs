//! The judge: from a spec to a grant, to a question, or to a denial.
//!
//! Front ends hold a [`Judge`] and nothing else of policy. A question comes with the grant that an answer would release:
//! everything was looked up when it was judged, so that what is allowed later is what was asked about.

use super::ask::Question;
use super::settings::Settings;
use crate::grant::{Grant, SpecError, unrestricted};
use crate::spec::Spec;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// The conversation that a spec comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionPlace {
    /// Its directory, which the client has named, never the agent.
    pub cwd: PathBuf,
    /// Its name.
    pub key: String,
}

/// What decided, for the record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// The rules that spoke, by name or in words.
    pub rules: Vec<String>,
    /// The sandbox; empty if there is none.
    pub sandbox: String,
    /// What the sandbox should hold and does not on this machine, as [`Extra::code`](super::Extra::code) names it.
    pub missing: Vec<String>,
    /// The limits, by name.
    pub limits: BTreeMap<String, String>,
}

/// A command that may not run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Denial {
    /// The rule that says so, if it is one.
    pub rule: Option<String>,
    /// The rule or the key that says so, with the file that it stands in.
    pub by: Option<String>,
    /// Why.
    pub reason: String,
    /// What a person can do to that file so that it runs, as words behind "to"; empty if nothing in it would help.
    pub fix: String,
    /// Everything that spoke, for the record.
    pub facts: Box<Facts>,
}

impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.by, &self.rule) {
            (Some(by), _) => write!(f, "denied by {by}: {}", self.reason),
            (None, Some(rule)) => write!(f, "denied by the rule {rule:?}: {}", self.reason),
            (None, None) => write!(f, "denied: {}", self.reason),
        }
    }
}

/// A grant that waits for a yes.
#[derive(Debug)]
pub struct Pending {
    grant: Box<Grant>,
}

impl Pending {
    /// Holds a grant back.
    #[must_use]
    pub fn new(grant: Grant) -> Self {
        Self { grant: Box::new(grant) }
    }

    /// Somebody has said yes.
    #[must_use]
    pub fn allow(mut self) -> Grant {
        // People take their time: what the sandbox was drawn up from may have changed since.
        self.grant.basis = None;
        *self.grant
    }

    /// What would be started.
    #[must_use]
    pub fn grant(&self) -> &Grant {
        &self.grant
    }

    /// What decided that it must be asked.
    #[must_use]
    pub fn facts(&self) -> &Facts {
        self.grant.facts()
    }
}

/// What a judge says.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "made once for each command and taken apart at once")]
pub enum Judgement {
    /// It may run.
    Allow(Grant),
    /// It may run if somebody says so.
    Ask(Question, Pending),
    /// It may not.
    Deny(Denial),
}

/// Decides what may run. Asked once for each command; looks at files, and returns at once.
pub trait Judge: Send + Sync {
    /// Judges one.
    fn judge(&self, spec: Spec, place: &SessionPlace) -> Result<Judgement, SpecError>;

    /// Settings in a conversation's directory that make programs outside run something, as they are now.
    fn settings(&self, _place: &SessionPlace) -> Option<Settings> {
        None
    }

    /// How many terminals may run at the same time in a conversation's directory, if there is a limit for it alone.
    fn most_terminals(&self, _place: &SessionPlace) -> Option<usize> {
        None
    }
}

impl<J: Judge + ?Sized> Judge for Arc<J> {
    fn judge(&self, spec: Spec, place: &SessionPlace) -> Result<Judgement, SpecError> {
        (**self).judge(spec, place)
    }

    fn settings(&self, place: &SessionPlace) -> Option<Settings> {
        (**self).settings(place)
    }

    fn most_terminals(&self, place: &SessionPlace) -> Option<usize> {
        (**self).most_terminals(place)
    }
}

/// Allows whatever makes sense.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unrestricted;

impl Judge for Unrestricted {
    fn judge(&self, spec: Spec, _: &SessionPlace) -> Result<Judgement, SpecError> {
        unrestricted(spec).map(Judgement::Allow)
    }
}
