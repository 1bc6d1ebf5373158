//! `wharf rm`: ends what still runs, and forgets it.

use crate::cli::Rm;
use crate::exit_code::{self, Code};
use crate::life;
use crate::owed;
use crate::place::Place;
use crate::report::Failure;
use crate::{show, which};
use wharf_core::{ReadError, Store, Terminal};

pub(crate) async fn run(args: &Rm, place: &Place) -> Result<Code, Failure> {
    let store = place.store()?;
    // What is forgotten cannot be written down later.
    owed::settle(place, &store);
    if args.ended {
        let ended = ended(&store).await?;
        for terminal in &ended {
            terminal.release().await?;
            place.forget(terminal.id());
        }
        show::print(&format!("removed {}\n", counted(ended.len())))?;
    } else {
        let ids = args.ids.iter().map(|id| which::find_id(&store, id)).collect::<Result<Vec<_>, _>>()?;
        for id in &ids {
            match store.get(id) {
                Err(ReadError::Damaged(_)) => {
                    store.discard(id).await?;
                    place.forget(id);
                    show::print(&format!("{}: damaged, removed\n", id.short()))?;
                }
                terminal => remove(&terminal?, place, &store).await?,
            }
        }
    }
    place.tidy(&store);
    Ok(exit_code::DONE)
}

async fn remove(terminal: &Terminal, place: &Place, store: &Store) -> Result<(), Failure> {
    // Also after a kill that failed: releasing knows more ways, and says itself what is left.
    let processes = terminal.kill("wharf rm", None).await.unwrap_or(0);
    owed::settle(place, store);
    terminal.release().await?;
    place.forget(terminal.id());
    let id = terminal.id().short();
    let text = match processes {
        0 => format!("{id}: removed\n"),
        n => format!("{id}: ended {} and removed\n", show::processes(n)),
    };
    Ok(show::print(&text)?)
}

/// Those of which nothing is left. A command that ended but has descendants still does something.
async fn ended(store: &Store) -> Result<Vec<Terminal>, Failure> {
    let mut ended = Vec::new();
    for terminal in store.list()?.into_iter().filter_map(|found| found.terminal.ok()) {
        // One that cannot be read is not known to have ended.
        if terminal.look_and_settle().await.is_ok_and(|look| !life::is_alive(&look)) {
            ended.push(terminal);
        }
    }
    Ok(ended)
}

fn counted(number: usize) -> String {
    match number {
        1 => "1 terminal".to_owned(),
        n => format!("{n} terminals"),
    }
}
