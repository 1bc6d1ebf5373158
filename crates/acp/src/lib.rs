//! ACP terminals on wharf's terminals: for clients, for agents, and for whoever stands between them.
//!
//! - A **client** gives its agent terminals with a [`Host`]: make one, add [`Host::service`] to the connection, announce
//!   [`Host::capabilities`], and say which sessions there are. See [`TerminalService`] for the whole of it.
//! - An **agent** runs commands in its client's terminals with [`Terminals`]: a [`Command`] is started, waited for with a
//!   time limit, shown in a tool call, and released by itself.
//! - **Between** the two, a [`Relay`] hosts the terminals of an agent whose client has none and passes everything else byte
//!   for byte; [`component`] does so in a conductor's chain. `wharf acp` is the relay as a program.
//!
//! Commands are [`wharf_core`] terminals: every byte they print is on disk before anyone hears of it, a kill ends the whole
//! tree, and the end is exactly one of exit code, signal or *not known*.
//!
//! Whatever an agent awaits here waits for its client's answers, so it must not be awaited in one of the connection's own
//! handlers, which would keep those answers from being read: leave the handler first, with the connection's `spawn`.
//!
//! ```no_run
//! # use agent_client_protocol::{Client, v1::ConnectionTo, v1::schema::{InitializeRequest, SessionId}};
//! # use std::time::Duration;
//! # use wharf_acp::{TerminalError, Terminals};
//! # async fn agent(cx: ConnectionTo<Client>, init: InitializeRequest, session: SessionId) -> Result<(), TerminalError> {
//! let terminals = Terminals::new(cx, &init.client_capabilities);
//! let build = terminals.command(&session, "cargo").args(["build"]).start().await?;
//! let done = build.wait_or_kill(Duration::from_secs(600)).await?;
//! assert!(done.success(), "{}: {}", done.exit, done.output);
//! # Ok(()) }
//! ```
//!
//! What an agent may rely on, of any of them: a command without arguments is a line for a shell, with arguments it is
//! executed as it is; standard input is at its end; nothing waits for a pager, an editor or a password; output is cut at its
//! beginning, between characters; after a wait or a kill was answered, the output is complete.

#![forbid(unsafe_code)]

mod display;
mod handle;
mod host;
mod proxy;
mod raw;

pub use handle::{
    Command, Exit, Finished, Follow, Output, Piece, TerminalError, TerminalHandle, Terminals, ToolCallCommand,
};
pub use host::{DEFAULT_OUTPUT_LIMIT, Event, Host, MAX_OUTPUT_LIMIT, TerminalService};
pub use proxy::{End, Hosting, Relay, component};
