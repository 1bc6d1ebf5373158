//! Commands that run here because the client has no terminals, and how it is shown them.
//!
//! One task owns the [`Display`] and sends everything that has to do with terminals, so that the client gets it in order. It
//! ends with the connection, and takes the commands with it: nobody is left to see them.

use super::TerminalError;
use crate::Host;
use crate::display::{Display, Shows, Wake, gather, watch};
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{CLIENT_METHOD_NAMES, SessionId, SessionNotification};
use agent_client_protocol::{Client, Error, UntypedMessage};
use serde_json::value::{RawValue, to_raw_value};
use std::sync::{Arc, OnceLock};
use tokio::sync::{mpsc, oneshot};
use wharf_core::Terminal;

/// Messages that wait for their turn. Whoever sends one waits for it, so there are seldom more than a few.
const TURNS: usize = 64;

#[derive(Debug, Clone)]
pub(super) struct Local {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    host: Host,
    connection: ConnectionTo<Client>,
    shows: Shows,
    stage: OnceLock<mpsc::Sender<Cue>>,
}

enum Cue {
    /// A message of the agent, with the terminals that were in it when it was sent.
    Show { params: Box<RawValue>, terminals: Vec<Terminal>, _shown: oneshot::Sender<()> },
    /// Everything of a session up to now.
    Flush { session: SessionId, _shown: oneshot::Sender<()> },
    /// A terminal has something new.
    Woke(Wake),
}

impl From<Wake> for Cue {
    fn from(wake: Wake) -> Self {
        Self::Woke(wake)
    }
}

impl Local {
    pub(super) fn new(host: Host, connection: ConnectionTo<Client>, shows: Shows) -> Self {
        Self { shared: Arc::new(Shared { host, connection, shows, stage: OnceLock::new() }) }
    }

    pub(super) fn host(&self) -> &Host {
        &self.shared.host
    }

    /// Makes sure that somebody looks after the commands. Only inside a runtime.
    pub(super) fn begin(&self) {
        self.stage();
    }

    fn stage(&self) -> &mpsc::Sender<Cue> {
        self.shared.stage.get_or_init(|| {
            let (cues, turns) = mpsc::channel(TURNS);
            let stage = Stage {
                display: Display::new(self.shared.host.clone(), self.shared.shows),
                connection: self.shared.connection.clone(),
                cues: cues.downgrade(),
            };
            tokio::spawn(stage.run(turns, self.shared.host.clone()));
            cues
        })
    }

    /// Done when it was sent.
    pub(super) async fn show(&self, notification: SessionNotification) -> Result<(), TerminalError> {
        let (cue, shown) = self.cue(&notification)?;
        self.stage().send(cue).await.map_err(|_| TerminalError::Disconnected)?;
        // Dropped, never sent: either way its turn is over.
        let _ = shown.await;
        Ok(())
    }

    /// Done when nothing of a session is left to send. If nothing was ever shown, there is nothing.
    pub(super) async fn flush(&self, session: &SessionId) {
        let Some(stage) = self.shared.stage.get() else { return };
        let (shown, seen) = oneshot::channel();
        let cue = Cue::Flush { session: session.clone(), _shown: shown };
        // Fails only when the connection has ended.
        if stage.send(cue).await.is_ok() {
            let _ = seen.await;
        }
    }

    /// Without waiting, if anything was shown before.
    pub(super) fn show_soon(&self, notification: SessionNotification) {
        if let (Some(stage), Ok((cue, _))) = (self.shared.stage.get(), self.cue(&notification)) {
            let _ = stage.try_send(cue);
        }
    }

    /// Terminals are looked up now: the next thing that happens to them may be their release.
    fn cue(&self, notification: &SessionNotification) -> Result<(Cue, oneshot::Receiver<()>), Error> {
        let params = to_raw_value(notification).map_err(Error::into_internal_error)?;
        let terminals = gather(&self.shared.host, CLIENT_METHOD_NAMES.session_update, &params);
        let (shown, seen) = oneshot::channel();
        Ok((Cue::Show { params, terminals, _shown: shown }, seen))
    }
}

struct Stage {
    display: Display,
    connection: ConnectionTo<Client>,
    /// For watchers. Weak, so that this ends when nobody is left who could say anything.
    cues: mpsc::WeakSender<Cue>,
}

impl Stage {
    async fn run(mut self, mut turns: mpsc::Receiver<Cue>, host: Host) {
        let connection = self.connection.clone();
        loop {
            tokio::select! {
                biased;
                _ = connection.terminated() => return host.end().await,
                cue = turns.recv() => match cue {
                    Some(cue) => self.play(cue),
                    None => return,
                },
            }
        }
    }

    fn play(&mut self, cue: Cue) {
        match cue {
            Cue::Show { params, terminals, _shown } => self.show(params, terminals),
            Cue::Flush { session, _shown } => {
                self.display.flush(&session).iter().for_each(|params| self.send(params))
            }
            Cue::Woke(wake) => {
                self.display.catch_up(&wake.terminal).iter().for_each(|params| self.send(params))
            }
        }
    }

    fn show(&mut self, params: Box<RawValue>, terminals: Vec<Terminal>) {
        let method = CLIENT_METHOD_NAMES.session_update;
        let Some(translated) = self.display.translate_with(method, &params, terminals) else {
            return self.send(&params);
        };
        translated.before.iter().chain([&translated.params]).for_each(|params| self.send(params));
        for terminal in translated.embedded {
            if let Some(cues) = self.cues.upgrade() {
                tokio::spawn(watch(terminal, cues));
            }
        }
    }

    fn send(&self, params: &RawValue) {
        // Fails only when the connection has ended, which is noticed at the next turn.
        let _ = UntypedMessage::new(CLIENT_METHOD_NAMES.session_update, params)
            .and_then(|message| self.connection.send_notification(message));
    }
}
