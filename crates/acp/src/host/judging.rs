//! From a spec to a grant: the judge decides, somebody may be asked, and what became of it is written down.
//!
//! Nothing is started before its decision is in the audit log. While somebody is asked, everything else goes on; whatever
//! makes the answer pointless withdraws the question, and then nothing was ever started.

use super::{Host, refusal};
use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::CreateTerminalRequest;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};
use tokio::sync::Semaphore;
use wharf_core::policy::audit::{Decision, Entry, Ruling, Who};
use wharf_core::policy::{
    Answer, Approvals, Asker, AuditError, Change, Facts, Judgement, Pending, Question, SessionPlace, Shown,
};
use wharf_core::{CreateError, Ended, Grant, Spec, TerminalId};

/// Questions that are open at once. A person has one pair of eyes.
const QUESTIONS: usize = 32;

/// What a host remembers of it.
pub(super) struct Judging {
    approvals: Mutex<Approvals>,
    questions: Semaphore,
    /// The client at the other end of the connection, where there is one.
    client: OnceLock<Asker>,
}

impl Default for Judging {
    fn default() -> Self {
        let (approvals, questions) = (Mutex::default(), Semaphore::new(QUESTIONS));
        Self { approvals, questions, client: OnceLock::new() }
    }
}

/// A decision, for the log.
struct Case<'a> {
    host: &'a Host,
    /// Only if there is a log.
    decision: Option<Decision>,
}

impl Host {
    /// Asks through the connection, unless its embedder has said otherwise. Once.
    pub(crate) fn ask_client(&self, asker: Asker) {
        let _ = self.shared.judging.client.set(asker);
    }

    /// The grant for a command that may run as the terminal of that name.
    pub(super) async fn permit(
        &self,
        request: &CreateTerminalRequest,
        spec: Spec,
        cwd: PathBuf,
        id: &TerminalId,
        unwanted: impl Future<Output = ()>,
    ) -> Result<Grant, Error> {
        let mut case = Case::open(self, request, &spec, cwd.clone());
        let place = SessionPlace { cwd, key: request.session_id.to_string() };
        match self.shared.settings.judge.judge(spec, &place) {
            Err(error) => {
                case.close(Ruling::Invalid, &Facts::default());
                Err(refusal::of_create(error.into()))
            }
            Ok(Judgement::Deny(denial)) => {
                case.close(Ruling::Denied, &denial.facts);
                Err(refusal::denied(&denial))
            }
            Ok(Judgement::Allow(grant)) => {
                case.allow(Ruling::Allowed, grant.facts(), id)?;
                Ok(grant)
            }
            Ok(Judgement::Ask(question, pending)) => {
                let closed = self.sessions().closed(&request.session_id);
                let answered = tokio::select! {
                    biased;
                    () = unwanted => Err((Ruling::Cancelled, Error::request_cancelled())),
                    () = closed => Err((Ruling::Cancelled, refusal::unknown_session(&request.session_id))),
                    answered = self.put(&question) => answered,
                };
                conclude(&mut case, answered, pending, id)
            }
        }
    }

    /// Puts a question to somebody, unless it was answered for always.
    async fn put(&self, question: &Question) -> Result<Ruling, (Ruling, Error)> {
        let judging = &self.shared.judging;
        let nobody = |error| Err((Ruling::NobodyAsked, error));
        if judging.approvals.lock().unwrap_or_else(PoisonError::into_inner).cover(question) {
            return Ok(Ruling::AllowedBefore);
        }
        if let Err(error) = question.text() {
            return nobody(refusal::too_long_to_ask(question, error));
        }
        let Some(asker) = self.shared.settings.asker.as_ref().or(judging.client.get()) else {
            return nobody(refusal::nobody_to_ask(question, "there is nobody here to ask"));
        };
        let Ok(_open) = judging.questions.try_acquire() else {
            return nobody(refusal::nobody_to_ask(question, "too many questions are open already"));
        };
        match asker(question.clone()).await {
            Answer::Once => Ok(Ruling::AllowedOnce),
            Answer::Always => {
                judging.approvals.lock().unwrap_or_else(PoisonError::into_inner).add(question);
                Ok(Ruling::AllowedAlways)
            }
            Answer::Cancelled => Err((Ruling::Cancelled, refusal::withdrawn(question))),
            Answer::Unable { why } => nobody(refusal::nobody_to_ask(question, &why)),
            // Also whatever else there may be one day.
            _ => Err((Ruling::RefusedByUser, refusal::refused_by_user(question))),
        }
    }

    /// A command was allowed and does not run.
    pub(super) fn not_started(&self, terminal: TerminalId, error: CreateError) -> Error {
        // It is refused anyway.
        let _ = self.write(&Entry::NotStarted { terminal, code: error.code().to_owned() });
        refusal::of_create(error)
    }

    pub(super) fn record_end(&self, terminal: &TerminalId, ended: &Ended) {
        // It has ended, written down or not; its journal has it too.
        let _ = self.write(&Entry::End { terminal: terminal.clone(), ended: ended.clone() });
    }

    pub(super) fn record_changes(&self, terminal: &TerminalId, changes: &[Change]) {
        for change in changes {
            let _ = self.write(&Entry::Settings { terminal: terminal.clone(), change: change.clone() });
        }
    }

    fn write(&self, entry: &Entry) -> Result<(), AuditError> {
        self.shared.settings.audit.as_ref().map_or(Ok(()), |audit| audit.write(entry))
    }
}

fn conclude(
    case: &mut Case<'_>,
    answered: Result<Ruling, (Ruling, Error)>,
    pending: Pending,
    id: &TerminalId,
) -> Result<Grant, Error> {
    match answered {
        Ok(ruling) => {
            case.allow(ruling, pending.facts(), id)?;
            Ok(pending.allow())
        }
        Err((ruling, error)) => {
            case.close(ruling, pending.facts());
            Err(error)
        }
    }
}

impl<'a> Case<'a> {
    fn open(host: &'a Host, request: &CreateTerminalRequest, spec: &Spec, cwd: PathBuf) -> Self {
        let settings = &host.shared.settings;
        let decision = settings.audit.is_some().then(|| Decision {
            who: Who {
                front_end: "acp".to_owned(),
                agent: settings.agent.clone(),
                session: Some(request.session_id.to_string()),
            },
            terminal: None,
            command: Shown::of(spec),
            cwd: request.cwd.clone().unwrap_or(cwd),
            env_names: request.env.iter().map(|variable| variable.name.clone()).collect(),
            ruling: Ruling::Invalid,
            facts: Facts::default(),
        });
        Self { host, decision }
    }

    /// Written down, or it may not run after all.
    fn allow(&mut self, ruling: Ruling, facts: &Facts, id: &TerminalId) -> Result<(), Error> {
        self.write(ruling, facts, Some(id)).map_err(|error| refusal::unaudited(&error))
    }

    /// It does not run, whether that is written down or not.
    fn close(&mut self, ruling: Ruling, facts: &Facts) {
        let _ = self.write(ruling, facts, None);
    }

    fn write(&mut self, ruling: Ruling, facts: &Facts, id: Option<&TerminalId>) -> Result<(), AuditError> {
        let Some(decision) = self.decision.take() else { return Ok(()) };
        let facts = facts.clone();
        self.host.write(&Entry::Decision(Decision { ruling, facts, terminal: id.cloned(), ..decision }))
    }
}
