//! Holds one terminal: starts a command from a plan, writes every byte it prints to a journal, knows how it ended, and
//! leaves nothing of it behind.
//!
//! This is the only crate of wharf with `unsafe` code and the only one that knows the operating system. It is blocking
//! and single-threaded on purpose: a process with one terminal needs no runtime. Most users want `wharf-core`.
//!
//! Suggested reading order: [`plan`] → [`launch`] → [`hold`] → [`spawn`] → [`confine`] → [`journal`] → [`tree`].

pub mod confine;
pub mod failpoint;
pub mod guard;
pub mod hold;
pub mod journal;
pub mod launch;
pub mod plan;
pub mod probe;
mod shim;
pub mod signal;
pub mod spawn;
pub mod tree;
pub mod wire;

pub use shim::main;
