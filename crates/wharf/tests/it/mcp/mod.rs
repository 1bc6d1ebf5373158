//! `wharf mcp` as its clients see it.

pub(crate) mod client;

mod era;
mod human;
mod life;
mod long;
mod past;
mod peer;
mod rule;
mod scenario;
mod seat;
mod task;
mod typing;
