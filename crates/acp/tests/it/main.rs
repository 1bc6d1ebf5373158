//! wharf-acp as its users meet it: real processes, real connections, messages as they are on the wire.
#![cfg(test)]

mod relay;
mod rule;
mod station;
mod wire;
