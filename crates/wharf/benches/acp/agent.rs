//! The agent: this program itself, started by a host. Its one turn lasts as long as the benchmark.

use crate::Outcome;
use crate::cycle::{Cycles, Expected};
use crate::wire::Wire;
use crate::work::{Turn, Work};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;

/// The first argument of a run that is the agent.
pub(crate) const WORD: &str = "be-agent";
/// The session's name.
pub(crate) const SESSION: &str = "bench";

pub(crate) fn run(socket: &str) -> Outcome {
    let mut wire = Wire::new()?;
    let mut line = BufReader::new(UnixStream::connect(socket)?);
    while let Some(message) = wire.read()? {
        let request: Value = serde_json::from_slice(message)?;
        let result = match request["method"].as_str() {
            Some("initialize") => json!({ "protocolVersion": 1, "agentCapabilities": {} }),
            Some("session/new") => json!({ "sessionId": SESSION }),
            Some("session/prompt") => {
                take_turns(&mut wire, &mut line)?;
                json!({ "stopReason": "end_turn" })
            }
            _ => continue,
        };
        wire.write(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }))?;
    }
    Ok(())
}

fn take_turns(wire: &mut Wire, line: &mut BufReader<UnixStream>) -> Outcome {
    // Before anything is measured.
    let expected = Work::ALL.map(Expected::of);
    let mut told = String::new();
    while line.read_line(&mut told)? > 0 {
        let turn = Turn::from_line(&told)?;
        let tally = Cycles::new(wire, turn, &expected[turn.work.index()]).run()?;
        line.get_mut().write_all(tally.to_line().as_bytes())?;
        told.clear();
    }
    Ok(())
}
