//! `--log`: what was run, by which agent and session, and how it ended; one record a line.
//!
//! `command` is a list in every record: the words, or a shell's line alone. What was refused is told as it was asked for.
//! Fields are added, never renamed or given another meaning. Each line is one write to the end of the file, so that
//! several programs may share it and nothing is lost when one of them is killed.

use crate::report::{self, Failure};
use crate::utc;
use serde_json::{Map, Value, json};
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;
use wharf_acp::{End, Event};
use wharf_core::Ended;

/// A log that is written to.
#[derive(Debug)]
pub(super) struct Log {
    file: File,
    /// Complained about once, not for every line.
    failed: AtomicBool,
    agent: OnceLock<Value>,
}

impl Log {
    /// Opens it to append to it. A new one is for its owner only, since commands are nobody else's business; one that is
    /// there keeps the mode somebody gave it.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path);
        let file =
            file.map_err(|error| Failure::new(format!("cannot write the log {}: {error}", path.display())))?;
        Ok(Self { file, failed: AtomicBool::new(false), agent: OnceLock::new() })
    }

    pub(super) fn started(&self, command: &[OsString]) {
        let command: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
        // Its arguments once, its name in every record: arguments may be long, and secret.
        let _ = self.agent.set(json!(command.first()));
        self.write("started", json!({ "command": command }));
    }

    pub(super) fn finished(&self, end: End, code: u8) {
        let by = match end {
            End::Client => "client",
            End::Agent => "agent",
            End::Asked => "signal",
        };
        self.write("finished", json!({ "by": by, "exit_code": code }));
    }

    pub(super) fn note(&self, event: &Event) {
        match event {
            Event::SessionOpened { session, cwd } => {
                self.write("session", json!({ "session": session, "cwd": cwd }))
            }
            Event::Created { session, terminal } => {
                let meta = terminal.meta();
                self.write(
                    "created",
                    json!({
                        "session": session,
                        "terminal": terminal.id().as_str(),
                        "command": meta.command,
                        "shell": meta.shell,
                        "cwd": meta.cwd,
                    }),
                );
            }
            Event::Refused { session, command, error } => {
                self.write("refused", json!({ "session": session, "command": command, "error": error }))
            }
            Event::Ended { session, id, ended } => {
                let mut fields = how(ended);
                fields.insert("session".to_owned(), json!(session));
                fields.insert("terminal".to_owned(), json!(id.as_str()));
                self.write("ended", Value::Object(fields));
            }
            Event::Settings { session, id, changes } => {
                for change in changes {
                    let fields = json!({
                        "session": session,
                        "terminal": id.as_str(),
                        "path": change.path,
                        "change": change.kind.word(),
                        "why": change.why,
                    });
                    self.write("settings", fields);
                }
            }
            Event::Released { session, id } => {
                self.write("released", json!({ "session": session, "terminal": id.as_str() }));
            }
            _ => {}
        }
    }

    fn write(&self, event: &str, fields: Value) {
        let mut record = Map::new();
        record.insert("time".to_owned(), utc::timestamp(SystemTime::now()).into());
        record.insert("event".to_owned(), event.into());
        record.insert("pid".to_owned(), std::process::id().into());
        record.insert("agent".to_owned(), self.agent.get().cloned().unwrap_or_default());
        if let Value::Object(fields) = fields {
            record.extend(fields);
        }
        let line = format!("{}\n", Value::Object(record));
        if let Err(error) = (&self.file).write_all(line.as_bytes())
            && !self.failed.swap(true, Ordering::Relaxed)
        {
            report::say(&format!("the log cannot be written any more: {error}"));
        }
    }
}

fn how(ended: &Ended) -> Map<String, Value> {
    let mut fields = Map::new();
    fields.insert("exit_code".to_owned(), json!(ended.exit_code()));
    fields.insert("signal".to_owned(), json!(ended.signal()));
    fields.insert("cause".to_owned(), json!(ended.cause.code()));
    fields.insert("author".to_owned(), json!((!ended.author.is_empty()).then_some(&ended.author)));
    fields.insert("bytes".to_owned(), json!(ended.bytes));
    fields.insert("duration_ms".to_owned(), json!(ended.lasted.as_millis()));
    fields
}
