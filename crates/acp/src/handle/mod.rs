//! The agent's side: commands in the client's terminals.
//!
//! [`Terminals`] is made once for a connection, from what the client announced. It makes [`Command`]s; a started one is a
//! [`TerminalHandle`], which is released when it is dropped. A client without terminals is never asked for one: the agent gets
//! [`TerminalError::Unsupported`], or, if it wants that, the same API runs the command here ([`Terminals::or_local`]).
//!
//! ```no_run
//! # use agent_client_protocol::{Client, v1::ConnectionTo, v1::schema::{InitializeRequest, SessionId}};
//! # use std::time::Duration;
//! # use wharf_acp::{TerminalError, Terminals};
//! # async fn agent(cx: ConnectionTo<Client>, init: InitializeRequest, session: SessionId) -> Result<(), TerminalError> {
//! let terminals = Terminals::new(cx, &init.client_capabilities);
//! let build = terminals.command(&session, "cargo").args(["build"]).env("CARGO_TERM_COLOR", "never");
//! let finished = build.tool_call("build-1").title("Building").run(Duration::from_secs(600)).await?;
//! if !finished.success() {
//!     println!("{}\n{}", finished.exit, finished.output);
//! }
//! # Ok(()) }
//! ```
//!
//! All of it waits for the client's answers, so none of it may be awaited in one of the connection's own handlers, which keeps
//! those answers from being read: leave the handler first with [`ConnectionTo::spawn`].

mod address;
mod backend;
mod command;
mod error;
mod exit;
mod follow;
mod local;
mod overlap;
mod report;
mod terminal;

pub use command::Command;
pub use error::TerminalError;
pub use exit::{Exit, Finished, Output};
pub use follow::{Follow, Piece};
pub use report::ToolCallCommand;
pub use terminal::TerminalHandle;

use crate::Host;
use crate::display::Shows;
use agent_client_protocol::Client;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{ClientCapabilities, SessionId, SessionNotification, SessionUpdate};
use backend::Backend;
use local::Local;
use serde_json::value::to_raw_value;
use std::future::Future;
use std::path::PathBuf;

/// Where an agent's commands run: in the terminals of the client at the other end of one connection. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Terminals {
    connection: ConnectionTo<Client>,
    /// How the client shows terminals that are not its own.
    shows: Shows,
    backend: Backend,
}

impl Terminals {
    /// From a connection and what the client said in `initialize`.
    #[must_use]
    pub fn new(connection: ConnectionTo<Client>, client: &ClientCapabilities) -> Self {
        let backend = if client.terminal { Backend::Client(connection.clone()) } else { Backend::Nowhere };
        // A client that cannot be read in this way announced nothing that this understands.
        let shows = Shows::of(to_raw_value(client).ok().as_deref());
        Self { connection, shows, backend }
    }

    /// If the client has no terminals, runs commands in `host` and shows them to the client as far as it can show them:
    /// live where it announced `_meta.terminal_output`, otherwise as text that grows. They end with the connection.
    ///
    /// What may run is up to the host's own judge ([`Host::judge`]): everything, unless one was given. What it wants
    /// somebody to be asked about is asked by [`Host::ask`], and refused without it.
    ///
    /// Sessions have to be opened with [`Terminals::open_session`]. Needs a Tokio runtime. Before a prompt is answered,
    /// await [`Terminals::flush`].
    #[must_use]
    pub fn or_local(mut self, host: Host) -> Self {
        if let Backend::Nowhere = self.backend {
            self.backend = Backend::Local(Local::new(host, self.connection.clone(), self.shows));
        }
        self
    }

    /// Whether commands can be run at all.
    #[must_use]
    pub fn can_run(&self) -> bool {
        !matches!(self.backend, Backend::Nowhere)
    }

    /// Says where a session's commands start. Only local commands need it; a client knows its own sessions.
    pub fn open_session(&self, id: impl Into<SessionId>, cwd: impl Into<PathBuf>) {
        if let Backend::Local(local) = &self.backend {
            local.host().open_session(id, cwd);
        }
    }

    /// Ends a session's local commands; done when nothing of them is left. A client's own end with its session.
    pub fn close_session(&self, id: &SessionId) -> impl Future<Output = ()> + Send + 'static {
        let closed = match &self.backend {
            Backend::Local(local) => Some(local.host().close_session(id)),
            Backend::Client(_) | Backend::Nowhere => None,
        };
        async move {
            if let Some(closed) = closed {
                closed.await;
            }
        }
    }

    /// A command for a session. Without arguments it is a line for a shell, with arguments it is executed as it is.
    pub fn command(&self, session: &SessionId, command: impl Into<String>) -> Command {
        Command::new(self.clone(), session.clone(), command.into())
    }

    /// Sends a `session/update`. One that embeds a terminal ([`TerminalHandle::content`]) has to go this way: a client that
    /// does not have the terminal itself is sent something that it can show instead.
    pub async fn update(&self, session: &SessionId, update: SessionUpdate) -> Result<(), TerminalError> {
        let notification = SessionNotification::new(session.clone(), update);
        match &self.backend {
            Backend::Local(local) => local.show(notification).await,
            Backend::Client(_) | Backend::Nowhere => {
                self.connection.send_notification(notification).map_err(|_| TerminalError::Disconnected)
            }
        }
    }

    /// Done when everything that there is to show of a session's commands is on its way to the client: output that was
    /// printed up to now, and what was still to be sent. A client may stop looking at a session once its prompt is answered,
    /// so await this first, then answer. Everything that was sent before goes before, since a connection keeps the order.
    pub async fn flush(&self, session: &SessionId) {
        if let Backend::Local(local) = &self.backend {
            local.flush(session).await;
        }
    }

    /// As [`Terminals::update`], for those who cannot wait: in the order of calls, if there is a connection.
    fn update_soon(&self, session: &SessionId, update: SessionUpdate) {
        let notification = SessionNotification::new(session.clone(), update);
        match &self.backend {
            Backend::Local(local) => local.show_soon(notification),
            Backend::Client(_) | Backend::Nowhere => {
                // If it fails there is nobody to show it to.
                let _ = self.connection.send_notification(notification);
            }
        }
    }
}
