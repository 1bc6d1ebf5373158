//! Create → wait → output → release, some of them at the same time.
//!
//! A request's id says which cycle it is of and which step. Answers are looked at no more than is needed to know that they
//! are right: the output is compared as it is written in JSON, and taken apart only if it is not the same.

use crate::Outcome;
use crate::agent::SESSION;
use crate::wire::Wire;
use crate::work::{Tally, Turn, Work};
use serde_json::{Value, json};
use std::time::Instant;

/// Room for all that is printed.
const LIMIT: usize = 4 << 20;

/// What a command prints, as it is and with the quotes and escapes of JSON.
pub(crate) struct Expected {
    plain: String,
    written: String,
}

impl Expected {
    pub(crate) fn of(work: Work) -> Self {
        let plain = work.output();
        let written = Value::from(plain.as_str()).to_string();
        Self { plain, written }
    }
}

pub(crate) struct Cycles<'a> {
    wire: &'a mut Wire,
    turn: Turn,
    expected: &'a Expected,
    terminals: Vec<String>,
    wrong: usize,
}

const STEPS: [&str; 4] = ["terminal/create", "terminal/wait_for_exit", "terminal/output", "terminal/release"];
const WAIT: usize = 1;

impl<'a> Cycles<'a> {
    pub(crate) fn new(wire: &'a mut Wire, turn: Turn, expected: &'a Expected) -> Self {
        Self { wire, turn, expected, terminals: vec![String::new(); turn.count], wrong: 0 }
    }

    pub(crate) fn run(mut self) -> Outcome<Tally> {
        let begin = Instant::now();
        let (mut begun, mut done) = (self.turn.width.min(self.turn.count), 0);
        for cycle in 0..begun {
            self.ask(cycle, 0)?;
        }
        while done < self.turn.count {
            let (cycle, step) = self.hear()?;
            if step + 1 < STEPS.len() {
                self.ask(cycle, step + 1)?;
                continue;
            }
            done += 1;
            if begun < self.turn.count {
                self.ask(begun, 0)?;
                begun += 1;
            }
        }
        Ok(Tally { each: begin.elapsed() / u32::try_from(self.turn.count)?, wrong: self.wrong })
    }

    fn ask(&mut self, cycle: usize, step: usize) -> Outcome {
        let params = if step == 0 {
            let (command, args) = self.turn.work.command();
            json!({ "sessionId": SESSION, "command": command, "args": args, "outputByteLimit": LIMIT })
        } else {
            json!({ "sessionId": SESSION, "terminalId": self.terminals[cycle] })
        };
        let id = cycle * STEPS.len() + step;
        self.wire.write(&json!({ "jsonrpc": "2.0", "id": id, "method": STEPS[step], "params": params }))
    }

    /// An answer: of which cycle, to which step.
    fn hear(&mut self) -> Outcome<(usize, usize)> {
        let line = self.wire.read()?.ok_or("the host is gone")?;
        let id = number_after(line, b"\"id\":").ok_or("an answer has no id")?;
        let (cycle, step) = (id / STEPS.len(), id % STEPS.len());
        match STEPS[step] {
            "terminal/create" => {
                let id = result(line)?["terminalId"].as_str().map(str::to_owned);
                self.terminals[cycle] = id.ok_or("a terminal has no name")?;
            }
            "terminal/output" => {
                let Expected { plain, written } = self.expected;
                let after = after(line, b"\"output\":").ok_or("there is no output")?;
                let is_right = after.starts_with(written.as_bytes())
                    || result(line)?["output"].as_str() == Some(plain.as_str());
                self.wrong += usize::from(!is_right);
            }
            _ => {
                let result = result(line)?;
                if step == WAIT && result["exitCode"] != 0 {
                    return Err(format!("it ended with {result}").into());
                }
            }
        }
        Ok((cycle, step))
    }
}

fn result(line: &[u8]) -> Outcome<Value> {
    let mut answer: Value = serde_json::from_slice(line)?;
    match answer.get_mut("result") {
        Some(result) => Ok(result.take()),
        None => Err(format!("the host answered {answer}").into()),
    }
}

/// What follows the first `name` in a line.
fn after<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    line.windows(name.len()).position(|part| part == name).map(|at| &line[at + name.len()..])
}

fn number_after(line: &[u8], name: &[u8]) -> Option<usize> {
    let digits = after(line, name)?;
    let end = digits.iter().position(|byte| !byte.is_ascii_digit())?;
    std::str::from_utf8(&digits[..end]).ok()?.parse().ok()
}
