//! What happens to terminals, for logs, recordings and views.

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::SessionId;
use std::path::PathBuf;
use wharf_core::policy::Change;
use wharf_core::{Ended, Terminal, TerminalId};

/// Something that happened.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event {
    /// A session was opened, or its commands start somewhere else from now on.
    SessionOpened {
        /// Which.
        session: SessionId,
        /// Where its commands start.
        cwd: PathBuf,
    },
    /// A command runs. The handle reads everything it prints, also after it was released.
    Created {
        /// Whose it is.
        session: SessionId,
        /// The terminal.
        terminal: Terminal,
    },
    /// A command was not started.
    Refused {
        /// Who asked.
        session: SessionId,
        /// The command as it was asked for: its words, or a line alone. As in the terminal's `meta`, had it been started.
        command: Vec<String>,
        /// Why.
        error: Error,
    },
    /// A command has ended.
    Ended {
        /// Whose it was.
        session: SessionId,
        /// The terminal.
        id: TerminalId,
        /// How.
        ended: Ended,
    },
    /// Files that make programs outside the sandbox run something were made or changed while a command ran.
    Settings {
        /// Whose it was.
        session: SessionId,
        /// The terminal.
        id: TerminalId,
        /// Which files, and how.
        changes: Vec<Change>,
    },
    /// A terminal was forgotten, and nothing of it is left.
    Released {
        /// Whose it was.
        session: SessionId,
        /// The terminal.
        id: TerminalId,
    },
}
