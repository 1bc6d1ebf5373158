//! `wharf mcp` as its clients see it.

pub(crate) mod client;

mod agent;
mod bound;
mod era;
mod hint;
mod human;
mod life;
mod long;
mod past;
mod peer;
mod rule;
mod sandbox;
mod scenario;
mod seat;
mod task;
mod typing;
