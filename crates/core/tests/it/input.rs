//! Input: every byte once and in order, and nobody waits for a program that does not read.

use std::time::Duration;
use wharf_core::{Size, signal};
use wharf_shim::journal::record::Record;
use wharf_shim::wire::message::{Refusal, Reply, Request, State};
use wharf_testing::talk::Talk;
use wharf_testing::{Place, all_of, guarded, until};

fn bytes_from(writer: u64, seq: u64, bytes: &[u8]) -> Request {
    Request::Input { writer, seq, author: "test".into(), bytes: bytes.to_vec() }
}

#[tokio::test]
async fn input_reaches_the_command_and_ends_where_it_is_ended() {
    for holder in Place::holders() {
        let place = Place::with(holder);
        let pipe = place.start(place.misbehaving(&["counts-input"]).with_input()).await;
        let mut input = pipe.input("test").unwrap();
        let all: Vec<u8> = (0..=255).cycle().take(300_000).collect();
        guarded(input.send(&all)).await.unwrap();
        guarded(input.end()).await.unwrap();
        let sum: u64 = all.iter().map(|b| u64::from(*b)).sum();
        assert_eq!(all_of(&pipe).await, format!("ready\n300000 bytes, sum {sum}\n").into_bytes());

        for open_line in ["", "half a line"] {
            let pty = place.start(place.misbehaving(&["counts-input"]).pty(Size::default())).await;
            until(&pty, "ready").await;
            let mut input = pty.input("test").unwrap();
            guarded(input.send(format!("one\ntwo\n{open_line}").as_bytes())).await.unwrap();
            guarded(input.end()).await.unwrap();
            assert!(guarded(pty.wait()).await.unwrap().success());
            let out = String::from_utf8(all_of(&pty).await).unwrap();
            assert!(out.contains(&format!("{} bytes, sum", 8 + open_line.len())), "{out}");
        }
        place.check().await;
    }
}

#[tokio::test]
async fn what_one_sends_at_once_is_not_mixed_with_what_another_types() {
    const LONG: usize = 60_000;
    let place = Place::process();
    let line = "stty raw -echo; echo ready; exec head -c 120100 >typed";
    let terminal = place.start(place.line(line).pty(Size::default()).cwd(place.dir())).await;
    until(&terminal, "ready").await;
    let (mut agent, mut human) = (terminal.input("agent").unwrap(), terminal.input("human").unwrap());
    let types = async {
        for _ in 0..100 {
            guarded(human.send(b"h")).await.unwrap();
        }
    };
    let gives = async {
        for _ in 0..2 {
            guarded(agent.send(&[b'a'; LONG])).await.unwrap();
        }
    };
    tokio::join!(gives, types);
    assert!(guarded(terminal.wait()).await.unwrap().success());
    let typed = std::fs::read_to_string(place.dir().join("typed")).unwrap();
    let runs: Vec<usize> = typed.split('h').map(str::len).filter(|len| *len > 0).collect();
    assert!(runs == [LONG, LONG] || runs == [2 * LONG], "{runs:?}");
    place.check().await;
}

#[tokio::test]
async fn a_repeated_number_is_answered_and_written_once() {
    let place = Place::process();
    let terminal = place.start(place.misbehaving(&["echoes-lines"]).with_input()).await;
    until(&terminal, "ready").await;
    let socket = place.socket(&terminal);
    for seq in 1..=20 {
        let request = bytes_from(7, seq, format!("{seq}\n").as_bytes());
        // The answer to the first one is lost with its connection.
        let mut cut = Talk::to(&socket);
        cut.say(1, &request);
        if seq % 2 == 0 {
            let _ = cut.hear();
        }
        drop(cut);
        assert_eq!(Talk::to(&socket).ask(&request), Reply::Done);
        assert_eq!(Talk::to(&socket).ask(&request), Reply::Done);
    }
    // Older numbers are known as well, and another sender's are its own.
    assert_eq!(Talk::to(&socket).ask(&bytes_from(7, 3, b"again\n")), Reply::Done);
    assert_eq!(Talk::to(&socket).ask(&bytes_from(8, 3, b"other\n")), Reply::Done);
    let end = Request::EndInput { writer: 8, seq: 4, author: "test".into() };
    assert_eq!(Talk::to(&socket).ask(&end), Reply::Done);
    let out = String::from_utf8(all_of(&terminal).await).unwrap();
    let expected: String = (1..=20).map(|n| format!("got {n}\n")).collect();
    assert_eq!(out, format!("ready\n{expected}got other\n21 lines\n"));
    place.check().await;
}

#[tokio::test]
async fn an_end_of_input_whose_answer_was_lost_can_be_repeated() {
    let place = Place::process();
    // Closes nothing and reads nothing, so that the end stays pending.
    let terminal = place.start(place.misbehaving(&["stays", "ready"]).with_input()).await;
    until(&terminal, "ready").await;
    let end = Request::EndInput { writer: 1, seq: 1, author: "test".into() };
    assert_eq!(Talk::to(&place.socket(&terminal)).ask(&end), Reply::Done);
    assert_eq!(Talk::to(&place.socket(&terminal)).ask(&end), Reply::Done);
    place.check().await;
}

#[tokio::test]
async fn ten_thousand_inputs_over_cut_connections_arrive_once_and_in_order() {
    let place = Place::process();
    let terminal = place.start(place.misbehaving(&["echoes-lines"]).with_input()).await;
    until(&terminal, "ready").await;
    let socket = place.socket(&terminal);
    let sending = tokio::task::spawn_blocking(move || {
        let mut talk = Talk::to(&socket);
        for seq in 1..=10_000u64 {
            let request = bytes_from(1, seq, format!("{seq}\n").as_bytes());
            if seq % 7 == 0 {
                talk.say(1, &request);
                talk = Talk::to(&socket);
            }
            assert_eq!(talk.ask(&request), Reply::Done);
        }
        assert_eq!(
            talk.ask(&Request::EndInput { writer: 1, seq: 10_001, author: "test".into() }),
            Reply::Done
        );
    });
    guarded(sending).await.unwrap();
    let out = String::from_utf8(all_of(&terminal).await).unwrap();
    let expected: String = (1..=10_000).map(|n| format!("got {n}\n")).collect();
    assert!(out == format!("ready\n{expected}10000 lines\n"), "{} bytes", out.len());
    place.check().await;
}

#[tokio::test]
async fn a_program_that_does_not_read_holds_up_its_own_writers_only() {
    for holder in Place::holders() {
        let place = Place::with(holder);
        let spec = place.misbehaving(&["stays", "ready"]);
        for spec in [spec.clone().with_input(), spec.pty(Size::default())] {
            let terminal = place.start(spec).await;
            until(&terminal, "ready").await;
            let mut input = terminal.input("test").unwrap();
            let line = [vec![b'x'; 1000], vec![b'\n']].concat();
            let stuck = async {
                loop {
                    input.send(&line).await.unwrap();
                }
            };
            let given_up: Result<(), _> = tokio::time::timeout(Duration::from_secs(1), stuck).await;
            assert!(given_up.is_err(), "a program that never reads cannot take input for ever");
            // Everybody else is answered meanwhile.
            let mut stuck = Talk::to(&place.socket(&terminal));
            for seq in 1..50 {
                stuck.say(seq, &bytes_from(9, seq.into(), &line));
            }
            let mut other = Talk::to(&place.socket(&terminal));
            let Reply::Progress(progress) = other.ask(&Request::Status) else { panic!("not answered") };
            assert!(progress.input_pending > 0 && progress.state == State::Running);
            assert!(progress.input_pending < 1 << 20, "what waits is bounded");
            guarded(terminal.kill("test", Some(Duration::ZERO))).await.unwrap();
        }
        place.check().await;
    }
}

#[tokio::test]
async fn a_line_that_the_terminal_would_cut_is_refused_however_it_is_sent() {
    let place = Place::process();
    let terminal = place.start(place.misbehaving(&["echoes-lines"]).pty(Size::default())).await;
    until(&terminal, "ready").await;
    let mut input = terminal.input("test").unwrap();
    let long = [vec![b'a'; 4096], vec![b'\n']].concat();
    assert_eq!(guarded(input.send(&long)).await.unwrap_err().code(), "line_too_long");
    // In two pieces it is as long.
    guarded(input.send(&[b'b'; 3000])).await.unwrap();
    assert_eq!(guarded(input.send(&[b'b'; 3000])).await.unwrap_err().code(), "line_too_long");
    // What fits is taken whole.
    guarded(input.send(&[vec![b'b'; 1095], vec![b'\n']].concat())).await.unwrap();
    guarded(input.end()).await.unwrap();
    guarded(terminal.wait()).await.unwrap();
    let out = String::from_utf8(all_of(&terminal).await).unwrap();
    assert!(out.contains(&format!("got {}\r\n", "b".repeat(4095))), "{}", out.len());
    place.check().await;
}

#[tokio::test]
async fn a_program_that_reads_bytes_takes_any_line() {
    let place = Place::process();
    let line = format!(
        "stty raw -echo; echo raw; {} counts-input",
        wharf_testing::program("wharf-misbehave").display()
    );
    let terminal = place.start(place.line(&line).pty(Size::default())).await;
    until(&terminal, "ready").await;
    let mut input = terminal.input("test").unwrap();
    guarded(input.send(&vec![b'x'; 100_000])).await.unwrap();
    place.check().await;
}

#[tokio::test]
async fn input_that_cannot_go_anywhere_is_refused_with_the_reason() {
    let place = Place::process();
    let deaf = place.start(place.misbehaving(&["stays", "ready"])).await;
    let mut input = deaf.input("test").unwrap();
    assert_eq!(guarded(input.send(b"x")).await.unwrap_err().code(), "no_input");
    assert_eq!(guarded(deaf.resize(Size::default())).await.unwrap_err().code(), "no_pty");
    let over = place.start(place.misbehaving(&["exits-with", "0"]).with_input()).await;
    guarded(over.wait()).await.unwrap();
    assert_eq!(guarded(over.input("test").unwrap().send(b"x")).await.unwrap_err().code(), "ended");
    assert_eq!(guarded(over.signal(15, "test")).await.unwrap_err().code(), "ended");
    place.check().await;
}

#[tokio::test]
async fn a_resize_is_seen_by_the_program_and_by_those_who_look() {
    for holder in Place::holders() {
        let place = Place::with(holder);
        let line = "trap 'stty size' WINCH; echo ready; while :; do sleep 0.05; done";
        let terminal = place.start(place.line(line).pty(Size { cols: 80, rows: 24 })).await;
        until(&terminal, "ready").await;
        assert_eq!(terminal.look().unwrap().size, Some(Size { cols: 80, rows: 24 }));
        guarded(terminal.resize(Size { cols: 132, rows: 43 })).await.unwrap();
        until(&terminal, "43 132").await;
        assert_eq!(terminal.look().unwrap().size, Some(Size { cols: 132, rows: 43 }));
        place.check().await;
    }
}

#[tokio::test]
async fn signals_go_to_the_foreground_group_and_not_to_the_shell_behind_it() {
    let place = Place::process();
    let bash = wharf_core::Spec::argv("/bin/bash", ["--norc", "-i"]);
    let terminal = place.start(place.marked(bash).env("PS1", "prompt> ").pty(Size::default())).await;
    until(&terminal, "prompt> ").await;
    let mut input = terminal.input("test").unwrap();
    guarded(input.send(b"sh -c 'echo in-front; exec cat'; echo ended-$?\n")).await.unwrap();
    until(&terminal, "in-front\r\n").await;
    guarded(terminal.signal(signal::number("SIGQUIT").unwrap(), "test")).await.unwrap();
    until(&terminal, "ended-131").await;
    guarded(input.send(b"echo alive-$((40+2))\n")).await.unwrap();
    until(&terminal, "alive-42").await;
    place.check().await;
}

#[tokio::test]
async fn not_only_the_keyboards_signals_reach_the_foreground_group_of_a_pty() {
    for holder in Place::holders() {
        let place = Place::with(holder);
        let bash = wharf_core::Spec::argv("/bin/bash", ["--norc", "-i"]);
        let terminal = place.start(place.marked(bash).env("PS1", "prompt> ").pty(Size::default())).await;
        until(&terminal, "prompt> ").await;
        let mut input = terminal.input("test").unwrap();
        let send = async |name: &str| {
            guarded(terminal.signal(signal::number(name).unwrap(), "test")).await.unwrap();
        };
        for (name, status) in [("SIGTERM", 143), ("SIGUSR1", 138), ("SIGKILL", 137), ("SIGRTMIN+1", 163)] {
            let line = format!("sh -c 'echo {name} ahead; exec cat'; echo ended-$?\n");
            guarded(input.send(line.as_bytes())).await.unwrap();
            until(&terminal, &format!("{name} ahead\r\n")).await;
            send(name).await;
            until(&terminal, &format!("ended-{status}")).await;
        }
        let line = "sh -c 'trap \"echo has moved\" WINCH; echo ahead; while :; do sleep 0.05; done'\n";
        guarded(input.send(line.as_bytes())).await.unwrap();
        until(&terminal, "\nahead\r\n").await;
        send("SIGWINCH").await;
        until(&terminal, "has moved\r\n").await;
        place.check().await;
    }
}

#[tokio::test]
async fn every_signal_can_be_sent_on_a_pipe_too() {
    for holder in Place::holders() {
        let place = Place::with(holder);
        for name in ["SIGUSR1", "SIGTERM", "SIGKILL", "SIGRTMIN+3"] {
            let terminal = place.start(place.misbehaving(&["stays", "ready"])).await;
            until(&terminal, "ready").await;
            let number = signal::number(name).unwrap();
            guarded(terminal.signal(number, "test")).await.unwrap();
            assert_eq!(guarded(terminal.wait()).await.unwrap().signal().as_deref(), Some(name));
        }
        let terminal = place.start(place.misbehaving(&["stays", "ready"])).await;
        for nonsense in [0, -1, 65, 1000] {
            assert!(guarded(terminal.signal(nonsense, "test")).await.is_err(), "{nonsense}");
        }
        place.check().await;
    }
}

#[tokio::test]
async fn who_typed_what_is_in_the_journal_and_no_name_is_too_long_for_it() {
    let place = Place::process();
    let terminal = place.start(place.misbehaving(&["echoes-lines"]).with_input()).await;
    until(&terminal, "ready").await;
    guarded(terminal.input("agent").unwrap().send(b"one\n")).await.unwrap();
    guarded(terminal.input("human").unwrap().send(b"two\n")).await.unwrap();
    let authors: Vec<String> = place
        .events(&terminal)
        .entries
        .iter()
        .filter_map(|e| match &e.record {
            Record::Input { author, len: 4, .. } => Some(author.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(authors, ["agent", "human"]);
    // Refused or shortened, but never the end of the journal.
    let endless = "é".repeat(40_000);
    let _ = guarded(terminal.input(&endless).unwrap().send(b"three\n")).await;
    let _ = guarded(terminal.signal(28, &endless)).await;
    guarded(terminal.kill(&endless, Some(Duration::ZERO))).await.unwrap();
    guarded(terminal.wait()).await.unwrap();
    assert_eq!(place.events(&terminal).damage, None);
    let fresh = place.reopened().get(terminal.id()).unwrap();
    guarded(fresh.wait()).await.unwrap();
    place.check().await;
}

#[tokio::test]
async fn nonsense_on_the_socket_ends_that_connection_and_nothing_else() {
    let place = Place::process();
    let terminal = place.start(place.misbehaving(&["stays", "ready"])).await;
    until(&terminal, "ready").await;
    for nonsense in [&[255u8; 64][..], &[3, 0, 0, 0, 99, 1, 2], &[0, 0, 0, 0], &[1, 0, 0]] {
        let mut talk = Talk::to(&place.socket(&terminal));
        std::io::Write::write_all(&mut talk.stream, nonsense).unwrap();
        talk.stream.shutdown(std::net::Shutdown::Write).unwrap();
        while let Some((_, reply)) = talk.hear() {
            assert_eq!(reply, Reply::Refused(Refusal::NotUnderstood));
        }
    }
    assert!(matches!(Talk::to(&place.socket(&terminal)).ask(&Request::Status), Reply::Progress(_)));
    place.check().await;
}
