//! Who has a PTY's foreground, and whether they wait for somebody to type. From the kernel, not from the text.
//!
//! Whether somebody waits is decided by what the kernel says of processes, descriptors and the terminal driver; what is
//! on the screen only describes it. A program that prints `Password: ` and works on is not waiting.
//!
//! What surprises: there is no event for it. Whoever wants to know has to look twice, at the pace of a [`Pace`].

mod awaiting;
mod choice;
mod pace;
mod program;

pub use awaiting::{Awaiting, Kind};
pub use pace::Pace;
pub use wharf_shim::wire::foreground::{Doing, Member};

use crate::error::ControlError;
use crate::terminal::Terminal;
use std::io;
use wharf_shim::wire::message::{Reply, Request};

/// What the kernel says of a PTY at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Foreground {
    /// The foreground process group; 0 if there is none.
    pub group: i32,
    /// What is typed is echoed.
    pub echo: bool,
    /// Programs get whole lines.
    pub canonical: bool,
    /// C-c and its like are signals.
    pub signals: bool,
    /// Enter arrives as a newline. Most line editors switch that off.
    pub newline: bool,
    /// A newline arrives as Enter. The line editor of zsh exchanges the two.
    pub exchanged: bool,
    /// Bytes typed and not read yet.
    pub unread: u32,
    /// The group's members, parents before children; of very many only some.
    pub members: Vec<Member>,
}

impl Terminal {
    /// Asks the holder who has the foreground of this PTY. A holder of an earlier version refuses with
    /// [`Refusal::NotUnderstood`](crate::Refusal).
    pub async fn foreground(&self) -> Result<Foreground, ControlError> {
        match self.question(&Request::Foreground).await? {
            Reply::Foreground(seen) => Ok(Foreground {
                group: seen.group,
                echo: seen.typing.echo,
                canonical: seen.typing.canonical,
                signals: seen.typing.signals,
                newline: seen.typing.newline,
                exchanged: seen.typing.exchanged,
                unread: seen.unread,
                members: seen.members,
            }),
            _ => Err(ControlError::Unreachable(io::Error::other("it answers something else"))),
        }
    }
}
