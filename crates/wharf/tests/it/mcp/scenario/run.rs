//! Plays the scenarios of one topic in one shell, several at once, each in a terminal and a directory of its own.
//!
//! All are played, and what did not hold is told together: one mistake often shows in many rows, and which rows says
//! where it is. A few clients share a place, so that the table also is what several agents do at the same time.

#![expect(clippy::unwrap_used, reason = "what goes wrong here fails the test")]
#![expect(clippy::print_stderr, reason = "a row that never ends leaves no other way to tell of the others")]

use super::claim;
use super::step::{Act, Check, Outcome, Scenario, Shell, Step};
use crate::harness::Wharf;
use crate::mcp::client::{Answer, Client};
use crate::rig::nothing_is_left;
use serde_json::{Map, Value, json};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// As many as keep two processors busy while some wait.
const CLIENTS: usize = 4;

/// For what happens beside the conversation; far more than it takes.
const PATIENCE: Duration = Duration::from_secs(10);

/// Plays a topic and fails with everything that did not hold.
pub(crate) fn play(table: fn() -> Vec<Scenario>, shell: Shell) {
    let wharf = Wharf::new();
    let scenarios = table().into_iter().filter(|scenario| scenario.shells.contains(&shell));
    let queue: Mutex<VecDeque<_>> = Mutex::new(scenarios.enumerate().collect());
    let count = queue.lock().unwrap().len();
    assert!(count > 0, "no scenario for {}", shell.name());
    let failures = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for client in 0..CLIENTS.min(count) {
            let (wharf, queue, failures) = (&wharf, &queue, &failures);
            scope.spawn(move || play_from(queue, wharf, client, shell, failures));
        }
    });
    nothing_is_left(&wharf);
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{} of {count} do not hold:\n{}", failures.len(), failures.join("\n"));
}

type Queue = Mutex<VecDeque<(usize, Scenario)>>;

fn play_from(queue: &Queue, wharf: &Wharf, number: usize, shell: Shell, failures: &Mutex<Vec<String>>) {
    let start = || {
        let mut client = Client::start(wharf, &[]).named(&format!("client {number}"));
        client.initialize();
        client
    };
    let mut client = start();
    loop {
        let Some((at, scenario)) = queue.lock().unwrap().pop_front() else { break };
        let mut stage = Stage::new(wharf, &mut client, &scenario, at, shell);
        let began = Instant::now();
        let played = catch_unwind(AssertUnwindSafe(|| stage.play(&scenario)));
        if began.elapsed() > PATIENCE {
            eprintln!("{} ({}) took {:?}", scenario.name, shell.name(), began.elapsed());
        }
        let failure = match played {
            Ok(Ok(())) => continue,
            Ok(Err(failure)) => failure,
            Err(panic) => {
                client.kill();
                client = start();
                panic.downcast_ref::<String>().cloned().unwrap_or_else(|| "a panic".to_owned())
            }
        };
        let failure = format!("- {} ({}): {failure}", scenario.name, shell.name());
        // At once as well, in case that another row never ends.
        eprintln!("{failure}");
        failures.lock().unwrap().push(failure);
    }
    close_all(&mut client);
    let done = client.leave();
    assert_eq!(done.code, Some(0), "{done:?}");
}

fn close_all(client: &mut Client) {
    let all = client.call("terminal_list", json!({}));
    for terminal in all.get("terminals").as_array().unwrap() {
        client.call("terminal_close", json!({"terminal_id": terminal["terminal_id"]}));
    }
}

/// Where one scenario is played.
struct Stage<'a> {
    client: &'a mut Client,
    shell: Shell,
    dir: PathBuf,
    id: String,
}

impl<'a> Stage<'a> {
    fn new(wharf: &Wharf, client: &'a mut Client, scenario: &Scenario, at: usize, shell: Shell) -> Self {
        let dir = wharf.scratch().join(format!("{}-{at}", shell.name()));
        std::fs::create_dir(&dir).unwrap();
        for (name, text) in &scenario.files {
            let path = dir.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        Self { client, shell, dir, id: format!("row-{at}") }
    }

    fn play(&mut self, scenario: &Scenario) -> Result<(), String> {
        self.open(scenario)?;
        for (number, step) in scenario.steps.iter().enumerate() {
            let began = Instant::now();
            while let Err(failure) = self.take(step) {
                if !step.eventually || began.elapsed() > PATIENCE {
                    return Err(format!("step {}, {}: {failure}", number + 1, describe(&step.act)));
                }
                std::thread::yield_now();
            }
        }
        Ok(())
    }

    fn open(&mut self, scenario: &Scenario) -> Result<(), String> {
        let mut arguments = json!({
            "terminal_id": self.id, "shell": self.shell.name(), "cwd": self.dir, "rows": 24, "cols": 80,
            "env": {"LANG": "C.UTF-8"},
        });
        for (name, value) in scenario.open.as_object().unwrap() {
            arguments[name] = self.fill(value);
        }
        let answer = self.call("terminal_open", &arguments);
        if answer.is_error { Err(format!("not opened: {}", answer.text)) } else { Ok(()) }
    }

    fn take(&mut self, step: &Step) -> Result<(), String> {
        match &step.act {
            Act::Release(gate) => {
                std::fs::write(self.dir.join(gate), "go\n").map_err(|error| error.to_string())
            }
            Act::ReadAll { lines, line } => self.read_all(*lines, *line),
            Act::Call { tool, arguments } => self.take_call(step, tool, arguments),
        }
    }

    fn take_call(&mut self, step: &Step, tool: &str, arguments: &Map<String, Value>) -> Result<(), String> {
        let mut arguments = self.fill(&Value::Object(arguments.clone()));
        if tool != "terminal_list" && arguments.get("terminal_id").is_none() {
            arguments["terminal_id"] = format!("{}{}", self.id, step.at).into();
        }
        let answer = self.call(tool, &arguments);
        let told = || {
            format!(
                "\n    answer {}\n    text {}",
                short(&answer.structured.to_string()),
                short(&answer.text)
            )
        };
        if answer.is_error != (step.outcome == Outcome::Error) {
            return Err(format!("{:?} was expected{}", step.outcome, told()));
        }
        let wrong = self.compare(step, &answer).err();
        let wrong = wrong.or_else(|| claim::check(tool, &arguments, &answer).err());
        wrong.map_or(Ok(()), |wrong| Err(format!("{wrong}{}", told())))
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Answer {
        let answer = self.client.request("tools/call", json!({"name": tool, "arguments": arguments}));
        if answer["result"].is_object() {
            return Answer::of(&answer["result"]);
        }
        Answer { structured: Value::Null, text: answer["error"].to_string(), is_error: true }
    }

    fn compare(&self, step: &Step, answer: &Answer) -> Result<(), String> {
        for (pointer, usual) in &step.fields {
            let expected = self.fill(step.differs.get(&(self.shell, *pointer)).unwrap_or(usual));
            let got = answer.structured.pointer(pointer).unwrap_or(&Value::Null);
            let (e, g) = (short(&expected.to_string()), short(&got.to_string()));
            same(&expected, got).then_some(()).ok_or(format!("{pointer}: expected {e}, got {g}"))?;
        }
        step.checks.iter().try_for_each(|check| self.check(check, answer))
    }

    fn check(&self, check: &Check, answer: &Answer) -> Result<(), String> {
        let content = answer.structured["content"].as_str().unwrap_or_default();
        let at = |pointer: &str| answer.structured.pointer(pointer).filter(|value| !value.is_null());
        let (holds, what) = match check {
            Check::Holds(text) => (content.contains(&self.fill_text(text)), format!("content with {text:?}")),
            Check::Lacks(text) => {
                (!content.contains(&self.fill_text(text)), format!("content without {text:?}"))
            }
            Check::Like(pattern) => {
                let whole = regex::Regex::new(&format!(r"\A(?:{pattern})\z")).unwrap();
                (whole.is_match(content), format!("content like {pattern:?}"))
            }
            Check::Text(text) => (answer.text.contains(&self.fill_text(text)), format!("text with {text:?}")),
            Check::Notice(text) => {
                let notices = at("/notice").map(Value::to_string).unwrap_or_default();
                (notices.contains(text.as_str()), format!("a notice with {text:?}"))
            }
            Check::OneOf(pointer, values) => {
                let got = at(pointer).and_then(Value::as_str).unwrap_or_default();
                (values.contains(&got), format!("{pointer} as one of {values:?}"))
            }
            Check::Has(pointer) => (at(pointer).is_some(), (*pointer).to_owned()),
            Check::HasNot(pointer) => (at(pointer).is_none(), format!("no {pointer}")),
            Check::File(name, text) => {
                let got = std::fs::read(self.dir.join(name)).unwrap_or_default();
                (
                    got == text.as_bytes(),
                    format!("{name} with its {} bytes; it has {}", text.len(), got.len()),
                )
            }
            Check::NoFile(name) => (!self.dir.join(name).exists(), format!("no file {name}")),
            Check::That(what, holds) => (holds(&answer.structured, &self.dir), (*what).to_owned()),
        };
        if holds { Ok(()) } else { Err(format!("expected {what}")) }
    }

    /// Follows the answers from the first line to the last.
    fn read_all(&mut self, lines: u64, line: fn(u64) -> String) -> Result<(), String> {
        let mut next = 1;
        while next <= lines {
            let range = json!({"terminal_id": self.id, "from_line": next, "max_bytes": 100_000});
            let answer = self.call("terminal_read", &range);
            let shown = answer.structured["content"].as_str().unwrap_or_default();
            // A range that does not fit is cut from its end, or in its middle, which is said.
            let until = answer.structured["omitted"]["from_line"].as_u64();
            let until = until.or(answer.structured["shown"]["to_line"].as_u64().map(|to| to + 1));
            let until = until.filter(|until| *until > next);
            let until = until.ok_or_else(|| format!("nothing from line {next}: {}", short(&answer.text)))?;
            for (number, got) in (next..until).zip(shown.lines()) {
                let expected = line(number);
                (got == expected)
                    .then_some(())
                    .ok_or(format!("line {number}: {expected:?}, got {}", short(got)))?;
            }
            next = until;
        }
        Ok(())
    }

    fn fill(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => self.fill_text(text).into(),
            Value::Array(all) => all.iter().map(|value| self.fill(value)).collect(),
            Value::Object(all) => all.iter().map(|(name, value)| (name.clone(), self.fill(value))).collect(),
            other => other.clone(),
        }
    }

    fn fill_text(&self, text: &str) -> String {
        text.replace("@DIR@", self.dir.to_str().unwrap()).replace("@ID@", &self.id)
    }
}

/// Numbers by value, whichever way they are written.
fn same(expected: &Value, got: &Value) -> bool {
    expected == got || (expected.is_number() && expected.as_f64() == got.as_f64())
}

fn describe(act: &Act) -> String {
    match act {
        Act::Call { tool, arguments } => {
            format!("{tool} {}", short(&Value::Object(arguments.clone()).to_string()))
        }
        Act::Release(gate) => format!("release {gate}"),
        Act::ReadAll { lines, .. } => format!("read {lines} lines"),
    }
}

fn short(text: &str) -> String {
    let count = text.chars().count();
    if count <= 700 {
        return text.to_owned();
    }
    let head: String = text.chars().take(400).collect();
    let tail: String = text.chars().skip(count - 300).collect();
    format!("{head} … {} more … {tail}", count - 700)
}
