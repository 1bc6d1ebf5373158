//! `wharf wait`: until it has ended, and then with its status.

use crate::cli::Wait;
use crate::exit_code::{self, Code};
use crate::json;
use crate::owed;
use crate::place::Place;
use crate::report::{self, Failure};
use crate::{show, which};
use wharf_core::{Outcome, Phase};

pub(crate) async fn run(args: &Wait, place: &Place) -> Result<Code, Failure> {
    let terminal = which::find(&place.store()?, &args.id)?;
    if terminal.look_and_settle().await?.phase == Phase::NotStarted {
        let message = format!("the command of {} was never started", terminal.id().short());
        return Err(Failure { word: "not_started", ..Failure::new(message) });
    }
    let ended = terminal.keep_awake(terminal.wait()).await?;
    owed::ended(place, terminal.id(), &ended);
    if args.json {
        show::print_json(&json::End::new(&terminal, &ended)?)?;
    } else if matches!(ended.outcome, Outcome::Lost(_)) {
        // The exit code alone would look like a failure of ours.
        report::say(&show::sentence(&ended));
    }
    Ok(exit_code::of(&ended))
}
