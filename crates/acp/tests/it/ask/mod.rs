//! Commands that somebody is asked about: a judge that asks, and a person who answers, wherever a host may be.
//!
//! In a client and on a private connection the embedder is asked; in the relay and in a conductor the client is, with
//! `session/request_permission`.

mod answer;
mod audit;
mod client;
mod withdrawal;

use crate::station::{Station, Where, host};
use crate::wire::{Refused, Wire};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::{Mutex, mpsc, oneshot};
use wharf_acp::Host;
use wharf_core::policy::{Answer, Denial, Judge, Judgement, Pending, Question, SessionPlace, Shown};
use wharf_core::{Spec, SpecError, unrestricted};
use wharf_testing::{Place, guarded};

/// Allows what says that it is free, denies what says that it is forbidden, and asks about the rest.
struct Cautious;

impl Judge for Cautious {
    fn judge(&self, spec: Spec, place: &SessionPlace) -> Result<Judgement, SpecError> {
        assert!(place.cwd.is_absolute() && place.key.starts_with("session-"), "{place:?}");
        let command = Shown::of(&spec).one_line();
        let grant = unrestricted(spec)?;
        if command.contains("forbidden") {
            let (rule, reason) = (Some("no evil".to_owned()), "it is forbidden".to_owned());
            return Ok(Judgement::Deny(Denial { rule, reason, ..Denial::default() }));
        }
        if command.contains("free") {
            return Ok(Judgement::Allow(grant));
        }
        let mut question = Question::about(&grant, &place.cwd);
        // Every directory is a root of its own here.
        question.root = question.cwd.clone();
        question.why.push("the test asks about everything".to_owned());
        question.fix = if command.contains("known") { "change that rule".to_owned() } else { String::new() };
        Ok(Judgement::Ask(question, Pending::new(grant)))
    }
}

type Put = (Question, oneshot::Sender<Answer>);

/// Whoever is asked.
enum Person {
    /// The embedder's own dialog.
    Hook(Mutex<mpsc::Receiver<Put>>),
    /// The client at the other end.
    Client(Arc<Wire>),
}

/// A question that is open.
#[expect(clippy::large_enum_variant, reason = "made once for each question and answered at once")]
enum Open {
    Hook(Put),
    Client(Value),
}

struct Rig {
    station: Station,
    person: Person,
}

impl Rig {
    async fn open(place: &Place, at: Where) -> Self {
        Self::open_with(place, at, |host| host).await
    }

    async fn open_with(place: &Place, at: Where, set: impl FnOnce(Host) -> Host) -> Self {
        let (sender, asked) = mpsc::channel(64);
        let (host, events) = host(place);
        let host = set(host.judge(Cautious));
        let by_hook = matches!(at, Where::Client | Where::Private);
        let host = if by_hook { host.ask(move |question| dialog(sender.clone(), question)) } else { host };
        let station = Station::open_with(place, at, (host, events)).await;
        let person = match &station.client {
            Some(client) => Person::Client(client.clone()),
            None => Person::Hook(Mutex::new(asked)),
        };
        Self { station, person }
    }

    /// The next question.
    async fn question(&self) -> Open {
        match &self.person {
            Person::Hook(asked) => Open::Hook(guarded(asked.lock().await.recv()).await.unwrap()),
            Person::Client(client) => Open::Client(client.next_of("session/request_permission").await),
        }
    }

    async fn answer(&self, open: Open, option: &str) {
        match (open, &self.person) {
            (Open::Hook((_, tell)), _) => {
                // Fails if it was withdrawn.
                let _ = tell.send(match option {
                    "allow_once" => Answer::Once,
                    "allow_always" => Answer::Always,
                    "cancelled" => Answer::Cancelled,
                    _ => Answer::No,
                });
            }
            (Open::Client(request), Person::Client(client)) => {
                let outcome = match option {
                    "cancelled" => json!({"outcome": "cancelled"}),
                    option => json!({"outcome": "selected", "optionId": option}),
                };
                client.respond(&request, json!({"outcome": outcome})).await;
            }
            (Open::Client(_), Person::Hook(_)) => unreachable!("asked by whom?"),
        }
    }

    /// Creates with these parameters, is asked, and gives that answer.
    async fn create(&self, params: &Value, option: &str) -> Result<String, Refused> {
        let created = self.station.create(&self.station.one, params.clone());
        let answered = async {
            let question = self.question().await;
            self.answer(question, option).await;
        };
        tokio::join!(created, answered).0
    }

    /// Creates with these parameters, and nobody is asked: a question would never be answered.
    async fn create_unasked(&self, params: &Value) -> Result<String, Refused> {
        self.station.create(&self.station.one, params.clone()).await
    }

    /// A file, and the parameters of a command that would make it.
    fn mark(&self, name: &str) -> (PathBuf, Value) {
        let file = self.station.cwd.join(name);
        let params = json!({"command": "touch", "args": [file]});
        (file, params)
    }

    /// Everything that was asked for until now has come to nothing: after a command that came later has ended, there is
    /// no file and no other terminal.
    async fn nothing_started(&self, place: &Place, file: &std::path::Path) {
        let free = self.station.start("echo free").await;
        self.station.finished(&free).await;
        self.station.ask("release", &free).await.unwrap();
        assert!(!file.exists(), "it was started");
        assert!(place.store.ids().unwrap().is_empty(), "a terminal was made");
        let created = |event: &&String| event.starts_with("created");
        assert_eq!(self.station.events.lock().unwrap().iter().filter(created).count(), 1);
    }
}

/// A dialog of an embedder's: the question goes to the test, which may answer.
async fn dialog(to: mpsc::Sender<Put>, question: Question) -> Answer {
    let (tell, told) = oneshot::channel();
    to.send((question, tell)).await.unwrap();
    told.await.unwrap_or(Answer::Cancelled)
}

impl Open {
    /// What a person reads.
    fn text(&self) -> String {
        match self {
            Self::Hook((question, _)) => question.text().unwrap(),
            Self::Client(request) => {
                request["params"]["toolCall"]["content"][0]["content"]["text"].as_str().unwrap().to_owned()
            }
        }
    }
}

fn code(refused: &Refused) -> (i64, &str) {
    (refused.code, refused.error["data"]["code"].as_str().unwrap_or_default())
}
