//! ACP terminals on wharf's terminals.

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
