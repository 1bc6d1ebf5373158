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
            assert!(path.file_name().unwrap().to_str().unwrap().starts_with(".new-"));
            fs::remove_dir_all(path).unwrap();
        }
    }
    place.check().await;
}

/// A front end that has given a shim a plan, and the terminal whose shim stopped when its start was on record.
async fn stopped_start(place: &Place, program: &Path, args: &[&str]) -> (FrontEnd, Terminal, Pid) {
    let state = place.state();
    let mut all = vec!["creates-terminal", state.to_str().unwrap(), "kill", "0", "0", "stay", "--"];
    all.push(program.to_str().unwrap());
    all.extend(args);
    let mut command = misbehave(&all);
    command.env(MARK, place.dir()).env("WHARF_FAILPOINTS", "create.after_record=stop");
    let front_end = FrontEnd::run(command);
    let stopped = async {
        loop {
            for id in place.store.ids().unwrap() {
                let terminal = place.store.get(&id).unwrap();
                let holder = place.events(&terminal).start().map(|(_, start)| start.holder as i32);
                if let Some(holder) = holder.and_then(proc::look).filter(|holder| holder.state == 'T') {
                    return (terminal, Pid::from_raw(holder.pid).unwrap());
                }
            }
            tokio::task::yield_now().await;
        }
    };
    let (terminal, holder) = guarded(stopped).await;
    (front_end, terminal, holder)
}

/// Stops a process, down to its last thread.
async fn stop(pid: u32) {
    kill_process(Pid::from_raw(pid as i32).unwrap(), Signal::STOP).unwrap();
    let stands_still = |thread: fs::DirEntry| {
        fs::read_to_string(thread.path().join("stat")).is_ok_and(|stat| stat.contains(") T "))
    };
    let stopped = async {
        while !fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten().all(stands_still) {
            tokio::task::yield_now().await;
        }
    };
    guarded(stopped).await;
}

/// Returns when nobody holds the terminal.
async fn left_alone(terminal: &Terminal) {
    let left = async {
        while terminal.look().unwrap().held {
            tokio::task::yield_now().await;
        }
    };
    guarded(left).await;
}

#[tokio::test]
async fn nothing_is_run_for_a_creator_that_died_before_the_start() {
    if !cfg!(debug_assertions) {
        return;
    }
    let place = Place::process();
    let trace = place.dir().join("trace");
    let line = format!("echo it ran > {}", trace.display());
    let (front_end, terminal, holder) = stopped_start(&place, Path::new("/bin/sh"), &["-c", &line]).await;
    front_end.kill();
    kill_process(holder, Signal::CONT).unwrap();
    left_alone(&terminal).await;
    assert!(!trace.exists(), "nobody would have known of it");
    assert_eq!(leak::living(place.dir(), &[]), Vec::<String>::new());
    let found = place.store.list().unwrap().remove(0).terminal.unwrap();
    assert_eq!(found.look().unwrap().phase, Phase::NotStarted);
    place.check().await;
}

#[tokio::test]
async fn a_command_that_could_not_be_executed_is_not_lost_although_its_creator_never_heard() {
    if !cfg!(debug_assertions) {
        return;
    }
    let place = Place::process();
    let script = place.dir().join("script");
    fs::write(&script, "#!/no/such/interpreter\n").unwrap();
    fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    for way in ["list", "tidy", "release"] {
        let (front_end, terminal, holder) = stopped_start(&place, &script, &[]).await;
        // It must not be the one who cleans up.
        stop(front_end.pid()).await;
        kill_process(holder, Signal::CONT).unwrap();
        let failed = async {
            while place.events(&terminal).not_started().is_none() {
                tokio::task::yield_now().await;
            }
        };
        guarded(failed).await;
        front_end.kill();
        left_alone(&terminal).await;
        let fresh = place.reopened().get(terminal.id()).unwrap();
        match way {
            "list" => assert_eq!(place.store.list().unwrap().len(), 1),
            "tidy" => assert!(place.store.tidy(&Retention::default()).unwrap().removed.is_empty()),
            _ => {}
        }
        assert_eq!(fresh.look().unwrap().phase, Phase::NotStarted, "{way}");
        assert_eq!(guarded(fresh.kill("test", None)).await.unwrap(), 0, "{way}");
        if way == "tidy" {
            let removed = place.store.tidy(&Retention { age: Duration::ZERO, total: 0 }).unwrap().removed;
            assert_eq!(removed, [terminal.id().clone()]);
        } else {
            guarded(fresh.release()).await.unwrap();
        }
        assert!(leak::files(&place.state()).is_empty(), "{way}");
    }
    place.check().await;
}

#[tokio::test]
async fn what_a_killed_front_end_had_begun_to_release_goes_once_it_is_old() {
    if !cfg!(debug_assertions) {
        return;
    }
    let place = Place::process();
    let terminal = place.start(place.misbehaving(&["double-forks", "1", "stays"])).await;
    let state = place.state();
    let mut command = misbehave(&["releases-terminal", state.to_str().unwrap(), terminal.id().as_str()]);
    command.env("WHARF_FAILPOINTS", "release.after_rename=kill");
    assert_eq!(FrontEnd::run(command).finish(), "", "it was killed before it could say anything");
    assert_eq!(place.store.ids().unwrap(), [], "out of sight in one step");
    // The tree is gone; its holder has answered and is leaving.
    guarded(async {
        while !leak::living(place.dir(), &[]).is_empty() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    let left = leak::files(&state);
    assert!(!left.is_empty(), "nothing was left half done, so nothing was tried");
    place.store.tidy(&Retention::default()).unwrap();
    assert_eq!(leak::files(&state), left, "somebody may be at work on them");
    left.iter().for_each(|path| make_old(path));
    place.store.tidy(&Retention::default()).unwrap();
    assert_eq!(leak::files(&state), Vec::<std::path::PathBuf>::new());
    place.check().await;
}

fn make_old(path: &Path) {
    let old = rustix::fs::Timespec { tv_sec: 1_000_000, tv_nsec: 0 };
    let times = rustix::fs::Timestamps { last_access: old, last_modification: old };
    rustix::fs::utimensat(rustix::fs::CWD, path, &times, rustix::fs::AtFlags::empty()).unwrap();
}
