//! The judge: what may run, where, and with what limits.
//!
//! A [`Policy`] is read from text and then never changes. [`Policy::judge`] looks at what is asked for and at the
//! [`Situation`] in which it is asked, and either gives a grant, with limits and a sandbox that the request cannot
//! loosen, or a question for a person, or says no and why. It reads the file system (a directory is judged by its open
//! descriptor) and nothing else: files, environment and home are given to it.
//!
//! Who embeds wharf needs none of the parts: a [`Law`] is a judge with all of them.
//!
//! The boundary is the sandbox. Rules about commands are a convenience and a record; nothing is ever allowed because of
//! what a shell line seems to say.

mod account;
mod alias;
mod ask;
pub mod audit;
mod below;
mod caches;
mod confinement;
mod environment;
mod error;
mod existing;
mod finding;
mod judge;
mod law;
mod limits;
mod line;
mod machine;
mod places;
mod profile;
mod protected;
mod repository;
mod roots;
pub mod rules;
mod secrets;
mod settings;
mod sockets;
pub mod temporary;
mod text;
mod verdict;
mod visible;

pub use visible::is_hidden;

pub(crate) use confinement::Basis;

pub use account::Homes;
pub use ask::{Answer, Approvals, Asker, Asking, Question, Shown, TooLong, Values};
pub use audit::{Audit, AuditError};
pub use error::PolicyError;
pub use judge::{Explanation, Seen, Situation, Whose};
pub use law::Law;
pub use limits::Limits;
pub use line::{Line, Ruled};
pub use machine::{
    Cause, Extra, LANDLOCK_NEEDED, LANDLOCK_SCOPES, Machine, Means, Outlook, Remedy, Unable, cause,
};
pub use places::{Known, Places, without_dots};
pub use profile::{LOCKED, OPEN, WORKSPACE};
pub use rules::Decision;
pub use settings::{Change, ChangeKind, Settings};
pub use verdict::{Denial, Facts, Judge, Judgement, Pending, SessionPlace, Unrestricted};
pub use wharf_shim::confine::Keeper;

use environment::Environment;
use error::Source;
use finding::Said;
use profile::Profile;
use rules::Rules;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use text::Text;
use toml::Spanned;

/// A policy file with every key explained, which says what holds without one.
pub const INIT: &str = include_str!("init.toml");

/// Where allow-rules believe that a program of some name is that program.
const TRUSTED: [&str; 6] = ["/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/bin", "/usr/local/sbin"];

/// Enough for any build, and the end of what forks without end.
const PROCESSES: u32 = 4096;
const TERMINALS: usize = 128;

/// What may run. Read from text once; cheap to clone is not promised.
#[derive(Debug, Clone)]
pub struct Policy {
    default: Said<Decision>,
    /// Of what rules cannot read.
    unreadable: Said<Decision>,
    sandbox: String,
    roots: Vec<PathBuf>,
    environment: Environment,
    limits: Limits,
    profiles: BTreeMap<String, Profile>,
    /// The user's, then a project's.
    rules: Vec<Said<Rules>>,
    /// Whether a command is refused that cannot have everything its sandbox should hold.
    strict: bool,
    /// Where it came from, for people.
    files: Vec<PathBuf>,
}

impl Policy {
    /// What holds without a file.
    pub fn built_in(home: &Path) -> Result<Self, PolicyError> {
        let mut policy = Self::parse(INIT, Path::new("the built-in policy"), home)?;
        policy.files.clear();
        Ok(policy)
    }

    /// From a file's text. `home` is what `~` means in it.
    pub fn parse(text: &str, file: &Path, home: &Path) -> Result<Self, PolicyError> {
        let source = Source { file, text };
        let read = text::read(source)?;
        let mut profiles = BTreeMap::new();
        for (name, profile) in &read.profile {
            profiles.insert(name.get_ref().clone(), Profile::custom(name, profile, source, home)?);
        }
        let roots = read.roots.add.iter().map(|root| profile::absolute(root, source, home));
        let said = |key: &Option<Spanned<Decision>>| {
            Said::by(key.as_ref().map_or(Decision::Allow, |decision| *decision.get_ref()), file)
        };
        let policy = Self {
            default: said(&read.default),
            unreadable: said(&read.unreadable),
            sandbox: read.sandbox.as_ref().map_or(WORKSPACE, |name| name.get_ref()).to_owned(),
            roots: roots.collect::<Result<_, _>>()?,
            environment: environment(&read, source)?,
            limits: usual(read.limits.read(source)?),
            rules: vec![Said::by(compile(read.rule, source)?, file)],
            profiles,
            strict: read.strict,
            files: vec![file.to_owned()],
        };
        if policy.profile(&policy.sandbox).is_none() {
            let at = read.sandbox.as_ref().map(Spanned::span);
            return Err(source.error(at, policy.no_profile(&policy.sandbox), policy.known_profiles()));
        }
        Ok(policy)
    }

    /// The same with a project's file on top, which can forbid more and allow nothing.
    pub fn tightened(&self, text: &str, file: &Path) -> Result<Self, PolicyError> {
        let source = Source { file, text };
        let read = text::read(source)?;
        let mut policy = self.clone();
        for (now, key) in [(&mut policy.default, &read.default), (&mut policy.unreadable, &read.unreadable)] {
            now.tighten(key.as_ref().map_or(Decision::Allow, |decision| *decision.get_ref()), file);
        }
        if let Some(name) = &read.sandbox {
            // A profile of one's own may hide what `locked` does not.
            let is_built_in = Profile::built_in(&policy.sandbox).is_some();
            let is_stricter = *name.get_ref() == policy.sandbox || (name.get_ref() == LOCKED && is_built_in);
            if !is_stricter {
                let what = format!("a project cannot choose the sandbox `{}`", name.get_ref());
                return Err(source.error(
                    Some(name.span()),
                    what,
                    "a project's file can only say \"locked\"",
                ));
            }
            policy.sandbox.clone_from(name.get_ref());
        }
        refuse_loosening(&read, source)?;
        policy.strict |= read.strict;
        policy.limits = policy.limits.lowered_by(read.limits.read(source)?);
        policy.rules.push(Said::by(compile(read.rule, source)?, file));
        policy.files.push(file.to_owned());
        Ok(policy)
    }

    /// A sandbox by its name.
    fn profile(&self, name: &str) -> Option<Profile> {
        self.profiles.get(name).cloned().or_else(|| Profile::built_in(name))
    }

    fn no_profile(&self, name: &str) -> String {
        format!("there is no sandbox named `{name}`")
    }

    fn known_profiles(&self) -> String {
        let own = self.profiles.keys().map(String::as_str);
        let names: Vec<&str> = [OPEN, WORKSPACE, LOCKED].into_iter().chain(own).collect();
        format!("there are {}", names.join(", "))
    }

    /// Whether a sandbox of that name is known; if not, which are.
    pub fn check_sandbox(&self, name: &str) -> Result<(), String> {
        match self.profile(name) {
            Some(_) => Ok(()),
            None => Err(format!("{}; {}", self.no_profile(name), self.known_profiles())),
        }
    }

    /// Makes the caches of installed tools that are missing, if the sandbox lets commands write to them. Before the first
    /// command of a front end: what does not exist then cannot be written from inside.
    pub fn make_caches(&self, whose: Whose, sandbox: Option<&str>, places: &Places) {
        let usual = match whose {
            Whose::Person => OPEN,
            Whose::Agent => &self.sandbox,
        };
        let terms = self.profile(sandbox.unwrap_or(usual)).and_then(|profile| profile.terms);
        if terms.is_some_and(|terms| terms.roots == profile::Use::Write) {
            caches::make(places);
        }
    }

    /// Limits for each terminal and for their number.
    #[must_use]
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// The sandbox of agents' commands.
    #[must_use]
    pub fn sandbox(&self) -> &str {
        &self.sandbox
    }

    /// What a sandbox of that name allows here, one thing each, in words that stay the same as long as it does: what is
    /// kept with a terminal, so that later it can be said whether it would be opened the same way.
    #[must_use]
    pub fn terms(&self, sandbox: &str) -> Vec<String> {
        let Some(terms) = self.profile(sandbox).and_then(|profile| profile.terms) else { return Vec::new() };
        let roots = self.roots.iter().map(|root| format!("root {}", root.display()));
        terms.describe().into_iter().chain(roots).collect()
    }

    /// What a sandbox holds on this machine: that of agents, unless another is named.
    #[must_use]
    pub fn outlook(&self, sandbox: Option<&str>, places: &Places) -> Outlook {
        let name = sandbox.unwrap_or(&self.sandbox);
        let terms = self.profile(name).and_then(|profile| profile.terms);
        Outlook::of(name, terms.as_ref(), self.strict, places.machine())
    }

    /// Whether a command could be asked about or denied.
    #[must_use]
    pub fn restricts(&self) -> bool {
        let is_strict = |said: &Said<Decision>| said.value > Decision::Allow;
        is_strict(&self.default)
            || is_strict(&self.unreadable)
            || self.rules.iter().any(|said| said.value.restrict())
    }

    /// In words, for people.
    #[must_use]
    pub fn describe(&self) -> String {
        let mut text = String::new();
        let files: Vec<String> = self.files.iter().map(|file| file.display().to_string()).collect();
        let from = if files.is_empty() { "what is built in".to_owned() } else { files.join(", then ") };
        let _ = writeln!(text, "from      {from}");
        let _ = writeln!(text, "default   {}, unreadable {}", self.default.value, self.unreadable.value);
        let strict = if self.strict { ", strict" } else { "" };
        let _ = writeln!(text, "sandbox   {}{strict}", self.sandbox);
        let roots: Vec<String> = self.roots.iter().map(|root| root.display().to_string()).collect();
        let roots = if roots.is_empty() { String::new() } else { format!(", {}", roots.join(", ")) };
        let _ = writeln!(text, "roots     the session's directory{roots}");
        let limits: Vec<String> =
            self.limits.named().iter().map(|(name, value)| format!("{name} {value}")).collect();
        let _ = writeln!(text, "limits    {}", limits.join(", "));
        for name in self.profiles.keys() {
            let _ = writeln!(text, "profile   {name}");
        }
        for rule in self.rules.iter().flat_map(|said| said.value.describe()) {
            let _ = writeln!(text, "rule      {rule}");
        }
        text
    }
}

/// With what holds where a file says nothing.
fn usual(limits: Limits) -> Limits {
    Limits {
        processes: limits.processes.or(Some(PROCESSES)),
        terminals: limits.terminals.or(Some(TERMINALS)),
        ..limits
    }
}

fn environment(read: &Text, source: Source<'_>) -> Result<Environment, PolicyError> {
    let names = |texts: &[Spanned<String>]| -> Vec<String> {
        texts.iter().map(|text| text.get_ref().clone()).collect()
    };
    Environment::new(&names(&read.env.pass), &names(&read.env.allow)).map_err(|error| {
        let all = read.env.pass.iter().chain(&read.env.allow);
        let at = all.into_iter().find(|text| *text.get_ref() == error.text).map(Spanned::span);
        source.error(at, error.to_string(), "write a name, or one with a * at its beginning or end")
    })
}

fn compile(rules: Vec<Spanned<rules::RuleText>>, source: Source<'_>) -> Result<Rules, PolicyError> {
    let spans: Vec<_> = rules.iter().map(Spanned::span).collect();
    let texts: Vec<_> = rules.into_iter().map(Spanned::into_inner).collect();
    Rules::compile(&texts, &TRUSTED.map(PathBuf::from)).map_err(|error| {
        let at = spans.get(error.rule).cloned();
        let what = error.kind.to_string();
        let (what, fix) = what.rsplit_once("; ").unwrap_or((&what, "see `wharf policy init`"));
        source.error(at, what, fix)
    })
}

/// A project's file lies where agents write, so what it says is only believed where it forbids.
fn refuse_loosening(read: &Text, source: Source<'_>) -> Result<(), PolicyError> {
    let fix = "say it in your own policy file; a project's can only forbid";
    let root = read.roots.add.first().map(|root| (root.span(), "roots"));
    let env = read.env.pass.first().or(read.env.allow.first()).map(|name| (name.span(), "variables"));
    let profile = read.profile.keys().next().map(|name| (name.span(), "profiles"));
    if let Some((at, what)) = root.or(env).or(profile) {
        return Err(source.error(Some(at), format!("a project cannot add {what}"), fix));
    }
    match read.rule.iter().find(|rule| rule.get_ref().decision == Decision::Allow) {
        Some(rule) => Err(source.error(Some(rule.span()), "a project cannot allow anything", fix)),
        None => Ok(()),
    }
}
