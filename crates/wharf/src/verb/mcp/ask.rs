//! The client at the other end: what it is called, and how the person there is asked.
//!
//! In the classic era the server asks while the call waits. In the modern one the call ends with the question, and the
//! client calls again with the answer. What was asked stays here, so an answer counts only for what was shown, once.

use super::progress::Progress;
use rmcp::model::{
    CallToolRequestParams, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, InputRequest,
    InputRequests, InputRequiredResult, RequestId,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use wharf_core::TerminalId;
use wharf_core::policy::{Answer, Question};

/// A person may be having lunch, not be on holiday.
const PATIENCE: Duration = Duration::from_secs(600);
/// Questions that are open at once. A person has one pair of eyes.
const MOST: usize = 32;
/// What the answer is called in a modern call.
const KEY: &str = "allow";

/// Questions that a client was given to ask.
#[derive(Debug, Default)]
pub(super) struct Asked {
    open: Mutex<VecDeque<(String, Question)>>,
}

/// Who calls, and with what answers.
pub(super) struct Client {
    name: String,
    context: RequestContext<RoleServer>,
    /// The handle and the answer of a call that comes again.
    answered: Option<(String, Value)>,
}

impl Client {
    pub(super) fn new(request: &CallToolRequestParams, context: RequestContext<RoleServer>) -> Self {
        let name = context.client_info().map(|info| info.name).filter(|name| !name.is_empty());
        let answer = request.input_responses.as_ref().and_then(|answers| answers.get(KEY)).cloned();
        let answered = request.request_state.clone().zip(answer);
        Self { name: name.unwrap_or_else(|| "unnamed".to_owned()), context, answered }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The number of this call.
    pub(super) fn request(&self) -> &RequestId {
        &self.context.id
    }

    /// Where signs of life go, if it wants any.
    pub(super) fn progress(&self) -> Option<Progress> {
        let token = self.context.meta.get_progress_token()?;
        Some(Progress::Call(self.context.peer.clone(), token))
    }

    /// Who asks, in words for people.
    pub(super) fn origin(&self) -> String {
        format!("wharf mcp ({})", self.name)
    }

    /// Who types, in the journal.
    pub(super) fn author(&self) -> String {
        format!("mcp {}", self.name)
    }

    /// The answer, or what the client has to ask.
    pub(super) async fn ask(
        &self,
        asked: &Asked,
        question: &Question,
        text: String,
    ) -> Result<Answer, Box<InputRequiredResult>> {
        let unable = |why: &str| Ok(Answer::Unable { why: why.to_owned() });
        if let Some((handle, answer)) = &self.answered {
            return Ok(match asked.take(handle, question) {
                true => read(serde_json::from_value(answer.clone()).ok()),
                false => {
                    Answer::Unable { why: "the answer is not to this question, or came too late".to_owned() }
                }
            });
        }
        if !self.can_ask() {
            return unable("the client cannot ask (it does not declare elicitation)");
        }
        let Some(params) = form(text) else { return unable("the question cannot be put") };
        if self.is_modern() {
            return match asked.add(question) {
                Some(handle) => Err(Box::new(required(params, handle))),
                None => unable("too many questions are open already"),
            };
        }
        match self.context.peer.create_elicitation_with_timeout(params, Some(PATIENCE)).await {
            Ok(result) => Ok(read(Some(result))),
            Err(error) => unable(&format!("the client did not answer ({error})")),
        }
    }

    fn can_ask(&self) -> bool {
        let able = self.context.client_capabilities().and_then(|all| all.elicitation);
        // Who says neither form nor URL means forms: there was nothing else at first.
        able.is_some_and(|able| able.form.is_some() || able.url.is_none())
    }

    /// Whether it can look in on a wait that outlasts the call. Clients of the classic era declare this, too, and cannot
    /// read such an answer.
    pub(super) fn takes_tasks(&self) -> bool {
        self.is_modern() && self.context.client_capabilities().is_some_and(|all| all.supports_tasks())
    }

    fn is_modern(&self) -> bool {
        self.context.protocol_version().is_some_and(|version| !version.has_initialize())
    }
}

fn form(message: String) -> Option<ElicitRequestParams> {
    let choices = json!(["allow once", "allow always", "refuse"]);
    let decision = json!({"type": "string", "title": "Decision", "enum": choices});
    let schema = json!({"type": "object", "properties": {"decision": decision}, "required": ["decision"]});
    let requested_schema = serde_json::from_value(schema).ok()?;
    Some(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema })
}

fn required(params: ElicitRequestParams, handle: String) -> InputRequiredResult {
    let request = InputRequest::Elicitation(ElicitRequest::new(params));
    InputRequiredResult::new(Some(InputRequests::from([(KEY.to_owned(), request)])), Some(handle))
}

/// No answer is not a yes, and neither is one without a decision.
fn read(result: Option<ElicitResult>) -> Answer {
    let Some(result) = result else { return Answer::No };
    let decision =
        result.content.as_ref().and_then(|content| content.get("decision")).and_then(Value::as_str);
    match (result.action, decision) {
        (ElicitationAction::Accept, Some("allow once")) => Answer::Once,
        (ElicitationAction::Accept, Some("allow always")) => Answer::Always,
        (ElicitationAction::Cancel, _) => Answer::Cancelled,
        _ => Answer::No,
    }
}

impl Asked {
    /// A name for it that nobody can guess; none if there are too many.
    fn add(&self, question: &Question) -> Option<String> {
        let handle = TerminalId::random().ok()?.to_string();
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        // One that never came back makes room: the client has long forgotten it.
        if open.len() == MOST {
            open.pop_front();
        }
        open.push_back((handle.clone(), question.clone()));
        Some(handle)
    }

    /// Whether exactly this was asked under that name. It is not any more.
    fn take(&self, handle: &str, question: &Question) -> bool {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let found = open.iter().position(|(known, _)| known == handle);
        found.and_then(|at| open.remove(at)).is_some_and(|(_, asked)| asked == *question)
    }
}
