//! Programs that do not wait for input, whatever they print; and terminals that cannot be asked.

use super::{PYTHON, SIZE, Watched};
use wharf_core::Spec;
use wharf_core::foreground::Doing;
use wharf_shim::wire::message::{Refusal, Reply, Request};
use wharf_testing::talk::Talk;
use wharf_testing::{Place, guarded, until};

#[tokio::test]
async fn who_prints_a_prompt_and_works_on_is_not_waiting() {
    let table = [
        ("printf 'Password: '; sleep 60", "Password:"),
        ("printf 'Password: '; while :; do :; done", "Password:"),
        ("stty -echo; printf 'Password: '; sleep 60", "Password:"),
        ("stty raw -echo; printf 'Continue? [y/N] '; sleep 60", "Continue?"),
        (r"printf '\e[?1049h(END)'; sleep 60", "(END)"),
        ("printf 'Name: '; sleep 60 | cat", "Name:"),
        ("mkfifo $TEST_PLACE/f; echo opens; cat < $TEST_PLACE/f", "opens"),
        ("printf 'Name: '; cat < <(sleep 60)", "Name:"),
        ("echo stops; kill -STOP $$", "stops"),
        ("set -m; cat & echo works; sleep 60", "works"),
    ];
    for holder in Place::holders() {
        let place = Place::with(holder);
        for (line, said) in table {
            let mut watched = Watched::line(&place, line).await;
            watched.nobody_after(said).await;
            guarded(watched.terminal.kill("test", Some(std::time::Duration::ZERO))).await.unwrap();
            let _ = std::fs::remove_file(place.dir().join("f"));
        }
        place.check().await;
    }
}

#[tokio::test]
async fn who_waits_for_something_else_is_not_waiting_for_input() {
    let place = Place::process();
    let listen = "import socket, select; s = socket.create_server(('127.0.0.1', 0)); print('listens'); ";
    let table = [
        ("s.accept()", "listens"),
        ("select.select([s], [], [])", "listens"),
        ("p = select.epoll(); p.register(s); p.poll()", "listens"),
        // Reads lines if any come, and serves: that can go on for ever.
        ("select.select([0, s], [], [])", "listens"),
        ("p = select.epoll(); p.register(s); p.register(0, select.EPOLLIN); p.poll()", "listens"),
        // The terminal is watched, but not for input.
        ("p = select.epoll(); p.register(0, select.EPOLLHUP); p.poll()", "listens"),
        ("p = select.poll(); p.register(0, 0); p.poll()", "listens"),
        ("import time; time.sleep(60)", "listens"),
        // Reads another terminal.
        ("import os, pty; m, s = pty.openpty(); os.read(s, 1)", "listens"),
        // One thread reads, another computes.
        ("import threading as t; t.Thread(target=input).start()\nwhile True: pass", "listens"),
    ];
    for (script, said) in table {
        let mut watched = Watched::python(&place, &format!("{listen}{script}")).await;
        watched.nobody_after(said).await;
    }
    place.check().await;
}

#[tokio::test]
async fn a_background_job_that_wants_the_terminal_does_not_count() {
    let place = Place::process();
    let mut watched = Watched::line(&place, "PS1='> ' exec bash --norc -i").await;
    watched.type_in("cat & sleep 60\n").await;
    until(&watched.terminal, "[1] ").await;
    loop {
        let (seen, awaiting) = guarded(watched.look()).await;
        // Until the shell has handed over.
        if seen.members.iter().any(|member| member.name == "sleep") {
            break;
        }
        assert!(awaiting.is_none_or(|awaiting| awaiting.program == "bash"));
    }
    for _ in 0..super::LOOKS {
        let (seen, awaiting) = guarded(watched.look()).await;
        assert_eq!(awaiting, None, "{seen:?}");
        assert!(seen.members.iter().all(|member| member.name == "sleep"), "{seen:?}");
    }
    place.check().await;
}

#[tokio::test]
async fn what_was_typed_ahead_is_known_to_be_unread() {
    let place = Place::process();
    let mut watched = Watched::line(&place, "echo sleeps; sleep 60").await;
    until(&watched.terminal, "sleeps").await;
    watched.type_in("early\n").await;
    let (seen, awaiting) = guarded(watched.look()).await;
    assert_eq!((seen.unread, awaiting), (6, None));
    // Half a line more is nothing that a program could read.
    watched.type_in("half").await;
    assert_eq!(guarded(watched.look()).await.0.unread, 6);
    // An end of input has no bytes, and is something to read nevertheless.
    let mut ended = Watched::line(&place, "echo sleeps; sleep 60").await;
    until(&ended.terminal, "sleeps").await;
    ended.type_in("\x04").await;
    assert_eq!(guarded(ended.look()).await.0.unread, 1);
    place.check().await;
}

#[tokio::test]
async fn processor_time_that_was_used_shows_even_if_nobody_is_caught_running() {
    let place = Place::process();
    let mut watched = Watched::line(&place, "echo begins; while :; do :; done").await;
    watched.nobody_after("begins").await;
    let first = guarded(watched.terminal.foreground()).await.unwrap().members[0].clone();
    let mut now = first.clone();
    while now.ticks <= first.ticks + 2 {
        now = guarded(watched.terminal.foreground()).await.unwrap().members[0].clone();
    }
    assert_eq!((now.pid, now.doing), (first.pid, Doing::Running));
    place.check().await;
}

#[tokio::test]
async fn a_name_that_would_paint_is_shown_without_it() {
    let place = Place::process();
    let script = "import ctypes; ctypes.CDLL(None).prctl(15, b'a\\x1b[31m\\n)', 0, 0, 0); input('named ')";
    let mut watched = Watched::python(&place, script).await;
    assert_eq!(watched.awaiting().await.program, "a?[31m?)");
    place.check().await;
}

#[tokio::test]
async fn very_many_members_are_not_all_looked_at() {
    let place = Place::process();
    let line = "for i in {1..300}; do sleep 60 & done; echo all; wait";
    let mut watched = Watched::line(&place, line).await;
    watched.nobody_after("all").await;
    assert_eq!(guarded(watched.look()).await.0.members.len(), 256);
    place.check().await;
}

#[tokio::test]
async fn looking_changes_nothing_for_the_program() {
    let place = Place::process();
    let line = "read -p 'Name: ' x; echo \"got $x\"; exit 7";
    let mut watched = Watched::line(&place, line).await;
    watched.awaiting().await;
    for _ in 0..200 {
        guarded(watched.terminal.foreground()).await.unwrap();
    }
    watched.type_in("joe\n").await;
    let ended = guarded(watched.terminal.wait()).await.unwrap();
    assert_eq!(ended.exit_code(), Some(7));
    let (text, _) = watched.terminal.text(1 << 16).unwrap();
    assert_eq!(text, "Name: joe\r\ngot joe\r\n");
    place.check().await;
}

#[tokio::test]
async fn only_a_living_pty_can_be_asked() {
    let place = Place::process();
    let pipe = place.start(place.misbehaving(&["stays", "ready"])).await;
    assert_eq!(guarded(pipe.foreground()).await.unwrap_err().code(), "no_pty");
    let over = place.start(place.misbehaving(&["exits-with", "0"]).pty(SIZE)).await;
    guarded(over.wait()).await.unwrap();
    assert_eq!(guarded(over.foreground()).await.unwrap_err().code(), "ended");
    // The command has ended, and its holder stays for those who are left.
    let left = place.start(place.line("trap '' HUP; sleep 60 & echo left").pty(SIZE)).await;
    guarded(left.wait()).await.unwrap();
    assert_eq!(Talk::to(&place.socket(&left)).ask(&Request::Foreground), Reply::Refused(Refusal::Ended));
    place.check().await;
}

#[tokio::test]
async fn a_foreground_that_is_nobodys_is_no_error() {
    let place = Place::process();
    // A group takes the foreground and ends; nobody takes it back.
    let script = "import os, signal, time
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
child = os.fork()
if child == 0:
    os.setpgid(0, 0); os.tcsetpgrp(0, os.getpid()); os._exit(0)
os.waitpid(child, 0); print('gone'); time.sleep(60)";
    let spec = place.marked(Spec::argv(PYTHON, ["-u", "-c", script]));
    let mut watched = Watched::start(&place, spec).await;
    watched.nobody_after("gone").await;
    let (seen, _) = guarded(watched.look()).await;
    assert!(seen.members.is_empty(), "{seen:?}");
    place.check().await;
}
