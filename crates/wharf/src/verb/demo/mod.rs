//! `wharf demo`: an example agent through `wharf acp`, as an editor would run it, in half a minute.
//!
//! Nothing here is staged: the client is written on the protocol's SDK and has no terminals, `wharf acp` is started like by
//! any editor and held by nobody, and what is left in the end is counted.

pub(crate) mod agent;
mod census;
mod view;

use crate::exit_code::{self, Code};
use crate::report::{self, Failure};
use crate::show;
use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema::{
    ClientCapabilities, ContentBlock, InitializeRequest, NewSessionRequest, PromptRequest,
    SessionNotification,
};
use agent_client_protocol::{ByteStreams, Client, Error, on_receive_notification};
use anstyle::{AnsiColor, Style};
use serde_json::json;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::process::{Child, Command};
use tokio::time::timeout;
use tokio_util::compat::{Compat, TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};
use view::View;
use wharf_core::TerminalId;
use wharf_core::policy::{Machine, OPEN};

/// How long `wharf acp` may take to leave when the client has.
const LEAVE: Duration = Duration::from_secs(10);
/// What the agent's five commands come to, if all of them are shown to their end.
const COMMANDS: usize = 5;

/// What is known in the end.
struct Tally {
    ended: usize,
    most: usize,
    memory: Option<u64>,
    left: usize,
}

pub(crate) async fn run() -> Result<Code, Failure> {
    let began = Instant::now();
    let own = std::env::current_exe()?;
    census::begin()?;
    introduce()?;
    let workshop = Workshop::make()?;
    let mut wharf = start(&own, &workshop.path)?;
    let view = Arc::new(Mutex::new(View::new()));
    let memory = match converse(&mut wharf, view.clone(), &workshop.path).await {
        Ok(memory) => memory,
        Err(failure) => return given_up(&mut wharf, failure).await,
    };
    // The client has gone; `wharf acp` notices, and takes everything with it.
    timeout(LEAVE, wharf.wait()).await.map_err(|_| Failure::new("wharf acp did not leave"))??;
    let left = tokio::task::spawn_blocking(census::left).await.map_err(std::io::Error::other)?;
    let view = view.lock().unwrap_or_else(PoisonError::into_inner);
    let tally = Tally { ended: view.ended, most: view.most, memory, left };
    conclude(&tally, began.elapsed())?;
    Ok(if tally.left == 0 && tally.ended == COMMANDS { exit_code::DONE } else { exit_code::REFUSED })
}

/// If `wharf acp` could not do its work it has said why, and nothing need be added.
async fn given_up(wharf: &mut Child, failure: Failure) -> Result<Code, Failure> {
    let ended = timeout(LEAVE, wharf.wait()).await.ok().and_then(Result::ok);
    match ended.and_then(|status| status.code()).and_then(|code| Code::try_from(code).ok()) {
        Some(code) if code != exit_code::DONE => Ok(code),
        _ => Err(failure),
    }
}

fn introduce() -> Result<(), Failure> {
    let bold = Style::new().bold();
    Ok(show::print(&format!(
        "{bold}An agent runs five commands through `wharf acp`.{bold:#} You are its editor: one without any terminals of its own.\n"
    ))?)
}

/// How often it is tried to remove the directory.
const REMOVALS: usize = 1000;

/// A directory for the agent to work in, wherever this was started: the sandbox lets nobody have a home for that.
struct Workshop {
    path: PathBuf,
}

impl Workshop {
    fn make() -> Result<Self, Failure> {
        let path = std::env::temp_dir().join(format!("wharf-demo-{}", TerminalId::random()?));
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self { path })
    }
}

impl Drop for Workshop {
    fn drop(&mut self) {
        // The last holders may be taking away what stood in for files there, which a removal trips over.
        for _ in 0..REMOVALS {
            match std::fs::remove_dir_all(&self.path) {
                Ok(()) => return,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound && !self.path.exists() => return,
                Err(_) => std::thread::yield_now(),
            }
        }
    }
}

/// As an editor starts an agent: pipes, and nothing else. What the sandbox needs is not to be had everywhere; to see the
/// rest, it can be done without.
fn start(own: &Path, workshop: &Path) -> Result<Child, Failure> {
    let mut command = Command::new(own);
    command.arg("acp");
    if let Err(why) = Machine::probe(workshop).means() {
        report::say(&format!("without a sandbox ({why}); see `wharf doctor`"));
        command.args(["--sandbox", OPEN]);
    }
    command.arg("--").arg(own).arg(AGENT);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    Ok(command.spawn()?)
}

/// The verb by which this program is the agent.
const AGENT: &str = "__demo-agent";

/// The whole of the client. Gives the most memory that `wharf acp` has used.
async fn converse(
    wharf: &mut Child,
    view: Arc<Mutex<View>>,
    workshop: &Path,
) -> Result<Option<u64>, Failure> {
    let (Some(input), Some(output)) = (wharf.stdin.take(), wharf.stdout.take()) else {
        return Err(Failure::new("wharf acp has no pipes"));
    };
    let pid = wharf.id();
    let cwd = std::fs::canonicalize(workshop)?;
    let client = Client.v1().on_receive_notification(
        async move |notification: SessionNotification, _| {
            let mut view = view.lock().unwrap_or_else(PoisonError::into_inner);
            view.show(&notification.update).map_err(Error::into_internal_error)
        },
        on_receive_notification!(),
    );
    let talk = client.connect_with(transport(input, output), async |cx| {
        let shows = json!({ "terminal_output": true }).as_object().cloned();
        let hello = InitializeRequest::new(ProtocolVersion::V1)
            .client_capabilities(ClientCapabilities::new().meta(shows));
        cx.send_request(hello).block_task().await?;
        let session = cx.send_request(NewSessionRequest::new(cwd)).block_task().await?.session_id;
        let prompt = PromptRequest::new(session, vec![ContentBlock::from("Show me what you can do.")]);
        cx.send_request(prompt).block_task().await?;
        Ok(pid.and_then(census::peak_memory))
    });
    talk.await.map_err(|error| Failure::new(format!("the agent gave up: {}", error.message)))
}

/// Lines of JSON both ways.
fn transport<W, R>(outgoing: W, incoming: R) -> ByteStreams<Compat<W>, Compat<R>>
where
    W: AsyncWrite + Send + 'static,
    R: AsyncRead + Send + 'static,
{
    ByteStreams::new(outgoing.compat_write(), incoming.compat())
}

fn conclude(tally: &Tally, lasted: Duration) -> Result<(), Failure> {
    let colour = if tally.left == 0 { AnsiColor::Green } else { AnsiColor::Red }.on_default().bold();
    let memory = tally.memory.map_or_else(|| "an unknown amount of".to_owned(), show::size);
    let lasted = show::duration(lasted);
    Ok(show::print(&format!(
        "\n{} of {COMMANDS} commands ended, in {lasted}. wharf acp used {memory} of memory at most, and there were up to {} at a time.\n\
         {colour}left behind: {}{colour:#}\n\n\
         Now with an agent of yours: put `wharf acp --` before it where your editor's settings name it.\n",
        tally.ended,
        processes(tally.most),
        processes(tally.left),
    ))?)
}

fn processes(number: usize) -> String {
    show::processes(u32::try_from(number).unwrap_or(u32::MAX))
}
