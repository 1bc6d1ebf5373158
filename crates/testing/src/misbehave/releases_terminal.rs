//! `releases-terminal STATE ID`: a front end that releases a terminal and says so.

use std::process::ExitCode;
use wharf_core::{Dirs, Holder, Store, TerminalId};

pub(super) fn run(args: &[String]) -> ExitCode {
    let [state, id] = args else { return super::unknown("releases-terminal without its arguments") };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let store = Store::open(Dirs::under(state), Holder::Thread).unwrap();
        store.get(&TerminalId::parse(id).unwrap()).unwrap().release().await.unwrap();
    });
    super::say("released");
    ExitCode::SUCCESS
}
