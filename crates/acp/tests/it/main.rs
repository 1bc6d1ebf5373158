//! wharf-acp as its users meet it: real processes, real connections, messages as they are on the wire.
#![cfg(test)]

mod ask;
mod examples;
mod foreign_client;
mod handle;
mod handle_client;
mod handle_follow;
mod handle_local;
mod handle_report;
mod pair;
mod relay;
mod rule;
mod station;
mod wire;
