//! A peer: a Python script that does the same with other people's packages.

use crate::Outcome;
use crate::place::{Place, program};
use crate::side::{Answer, Side};
use crate::venv;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

struct Peer {
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
}

pub(crate) fn open_hands(place: &Place) -> Outcome<Box<dyn Side>> {
    start(place, "openhands_terminal.py", &[])
}

pub(crate) fn libtmux(place: &Place) -> Outcome<Box<dyn Side>> {
    start(place, "bare_libtmux.py", &["0.1"])
}

pub(crate) fn busy_libtmux(place: &Place) -> Outcome<Box<dyn Side>> {
    start(place, "bare_libtmux.py", &["0"])
}

fn start(place: &Place, script: &str, args: &[&str]) -> Outcome<Box<dyn Side>> {
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/shell/peers");
    let mut python = program(place.path(), venv::python(&scripts)?);
    python.arg(scripts.join(script)).args(args);
    // Nothing is fetched, nothing is written beside the scripts, and what it logs is of no interest.
    python.env("LITELLM_LOCAL_MODEL_COST_MAP", "True").env("OPENHANDS_SUPPRESS_BANNER", "1");
    python.env("PYTHONDONTWRITEBYTECODE", "1").env("LOG_LEVEL", "ERROR");
    python
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(std::fs::File::create(place.path().join("log"))?);
    let mut child = python.spawn()?;
    let (to, from) = child.stdin.take().zip(child.stdout.take()).ok_or("the peer has no pipes")?;
    Ok(Box::new(Peer { child, to: Some(to), from: BufReader::new(from) }))
}

impl Peer {
    fn ask(&mut self, request: &Value) -> Outcome<Value> {
        let to = self.to.as_mut().ok_or("the peer has no input")?;
        to.write_all(format!("{request}\n").as_bytes())?;
        let mut answer = String::new();
        if self.from.read_line(&mut answer)? == 0 {
            return Err("the peer is gone".into());
        }
        Ok(serde_json::from_str(&answer)?)
    }
}

impl Side for Peer {
    fn open(&mut self, names: &[String]) -> Outcome {
        self.ask(&json!({ "op": "open", "names": names })).map(drop)
    }

    fn run(&mut self, names: &[String], command: &str) -> Outcome<Vec<Answer>> {
        let answer = self.ask(&json!({ "op": "run", "names": names, "command": command }))?;
        let answers = answer["answers"].as_array().ok_or("the peer has no answers")?;
        let one = |answer: &Value| Answer {
            exit_code: answer["exit_code"].as_i64(),
            output: answer["output"].as_str().unwrap_or_default().to_owned(),
        };
        Ok(answers.iter().map(one).collect())
    }

    fn rest(&mut self, name: &str) -> Outcome<String> {
        let answer = self.ask(&json!({ "op": "rest", "names": [name] }))?;
        Ok(answer["answers"][0]["output"].as_str().unwrap_or_default().to_owned())
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        drop(self.to.take());
        let _ = self.child.wait();
    }
}
