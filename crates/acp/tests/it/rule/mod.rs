//! The rules of `terminal/*`, one test each, wherever a host may be.

mod create;
mod kill;
mod output;
mod release;
mod session;
mod wait;
