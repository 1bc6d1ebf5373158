//! What the demonstration's client prints: the agent's words, its commands live, and how each ended.
//!
//! It knows nothing of wharf. All it has is what any client gets: tool calls, and output by the `terminal_output`
//! convention, which it announced.

use super::census;
use crate::show;
use agent_client_protocol::v1::schema::{
    ContentBlock, SessionUpdate, ToolCall, ToolCallStatus, ToolCallUpdate,
};
use anstyle::{AnsiColor, Style};
use serde_json::Value;
use std::io;
use std::time::Instant;

/// Lines of one piece of output that are shown; a flood is not to be read.
const MOST_LINES: usize = 8;

/// What has been shown.
#[derive(Debug)]
pub(super) struct View {
    began: Instant,
    /// The beginning of a line whose end has not come.
    pending: String,
    /// Tool calls that have ended.
    pub(super) ended: usize,
    /// The most processes seen at one time.
    pub(super) most: usize,
}

impl View {
    pub(super) fn new() -> Self {
        Self { began: Instant::now(), pending: String::new(), ended: 0, most: 0 }
    }

    pub(super) fn show(&mut self, update: &SessionUpdate) -> io::Result<()> {
        self.most = self.most.max(census::living());
        match update {
            SessionUpdate::AgentMessageChunk(chunk) => match &chunk.content {
                ContentBlock::Text(text) => show::print(&format!("\n{}\n", text.text)),
                _ => Ok(()),
            },
            SessionUpdate::ToolCall(call) => self.begin(call),
            SessionUpdate::ToolCallUpdate(update) => self.go_on(update),
            _ => Ok(()),
        }
    }

    fn begin(&mut self, call: &ToolCall) -> io::Result<()> {
        self.began = Instant::now();
        let (bold, dim) = (AnsiColor::Cyan.on_default().bold(), Style::new().dimmed());
        let line = call.raw_input.as_ref().and_then(|input| input["command"].as_str()).unwrap_or_default();
        let line = show::one_line(line, 100);
        show::print(&format!("{bold}▶ {}{bold:#}\n  {dim}$ {line}{dim:#}\n", call.title))
    }

    fn go_on(&mut self, update: &ToolCallUpdate) -> io::Result<()> {
        let said = |key: &str, what: &str| update.meta.as_ref()?.get(key)?.get(what);
        if let Some(Value::String(data)) = said("terminal_output", "data") {
            self.print_output(data)?;
        }
        match (update.fields.status, &update.fields.raw_output) {
            (Some(status @ (ToolCallStatus::Completed | ToolCallStatus::Failed)), Some(output)) => {
                self.ended += 1;
                self.end(status, output)
            }
            _ => Ok(()),
        }
    }

    /// Whole lines, and of very many only the last.
    fn print_output(&mut self, data: &str) -> io::Result<()> {
        self.pending.push_str(data);
        let Some(end) = self.pending.rfind('\n') else { return Ok(()) };
        let whole: String = self.pending.drain(..=end).collect();
        let lines: Vec<String> = whole.lines().map(|line| show::one_line(line, 100)).collect();
        let lines = match lines.as_slice() {
            [hidden @ .., last] if hidden.len() > MOST_LINES => {
                vec![format!("… {} lines …", show::count(hidden.len() as u64)), last.clone()]
            }
            _ => lines,
        };
        show::print(&lines.iter().map(|line| format!("  │ {line}\n")).collect::<String>())
    }

    fn end(&mut self, status: ToolCallStatus, output: &Value) -> io::Result<()> {
        if !self.pending.is_empty() {
            self.print_output("\n")?;
        }
        let mut how = match (&output["signal"], &output["exitCode"]) {
            (Value::String(signal), _) => format!("killed by {signal}"),
            (_, Value::Number(code)) => format!("exit code {code}"),
            _ => "nobody knows how it ended".to_owned(),
        };
        how += &format!(" after {}", show::duration(self.began.elapsed()));
        if output["timedOut"] == true {
            how += ": its time ran out, and all of its processes were ended";
        }
        if output["truncated"] == true {
            let kept = output["output"].as_str().map_or(0, str::len);
            how += &format!("; the agent has the newest {} bytes", show::count(kept as u64));
        }
        let green = AnsiColor::Green.on_default();
        let red = AnsiColor::Red.on_default();
        let colour = if status == ToolCallStatus::Completed { green } else { red };
        show::print(&format!("  {colour}└ {how}{colour:#}\n"))
    }
}
