//! `wharf kill`: ends the whole tree, or only sends a signal.

use crate::cli::Kill;
use crate::exit_code::{self, Code};
use crate::json;
use crate::owed;
use crate::place::Place;
use crate::report::Failure;
use crate::{show, which};
use wharf_core::Terminal;

pub(crate) async fn run(args: &Kill, place: &Place) -> Result<Code, Failure> {
    let store = place.store()?;
    // All are found before any is ended: a wrong id among them changes nothing.
    let terminals = args.ids.iter().map(|id| which::find(&store, id)).collect::<Result<Vec<_>, _>>()?;
    let mut records = Vec::new();
    for terminal in &terminals {
        let processes = match args.signal {
            Some(signal) => terminal.signal(signal, "wharf kill").await.map(|()| None)?,
            None => Some(terminal.kill("wharf kill", args.grace).await?),
        };
        if !args.json {
            show::print(&sentence(terminal, args.signal, processes))?;
        }
        records.push(json::Killed { id: terminal.id().to_string(), processes });
    }
    owed::settle(place, &store);
    if args.json {
        show::print_json(&records)?;
    }
    Ok(exit_code::DONE)
}

fn sentence(terminal: &Terminal, signal: Option<i32>, processes: Option<u32>) -> String {
    let id = terminal.id().short();
    match (signal, processes) {
        (Some(number), _) => format!("{id}: sent {}\n", wharf_core::signal::name(number)),
        (None, None | Some(0)) => format!("{id}: had already ended\n"),
        (None, Some(count)) => format!("{id}: ended {}\n", show::processes(count)),
    }
}
