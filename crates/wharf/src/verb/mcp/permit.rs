//! What may run: the shell when it is opened, and each line that it is given. Every decision is in the audit log before
//! anything happens.
//!
//! To open a shell runs nothing that an agent wrote, so it is never asked about, only denied; lines are asked about. What
//! is typed into a program that runs is not judged, unless a shell would read it (see `typing`): no rule can know what it
//! means elsewhere. The sandbox is the boundary.

use super::ask::{Asked, Client};
use super::desk::{Desk, Opening};
use super::hint;
use super::refusal::{Refusal, Stop};
use super::seat::Seat;
use crate::law::Law;
use crate::temporary;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use wharf_core::policy::audit::{Decision, Entry, Ruling, Who};
use wharf_core::policy::{Answer, Approvals, Denial, Facts, Judgement, Line, Question, Ruled, Shown};
use wharf_core::shell::{self, Kind, Shell};
use wharf_core::{Grant, Size, Spec, TerminalId};

/// The shell that is wanted.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    pub(super) name: String,
    pub(super) program: PathBuf,
    pub(super) kind: Kind,
    pub(super) cwd: PathBuf,
    pub(super) env: Vec<(String, String)>,
    pub(super) size: Size,
}

/// A shell that may be opened.
#[derive(Debug)]
pub(super) struct Granted {
    pub(super) id: TerminalId,
    pub(super) grant: Grant,
    /// Its place among those that may be open at once.
    pub(super) _room: Option<Opening>,
}

/// A line for a shell, which may not be open yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Given<'a> {
    pub(super) line: &'a str,
    pub(super) program: &'a Path,
    pub(super) cwd: &'a Path,
    pub(super) sandbox: &'a str,
    pub(super) terminal: Option<&'a TerminalId>,
    pub(super) manner: Manner,
}

/// How a shell comes to a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// It is given it as a command.
    Run,
    /// It reads it from its terminal.
    Typed,
    /// The same, and it may be a password: it is not written down.
    Hidden,
}

/// Decides.
#[derive(Debug)]
pub(super) struct Permit {
    law: Arc<Law>,
    environment: Vec<(OsString, OsString)>,
    approvals: Mutex<Approvals>,
    asked: Asked,
}

/// Variables by which a shell finds what it runs before its first prompt. No command that an agent has written may run
/// without having been judged.
const STARTS: [&str; 6] = ["HOME", "ZDOTDIR", "ENV", "BASH_ENV", "XDG_CONFIG_HOME", "SHELL"];

/// Where commands are asked about, a shell may not be opened with such a variable.
fn starts(wanted: &Wanted) -> Option<Refusal> {
    let (name, _) = wanted.env.iter().find(|(name, _)| STARTS.contains(&name.as_str()))?;
    let text = format!(
        "The terminal was not opened: {name} decides which files the shell runs when it starts; leave it out, and set it with \
         a command once the terminal is open."
    );
    Some(Refusal::new("denied", text))
}

impl Permit {
    pub(super) fn new(law: Arc<Law>, environment: Vec<(OsString, OsString)>) -> Self {
        Self { law, environment, approvals: Mutex::default(), asked: Asked::default() }
    }

    /// Why commands cannot write in that directory, if they cannot.
    pub(super) fn too_wide(&self, project: &Path) -> Option<String> {
        self.law.too_wide(project)
    }

    /// The sandbox of shells today.
    pub(super) fn sandbox(&self, project: &Path) -> Result<String, Refusal> {
        self.today(project).map(|(name, _)| name)
    }

    fn today(&self, project: &Path) -> Result<(String, Vec<String>), Refusal> {
        self.law.sandbox_in(project).map_err(|denial| denied(&denial, "no terminal can be opened here"))
    }

    /// Whether a line could be asked about or denied.
    pub(super) fn restricts(&self, desk: &Desk) -> bool {
        self.law.restricts(&desk.project())
    }

    /// A shell that was opened under other terms than today's is not used.
    pub(super) fn still_fits(&self, desk: &Desk, name: &str, shell: &Shell) -> Result<(), Refusal> {
        let (now, terms) = self.today(&desk.project())?;
        let meta = shell.terminal().meta();
        let then = &meta.sandbox;
        let difference = match difference(&meta.terms, &terms) {
            _ if *then != now => format!("the sandbox `{then}`, and today's is `{now}`"),
            // Nothing was kept of it by earlier versions.
            None => return Ok(()),
            Some(_) if meta.terms.is_empty() => return Ok(()),
            Some(difference) => format!("the sandbox `{then}` when that was another: {difference}"),
        };
        Err(Refusal::new(
            "other_sandbox",
            format!(
                "Not used: terminal {name:?} was opened in {difference}. Use another terminal_id, or {} first, which ends \
                 what runs in it.",
                hint::close(name)
            ),
        ))
    }

    /// From now on it is noticed if settings of the project are made or changed that make programs outside run something.
    pub(super) fn watch_settings(&self, desk: &Desk) {
        let work = desk.work();
        desk.watch(|| self.law.settings_in(&work.project, &work.more));
    }

    /// The grant for a shell.
    pub(super) fn shell(
        &self,
        desk: &Desk,
        seat: &Seat,
        client: &Client,
        wanted: &Wanted,
    ) -> Result<Granted, Refusal> {
        let room = self.room(desk, seat, &wanted.name)?;
        let id = TerminalId::random().map_err(|error| Refusal::failed("no terminal can be opened", error))?;
        let temp = temporary::of_terminal(&desk.state, id.as_str())
            .map_err(|error| Refusal::failed("there is no place for temporary files", error))?;
        let granted = self.judged(desk, seat, client, wanted, (&id, &temp));
        if granted.is_err() {
            temporary::remove_of_terminal(&desk.state, id.as_str());
        }
        granted.map(|grant| Granted { id, grant, _room: room })
    }

    fn judged(
        &self,
        desk: &Desk,
        seat: &Seat,
        client: &Client,
        wanted: &Wanted,
        (id, temp): (&TerminalId, &Path),
    ) -> Result<Grant, Refusal> {
        let case = Decision {
            who: who(client, seat),
            terminal: None,
            command: Shown::Argv(vec![wanted.program.clone().into(), "-i".into()]),
            cwd: wanted.cwd.clone(),
            env_names: wanted.env.iter().map(|(name, _)| name.clone()).collect(),
            ruling: Ruling::Invalid,
            facts: Facts::default(),
        };
        let spec = self.spec(seat, client, wanted);
        let work = desk.work();
        let grant = match self.law.judge_shell(spec, (&work.project, &work.more), temp) {
            Ok(Judgement::Allow(grant)) => grant,
            Ok(Judgement::Ask(_, pending)) => match starts(wanted) {
                None => pending.allow(),
                Some(refusal) => {
                    let _ = record(desk, Decision { ruling: Ruling::Denied, ..case });
                    return Err(refusal);
                }
            },
            Ok(Judgement::Deny(denial)) => {
                let _ =
                    record(desk, Decision { ruling: Ruling::Denied, facts: (*denial.facts).clone(), ..case });
                return Err(denied(&denial, "the terminal was not opened"));
            }
            Err(error) => {
                let _ = record(desk, case);
                let fix = "give terminal_open a cwd in the project, or none";
                return Err(Refusal::new("invalid", format!("The terminal was not opened: {error}; {fix}.")));
            }
        };
        let facts = Facts { sandbox: grant.sandbox().to_owned(), ..grant.facts().clone() };
        record(desk, Decision { ruling: Ruling::Allowed, facts, terminal: Some(id.clone()), ..case })?;
        Ok(grant)
    }

    fn spec(&self, seat: &Seat, client: &Client, wanted: &Wanted) -> Spec {
        shell::spec(wanted.kind, &wanted.program, &wanted.name, seat.name(), wanted.size)
            .cwd(&wanted.cwd)
            .preset(shell::PRESETS)
            .inherit(self.environment.clone())
            .envs(wanted.env.clone())
            .origin(client.origin())
            .session(seat.name())
    }

    /// Room for one more, where their number is limited.
    fn room(&self, desk: &Desk, seat: &Seat, name: &str) -> Result<Option<Opening>, Refusal> {
        let Some(most) = self.law.policy.limits().terminals else { return Ok(None) };
        desk.reserve(seat, name, most)?.map(Some).map_err(|open| {
            let text = format!(
                "No more than {most} terminals may be open at once: {}. Close one that is not needed, for example with {}",
                open.join(", "),
                hint::close(open.last().map_or("default", String::as_str)),
            );
            Refusal::new("too_many", text)
        })
    }

    /// Whether a shell may be given that line. A person may have to be asked, by whatever way the client has.
    pub(super) async fn line(
        &self,
        desk: &Desk,
        seat: &Seat,
        client: &Client,
        given: Given<'_>,
    ) -> Result<(), Stop> {
        let origin = client.origin();
        let line: OsString = given.line.into();
        let case = |ruling, facts| Decision {
            who: who(client, seat),
            terminal: given.terminal.cloned(),
            command: Shown::Line { shell: given.program.into(), line: line.clone() },
            cwd: given.cwd.to_owned(),
            env_names: Vec::new(),
            ruling,
            facts,
        };
        let judged = self.law.judge_line(&Line {
            shell: given.program,
            line: &line,
            cwd: given.cwd,
            root: &desk.project(),
            sandbox: given.sandbox,
            origin: &origin,
            session: Some(seat.name()),
        });
        match judged {
            Ruled::Allow(_) if given.manner == Manner::Hidden => Ok(()),
            Ruled::Allow(facts) => Ok(record(desk, case(Ruling::Allowed, facts))?),
            Ruled::Deny(denial) => {
                let _ = record(desk, case(Ruling::Denied, (*denial.facts).clone()));
                let what = match given.manner {
                    Manner::Run => "the command was not run",
                    Manner::Typed | Manner::Hidden => "it was not typed, since a shell could read and run it",
                };
                Err(denied(&denial, what).into())
            }
            Ruled::Ask(question, facts) => match self.put(client, &question).await {
                Ok(ruling) => Ok(record(desk, case(ruling, facts))?),
                Err((ruling, stop)) => {
                    if let Some(ruling) = ruling {
                        let _ = record(desk, case(ruling, facts));
                    }
                    Err(stop)
                }
            },
        }
    }

    /// Puts a question to the person at the client, unless it was answered for always. Without a ruling the client is still
    /// asking, and calls again with the answer.
    async fn put(&self, client: &Client, question: &Question) -> Result<Ruling, (Option<Ruling>, Stop)> {
        if self.approvals.lock().unwrap_or_else(PoisonError::into_inner).cover(question) {
            return Ok(Ruling::AllowedBefore);
        }
        let why = question.why.join("; ");
        let text = question.text().map_err(|error| nobody(&error.to_string(), question))?;
        let no = |ruling, what: &str| {
            let text =
                format!("Not run: {what} ({why}). Do something else, or ask the person what they want.");
            (Some(ruling), Refusal::new("refused_by_user", text).into())
        };
        match client.ask(&self.asked, question, text).await {
            Ok(Answer::Once) => Ok(Ruling::AllowedOnce),
            Ok(Answer::Always) => {
                self.approvals.lock().unwrap_or_else(PoisonError::into_inner).add(question);
                Ok(Ruling::AllowedAlways)
            }
            Ok(Answer::Cancelled) => Err(no(Ruling::Cancelled, "the question was dismissed")),
            Ok(Answer::Unable { why: cause }) => Err(nobody(&cause, question)),
            Ok(_) => Err(no(Ruling::RefusedByUser, "the person said no")),
            Err(ask) => Err((None, Stop::Ask(ask))),
        }
    }
}

/// What is said of a sandbox now and was not then, or the other way round.
fn difference(then: &[String], now: &[String]) -> Option<String> {
    let less = |these: &[String], those: &[String]| {
        these.iter().filter(|term| !those.contains(term)).cloned().collect::<Vec<_>>().join(", ")
    };
    let (gone, new) = (less(then, now), less(now, then));
    match (gone.is_empty(), new.is_empty()) {
        (true, true) => None,
        (false, true) => Some(format!("it had `{gone}`, and today's has not")),
        (true, false) => Some(format!("today's has `{new}`, and it has not")),
        (false, false) => Some(format!("it had `{gone}`, and today's has `{new}`")),
    }
}

fn nobody(cause: &str, question: &Question) -> (Option<Ruling>, Stop) {
    let why = question.why.join("; ");
    let fix = if question.fix.is_empty() { String::new() } else { format!(", or to {}", question.fix) };
    let text = format!(
        "Not run: a person would have to allow this ({why}), and nobody can be asked: {cause}. Ask the person to run \
         it{fix}."
    );
    (Some(Ruling::NobodyAsked), Refusal::new("nobody_to_ask", text).into())
}

fn denied(denial: &Denial, what: &str) -> Refusal {
    let fix = if denial.fix.is_empty() { "change the policy" } else { &denial.fix };
    let text =
        format!("Refused, {what}: {denial}. Nothing ran. Try another way, or ask the person to {fix}.");
    Refusal::new("denied", text)
}

fn who(client: &Client, seat: &Seat) -> Who {
    Who {
        front_end: "mcp".to_owned(),
        agent: client.name().to_owned(),
        session: Some(seat.name().to_owned()),
    }
}

/// Written down, or it may not run.
fn record(desk: &Desk, decision: Decision) -> Result<(), Refusal> {
    desk.audit.write(&Entry::Decision(decision)).map_err(|error| {
        Refusal::new("unaudited", format!("Not run: it cannot be written down what was allowed: {error}."))
    })
}
