//! `terminal_execute`: runs a command, types into what runs, presses a key, or waits for more.

use super::{half_a_minute, sixteen_kilobytes, usual};
use crate::verb::mcp::answer::{Because, Executed, Status, View};
use crate::verb::mcp::call::{Call, check_name};
use crate::verb::mcp::fit;
use crate::verb::mcp::hint;
use crate::verb::mcp::outcome::{self, Outcome};
use crate::verb::mcp::permit::{Given, Manner, Wanted};
use crate::verb::mcp::program;
use crate::verb::mcp::refusal::{Refusal, Stop};
use crate::verb::mcp::slot::{Before, Here};
use crate::verb::mcp::typing::{self, Typing};
use crate::verb::mcp::words::short;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use wharf_core::ControlError;
use wharf_core::Size;
use wharf_core::key::Key;
use wharf_core::shell::{Command, Enter, Hold, RunError, Shell, State, Until};

#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::verb::mcp) struct Args {
    /// Shell command, input, key name, or empty to wait
    command: String,
    /// Type it into the running program
    #[serde(default)]
    is_input: bool,
    /// Seconds to wait, 0 to 60 (default 30)
    #[serde(default = "half_a_minute")]
    timeout: f64,
    /// Default "default"
    #[serde(default = "usual")]
    terminal_id: String,
    /// With is_input: no Enter after it
    #[serde(default)]
    no_enter: bool,
    /// Type the name of a key as a word
    #[serde(default)]
    literal: bool,
    /// Of output, from 1024 (default 16384)
    #[serde(default = "sixteen_kilobytes")]
    #[schemars(range(min = 1024, max = fit::MOST))]
    max_bytes: u64,
}

/// What is meant.
enum Intent {
    Wait,
    Press(Key, String),
    Type(Enter),
    Run,
}

pub(in crate::verb::mcp) async fn run(call: &Call, args: Args) -> Result<Executed, Stop> {
    check_name(&args.terminal_id)?;
    let (budget, cut) = call.budget(args.max_bytes);
    let (patience, capped) = call.patience(args.timeout);
    let mut notice: Vec<String> = capped.into_iter().collect();
    let name = args.terminal_id.as_str();
    let turn = call.turn().await;
    let here = call.desk.look(&call.seat, name).await?;
    if let Some((before, shell)) = here.as_ref().and_then(|here| here.before.as_ref().zip(Some(&here.shell)))
    {
        // The call that opened it was cancelled.
        notice.push(fresh_note(call, before.clone(), &shell.status().cwd));
    }
    let held = here.as_ref().is_some_and(|here| Hold::is_taken(here.shell.terminal()).unwrap_or(false));
    let intent = match intent(&args, here.as_ref().and_then(|here| busy(&here.shell)).as_ref()) {
        Ok(Intent::Wait) => Intent::Wait,
        // First of all: whatever else stands in the way is for the human to say.
        _ if held => return Err(Refusal::held(name).into()),
        intent => intent?,
    };
    let shell = match intent {
        Intent::Wait => match here {
            Some(here) => {
                if here.missed.is_none() && matches!(here.shell.status().state, State::Idle) {
                    notice.push("nothing is running; this is how the last command ended".to_owned());
                }
                here.shell
            }
            None => return Ok(nothing_yet(call, name)),
        },
        Intent::Press(key, what) => {
            let shell = typable(call, name, here, &what)?;
            typing::permit(call, &shell, Typing::Key(&key, &args.command)).await?;
            shell.press(&key, &call.client.author()).await.map_err(|error| not_done(name, error))?;
            notice.extend(word_note(&args, &key));
            shell
        }
        Intent::Type(enter) => {
            let shell = typable(call, name, here, "it")?;
            typing::permit(call, &shell, Typing::Text(&args.command, enter)).await?;
            shell
                .send(&args.command, enter, &call.client.author())
                .await
                .map_err(|error| not_done(name, error))?;
            notice.extend(key_note(&args));
            shell
        }
        Intent::Run => begin(call, &args, here, &mut notice).await?,
    };
    drop(turn);
    let because = call.wait(&shell, Until::End, patience).await;
    Ok(Outcome { name, shell: &shell, because, budget, cut, notice }.tell(call).await?)
}

/// The command that runs in it.
fn busy(shell: &Shell) -> Option<Command> {
    let status = shell.status();
    if matches!(status.state, State::Running) { status.last } else { None }
}

fn intent(args: &Args, running: Option<&Command>) -> Result<Intent, Refusal> {
    let (name, text) = (args.terminal_id.as_str(), args.command.as_str());
    let key = Key::parse(text);
    if args.is_input || (args.literal && running.is_some()) {
        let enter = if args.no_enter { Enter::Leave } else { Enter::Press };
        return Ok(match key {
            Ok(key) if !args.literal => Intent::Press(key, format!("the key {text}")),
            _ if text.is_empty() && args.no_enter => Intent::Wait,
            _ => Intent::Type(enter),
        });
    }
    if text.trim().is_empty() {
        return Ok(Intent::Wait);
    }
    match (running, key) {
        (Some(_), Ok(key)) => Ok(Intent::Press(key, format!("the key {text}"))),
        // At its prompt C-d would end the shell, and the others do nothing.
        (None, Ok(_)) if text.starts_with("C-") => Err(Refusal::idle(name, &format!("the key {text}"))),
        (None, _) => Ok(Intent::Run),
        (Some(_), Err(wrong)) if wrong.meant.is_some() => Err(Refusal::new(
            "wrong_key",
            format!("Not sent: {wrong}. To type it as text: {}", hint::answer(name, text)),
        )),
        (Some(command), Err(_)) => Err(Refusal::busy(name, command)),
    }
}

/// Said where the name of a key could have been meant as an answer to a program.
fn word_note(args: &Args, key: &Key) -> Option<String> {
    let (name, text) = (&args.terminal_id, &args.command);
    (args.is_input && key.is_bare())
        .then(|| format!("the key {text} was pressed; to type the word instead: {}", hint::word(name, text)))
}

/// Said where a text could have been meant as a key.
fn key_note(args: &Args) -> Option<String> {
    let key = Key::parse(args.command.trim()).map_or_else(|wrong| wrong.meant, |key| Some(key.to_string()));
    let key = key.filter(|_| !args.literal)?;
    Some(format!("typed as text; to press the key {key}: {}", hint::press(&args.terminal_id, &key)))
}

/// A shell in which something could read what is typed.
fn typable(call: &Call, name: &str, here: Option<Here>, what: &str) -> Result<Shell, Refusal> {
    let shell = here.map(|here| here.shell).ok_or_else(|| Refusal::idle(name, what))?;
    call.permit.still_fits(&call.desk, name, &shell)?;
    // A shell that is starting may ask something too: its start-up files are programs.
    match shell.status().state {
        State::Running | State::Starting => Ok(shell),
        State::Idle | State::Exited(_) => Err(Refusal::idle(name, what)),
    }
}

/// Gives the command to the shell of that name, which is opened if there is none.
async fn begin(
    call: &Call,
    args: &Args,
    here: Option<Here>,
    notice: &mut Vec<String>,
) -> Result<Shell, Stop> {
    let name = args.terminal_id.as_str();
    let mut missed = None;
    let mut cwd = call.desk.project();
    let mut open = None;
    let mut kind = "";
    if let Some(here) = here {
        call.permit.still_fits(&call.desk, name, &here.shell)?;
        let status = here.shell.status();
        cwd = status.cwd;
        missed = here.missed;
        kind = program::word(here.shell.meta().kind);
        if !matches!(status.state, State::Exited(_)) {
            open = Some(here.shell);
        }
    }
    permit(call, args, open.as_ref(), &cwd).await?;
    if let Some(command) = missed {
        notice.push(missed_note(name, &command));
    }
    call.permit.watch_settings(&call.desk);
    let shell = match open {
        Some(shell) => shell,
        None => fresh(call, (name, kind), cwd.clone(), notice).await?,
    };
    match shell.run(&args.command, &call.client.author()).await {
        Ok(_) => Ok(shell),
        // It ended since we looked: the command has not run, so it can run in the next.
        Err(RunError::Exited(_) | RunError::Control(ControlError::Refused(wharf_core::Refusal::Ended))) => {
            let shell = fresh(call, (name, kind), cwd, notice).await?;
            shell.run(&args.command, &call.client.author()).await.map_err(|error| not_done(name, error))?;
            Ok(shell)
        }
        Err(error) => Err(not_done(name, error).into()),
    }
}

async fn permit(call: &Call, args: &Args, open: Option<&Shell>, cwd: &Path) -> Result<(), Stop> {
    let sandbox = match open {
        Some(shell) => shell.terminal().meta().sandbox.clone(),
        None => call.permit.sandbox(&call.desk.project())?,
    };
    let kind = open.map_or("", |shell| program::word(shell.status().kind));
    let (_, program) = call.programs.named(kind).or_else(|_| call.programs.named(""))?;
    let terminal = open.map(|shell| shell.terminal().id());
    let manner = Manner::Run;
    let given = Given { line: &args.command, program: &program, cwd, sandbox: &sandbox, terminal, manner };
    call.permit.line(&call.desk, &call.seat, &call.client, given).await
}

/// A new shell under that name. If there was one, the new one is of its kind, and where the old one was, if that is allowed.
async fn fresh(
    call: &Call,
    (name, kind): (&str, &str),
    cwd: PathBuf,
    notice: &mut Vec<String>,
) -> Result<Shell, Refusal> {
    let (kind, program) = call.programs.named(kind).or_else(|_| call.programs.named(""))?;
    let mut wanted = Wanted {
        name: name.to_owned(),
        program,
        kind,
        cwd,
        env: Vec::new(),
        size: Size { cols: 120, rows: 40 },
    };
    let granted = match call.permit.shell(&call.desk, &call.seat, &call.client, &wanted) {
        Err(_) if wanted.cwd != call.desk.project() => {
            wanted.cwd = call.desk.project();
            call.permit.shell(&call.desk, &call.seat, &call.client, &wanted)?
        }
        granted => granted?,
    };
    let opened = call.desk.open(&call.seat, name, granted).await?;
    if let Some(before) = opened.before {
        notice.push(fresh_note(call, before, &wanted.cwd));
    }
    notice.extend(call.desk.sandbox_notes(opened.shell.terminal().meta()));
    Ok(opened.shell)
}

/// Told once.
fn fresh_note(call: &Call, before: Arc<Before>, cwd: &Path) -> String {
    let left = if before.ended.left > 0 { "; what it had left running was ended" } else { "" };
    let how = outcome::how(&before.ended);
    call.then(move || before.told());
    format!(
        "the shell of this terminal {how}{left}; this is a fresh one in {}, without the variables and functions of the old one",
        cwd.display()
    )
}

fn missed_note(name: &str, command: &Command) -> String {
    let (text, how) = (short(&command.text), outcome::ended(command));
    format!("the command before, `{text}`, {how}; its output: {}", hint::read(name, command.id, json!({})))
}

fn not_done(name: &str, error: RunError) -> Refusal {
    match error {
        RunError::Syntax(said) => Refusal::new(
            "syntax",
            format!(
                "Not run: the command is incomplete or not valid, and the shell is as before:\n{said}\nSend it again, whole."
            ),
        ),
        RunError::Busy(command) => Refusal::busy(name, &command),
        RunError::Held => Refusal::held(name),
        RunError::Starting => Refusal::new(
            "starting",
            format!(
                "Not run: the shell of terminal {name:?} is not at its prompt; its start-up files, or what it runs before each \
                 prompt, take long or ask something. {} shows it; answer with {}, or use another terminal_id.",
                hint::screen(name),
                hint::answer(name, "…"),
            ),
        ),
        RunError::Exited(_) => Refusal::new(
            "shell_exited",
            format!(
                "Not done: the shell of terminal {name:?} has just exited. Call terminal_execute again for a fresh one."
            ),
        ),
        RunError::Deaf(why) => Refusal::new(
            "shell_unresponsive",
            format!(
                "Not run: the shell of terminal {name:?} does not take commands any more: {why}. {} ends it, and the next \
                 command opens a fresh one; another terminal_id does at once.",
                hint::close(name),
            ),
        ),
        RunError::Untold => Refusal::new(
            "outcome_unknown",
            format!(
                "The shell of terminal {name:?} was given the command and has not told whether it has begun it: it may have run, or may \
                 yet do so. {} shows it; another terminal_id opens a fresh one.",
                hint::screen(name),
            ),
        ),
        RunError::Control(error) => {
            let what = format!("the terminal cannot be reached ({} ends it)", hint::close(name));
            Refusal::failed(&what, error)
        }
    }
}

/// Nothing runs, because nothing is there.
fn nothing_yet(call: &Call, name: &str) -> Executed {
    Executed {
        content: String::new(),
        command: String::new(),
        terminal_id: name.to_owned(),
        command_id: 0,
        status: Status::Completed,
        exit_code: None,
        working_dir: call.desk.project().to_string_lossy().into_owned(),
        returned_because: Because::Exited,
        duration_ms: 0,
        view: View::Stream,
        total_lines: 0,
        total_bytes: 0,
        awaiting: None,
        matched: None,
        omitted: None,
        screen: None,
        background: Vec::new(),
        shell_end: None,
        stalled: None,
        notice: vec!["nothing is running: there is no terminal of that name yet".to_owned()],
    }
}
