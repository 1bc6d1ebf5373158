//! `wharf acp` among peers that are broken, greedy or rude: it passes on what it cannot know, stays prompt to whoever else
//! asks, and takes a bounded amount of memory.

mod ending;
mod flood;
mod noise;

use crate::rig::Rig;
use serde_json::{Value, json};

/// A client that shows terminals by itself.
fn meta() -> Value {
    json!({"_meta":{"terminal_output":true}})
}

/// How much of a flood is shown to the agent: enough to see that it is one, and quick to parse.
const LIMIT: usize = 16 << 10;

impl Rig {
    /// A command that prints more than is kept of it; its id.
    fn flood(&mut self, line: &str) -> String {
        let params = json!({"sessionId":"s","command":line,"outputByteLimit":LIMIT});
        let answer = self.ask("terminal/create", &params);
        answer["result"]["terminalId"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    /// The agent shows a terminal in a tool call of the same name.
    fn embed(&mut self, terminal: &str) {
        let content = json!([{"type":"terminal","terminalId":terminal}]);
        let call =
            json!({"sessionUpdate":"tool_call","toolCallId":terminal,"title":"Flood","content":content});
        let params = json!({"sessionId":"s","update":call});
        self.agent.to.say_json(&json!({"jsonrpc":"2.0","method":"session/update","params":params}));
    }

    /// Returns when the client's pipe fills, so that whoever writes to it has to wait.
    fn await_full_pipe(&self) {
        let until = std::time::Instant::now() + crate::harness::GUARD;
        // It has sixteen pages, of which short messages may leave some almost empty.
        while self.client.from.waiting() < 32 << 10 {
            assert!(std::time::Instant::now() < until, "{} bytes are waiting", self.client.from.waiting());
            std::thread::yield_now();
        }
    }
}
