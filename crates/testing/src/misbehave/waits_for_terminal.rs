//! `waits-for-terminal STATE ID`: a front end that says how a terminal ended.

use std::process::ExitCode;
use wharf_core::{Dirs, Holder, Store, TerminalId};

pub(super) fn run(args: &[String]) -> ExitCode {
    let [state, id] = args else { return super::unknown("waits-for-terminal without its arguments") };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let store = Store::open(Dirs::under(state), Holder::Thread).unwrap();
        let terminal = store.get(&TerminalId::parse(id).unwrap()).unwrap();
        super::say(&format!("{:?}", terminal.wait().await.unwrap().outcome));
    });
    ExitCode::SUCCESS
}
