//! The bytes between a front end and a shim: values, frames, messages.
//!
//! Shared by both sides; knows nothing of sockets or processes.

pub mod foreground;
pub mod frame;
pub mod message;
pub mod value;
