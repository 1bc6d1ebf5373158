//! `embeds-terminal STATE [--processes=NUMBER] -- PROGRAM ARGS…`: a program that holds a terminal on a thread of its own,
//! with that limit if there is one, says its id, and waits to be killed.

use std::process::ExitCode;
use wharf_core::{Dirs, Holder, Spec, Store, unrestricted};
use wharf_testing::leak::MARK;

pub(super) fn run(args: &[String]) -> ExitCode {
    let (state, limit, program, rest) = match args {
        [state, separator, program, rest @ ..] if separator == "--" => (state, None, program, rest),
        [state, limit, _, program, rest @ ..] => (state, limit.strip_prefix("--processes="), program, rest),
        _ => return super::unknown("embeds-terminal without its arguments"),
    };
    #[expect(clippy::disallowed_methods, reason = "the test's mark is handed on to the command")]
    let mark = std::env::var(MARK).unwrap_or_default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let _store = runtime.block_on(async {
        let store = Store::open(Dirs::under(state), Holder::Thread).unwrap();
        let mut spec = Spec::argv(program, rest).env(MARK, mark);
        if let Some(limit) = limit {
            spec = spec.process_limit(limit.parse().unwrap());
        }
        let terminal = store.create(unrestricted(spec).unwrap()).await.unwrap();
        super::say(&format!("ok {}", terminal.id()));
        store
    });
    super::stay();
    ExitCode::SUCCESS
}
