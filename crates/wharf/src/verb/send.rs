//! `wharf send`: types into a terminal.

use crate::cli::Send;
use crate::exit_code::{self, Code};
use crate::place::Place;
use crate::report::Failure;
use crate::{keyboard, which};
use std::os::unix::ffi::OsStrExt;

pub(crate) async fn run(args: &Send, place: &Place) -> Result<Code, Failure> {
    if args.text.is_empty() && !args.enter && !args.stdin && !args.eof {
        return Err(Failure::usage("there is nothing to send").hint("give TEXT, --enter, --stdin or --eof"));
    }
    let terminal = which::find(&place.store()?, &args.id)?;
    let mut input = terminal.input("wharf send")?;
    // The Enter key of a terminal is a carriage return; a line in a pipe ends with a line feed.
    let enter: &[u8] = if terminal.look()?.size.is_some() { b"\r" } else { b"\n" };
    let mut bytes = args.text.iter().map(|word| word.as_bytes()).collect::<Vec<_>>().join(&b' ');
    if args.enter {
        bytes.extend_from_slice(enter);
    }
    input.send(&bytes).await?;
    if args.stdin {
        let mut keyboard = keyboard::listen(None)?;
        while let Some(bytes) = keyboard.typed.recv().await {
            input.send(&bytes).await?;
        }
    }
    if args.eof {
        input.end().await?;
    }
    Ok(exit_code::DONE)
}
