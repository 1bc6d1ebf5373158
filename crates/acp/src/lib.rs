//! ACP terminals on wharf's terminals.

#![forbid(unsafe_code)]

mod host;

pub use host::{DEFAULT_OUTPUT_LIMIT, Event, Host, MAX_OUTPUT_LIMIT, TerminalService};
