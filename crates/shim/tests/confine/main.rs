//! The sandbox by real commands in real holders: what they may do, what they may not, and that nothing is left.
//!
//! Run as root, every case is run as root and as an ordinary user.

#![cfg(test)]

mod attempt;
mod files;
mod foreground;
mod kernel;
mod layer;
mod moved;
mod place;
mod placeholder;
mod shared;
mod start;
mod terminal;
mod view;
