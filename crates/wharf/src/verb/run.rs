//! `wharf run`: starts a command, shows what it prints, ends as it ended.
//!
//! The command belongs to this process: when this ends in whatever way, so does everything the command started, unless
//! it was detached.

use crate::asked;
use crate::cli::{Choice, Run};
use crate::detach_key::DetachKey;
use crate::exit_code::{self, Code};
use crate::interact::{self, Left};
use crate::json;
use crate::keyboard;
use crate::law;
use crate::live::{self, Through, Until};
use crate::modes::Modes;
use crate::owed;
use crate::place::Place;
use crate::report::{self, Failure};
use crate::request::{Request, Requests};
use crate::show;
use crate::temporary;
use std::ffi::OsString;
use std::pin::{Pin, pin};
use std::time::Duration;
use wharf_core::policy::audit::{self, Entry, Ruling, Who};
use wharf_core::policy::{Denial, Facts, Judgement, Shown};
use wharf_core::{
    ControlError, Ended, Grant, Outcome, Refusal, Spec, Store, Terminal, TerminalId, unrestricted,
};

/// Who asks, in the journal.
const AUTHOR: &str = "wharf run";
/// How long a reader of our output may take to read the rest when we are told to go.
const DRAIN: Duration = Duration::from_secs(1);

pub(crate) async fn run(args: Run, place: &Place) -> Result<Code, Failure> {
    let spec = asked::spec(&args, place)?;
    let store = place.store()?;
    // Before the command runs: a signal that comes in between must not leave it without its messenger.
    let mut requests = Requests::listen()?;
    let terminal = start(&store, spec, &args, place).await.map_err(|failure| explain(failure, &args))?;
    if args.detach {
        print_id(&terminal, &args)?;
        place.tidy_now_and_then(&store);
        return Ok(exit_code::DONE);
    }
    let left = if args.pty && !args.json && interact::is_possible() {
        sit(&terminal, &mut requests).await
    } else {
        accompany(&terminal, &args, &mut requests).await
    };
    let left = match left {
        Ok(left) => left,
        Err(failure) => {
            let _ = terminal.kill(AUTHOR, None).await;
            return Err(failure);
        }
    };
    let code = conclude(&terminal, &args, left, &mut requests, place).await?;
    place.tidy_now_and_then(&store);
    Ok(code)
}

/// Whoever types a command may do what they may do; who asks for a sandbox gets one.
async fn start(store: &Store, spec: Spec, args: &Run, place: &Place) -> Result<Terminal, Failure> {
    let id = TerminalId::random()?;
    let mut decision = audit::Decision {
        who: Who { front_end: "run".to_owned(), ..Who::default() },
        terminal: None,
        command: Shown::of(&spec),
        cwd: spec.directory().to_owned(),
        env_names: args.env.iter().map(name).collect(),
        ruling: Ruling::Denied,
        facts: Facts::default(),
    };
    let log = place.audit()?;
    let grant = match grant(spec, &args.choice, place, &id)? {
        Ok(grant) => grant,
        Err(denial) => {
            decision.facts = denial.facts;
            log.write(&Entry::Decision(decision))?;
            return Err(Failure { word: "denied", ..Failure::new(denial.reason) });
        }
    };
    decision.facts = Facts { sandbox: grant.sandbox().to_owned(), ..grant.facts().clone() };
    let (terminal, ruling) = (Some(id.clone()), Ruling::Allowed);
    log.write(&Entry::Decision(audit::Decision { terminal, ruling, ..decision }))?;
    owed::note(&place.dirs.state, &id)?;
    let created = store.create_as(id.clone(), grant).await;
    Ok(created.inspect_err(|error| owed::not_started(place, &id, error))?)
}

/// What somebody may start who sits here: anything, unless they ask for a sandbox.
pub(crate) fn grant(
    spec: Spec,
    choice: &Choice,
    place: &Place,
    id: &TerminalId,
) -> Result<Result<Grant, Denial>, Failure> {
    if choice.sandbox.is_none() {
        return Ok(Ok(unrestricted(spec)?));
    }
    let law = law::read(choice, place)?;
    let temp = temporary::of_terminal(&place.dirs.state, id.as_str())?;
    Ok(match law.judge_typed(spec, &place.directory(None)?, &temp)? {
        Judgement::Allow(grant) => Ok(grant),
        // Whoever typed it has been asked.
        Judgement::Ask(_, pending) => Ok(pending.allow()),
        Judgement::Deny(denial) => Err(denial),
    })
}

/// The name of a variable that was asked for with or without a value.
fn name(asked: &OsString) -> String {
    asked.to_string_lossy().split('=').next().unwrap_or_default().to_owned()
}

/// The most common mistake has an answer of its own.
fn explain(failure: Failure, args: &Run) -> Failure {
    match args.command.as_slice() {
        [line]
            if failure.code == exit_code::NOT_FOUND
                && line.to_string_lossy().contains(char::is_whitespace) =>
        {
            failure.hint(format!("if this is a line for a shell: wharf run -c {line:?}"))
        }
        _ => failure,
    }
}

fn print_id(terminal: &Terminal, args: &Run) -> Result<(), Failure> {
    let id = terminal.id().as_str();
    let printed =
        if args.json { show::print_json(&json::Started { id }) } else { show::print(&format!("{id}\n")) };
    Ok(printed?)
}

/// With somebody at the keyboard.
async fn sit(terminal: &Terminal, requests: &mut Requests) -> Result<Left, Failure> {
    let key = DetachKey::parse("ctrl-]").map_err(Failure::new)?;
    let left = interact::interact(terminal, 0, key, Modes::default(), requests).await?;
    if left == Left::Detached {
        terminal.disown().await?;
    }
    Ok(left)
}

/// With nobody there: output out, input in if asked for, signals on.
async fn accompany(terminal: &Terminal, args: &Run, requests: &mut Requests) -> Result<Left, Failure> {
    let mut over = pin!(until_over(terminal, args));
    let mut input = pin!(pass_input(terminal));
    let mut passing = args.stdin;
    let mut interrupts = 0;
    loop {
        let request = tokio::select! {
            done = &mut over => return done.map(|()| Left::Ended),
            passed = &mut input, if passing => {
                passing = false;
                passed?;
                continue;
            }
            request = requests.next() => request,
        };
        match request {
            Request::Interrupt(number) => {
                interrupts += 1;
                match interrupts {
                    1 => ignore_ended(terminal.signal(number, AUTHOR).await)?,
                    2 => drop(terminal.kill(AUTHOR, Some(Duration::ZERO)).await?),
                    // It is over, but whoever reads our output does not read on.
                    _ => return Ok(Left::Asked(number)),
                }
            }
            Request::Leave(number) => {
                end_shown(terminal, over).await?;
                return Ok(Left::Asked(number));
            }
        }
    }
}

/// Ends it while its output goes on being shown, and for a moment after.
async fn end_shown(
    terminal: &Terminal,
    mut over: Pin<&mut impl Future<Output = Result<(), Failure>>>,
) -> Result<(), Failure> {
    let mut killed = pin!(terminal.kill(AUTHOR, None));
    tokio::select! {
        killed = &mut killed => {
            killed?;
            let _ = tokio::time::timeout(DRAIN, over).await;
        }
        _ = &mut over => drop(killed.await?),
    }
    Ok(())
}

async fn until_over(terminal: &Terminal, args: &Run) -> Result<(), Failure> {
    if args.json {
        terminal.wait().await?;
        return Ok(());
    }
    live::follow(terminal.reader(0), Until::Ended, Through::Raw).await
}

/// Standard input to the command, until either has enough.
async fn pass_input(terminal: &Terminal) -> Result<(), Failure> {
    let mut keyboard = keyboard::listen(None)?;
    let mut input = terminal.input(AUTHOR)?;
    while let Some(bytes) = keyboard.typed.recv().await {
        match input.send(&bytes).await {
            Ok(()) => {}
            Err(ControlError::Refused(Refusal::LineTooLong)) => {
                report::say("an input line of more than 4095 bytes was left out: a PTY would have cut it");
            }
            // It has ended or closed its input: what is left is for nobody.
            Err(ControlError::Refused(_)) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
    match input.end().await {
        Err(ControlError::Refused(_)) | Ok(()) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// It ended before the signal reached it, which is what the signal was for.
fn ignore_ended(sent: Result<(), ControlError>) -> Result<(), ControlError> {
    match sent {
        Err(ControlError::Refused(_)) => Ok(()),
        other => other,
    }
}

/// Says what is to be said of the end and leaves nothing behind.
async fn conclude(
    terminal: &Terminal,
    args: &Run,
    left: Left,
    requests: &mut Requests,
    place: &Place,
) -> Result<Code, Failure> {
    let id = terminal.id().short();
    if left == Left::Detached {
        report::say_below(&format!("left {id} running; `wharf attach {id}` comes back"));
        return Ok(exit_code::DONE);
    }
    if matches!(left, Left::Asked(_)) {
        terminal.kill(AUTHOR, None).await?;
    }
    let ended = terminal.wait().await?;
    owed::ended(place, terminal.id(), &ended);
    // A sandbox is over when nothing of it stands in the root any more.
    let is_over = ended.left == 0 && args.choice.sandbox.is_none();
    let swept = if is_over { 0 } else { sweep(terminal, requests).await? };
    if matches!(ended.outcome, Outcome::Lost(_)) && !args.json {
        report::say(&show::sentence(&ended));
    }
    if let Some(line) = limit_line(&ended) {
        report::say(&line);
    }
    if swept > 0 {
        report::say(&format!("ended {} that it left running", show::processes(swept)));
    }
    if args.json {
        show::print_json(&json::End::new(terminal, &ended)?)?;
    }
    if args.rm {
        terminal.release().await?;
    }
    Ok(match left {
        Left::Asked(number) => exit_code::of_signal(number),
        Left::Ended | Left::Detached => exit_code::of(&ended),
    })
}

/// Ends what the command left, politely unless somebody is in a hurry.
async fn sweep(terminal: &Terminal, requests: &mut Requests) -> Result<u32, Failure> {
    let mut polite = pin!(terminal.kill(AUTHOR, None));
    tokio::select! {
        swept = &mut polite => return Ok(swept?),
        _ = requests.next() => {}
    }
    terminal.kill(AUTHOR, Some(Duration::ZERO)).await?;
    Ok(polite.await?)
}

fn limit_line(ended: &Ended) -> Option<String> {
    let limit = show::limit(ended.limit?);
    Some(format!("ended by its {limit} ({})", ended.signal().unwrap_or_else(|| show::status(ended))))
}
