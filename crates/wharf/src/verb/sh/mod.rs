//! `wharf sh`: opens a shell that stays, or joins one; an agent's, to see what it sees and to take over.

mod find;
mod note;
mod open;
mod sit;

use crate::cli::Sh;
use crate::detach_key::DetachKey;
use crate::exit_code::{self, Code};
use crate::interact::{self, Left};
use crate::place::Place;
use crate::report::{self, Failure};
use crate::request::Requests;
use crate::show;
use find::Meant;
pub(crate) use sit::Purpose;
use sit::Seat;
use std::ffi::OsStr;
use wharf_core::Terminal;
use wharf_core::shell::Hold;

pub(crate) async fn run(args: &Sh, place: &Place) -> Result<Code, Failure> {
    let store = place.store()?;
    let shells = find::living(&store).await?;
    if args.list {
        return list(&find::here(&shells, place)?);
    }
    let meant = find::meant(&args.name, &shells, place)?;
    if !interact::is_possible() {
        return Err(no_terminal(&meant));
    }
    // Heard from before anything is painted: whoever tells us to go gets the terminal back as it was.
    let mut requests = Requests::listen()?;
    let terminal = match meant {
        Meant::Join(terminal) => {
            check_joining(args, &terminal, place)?;
            terminal
        }
        Meant::Open if args.watch => {
            return Err(Failure::no_such_terminal(format!("there is no shell {:?} here", args.name))
                .hint("`wharf sh --list` shows those there are"));
        }
        Meant::Open => open::open(&args.name, args, &store, place).await?,
    };
    let purpose = if args.watch { Purpose::Watch } else { Purpose::Type };
    let back = format!("wharf sh {}", args.name);
    let code = sit_down(&terminal, purpose, args.detach_key, &back, &mut requests).await?;
    place.tidy_now_and_then(&store);
    Ok(code)
}

/// Sits at a shell until one of both sides leaves. `back` is what brings one back.
pub(crate) async fn sit_down(
    terminal: &Terminal,
    purpose: Purpose,
    key: DetachKey,
    back: &str,
    requests: &mut Requests,
) -> Result<Code, Failure> {
    let before = terminal.look()?.size.unwrap_or_default();
    let left = sit::sit(&Seat { terminal, before, purpose, key }, requests).await?;
    leave(terminal, back, left).await
}

/// Of a shell that is there nothing can be chosen any more; and one that shows itself has no end.
fn check_joining(args: &Sh, terminal: &Terminal, place: &Place) -> Result<(), Failure> {
    let id = terminal.id();
    if place.variable(OsStr::new("WHARF_TERMINAL")).is_some_and(|own| own == id.as_str()) {
        return Err(Failure::usage(format!("this is {} already", id.short())));
    }
    let chosen = args.shell.is_some() || args.cwd.is_some() || args.choice.sandbox.is_some();
    if chosen || args.choice.policy.is_some() {
        let message = format!("{:?} runs already, in sandbox {}", args.name, terminal.meta().sandbox);
        return Err(Failure::usage(message).hint("--shell, --cwd, --sandbox and --policy are for a new one"));
    }
    Ok(())
}

/// Without a terminal there is nothing to sit at, but something else to do.
fn no_terminal(meant: &Meant) -> Failure {
    let hint = match meant {
        Meant::Join(terminal) => {
            let id = terminal.id().short();
            format!("`wharf logs -f {id}` shows its output, `wharf send {id}` types into it")
        }
        Meant::Open => "`wharf run -c LINE` runs a line; `wharf mcp` gives an agent shells".to_owned(),
    };
    Failure::usage("a shell needs a terminal to sit at").hint(hint)
}

fn list(shells: &[Terminal]) -> Result<Code, Failure> {
    if shells.is_empty() {
        show::eprint("no shells here; `wharf sh` opens one\n");
        return Ok(exit_code::DONE);
    }
    let mut rows = vec![["NAME", "ID", "WHOSE", "SANDBOX", "NOW", "STARTED IN"].map(str::to_owned)];
    for shell in shells {
        let name = find::shell_of(shell).map(|shell| shell.name.clone()).unwrap_or_default();
        let now = if Hold::is_taken(shell).unwrap_or(false) { "taken over" } else { "" };
        let (id, meta) = (shell.id().short().to_owned(), shell.meta());
        let cwd = show::one_line(&meta.cwd.display().to_string(), 60);
        rows.push([name, id, find::owner(shell), meta.sandbox.clone(), now.to_owned(), cwd]);
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; 5] = std::array::from_fn(width);
    let mut text = String::new();
    for row in &rows {
        for (cell, width) in row.iter().zip(widths) {
            text += &format!("{cell:width$}  ");
        }
        text += &format!("{}\n", row[5]);
    }
    show::print(&text)?;
    Ok(exit_code::DONE)
}

async fn leave(terminal: &Terminal, back: &str, left: Left) -> Result<Code, Failure> {
    let id = terminal.id().short();
    let name = find::shell_of(terminal).map_or(id, |shell| shell.name.as_str());
    match left {
        Left::Ended => {
            let ended = terminal.wait().await?;
            report::say(&format!("the shell {name} ({id}) {}", show::sentence(&ended)));
            Ok(exit_code::of(&ended))
        }
        Left::Detached => {
            report::say_below(&format!("left {name} ({id}) running; `{back}` comes back"));
            Ok(exit_code::DONE)
        }
        Left::Asked(signal) => Ok(exit_code::of_signal(signal)),
    }
}
