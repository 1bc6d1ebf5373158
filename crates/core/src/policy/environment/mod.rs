//! The environment of a command: what passes from wharf's own, and what a request may set.
//!
//! Two different questions. *Inheriting* is an allow-list: whoever started wharf may have any secret in there, so only
//! names that are known to be needed and harmless pass. A *request's own* variables are the agent's words, not secrets;
//! there everything may be set but names that change what code runs, because the rules and the person who is asked look
//! at a command's arguments. Neither is the boundary: whoever may run a shell can set any variable in it, and then the
//! sandbox holds.
//!
//! A request may set `PATH` and `HOME` (and `XDG_*`, `CARGO_HOME` …). The program is looked up in the `PATH` of the
//! request, so the rules see what will really run; and tests move their home all the time. The same goes for
//! compilers and their flags (`CC`, `CFLAGS`, `RUSTFLAGS`): a build runs what the repository says in any case.
//!
//! Nothing is read from the process here: the pairs are given.

mod dangerous;
mod inherited;
mod pattern;
#[cfg(test)]
mod table;

pub(crate) use inherited::is_secret;
pub(crate) use pattern::{BadPattern, Pattern};

use dangerous::Danger;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// Wharf's own variables: told to nobody, set by nobody, whatever a policy says.
const OWN: &[u8] = b"WHARF_";

/// What a policy says about variables, besides what is built in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Environment {
    /// Inherited, too.
    pass: Vec<Pattern>,
    /// May be set by a request although they are dangerous.
    allow: Vec<Pattern>,
}

/// A variable that a request may not set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the variable {} may not be set: {why}", name.display())]
pub(crate) struct Refused {
    pub(crate) name: OsString,
    pub(crate) why: Why,
}

/// Why it may not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Why {
    /// Wharf's own.
    #[error("names that begin with WHARF_ are wharf's own")]
    Own,
    /// It changes what code runs.
    #[error("{0} (a policy can permit it by name: `allow` under `[env]`)")]
    Dangerous(&'static str),
    /// It may be set, but not to this.
    #[error(
        "{0}, and this value is not one that is known to be harmless (`allow` under `[env]` permits any)"
    )]
    Value(&'static str),
}

impl Environment {
    /// From the lists `pass` and `allow` of a policy's `[env]`.
    pub(crate) fn new(pass: &[String], allow: &[String]) -> Result<Self, BadPattern> {
        let read = |list: &[String]| list.iter().map(|text| Pattern::parse(text)).collect::<Result<_, _>>();
        Ok(Self { pass: read(pass)?, allow: read(allow)? })
    }

    /// Those of the offered variables that a command inherits, in their order.
    ///
    /// A proxy passes with the password in its address: without it the command could not reach the network, which is
    /// what a proxy is for. Every other address with a password in it passes only if the policy names its variable.
    pub(crate) fn inherit(&self, offered: &[(OsString, OsString)]) -> Vec<(OsString, OsString)> {
        offered.iter().filter(|(name, value)| self.passes(name, value)).cloned().collect()
    }

    fn passes(&self, name: &OsStr, value: &OsStr) -> bool {
        if name.as_bytes().starts_with(OWN) {
            return false;
        }
        // Who names a variable exactly means this variable, be it a secret or dangerous.
        if self.pass.iter().any(|pattern| pattern.is_exactly(name)) {
            return true;
        }
        if is_secret(name) {
            return false;
        }
        if inherited::is_proxy(name) {
            return true;
        }
        if inherited::has_login(value) {
            return false;
        }
        inherited::is_named(name)
            || ((inherited::is_matched(name) || self.pass.iter().any(|pattern| pattern.matches(name)))
                && dangerous::look_up(name).is_none())
    }

    /// Whether a request may set this variable to this value. Names that are no names (empty, with `=` or NUL) are for
    /// the spec's own check.
    pub(crate) fn judge(&self, name: &OsStr, value: &OsStr) -> Result<(), Refused> {
        let refused = |why| Err(Refused { name: name.to_owned(), why });
        if name.as_bytes().starts_with(OWN) {
            return refused(Why::Own);
        }
        if self.allow.iter().any(|pattern| pattern.matches(name)) {
            return Ok(());
        }
        match dangerous::look_up(name) {
            None => Ok(()),
            Some(Danger::Always(why)) => refused(Why::Dangerous(why)),
            Some(Danger::Unless(harmless, _)) if harmless.covers(value) => Ok(()),
            Some(Danger::Unless(_, why)) => refused(Why::Value(why)),
        }
    }

    /// Every variable of a request, in order; the first that may not be set.
    pub(crate) fn judge_all(&self, pairs: &[(OsString, OsString)]) -> Result<(), Refused> {
        pairs.iter().try_for_each(|(name, value)| self.judge(name, value))
    }
}
