//! Which terminal is meant: any beginning of an id that only one has.

use crate::report::Failure;
use crate::show;
use std::fmt::Write;
use wharf_core::{Found, ReadError, Store, Terminal, TerminalId};

/// Candidates named in an error.
const MOST: usize = 5;

/// The terminal that is meant.
pub(crate) fn find(store: &Store, text: &str) -> Result<Terminal, Failure> {
    let id = find_id(store, text)?;
    store.get(&id).map_err(|error| match error {
        ReadError::Damaged(_) => Failure::from(error).hint(format!("`wharf rm {}` removes it", id.short())),
        _ => error.into(),
    })
}

/// Its name: it may be one that cannot be read.
pub(crate) fn find_id(store: &Store, text: &str) -> Result<TerminalId, Failure> {
    let wanted = text.trim().to_ascii_lowercase();
    if let Some(id) = TerminalId::parse(&wanted)
        && !matches!(store.get(&id), Err(ReadError::NotFound))
    {
        return Ok(id);
    }
    let ids = store.ids()?;
    let meant: Vec<&TerminalId> =
        ids.iter().filter(|id| !wanted.is_empty() && id.as_str().starts_with(&wanted)).collect();
    match meant.as_slice() {
        [id] => Ok((*id).clone()),
        [] => {
            let message = format!("there is no terminal {text:?}");
            let mut all = store.list()?;
            if all.is_empty() {
                return Err(Failure::no_such_terminal(message)
                    .hint("there are none at all; `wharf run -d` starts one"));
            }
            all.reverse();
            let hint = format!("the latest are{}", candidates(&all));
            Err(Failure::no_such_terminal(message).hint(hint))
        }
        several => {
            let message = format!("{} terminals begin with {text:?}", several.len());
            let all: Vec<Found> =
                store.list()?.into_iter().filter(|found| several.contains(&&found.id)).collect();
            Err(Failure::no_such_terminal(message)
                .hint(format!("say more of the one you mean:{}", candidates(&all))))
        }
    }
}

fn candidates(found: &[Found]) -> String {
    let mut text = String::new();
    for found in found.iter().take(MOST) {
        let command =
            found.terminal.as_ref().map_or_else(|_| "unreadable".to_owned(), |t| t.meta().command_line());
        let _ = write!(text, "\n         {}  {}", found.id.short(), show::one_line(&command, 50));
    }
    if found.len() > MOST {
        text.push_str("\n         …");
    }
    text
}
