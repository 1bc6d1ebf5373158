//! `creates-terminal STATE kill|keep|kill-pty|keep-pty DESCRIPTORS GRACE_MS stay|leave -- PROGRAM ARGS…`: a front end that creates one
//! terminal, says its id or the error's code, and then waits to be killed or leaves. With a number of descriptors other
//! than 0, creates it with no more than that many allowed.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::process::ExitCode;
use std::time::Duration;
use wharf_core::{Dirs, Holder, OnOwnerExit, Spec, Store, unrestricted};
use wharf_shim::failpoint::VARIABLE;
use wharf_testing::leak::MARK;
use wharf_testing::program;

pub(super) fn run(args: &[String]) -> ExitCode {
    let [state, on_exit, descriptors, grace, then, _, program_path, rest @ ..] = args else {
        return super::unknown("creates-terminal without its arguments");
    };
    let pty = on_exit.ends_with("-pty");
    let on_exit = if on_exit.starts_with("kill") { OnOwnerExit::Kill } else { OnOwnerExit::Keep };
    #[expect(
        clippy::disallowed_methods,
        reason = "the test's mark and failpoints are handed on to the command"
    )]
    let handed_on = [MARK, VARIABLE].map(|name| (name, std::env::var(name).unwrap_or_default()));
    let mut spec = Spec::argv(program_path, rest)
        .on_owner_exit(on_exit)
        .grace(Duration::from_millis(grace.parse().unwrap()))
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .envs(handed_on);
    if pty {
        spec = spec.pty(wharf_core::Size::default());
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let holder = Holder::Process(program("wharf-shim"));
    // The store holds the lease: it is kept for as long as this front end lives.
    let _store = runtime.block_on(async {
        let store = Store::open(Dirs::under(state), holder).unwrap();
        let grant = unrestricted(spec).unwrap();
        limit(descriptors.parse().unwrap());
        match store.create(grant).await {
            Ok(terminal) => super::say(&format!("ok {}", terminal.id())),
            Err(error) => super::say(&format!("error {} {error}", error.code())),
        }
        store
    });
    if then == "stay" {
        super::stay();
    }
    ExitCode::SUCCESS
}

fn limit(descriptors: u64) {
    if descriptors == 0 {
        return;
    }
    let hard = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: Some(descriptors), maximum: hard }).unwrap();
}
