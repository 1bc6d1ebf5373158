//! What a command finds around it, in a process that has held others: the same as in a new one.

use super::{Reusing, descriptors, until_idle};
use crate::foreground::confined::confined;
use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;
use wharf_core::{Size, Spec, unrestricted};
use wharf_testing::{Place, guarded, program, until};

/// Everything that a process has from the one that started it, but for what differs between any two.
const PORTRAIT: &str = "
    grep -E '^(Umask|Uid|Gid|Groups|Sig[PBIC]|Shd|Cap|NoNewPrivs|Seccomp|Cpus_allowed_list)' /proc/self/status
    cat /proc/self/limits /proc/self/oom_score_adj /proc/self/timerslack_ns
    nice; pwd; readlink /proc/self/root; env | grep -v ^WHARF_TERMINAL= | sort
    for space in mnt net pid user ipc uts cgroup; do readlink /proc/self/ns/$space; done
    ps -o tpgid=,ni=,cls= -p $$
    [ $(ps -o sid= -p $$) -eq $$ ] && [ $(ps -o pgid= -p $$) -eq $$ ] && echo leads
    [ -t 0 ] || echo no terminal
    $0 lists-descriptors";

fn portrait(place: &Place) -> Spec {
    let misbehave = program("wharf-misbehave");
    place
        .marked(Spec::argv("/bin/sh", ["-c", PORTRAIT, misbehave.to_str().unwrap()]))
        .env("WHOSE", "portrait")
}

/// One that has every limit, another directory and other variables, hears no signal, and leaves its terminal in disorder.
fn difficult(place: &Place) -> Spec {
    let line = "trap '' HUP INT QUIT PIPE TERM USR1 USR2; umask 077; stty raw -echo; cd /; echo $SECRET; \
                exec 7</etc/passwd 8<>/dev/tty; sleep 0.05 & exit 9";
    let spec = place.line(line).env("SECRET", "of-the-first").cwd("/usr").pty(Size { rows: 11, cols: 37 });
    spec.time_limit(Duration::from_secs(30))
        .idle_limit(Duration::from_secs(20))
        .output_limit(1 << 20)
        .process_limit(100)
        .memory_limit(1 << 30)
        .cpu_limit(Duration::from_secs(20))
        .file_size_limit(1 << 20)
        .open_files_limit(64)
}

async fn drawn_by_a_new_one(place: &Place) -> String {
    let terminal = place.start(portrait(place)).await;
    assert!(guarded(terminal.wait()).await.unwrap().success());
    terminal.text(1 << 20).unwrap().0
}

const NONE: [(&str, &str); 0] = [];

fn differences<'a>(a: &'a str, b: &'a str) -> Vec<(&'a str, &'a str)> {
    assert_eq!(a.lines().count(), b.lines().count(), "{a}\n{b}");
    a.lines().zip(b.lines()).filter(|(a, b)| a != b).collect()
}

#[tokio::test]
async fn the_next_command_finds_what_it_would_find_in_a_new_process() {
    let reusing = Reusing::new();
    let expected = drawn_by_a_new_one(&reusing.place).await;
    assert!(expected.contains("SigIgn:\t0000000000000000") && expected.ends_with("0\n1\n2\n"), "{expected}");
    let (holder, ended, said) = reusing.see_through(unrestricted(difficult(&reusing.place)).unwrap()).await;
    assert_eq!((ended.exit_code(), said.contains("of-the-first")), (Some(9), true), "{said}");
    for round in 0..3 {
        let (ended, drawn) = reusing.again(holder, portrait(&reusing.place)).await;
        assert!(ended.success());
        assert_eq!(differences(&drawn, &expected), NONE, "in round {round}");
        let (ended, _) = reusing.again(holder, difficult(&reusing.place)).await;
        assert_eq!(ended.exit_code(), Some(9));
    }
    reusing.check().await;
}

#[tokio::test]
async fn a_sandbox_goes_with_its_terminal_and_the_next_gets_its_own() {
    let base = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let base = base.path().canonicalize().unwrap();
    let outside = base.join("outside");
    fs::create_dir(&outside).unwrap();
    let reusing = Reusing::new();
    let expected = drawn_by_a_new_one(&reusing.place).await;
    let write = || reusing.place.line(&format!("echo x >{}/$$ && echo written", outside.display()));
    let mut holders = BTreeSet::new();
    for _ in 0..2 {
        let (holder, ended, said) = reusing.see_through(confined(&base, write())).await;
        assert_eq!((ended.sandbox.as_str(), ended.success()), ("workspace", false), "{said}");
        holders.insert(holder);
        let (ended, said) = reusing.again(holder, write()).await;
        assert_eq!((ended.sandbox.as_str(), said.as_str()), ("open", "written\n"));
        let (_, drawn) = reusing.again(holder, portrait(&reusing.place)).await;
        assert_eq!(differences(&drawn, &expected), NONE);
    }
    assert_eq!(
        holders.len(),
        1,
        "a sandbox is the command's and never the holder's, so any holder may come next"
    );
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 2);
    reusing.check().await;
}

#[tokio::test]
async fn a_shim_that_waits_has_nothing_of_a_terminal() {
    let reusing = Reusing::new();
    let (holder, ..) = reusing.see_through(unrestricted(difficult(&reusing.place)).unwrap()).await;
    let mut held = descriptors(holder);
    held.retain(|target| target != "/dev/null" && !target.contains("/cgroup"));
    assert!(matches!(held.as_slice(), [one] if one.starts_with("socket:")), "{held:?}");
    let status = fs::read_to_string(format!("/proc/{holder}/status")).unwrap();
    assert!(status.contains("SigBlk:\t0000000000000000"), "{status}");
    assert_eq!(fs::read_to_string(format!("/proc/{holder}/task/{holder}/children")).unwrap(), "");
    assert_eq!(fs::read_link(format!("/proc/{holder}/cwd")).unwrap().to_str(), Some("/"));
    let kept: String = fs::read(format!("/proc/{holder}/environ")).unwrap().escape_ascii().to_string();
    assert_eq!(kept, "");
    reusing.check().await;
}

#[tokio::test]
async fn what_was_typed_for_the_first_and_not_read_is_not_read_by_the_second() {
    let reusing = Reusing::new();
    let first = reusing.start(reusing.place.line("echo ready; sleep 0.1; exit 0").with_input()).await;
    let holder = reusing.place.holder_of(&first);
    until(&first, "ready").await;
    guarded(first.input("test").unwrap().send(b"for the first\n")).await.unwrap();
    super::until_over(&first).await;
    until_idle(holder, &reusing.place).await;
    let second = reusing.start(reusing.place.line("read line; echo [$line]").with_input()).await;
    assert_eq!(reusing.place.holder_of(&second), holder);
    guarded(second.input("test").unwrap().send(b"for the second\n")).await.unwrap();
    super::until_over(&second).await;
    assert_eq!(second.text(100).unwrap().0, "[for the second]\n");
    // Who still has the first sees the first, and asks nobody else.
    assert_eq!(first.text(100).unwrap().0, "ready\n");
    assert!(guarded(first.wait()).await.unwrap().success());
    assert_eq!(guarded(first.kill("test", None)).await.unwrap(), 0);
    drop((first, second));
    for found in reusing.store.list().unwrap() {
        guarded(found.terminal.unwrap().release()).await.unwrap();
    }
    reusing.check().await;
}
