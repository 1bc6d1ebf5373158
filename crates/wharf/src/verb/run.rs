//! `wharf run`: starts a command, shows what it prints, ends as it ended.
//!
//! The command belongs to this process: when this ends in whatever way, so does everything the command started, unless
//! it was detached.

mod accompany;

use crate::asked;
use crate::cli::{Choice, Run};
use crate::detach_key::DetachKey;
use crate::emulation::Emulation;
use crate::exit_code::{self, Code};
use crate::interact::{self, Found, Left};
use crate::json;
use crate::law;
use crate::owed;
use crate::place::Place;
use crate::quiet::Reports;
use crate::report::{self, Failure};
use crate::request::Requests;
use crate::show;
use crate::surface::Surface;
use crate::temporary;
use accompany::{Way, accompany, insisted};
use std::ffi::OsString;
use std::time::Duration;
use wharf_core::policy::audit::{self, Entry, Ruling, Who};
use wharf_core::policy::{Denial, Facts, Judgement, Shown};
use wharf_core::{Ended, Grant, Outcome, Spec, Store, Terminal, TerminalId, unrestricted};

/// Who asks, in the journal.
const AUTHOR: &str = "wharf run";
/// How long a reader of our output may take to read the rest when we are told to go.
const DRAIN: Duration = Duration::from_secs(1);

pub(crate) async fn run(args: Run, place: &Place) -> Result<Code, Failure> {
    let spec = asked::spec(&args, place)?;
    let store = place.store()?;
    // Before the command runs: a signal that comes in between must not leave it without its messenger.
    let mut requests = Requests::listen()?;
    owed::sweep(place, &store);
    let terminal = start(&store, spec, &args, place).await.map_err(|failure| explain(failure, &args))?;
    if args.detach {
        print_id(&terminal, &args)?;
        place.tidy_now_and_then(&store);
        return Ok(exit_code::DONE);
    }
    let way = if args.pty && !args.json && interact::is_possible() {
        sit(&terminal, &mut requests).await.map(Way::Usual)
    } else {
        accompany(&terminal, &args, &mut requests).await
    };
    let code = finish(&terminal, &args, way, &mut requests, place).await?;
    place.tidy_now_and_then(&store);
    Ok(code)
}

/// Sees to the end, but keeps nobody who insists on leaving: what is left then ends with us, its owner.
async fn finish(
    terminal: &Terminal,
    args: &Run,
    way: Result<Way, Failure>,
    requests: &mut Requests,
    place: &Place,
) -> Result<Code, Failure> {
    let concluded = async {
        match way {
            Ok(Way::Usual(left)) => conclude(terminal, args, left, place).await,
            Ok(Way::Insisted(number)) => {
                let concluded = conclude(terminal, args, Left::Asked(number), place);
                let in_time = tokio::time::timeout(DRAIN, concluded).await;
                in_time.unwrap_or(Ok(exit_code::of_signal(number)))
            }
            Err(failure) => {
                let _ = terminal.kill(AUTHOR, None).await;
                Err(failure)
            }
        }
    };
    tokio::select! {
        concluded = concluded => concluded,
        number = insisted(terminal, requests) => Ok(exit_code::of_signal(number)),
    }
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
            decision.facts = *denial.facts;
            log.write(&Entry::Decision(decision))?;
            return Err(Failure { word: "denied", ..Failure::new(denial.reason) });
        }
    };
    decision.facts = Facts { sandbox: grant.sandbox().to_owned(), ..grant.facts().clone() };
    let (terminal, ruling) = (Some(id.clone()), Ruling::Allowed);
    log.write(&Entry::Decision(audit::Decision { terminal, ruling, ..decision }))?;
    let state = &place.dirs.state;
    let noted = owed::note(state, &id).map_err(|error| Failure::cannot_write(state, &error))?;
    let created = store.create_as(id.clone(), grant).await;
    drop(noted);
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
    let surface = Surface::new(Reports::MouseAndFocus);
    let screen = Emulation::new(interact::window().unwrap_or_default());
    let left = interact::interact(terminal, Found { from: 0, surface, screen }, key, requests).await?;
    if left == Left::Detached {
        terminal.disown().await?;
    }
    Ok(left)
}

/// Says what is to be said of the end and leaves nothing behind.
async fn conclude(terminal: &Terminal, args: &Run, left: Left, place: &Place) -> Result<Code, Failure> {
    let id = terminal.id().short();
    if left == Left::Detached {
        report::say_below(&format!("left {id} running; `wharf attach {id}` comes back"));
        return Ok(exit_code::DONE);
    }
    if matches!(left, Left::Asked(_)) {
        terminal.kill(AUTHOR, None).await?;
    }
    let ended = terminal.keep_awake(terminal.wait()).await?;
    owed::ended(place, terminal.id(), &ended);
    // A sandbox is over when nothing of it stands in the root any more.
    let is_over = ended.left == 0 && args.choice.sandbox.is_none();
    let swept = if is_over { 0 } else { terminal.kill(AUTHOR, None).await? };
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
        place.forget(terminal.id());
    }
    Ok(match left {
        Left::Asked(number) => exit_code::of_signal(number),
        Left::Ended | Left::Detached => exit_code::of(&ended),
    })
}

fn limit_line(ended: &Ended) -> Option<String> {
    let limit = show::limit(ended.limit?);
    Some(format!("ended by its {limit} ({})", ended.signal().unwrap_or_else(|| show::status(ended))))
}
