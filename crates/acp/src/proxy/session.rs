//! What the client's requests and the agent's answers say about sessions.
//!
//! A pure account: it is told what was asked and what was answered, and says what is to be done. A new session has a
//! name only when the agent has answered; one that is loaded runs terminals before that. Nothing here knows how messages
//! travel or what a session holds.

use super::envelope::Key;
use agent_client_protocol::v1::schema::SessionId;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::VecDeque;
use std::path::PathBuf;

/// Questions without an answer that are remembered; the oldest is forgotten then. Clients have a handful.
const MOST: usize = 1024;

/// Something the client asked the agent for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Asked {
    /// A session that the agent will name.
    New { cwd: PathBuf },
    /// One that has a name already.
    Load { session: SessionId, cwd: PathBuf },
    /// The end of one.
    Close { session: SessionId },
    /// A turn.
    Prompt { session: SessionId },
}

/// What is to be done.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Open {
        session: SessionId,
        cwd: PathBuf,
    },
    Close {
        session: SessionId,
    },
    /// Show everything that was printed until now before the answer.
    Flush {
        session: SessionId,
    },
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow, rename = "sessionId", default)]
    session: Option<Cow<'a, str>>,
    #[serde(default)]
    cwd: Option<PathBuf>,
}

impl Asked {
    /// A request of the client, if it is about sessions.
    pub(crate) fn read(method: &str, params: Option<&RawValue>) -> Option<Self> {
        if !matches!(
            method,
            "session/new"
                | "session/load"
                | "session/resume"
                | "session/fork"
                | "session/close"
                | "session/delete"
                | "session/prompt"
        ) {
            return None;
        }
        let Params { session, cwd } = serde_json::from_str(params?.get()).ok()?;
        let session = session.map(|session| SessionId::new(session.into_owned()));
        match method {
            "session/new" | "session/fork" => Some(Self::New { cwd: cwd? }),
            "session/load" | "session/resume" => Some(Self::Load { session: session?, cwd: cwd? }),
            "session/close" | "session/delete" => Some(Self::Close { session: session? }),
            _ => Some(Self::Prompt { session: session? }),
        }
    }
}

/// A question of the client's whose answer matters.
#[derive(Debug)]
pub(crate) enum Question {
    New {
        cwd: PathBuf,
    },
    /// To be closed again if it cannot be loaded, because it was opened for that only.
    LoadFresh {
        session: SessionId,
    },
    Close {
        session: SessionId,
    },
    Prompt {
        session: SessionId,
    },
}

impl Asked {
    /// What is to be done at once, and what is to be heard of its answer.
    pub(crate) fn begin(
        self,
        is_open: impl FnOnce(&SessionId) -> bool,
    ) -> (Option<Action>, Option<Question>) {
        match self {
            Self::New { cwd } => (None, Some(Question::New { cwd })),
            Self::Close { session } => (None, Some(Question::Close { session })),
            Self::Prompt { session } => (None, Some(Question::Prompt { session })),
            Self::Load { session, cwd } => {
                let fresh = !is_open(&session);
                let question = fresh.then(|| Question::LoadFresh { session: session.clone() });
                (Some(Action::Open { session, cwd }), question)
            }
        }
    }
}

impl Question {
    /// The agent has answered; `result` is nothing if it is an error.
    pub(crate) fn answered(self, result: Option<&RawValue>) -> Option<Action> {
        match (self, result) {
            (Self::Prompt { session }, _) => Some(Action::Flush { session }),
            (Self::New { cwd }, Some(result)) => {
                let Params { session, .. } = serde_json::from_str(result.get()).ok()?;
                Some(Action::Open { session: SessionId::new(session?.into_owned()), cwd })
            }
            (Self::Close { session }, Some(_)) => Some(Action::Close { session }),
            (Self::LoadFresh { session }, None) => Some(Action::Close { session }),
            (Self::New { .. } | Self::Close { .. }, None) | (Self::LoadFresh { .. }, Some(_)) => None,
        }
    }
}

/// The questions that are open.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    open: VecDeque<(Key, Question)>,
}

impl Sessions {
    /// The client has asked.
    pub(crate) fn asked(
        &mut self,
        key: Key,
        asked: Asked,
        is_open: impl FnOnce(&SessionId) -> bool,
    ) -> Option<Action> {
        let (action, question) = asked.begin(is_open);
        if let Some(question) = question {
            if self.open.len() == MOST {
                self.open.pop_front();
            }
            self.open.push_back((key, question));
        }
        action
    }

    /// The agent has answered; `result` is nothing if it is an error.
    pub(crate) fn answered(&mut self, key: &Key, result: Option<&RawValue>) -> Option<Action> {
        let at = self.open.iter().position(|(open, _)| open == key)?;
        let (_, question) = self.open.remove(at)?;
        question.answered(result)
    }

    /// Whether any answer would matter.
    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }
}

/// The request that a `$/cancel_request` is about.
pub(crate) fn cancelled(params: Option<&RawValue>) -> Option<Key> {
    #[derive(Deserialize)]
    struct Cancel<'a> {
        #[serde(borrow, rename = "requestId")]
        id: &'a RawValue,
    }
    let Cancel { id } = serde_json::from_str(params?.get()).ok()?;
    Some(Key::of(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    fn key(text: &str) -> Key {
        Key::of(&raw(text))
    }

    fn read(method: &str, params: &str) -> Option<Asked> {
        Asked::read(method, Some(&raw(params)))
    }

    fn open(session: &str, cwd: &str) -> Action {
        Action::Open { session: SessionId::new(session), cwd: cwd.into() }
    }

    fn close(session: &str) -> Action {
        Action::Close { session: SessionId::new(session) }
    }

    #[test]
    fn a_new_session_is_open_when_the_agent_has_named_it() {
        for method in ["session/new", "session/fork"] {
            let mut sessions = Sessions::default();
            let asked = read(method, r#"{"cwd":"/w","sessionId":"old","mcpServers":[]}"#).unwrap();
            assert_eq!(sessions.asked(key("1"), asked, |_| false), None);
            assert_eq!(sessions.answered(&key("2"), Some(&raw(r#"{"sessionId":"no"}"#))), None);
            let answer = raw(r#"{"modes":null,"sessionId":"s\u0031"}"#);
            assert_eq!(sessions.answered(&key("1"), Some(&answer)), Some(open("s1", "/w")));
            assert_eq!(sessions.answered(&key("1"), Some(&answer)), None, "answered once");
        }
    }

    #[test]
    fn a_session_that_could_not_be_made_is_never_open() {
        let mut sessions = Sessions::default();
        sessions.asked(key("1"), read("session/new", r#"{"cwd":"/w"}"#).unwrap(), |_| false);
        assert_eq!(sessions.answered(&key("1"), None), None);
        assert!(sessions.is_empty());
    }

    #[test]
    fn a_loaded_session_is_open_at_once_and_closed_if_it_fails_and_was_not_open_before() {
        for method in ["session/load", "session/resume"] {
            for (was_open, then) in [(false, Some(close("s"))), (true, None)] {
                let mut sessions = Sessions::default();
                let asked = read(method, r#"{"cwd":"/w","sessionId":"s"}"#).unwrap();
                assert_eq!(sessions.asked(key("1"), asked, |_| was_open), Some(open("s", "/w")));
                assert_eq!(sessions.answered(&key("1"), None), then);
            }
        }
    }

    #[test]
    fn a_session_is_closed_when_the_agent_agrees() {
        let mut sessions = Sessions::default();
        for id in ["1", "2"] {
            sessions.asked(key(id), read("session/close", r#"{"sessionId":"s"}"#).unwrap(), |_| true);
        }
        assert_eq!(sessions.answered(&key("1"), None), None);
        assert_eq!(sessions.answered(&key("2"), Some(&raw("null"))), Some(close("s")));
    }

    #[test]
    fn a_turn_is_flushed_before_its_answer_also_if_that_is_an_error() {
        let mut sessions = Sessions::default();
        sessions.asked(key("1"), read("session/prompt", r#"{"sessionId":"s"}"#).unwrap(), |_| true);
        let flush = Action::Flush { session: SessionId::new("s") };
        assert_eq!(sessions.answered(&key("1"), None), Some(flush));
    }

    #[test]
    fn questions_that_are_never_answered_are_forgotten_in_the_end() {
        let mut sessions = Sessions::default();
        for id in 0..=MOST {
            let asked = read("session/prompt", r#"{"sessionId":"s"}"#).unwrap();
            sessions.asked(key(&id.to_string()), asked, |_| true);
        }
        assert_eq!(sessions.answered(&key("0"), None), None);
        assert!(sessions.answered(&key("1"), None).is_some());
    }

    #[test]
    fn what_lacks_what_it_needs_says_nothing() {
        assert_eq!(read("session/new", "{}"), None);
        assert_eq!(read("session/load", r#"{"cwd":"/w"}"#), None);
        assert_eq!(read("session/prompt", r#"{"sessionId":7}"#), None);
        assert_eq!(read("session/list", r#"{"sessionId":"s","cwd":"/"}"#), None);
        assert_eq!(Asked::read("session/new", None), None);
    }
}
