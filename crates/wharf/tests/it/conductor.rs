//! `wharf acp --conductor` as a program in a chain of the official conductor, between a client that the test speaks and an
//! agent that is a program too.

#![expect(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

use crate::harness::{GUARD, Wharf, json};
use crate::rig::{marked, nothing_is_left};
use crate::shown::Shown;
use agent_client_protocol::{AcpAgent, AcpAgentConfig, ByteStreams};
use agent_client_protocol_conductor::{ConductorImpl, ProxiesAndAgent};
use serde_json::{Value, json};
use std::time::Instant;
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf, duplex, split,
};
use tokio::task::JoinHandle;
use tokio_util::compat::{TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};
use wharf_testing::{guarded, leak, peers};

/// A client's end of a chain.
struct Chain {
    wharf: Wharf,
    to: WriteHalf<DuplexStream>,
    from: BufReader<ReadHalf<DuplexStream>>,
    conductor: JoinHandle<Result<(), agent_client_protocol::Error>>,
    /// What it was told without asking, as parameters by their method.
    told: Vec<(String, Value)>,
    asked: u64,
}

impl Chain {
    /// The conductor with wharf and an agent, after `initialize`.
    async fn begun(agent: &str, arguments: &[&str], capabilities: Value) -> Self {
        let wharf = Wharf::new();
        let program = |path: &str, arguments: &[&str]| {
            let config = AcpAgentConfig::new(path).args(arguments.iter().copied());
            let config = config.env("WHARF_STATE_DIR", wharf.state().to_str().unwrap());
            let config = config.env("HOME", wharf.scratch().parent().unwrap().to_str().unwrap());
            AcpAgent::new(config.env(leak::MARK, wharf.state().to_str().unwrap()))
        };
        let chain = ProxiesAndAgent::new(program(agent, arguments))
            .proxy(program(wharf.program().to_str().unwrap(), &["acp", "--conductor"]));
        let (near, far) = duplex(1 << 20);
        let (from, to) = split(far);
        let streams = ByteStreams::new(to.compat_write(), from.compat());
        let conductor = tokio::spawn(ConductorImpl::new_agent("test", chain).run(streams));
        let (from, to) = split(near);
        let mut chain = Self { wharf, to, from: BufReader::new(from), conductor, told: vec![], asked: 0 };
        chain.ask("initialize", json!({"protocolVersion":1,"clientCapabilities":capabilities})).await;
        chain
    }

    async fn hear(&mut self) -> Value {
        let mut line = String::new();
        guarded(self.from.read_line(&mut line)).await.unwrap();
        json(&line)
    }

    /// The answer to a request. What comes before it is kept.
    async fn ask(&mut self, method: &str, params: Value) -> Value {
        self.asked += 1;
        let request = json!({"jsonrpc":"2.0","id":self.asked,"method":method,"params":params});
        guarded(self.to.write_all(format!("{request}\n").as_bytes())).await.unwrap();
        loop {
            let mut message = self.hear().await;
            if let Some(method) = message["method"].as_str() {
                self.told.push((method.to_owned(), message["params"].take()));
            } else {
                assert_eq!(message["id"], self.asked, "{message}");
                assert!(message["result"].is_object(), "{method}: {message}");
                return message["result"].take();
            }
        }
    }

    async fn open(&mut self) -> String {
        let params = json!({"cwd":self.wharf.scratch(),"mcpServers":[]});
        self.ask("session/new", params).await["sessionId"].as_str().unwrap().to_owned()
    }

    /// A scenario of the peers: what the agent saw, and all updates as [`Shown`] takes them.
    async fn play(&mut self, session: &str, scenario: &str) -> (Value, Value) {
        self.told.clear();
        let prompt = json!([{"type":"text","text":scenario}]);
        self.ask("session/prompt", json!({"sessionId":session,"prompt":prompt})).await;
        let updates: Vec<Value> = self.told.drain(..).map(|(_, params)| params).collect();
        let report = updates.iter().find_map(|params| params["update"]["content"]["text"].as_str());
        let report = json(report.unwrap_or_else(|| panic!("{updates:?}")));
        (report["seen"].clone(), json!({"updates":updates}))
    }

    /// The client leaves; then nothing of the chain runs any more. What it was, if there is something to remember.
    async fn finish(self) -> Vec<String> {
        drop((self.to, self.from));
        // The conductor's own result tells how its components took the end, which is not ours to judge.
        let _ = guarded(self.conductor).await.unwrap();
        nothing_is_left(&self.wharf);
        self.wharf.ids()
    }
}

async fn typescript(capabilities: Value) -> (Chain, String) {
    let agent = peers().join("agent-2.mjs");
    let mut chain = Chain::begun("node", &[agent.to_str().unwrap()], capabilities).await;
    let session = chain.open().await;
    (chain, session)
}

fn expected() -> Value {
    json(include_str!("../../../../peers/expected.json"))
}

#[tokio::test]
async fn an_agent_in_a_chain_has_terminals_and_its_client_is_shown_text() {
    let (mut chain, session) = typescript(json!({})).await;
    for scenario in ["basics", "signal_death", "kill_reaches_the_tree", "release_invalidates"] {
        assert_eq!(chain.play(&session, scenario).await.0, expected()[scenario], "{scenario}");
    }
    let (seen, scene) = chain.play(&session, "embed").await;
    assert_eq!(seen, expected()["embed"]);
    let shown = Shown::of(&scene, "embed");
    assert_eq!((shown.references(), shown.status.as_str()), (vec![], "completed"));
    assert!(shown.text().contains("first\nsecond\n") && shown.text().contains("exit code 0"), "{shown:?}");
    let grew = shown.texts.iter().any(|text| text.contains("first\n") && !text.contains("second"));
    assert!(grew, "{:?}", shown.texts);
    assert_eq!(chain.finish().await, [""; 0]);
}

#[tokio::test]
async fn a_client_that_announces_the_convention_is_shown_terminals_by_it_through_a_chain() {
    let (mut chain, session) = typescript(json!({"_meta":{"terminal_output":true}})).await;
    let (seen, scene) = chain.play(&session, "embed").await;
    assert_eq!(seen, expected()["embed"]);
    let shown = Shown::of(&scene, "embed");
    assert_eq!((shown.output.as_str(), shown.infos.len()), ("first\nsecond\n", 1), "{shown:?}");
    assert_eq!(shown.references(), [shown.infos[0].as_str()]);
    assert_eq!((shown.exits.len(), &shown.exits[0]["exit_code"]), (1, &json!(0)), "{shown:?}");
    assert_eq!(chain.finish().await, [""; 0]);
}

/// An agent with a terminal in each of two sessions, both of which it forgets.
const FORGETFUL: &str = r#"
answer() { read -r line; id=${line#*'"id":'}; id=${id%%[,\}]*}; printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
create() { printf '{"jsonrpc":"2.0","id":"t","method":"terminal/create","params":{"sessionId":"%s","command":"%s"}}\n' "$1" "$2"
    read -r created; printf '{"jsonrpc":"2.0","method":"_created","params":%s}\n' "$created"; }
answer '{"protocolVersion":1}'; answer '{"sessionId":"a"}'; answer '{"sessionId":"b"}'
create b 'exec tail -f /dev/null'; create a 'setsid sleep 1001 & exec sleep 1002'
answer '{}'
exec cat >/dev/null"#;

#[tokio::test]
async fn when_a_session_in_a_chain_is_closed_its_terminals_are_gone_and_no_others() {
    let mut chain = Chain::begun("/bin/bash", &["-c", FORGETFUL], json!({})).await;
    assert_eq!((chain.open().await, chain.open().await), ("a".into(), "b".into()));
    for _ in 0..2 {
        let created = chain.hear().await;
        assert!(created["params"]["result"]["terminalId"].is_string(), "{created}");
    }
    let running = |chain: &Chain, name: &str| {
        marked(&chain.wharf.state()).iter().filter(|process| process.contains(name)).count()
    };
    let until = Instant::now() + GUARD;
    while running(&chain, "sleep") < 2 || running(&chain, "tail") < 1 {
        assert!(Instant::now() < until, "{:?}", marked(&chain.wharf.state()));
        tokio::task::yield_now().await;
    }
    chain.ask("session/close", json!({"sessionId":"a"})).await;
    while running(&chain, "sleep") > 0 {
        assert!(Instant::now() < until, "{:?}", marked(&chain.wharf.state()));
        tokio::task::yield_now().await;
    }
    assert_eq!(running(&chain, "tail"), 1, "the other session goes on");
    // Its processes are gone before its record is.
    while chain.wharf.ids().len() > 1 {
        assert!(Instant::now() < until, "{:?}", chain.wharf.ids());
        tokio::task::yield_now().await;
    }
    // The conductor kills its components outright, so that one is still on record, and only there.
    assert!(chain.finish().await.len() <= 1);
}
