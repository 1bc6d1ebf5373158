//! What wharf's tests share: a [`Place`] for terminals that cleans up after itself, the [`leak`] check, a blocking
//! [`talk`] with a holder, and [`front_end`]s in processes of their own. The programs that misbehave are the binary
//! `wharf-misbehave`, one file per behaviour; the programs on other people's SDKs are in [`peers`],
//! and agents in [`agents`].
//!
//! A fixture that cannot do its work panics: the test that uses it has failed.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a fixture that fails must fail its test")]

#[cfg(feature = "acp")]
pub mod acp_schema;
mod disk;
pub mod front_end;
pub mod leak;
mod peer;
mod place;
mod program;
pub mod talk;
mod watch;

pub use disk::SmallDisk;
pub use peer::{agents, peers};
pub use place::Place;
pub use program::program;
pub use watch::{GUARD, all_of, guarded, until};
