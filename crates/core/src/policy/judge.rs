//! Judging one request: the directory, the variables, the command, the limits and the sandbox, in this order.
//!
//! What a request says can make the outcome stricter and never looser. A person who types a command without asking for a
//! sandbox is not judged: the command has every right that the person has.

use super::ask::Question;
use super::confinement::{self, Confinement, Ground, TEMPORARY};
use super::finding::{self, Finding, Said};
use super::places::Places;
use super::profile::{OPEN, Profile, Reads};
use super::repository;
use super::roots::{Admitted, Refused, Root, Roots, Unusable};
use super::rules::{Decision, Matches, Rules, Subject};
use super::settings::Settings;
use super::verdict::{Facts, Judgement, Pending};
use super::{Limits, Policy};
use crate::grant::{self, Grant, SpecError, unrestricted};
use crate::spec::{Command, Spec, merge};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use wharf_shim::confine::Identity;

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// Somebody who typed it.
    Person,
    /// A program that was told to do something.
    Agent,
}

/// Where and for whom something is asked.
#[derive(Debug, Clone, Copy)]
pub struct Situation<'a> {
    /// Who asks.
    pub whose: Whose,
    /// The machine's and the person's places.
    pub places: &'a Places,
    /// The directory that the conversation is about: the first root.
    pub directory: &'a Path,
    /// Others that it is about, as the client has named them.
    pub more: &'a [PathBuf],
    /// Where the conversation's temporary files are; exists and is private.
    pub temp: &'a Path,
    /// The sandbox that was chosen instead of the policy's.
    pub sandbox: Option<&'a str>,
    /// What the roots were when they were first used.
    pub seen: &'a Seen,
}

/// Roots by the names that they were given, as they were found first. A name that leads elsewhere later was made to: an
/// agent can write in a directory around it, or in another session's.
#[derive(Debug, Default)]
pub struct Seen {
    roots: Mutex<HashMap<PathBuf, (PathBuf, Identity)>>,
}

impl Seen {
    fn confirm(&self, name: &Path, root: &Root) -> Result<(), String> {
        let now = (root.path().to_owned(), root.identity());
        let mut roots = self.roots.lock().unwrap_or_else(PoisonError::into_inner);
        let then = roots.entry(name.to_owned()).or_insert_with(|| now.clone());
        if *then == now {
            return Ok(());
        }
        Err(format!(
            "{} is not the directory that it was when it was first used; start the agent again if that is right",
            name.display()
        ))
    }
}

/// What the policy found, for people.
#[derive(Debug)]
pub struct Explanation {
    /// The verdict.
    pub decision: Decision,
    /// What brought it about, in the order of weight.
    pub found: Vec<String>,
    /// What else there is to know.
    pub notes: Vec<String>,
    /// The file that would be executed, if it came that far.
    pub program: Option<PathBuf>,
    /// The sandbox it would run in.
    pub sandbox: String,
    /// Its limits.
    pub limits: Limits,
}

/// Everything that was found out about one request.
struct Looked {
    decision: Decision,
    /// The strictest first.
    findings: Vec<Finding>,
    notes: Vec<String>,
    sandbox: String,
    /// What an allowed request gets.
    grant: Option<(Grant, PathBuf)>,
}

/// What the rules say.
pub(super) struct Considered {
    pub(super) decision: Decision,
    /// The strictest first.
    pub(super) findings: Vec<Finding>,
    notes: Vec<String>,
}

impl Policy {
    /// Judges a request.
    pub fn judge(&self, spec: Spec, at: &Situation<'_>) -> Result<Judgement, SpecError> {
        let sandbox = self.sandbox_for(at).to_owned();
        if at.whose == Whose::Person && sandbox == OPEN {
            return unrestricted(spec).map(Judgement::Allow);
        }
        let looked = self.look(spec, at, &sandbox)?;
        Ok(looked.judgement())
    }

    /// What would be said of a request, and why.
    pub fn explain(&self, spec: Spec, at: &Situation<'_>) -> Result<Explanation, SpecError> {
        let sandbox = self.sandbox_for(at).to_owned();
        let looked = self.look(spec, at, &sandbox)?;
        let program = looked.grant.as_ref().map(|(grant, _)| grant.program_path().to_owned());
        Ok(Explanation {
            decision: looked.decision,
            found: looked.findings.iter().map(Finding::to_string).collect(),
            notes: looked.notes,
            program,
            sandbox: looked.sandbox,
            limits: self.limits,
        })
    }

    fn sandbox_for<'a>(&'a self, at: &Situation<'a>) -> &'a str {
        at.sandbox.unwrap_or(match at.whose {
            Whose::Person => OPEN,
            Whose::Agent => &self.sandbox,
        })
    }

    fn look(&self, mut spec: Spec, at: &Situation<'_>, sandbox: &str) -> Result<Looked, SpecError> {
        let deny = |reason: String| Looked::denied(sandbox, reason);
        let Some(profile) = self.profile(sandbox) else {
            return Ok(deny(format!("{}; {}", self.no_profile(sandbox), self.known_profiles())));
        };
        let roots = match self.open_roots(at, &profile) {
            Ok(roots) => roots,
            Err(reason) => return Ok(deny(reason)),
        };
        let admitted = match self.admit(&roots, &spec.cwd, &profile, at) {
            Ok(admitted) => admitted,
            Err(refused @ Refused::Unusable { .. }) => return Err(unusable(refused, &spec)),
            Err(refused) => return Ok(deny(refused.to_string())),
        };
        if let Err(refused) = self.environment.judge_all(&spec.env) {
            return Ok(deny(refused.to_string()));
        }
        self.limits.bind(&mut spec);
        let ground = Ground::survey(&roots, at.places, at.temp);
        match self.prepare(spec, &profile, admitted, &ground)? {
            Ok(prepared) => {
                let mut looked = self.weigh(prepared, at, profile.name);
                looked.notes.extend(ground.doubts);
                Ok(looked)
            }
            Err(reason) => Ok(deny(reason)),
        }
    }

    /// The session's directories and those of the policy. In a directory so wide that writing in it is writing anywhere,
    /// commands may start, if the session named it, and not write. Where there is no sandbox, there is no difference.
    fn open_roots(&self, at: &Situation<'_>, profile: &Profile) -> Result<Roots, String> {
        let (mut narrow, mut wide) = (Vec::new(), Vec::new());
        let session = std::iter::once(at.directory).chain(at.more.iter().map(PathBuf::as_path));
        for path in session {
            let root = Root::open(path).map_err(|error| error.to_string())?;
            at.seen.confirm(path, &root)?;
            let fits = profile.terms.is_none() || root.check_width(at.places).is_ok();
            if fits { narrow.push(root) } else { wide.push(root) }
        }
        for path in &self.roots {
            let root = Root::open(path).map_err(|error| error.to_string())?;
            root.check_width(at.places).map_err(|error| error.to_string())?;
            at.seen.confirm(path, &root)?;
            narrow.push(root);
        }
        Ok(Roots::new(narrow).and_wide(wide))
    }

    /// Opens the working directory. In a sandbox, one among everybody's temporary files is the same one among the
    /// session's own, unless it lies in a root.
    fn admit(
        &self,
        roots: &Roots,
        cwd: &Path,
        profile: &Profile,
        at: &Situation<'_>,
    ) -> Result<Admitted, Refused> {
        let own = |below: &Path| {
            let temp = Root::open(at.temp).ok()?;
            // Of a path that names itself with an empty end, the end is the directory.
            let inside = if below.as_os_str().is_empty() { at.temp.to_owned() } else { at.temp.join(below) };
            Roots::new(vec![temp]).admit(&inside).ok()
        };
        let below = TEMPORARY.iter().find_map(|shared| cwd.strip_prefix(shared).ok());
        match (roots.admit(cwd), below) {
            (Ok(admitted), None) => Ok(admitted),
            (Ok(admitted), Some(_)) if roots.iter().any(|root| root.path() == admitted.root) => Ok(admitted),
            (admitted, Some(below)) if profile.terms.is_some() => own(below).map_or(admitted, Ok),
            (admitted, _) => admitted,
        }
    }

    /// Settings in the roots of a conversation that make programs outside run something, as they are now.
    pub(super) fn settings(&self, directory: &Path, more: &[PathBuf], places: &Places) -> Option<Settings> {
        let paths = std::iter::once(directory).chain(more.iter().chain(&self.roots).map(PathBuf::as_path));
        let roots: Vec<Root> = paths.map(Root::open).collect::<Result<_, _>>().ok()?;
        let roots = Roots::new(roots.into_iter().filter(|root| root.check_width(places).is_ok()).collect());
        let hooks = roots.iter().flat_map(|root| repository::look(root, &roots, places).protect).collect();
        let tops = roots.iter().map(|root| root.path().to_owned()).collect();
        Some(Settings::look(tops, hooks, places.below()))
    }

    fn prepare(
        &self,
        spec: Spec,
        profile: &Profile,
        admitted: Admitted,
        ground: &Ground<'_>,
    ) -> Result<Result<(Grant, PathBuf), String>, SpecError> {
        let confinement = match confinement::confine(profile, ground).and_then(|it| self.complete(it)) {
            Ok(confinement) => confinement,
            Err(reason) => return Ok(Err(reason)),
        };
        let mut preset = spec.preset.clone();
        if let Some(confinement) = &confinement {
            preset.push(("TMPDIR".into(), confinement.temporary.clone().into()));
        }
        // Git takes a file of settings that it may not read for a reason to do nothing at all.
        if profile.terms.as_ref().is_some_and(|terms| terms.reads == Reads::System) {
            preset.push(("GIT_CONFIG_GLOBAL".into(), "/dev/null".into()));
        }
        let mut env = merge([&self.environment.inherit(&spec.inherited), &preset, &spec.env]);
        if let Some(confinement) = &confinement {
            confinement.tools.add_to(&mut env, &spec.env);
        }
        let mut spec = spec;
        let (root, temporary) = (admitted.root, confinement.as_ref().map(|it| it.temporary.as_path()));
        spec.cwd = match (admitted.path.strip_prefix(ground.temp), temporary) {
            // As it is called in there.
            (Ok(below), Some(temporary)) if below.as_os_str().is_empty() => temporary.to_owned(),
            (Ok(below), Some(temporary)) => temporary.join(below),
            _ => admitted.path,
        };
        let mut grant = grant::prepare(spec, admitted.fd, env)?;
        if let Some(Confinement { confine, basis, missing, note, .. }) = confinement {
            grant.confine = Some(confine);
            grant.basis = basis;
            grant.missing = missing;
            grant.note = note;
        }
        Ok(Ok((grant, root)))
    }

    /// Where the policy is strict, a sandbox that lacks something is none.
    fn complete(&self, confinement: Option<Confinement>) -> Result<Option<Confinement>, String> {
        match &confinement {
            Some(Confinement { missing, .. }) if self.strict && !missing.is_empty() => {
                let missing: Vec<&str> = missing.iter().map(|extra| extra.missing()).collect();
                Err(format!(
                    "`strict` is set in the policy, and the sandbox lacks something on this machine: {}",
                    missing.join("; ")
                ))
            }
            _ => Ok(confinement),
        }
    }

    /// What the rules say of a command that is ready to be started.
    fn weigh(&self, (mut grant, root): (Grant, PathBuf), at: &Situation<'_>, sandbox: String) -> Looked {
        let considered = self.consider(at.whose, &|rules| judge_both_names(rules, &grant));
        let Considered { decision, findings, notes } = considered;
        let missing = grant.missing.iter().map(|extra| extra.code().to_owned()).collect();
        grant.facts = Facts { missing, ..self.facts(&findings, &sandbox) };
        grant.terms = self.terms(&sandbox);
        Looked { decision, findings, notes, sandbox, grant: Some((grant, root)) }
    }

    /// What all rules say of one thing, the strictest first.
    pub(super) fn consider(&self, whose: Whose, judge: &dyn Fn(&Rules) -> Matches) -> Considered {
        let (mut findings, mut notes, mut doubt) = (Vec::new(), Vec::new(), None);
        let mut decision = None;
        if whose == Whose::Agent {
            for Said { value: rules, file } in &self.rules {
                let matches = judge(rules);
                decision = decision.max(matches.decision);
                doubt = doubt.or(matches.doubts.into_iter().next());
                findings.extend(matches.found.into_iter().map(|found| Finding::of_rule(found, file)));
                notes.extend(matches.notes);
            }
        }
        let mut decision = decision.unwrap_or(self.default_for(whose));
        if let Some(doubt) = doubt.as_ref().filter(|_| decision < self.unreadable.value) {
            decision = self.unreadable.value;
            findings.push(Finding::of_unreadable(&self.unreadable, doubt));
        }
        if decision > Decision::Allow && findings.iter().all(|finding| finding.decision < decision) {
            findings.push(Finding::of_default(&self.default, doubt.as_deref()));
        }
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.decision));
        Considered { decision, findings, notes }
    }

    pub(super) fn facts(&self, findings: &[Finding], sandbox: &str) -> Facts {
        Facts {
            rules: findings.iter().map(Finding::to_string).collect(),
            sandbox: sandbox.to_owned(),
            missing: Vec::new(),
            limits: self.limits.named(),
        }
    }

    fn default_for(&self, whose: Whose) -> Decision {
        match whose {
            Whose::Person => Decision::Allow,
            Whose::Agent => self.default.value,
        }
    }
}

/// A program may have several names, and a rule may know it by another than the request does.
fn judge_both_names(rules: &Rules, grant: &Grant) -> Matches {
    let found = grant.program_path();
    let matches = rules.judge(&subject(grant, found));
    match std::fs::canonicalize(found) {
        Ok(real) if real.file_name() != found.file_name() => {
            let mut by_real = rules.judge(&subject(grant, &real));
            // Under its real name it can only be refused: `busybox` is not `ls`, but `./x` that is `rm` is `rm`.
            by_real.found.retain(|found| found.decision > Decision::Allow && !matches.found.contains(found));
            let decision = by_real.found.iter().map(|found| found.decision).max();
            let mut all = matches;
            all.decision = all.decision.max(decision);
            all.found.extend(by_real.found);
            all
        }
        _ => matches,
    }
}

fn subject<'a>(grant: &'a Grant, program: &'a Path) -> Subject<'a> {
    match &grant.spec.command {
        Command::Argv { .. } => Subject::Argv { program, argv: &grant.words },
        Command::ShellLine { line, .. } => Subject::Line { shell: program, line },
    }
}

/// A directory that is not there is a mistake of the request, not a matter of policy.
fn unusable(refused: Refused, spec: &Spec) -> SpecError {
    let path = spec.cwd.clone();
    match refused {
        Refused::Unusable { why: Unusable::Relative, .. } => SpecError::RelativeCwd { path },
        Refused::Unusable { why: Unusable::System(errno), .. } => SpecError::BadCwd { path, errno },
        _ => SpecError::BadCwd { path, errno: rustix::io::Errno::STALE.raw_os_error() },
    }
}

impl Looked {
    fn denied(sandbox: &str, reason: String) -> Self {
        Self {
            decision: Decision::Deny,
            findings: vec![Finding::denial(reason)],
            notes: Vec::new(),
            sandbox: sandbox.to_owned(),
            grant: None,
        }
    }

    fn judgement(self) -> Judgement {
        match (self.decision, self.grant) {
            (Decision::Allow, Some((grant, _))) => Judgement::Allow(grant),
            (Decision::Ask, Some((grant, root))) => {
                let mut question = Question::about(&grant, root);
                (question.why, question.fix) = finding::why(&self.findings);
                Judgement::Ask(question, Pending::new(grant))
            }
            (_, grant) => {
                let rules = self.findings.iter().map(Finding::to_string).collect();
                let limits = grant.map(|(grant, _)| grant.facts.limits.clone()).unwrap_or_default();
                let facts = Facts { rules, sandbox: self.sandbox, limits, ..Facts::default() };
                Judgement::Deny(finding::denial(self.findings, facts))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(judged: Result<Judgement, SpecError>) -> String {
        match judged {
            Ok(Judgement::Allow(_)) => "allowed".to_owned(),
            Ok(Judgement::Ask(..)) => "asked".to_owned(),
            Ok(Judgement::Deny(denial)) => denial.reason,
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_root_that_is_another_directory_than_before_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let (root, elsewhere, temp) = (base.join("org/proj"), base.join("elsewhere"), base.join("temp"));
        for path in [&root, &elsewhere, &temp] {
            std::fs::create_dir_all(path).unwrap();
        }
        let policy = Policy::built_in(&base.join("home")).unwrap();
        let (places, seen) = (Places::default(), Seen::default());
        let sandbox = Some(OPEN);
        let at = Situation {
            whose: Whose::Agent,
            places: &places,
            directory: &root,
            more: &[],
            temp: &temp,
            sandbox,
            seen: &seen,
        };
        let judge = || verdict(policy.judge(Spec::argv("/bin/true", [""; 0]).cwd(&root), &at));
        assert_eq!((judge(), judge()), ("allowed".to_owned(), "allowed".to_owned()));
        // What a command of another session can do, whose root is around this one.
        std::fs::rename(base.join("org"), base.join("moved")).unwrap();
        std::fs::create_dir(base.join("org")).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &root).unwrap();
        assert!(judge().contains("not the directory that it was"), "{}", judge());
    }
}
