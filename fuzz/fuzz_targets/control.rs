//! Any bytes on a control socket or a launch socket: an answer and never a panic, and what is understood is said the
//! same way.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::time::Duration;
use wharf_fuzz::plant;
use wharf_shim::plan::{Backlog, Io, Limits, OnOwnerExit, PipeInput, Plan, Resources, Size};
use wharf_shim::wire::frame::{Deframer, MAX_FRAME, frame};
use wharf_shim::wire::message::{Progress, Refusal, Reply, Request, State};

fuzz_target!(init: plant(seeds()), |bytes: &[u8]| {
    check_body(bytes);
    // The first byte says how the stream is cut into pieces on its way.
    let Some((cut, stream)) = bytes.split_first() else { return };
    let mut deframer = Deframer::new(MAX_FRAME);
    let mut pushed = 0;
    for piece in stream.chunks(usize::from(*cut) + 1) {
        deframer.push(piece);
        pushed += piece.len();
        assert!(deframer.held() <= pushed);
        while let Ok(Some(body)) = deframer.next_frame() {
            check_body(body);
        }
    }
});

fn check_body(body: &[u8]) {
    if let Ok((tag, request)) = Request::decode(body) {
        assert_eq!(Request::decode(&request.encode(tag)), Ok((tag, request)));
    }
    if let Ok((tag, reply)) = Reply::decode(body) {
        assert_eq!(Reply::decode(&reply.encode(tag)), Ok((tag, reply)));
    }
    if let Ok(plan) = Plan::decode(body) {
        assert_eq!(Plan::decode(&plan.encode()), Ok(plan));
    }
}

/// Every message once alone, and once more as a stream of frames.
fn seeds() -> Vec<Vec<u8>> {
    let requests = requests().into_iter().map(|request| request.encode(7));
    let replies = replies().into_iter().map(|reply| reply.encode(7));
    let bodies: Vec<Vec<u8>> = requests.chain(replies).chain([plan().encode()]).collect();
    let stream = std::iter::once(vec![16]).chain(bodies.iter().map(|body| frame(body))).flatten().collect();
    bodies.into_iter().chain([stream]).collect()
}

fn requests() -> Vec<Request> {
    let author = || "agent".to_owned();
    vec![
        Request::Watch { past: 1, seen: State::Running },
        Request::Kill { grace_ms: Some(5000), author: author() },
        Request::Input { writer: 1, seq: 2, author: author(), bytes: b"ls\n".to_vec() },
        Request::EndInput { writer: 1, seq: 3, author: author() },
        Request::Resize(Size { cols: 80, rows: 24 }),
        Request::Signal { signal: 2, author: author() },
        Request::Lease(OnOwnerExit::Keep),
        Request::Status,
    ]
}

fn replies() -> Vec<Reply> {
    let progress = Progress { first: 1, end: 2, state: State::Stalled, input_pending: 3, pid: 4 };
    vec![
        Reply::Started { pid: 1 },
        Reply::NotStarted { stage: 1, errno: 2, doing: String::new() },
        Reply::Progress(progress),
        Reply::Killed { processes: 1 },
        Reply::Done,
        Reply::Refused(Refusal::System(28)),
    ]
}

fn plan() -> Plan {
    Plan {
        id: "abc".to_owned(),
        program: c"/bin/sh".into(),
        argv: vec![c"sh".into(), c"-c".into(), c"exit 3".into()],
        env: vec![c"PATH=/bin".into()],
        io: Io::Pipe(PipeInput::Open),
        limits: Limits { time: Some(Duration::from_secs(1)), ..Limits::default() },
        grace: Duration::from_secs(5),
        on_owner_exit: OnOwnerExit::Kill,
        backlog: Backlog::Wait,
        confine: None,
        resources: Resources { memory: Some(1 << 30), ..Resources::default() },
    }
}
