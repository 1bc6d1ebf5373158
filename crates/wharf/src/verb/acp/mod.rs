//! `wharf acp`: stands between an editor and its agent and hosts the agent's terminals.
//!
//! The agent is ours from its start to its end: whichever way this program goes, nothing of the agent stays, and no
//! terminal either. Standard output belongs to the protocol; what is to be said is said on standard error, as the agent
//! does.

mod log;
mod recording;

use crate::cli::Acp;
use crate::exit_code::{self, Code};
use crate::hang_up::hung_up;
use crate::law;
use crate::place::Place;
use crate::report::{self, Failure};
use crate::request::{Request, Requests};
use agent_client_protocol::{ConnectTo, Stdio};
use log::Log;
use recording::Recorder;
use std::ffi::{OsStr, OsString};
use std::future::pending;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use wharf_acp::{End, Host, Relay, component};
use wharf_core::Guarded;

/// How long an agent that has closed its output may take to end.
const LEAVE: Duration = Duration::from_secs(5);
/// How long after it was asked to end.
const GRACE: Duration = Duration::from_secs(2);

pub(crate) async fn run(args: &Acp, place: &Place) -> Result<Code, Failure> {
    let log = args.log.as_deref().map(Log::open).transpose()?.map(Arc::new);
    let recorder = args.record.as_deref().map(Recorder::open).transpose()?.map(Arc::new);
    let store = place.store_for_many()?;
    let observer = observer(log.clone(), recorder.clone());
    let law = Arc::new(law::read(&args.choice, place)?);
    let most = law.policy.limits().terminals.unwrap_or(usize::MAX);
    let host = Host::new(store.clone())
        .env(place.environment())
        .judge(law.clone())
        .max_terminals(most)
        .audit(Arc::new(place.audit()?))
        .observe(observer);
    let code = match args.agent.split_first() {
        Some((program, arguments)) => {
            let host = host.agent(name(program));
            relay(args, place, &host, (program, arguments), log.as_deref()).await
        }
        None => chain(args, &host.agent("conductor"), log.as_deref()).await,
    };
    law.leave();
    // Also if it failed: what was recorded is finished.
    if let Some(recorder) = recorder {
        recorder.finish().await;
    }
    place.tidy_now_and_then(&store);
    code
}

/// Between the editor and an agent of our own.
async fn relay(
    args: &Acp,
    place: &Place,
    host: &Host,
    (program, arguments): (&OsString, &[OsString]),
    log: Option<&Log>,
) -> Result<Code, Failure> {
    // Before the agent runs: a signal that comes in between must not leave it alone. Twice, since each hears every signal.
    let (mut requests, mut again) = (Requests::listen()?, Requests::listen()?);
    let mut agent = Guarded::start(&place.holder, program, arguments).await?;
    let (Some(to_agent), Some(from_agent)) = (agent.stdin.take(), agent.stdout.take()) else {
        return Err(Failure::new("the agent has no pipes"));
    };
    if let Some(log) = log {
        log.started(&args.agent);
    }
    let mut asked = None;
    let client = (tokio::io::stdin(), tokio::io::stdout());
    let leave = async {
        tokio::select! {
            request = requests.next() => asked = Some(request),
            () = stuck(hung_up()) => {}
            () = stuck(async { drop(agent.wait().await) }) => {}
        }
    };
    let relay = Relay::new(host.clone(), args.terminals.into());
    let end = tokio::select! {
        end = relay.run(client, (from_agent, to_agent), leave) => end,
        () = second(&mut again) => End::Asked,
    };
    let code = conclude(&mut agent, end, &mut requests).await;
    host.end().await;
    if let (Some(log), Ok(code)) = (log, &code) {
        log.finished(end, *code);
    }
    let code = code?;
    Ok(match asked {
        Some(Request::Interrupt(number) | Request::Leave(number)) => exit_code::of_signal(number),
        None => code,
    })
}

/// Something is over, and those who should notice by themselves have had the time to.
async fn stuck(over: impl Future<Output = ()>) {
    over.await;
    let _ = timeout(LEAVE, pending::<()>()).await;
}

/// Somebody has asked, and asks again.
async fn second(requests: &mut Requests) {
    requests.next().await;
    requests.next().await;
}

/// In a conductor's chain, which has an agent of its own.
async fn chain(args: &Acp, host: &Host, log: Option<&Log>) -> Result<Code, Failure> {
    let mut requests = Requests::listen()?;
    if let Some(log) = log {
        log.started(&["conductor".into()]);
    }
    let component = component(host.clone(), args.terminals.into());
    let (end, code) = tokio::select! {
        served = component.connect_to(Stdio::new()) => {
            let broke = |error| Failure::new(format!("the connection to the conductor broke: {error}"));
            (End::Client, served.map(|()| exit_code::DONE).map_err(broke))
        }
        Request::Interrupt(number) | Request::Leave(number) = requests.next() => {
            (End::Asked, Ok(exit_code::of_signal(number)))
        }
    };
    host.end().await;
    if let (Some(log), Ok(code)) = (log, &code) {
        log.finished(end, *code);
    }
    code
}

/// What the agent is called where its terminals are listed.
fn name(program: &OsStr) -> String {
    let name = Path::new(program).file_name().unwrap_or(program);
    name.to_string_lossy().into_owned()
}

fn observer(
    log: Option<Arc<Log>>,
    recorder: Option<Arc<Recorder>>,
) -> impl Fn(&wharf_acp::Event) + Send + Sync + 'static {
    move |event| {
        if let Some(log) = &log {
            log.note(event);
        }
        if let Some(recorder) = &recorder {
            recorder.note(event);
        }
    }
}

/// Waits for the agent's end, and ends what does not end by itself. Whoever asks once more gets it now.
async fn conclude(agent: &mut Guarded, end: End, requests: &mut Requests) -> Result<Code, Failure> {
    // With the client gone, it has had its time already.
    let patience = if end == End::Agent { LEAVE } else { Duration::from_millis(500) };
    let politely = async {
        match timeout(patience, agent.wait()).await {
            Ok(code) => code,
            Err(_) => agent.end(GRACE).await,
        }
    };
    tokio::select! {
        code = politely => return Ok(code?),
        _ = requests.next() => report::say("ending the agent at once"),
    }
    Ok(agent.end(Duration::ZERO).await?)
}
