//! Between a client and an agent: everything passes, and the terminals are ours.
//!
//! [`Relay`] stands between two byte streams and changes nothing it does not have to; [`component()`] does the same in a
//! conductor's chain.

mod answer;
mod ask;
mod component;
mod envelope;
mod escape;
mod inbound;
mod lines;
mod offer;
mod opening;
mod outbound;
mod outbox;
mod permission;
mod relay;
mod session;
mod view;

pub use component::component;
pub use relay::{End, Relay};

/// Whose terminals the agent gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Hosting {
    /// Ours.
    #[default]
    Always,
    /// Ours where the client has none, else the client's.
    Missing,
}
