//! A front end that dies half-way through a creation or a release: nothing runs unknown, and nothing stays.

use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::path::Path;
use std::time::Duration;
use wharf_core::{Cause, Phase, Retention, Terminal};
use wharf_shim::tree::proc;
use wharf_testing::front_end::{FrontEnd, misbehave};
use wharf_testing::leak::{self, MARK};
use wharf_testing::{Place, guarded, program};

#[tokio::test]
async fn a_creator_that_dies_at_any_step_leaves_no_process_and_nothing_unreadable() {
    if !cfg!(debug_assertions) {
        return;
    }
    let place = Place::process();
    for at in ["create.after_lock", "create.after_files", "create.after_start"] {
        let state = place.state();
        let misbehaving = program("wharf-misbehave");
        let mut command = misbehave(&[
            "creates-terminal",
            state.to_str().unwrap(),
            "kill",
            "0",
            "0",
            "stay",
            "--",
            misbehaving.to_str().unwrap(),
            "double-forks",
            "1",
            "stays",
        ]);
        command.env(MARK, place.dir()).env("WHARF_FAILPOINTS", format!("{at}=kill"));
        assert_eq!(FrontEnd::run(command).finish(), "", "{at}: it was killed before it could say anything");
        for found in place.store.list().unwrap() {
            let terminal = found.terminal.unwrap();
            match guarded(terminal.wait()).await {
                Ok(ended) => assert_eq!(ended.cause, Cause::OwnerGone, "{at}"),
                Err(error) => assert_eq!(error.code(), "not_found", "{at}: it never ran"),
            }
            guarded(terminal.release()).await.unwrap();
        }
        // What is half made is hidden, and goes with time.
        for path in leak::files(&state) {
            assert!(
                path.file_name().unwrap().to_str().unwrap().starts_with(".new-")
                    || path.starts_with(state.join("run"))
            );
            if path.is_dir() { fs::remove_dir_all(path).unwrap() } else { fs::remove_file(path).unwrap() }
        }
    }
    place.check().await;
}

