//! Following a command's output over a protocol that does not push it.

use crate::pair::{Announces, connect, host, session};
use agent_client_protocol::Client;
use agent_client_protocol::v1::ConnectionTo;
use futures_core::Stream;
use std::future::poll_fn;
use std::pin::pin;
use std::time::{Duration, Instant};
use wharf_acp::{Exit, Follow, Host, Terminals};
use wharf_testing::{Place, guarded, until};

async fn with_terminals(place: &Place, host: &Host, agent: impl AsyncFnOnce(Terminals)) {
    let body =
        async |cx: ConnectionTo<Client>, capabilities, _| agent(Terminals::new(cx, &capabilities)).await;
    guarded(connect(host, Announces::Terminals, place.dir(), body)).await;
}

/// All pieces, as one text and as they came.
async fn all(mut follow: Follow) -> (String, Vec<wharf_acp::Piece>, Option<Exit>) {
    let mut pieces = Vec::new();
    while let Some(piece) = follow.next().await.unwrap() {
        pieces.push(piece);
    }
    let text = pieces.iter().map(|piece| piece.text.as_str()).collect();
    (text, pieces, follow.exit().cloned())
}

#[tokio::test]
async fn output_comes_while_the_command_runs_and_nothing_comes_twice() {
    let place = Place::process();
    let (host, _told) = host(&place);
    with_terminals(&place, &host, async |terminals| {
        // Goes on when it is told that its first line was seen.
        let go = place.dir().join("go");
        let line = format!("mkfifo {0}; echo first; read x <{0}; printf 'é€😀\\nlast'", go.display());
        let terminal = terminals.command(&session(), line).start().await.unwrap();
        let mut follow = terminal.follow().every(Duration::from_millis(10));
        let first = follow.next().await.unwrap().unwrap();
        assert_eq!((first.text.as_str(), first.missed), ("first\n", false));
        assert_eq!(follow.exit(), None);
        tokio::task::spawn_blocking(move || std::fs::write(go, "on\n")).await.unwrap().unwrap();
        let (text, pieces, exit) = all(follow).await;
        assert_eq!(text, "é€😀\nlast");
        assert!(pieces.iter().all(|piece| !piece.missed));
        assert_eq!(exit, Some(Exit::Code(0)));
    })
    .await;
    place.check().await;
}

#[tokio::test]
async fn the_end_is_told_at_once_however_seldom_output_is_asked_for() {
    let place = Place::process();
    let (host, _told) = host(&place);
    with_terminals(&place, &host, async |terminals| {
        let terminal = terminals.command(&session(), "sleep 0.2; echo done; exit 4").start().await.unwrap();
        let begun = Instant::now();
        let (text, _, exit) = all(terminal.follow().every(Duration::from_secs(100))).await;
        assert_eq!((text.as_str(), exit), ("done\n", Some(Exit::Code(4))));
        assert!(begun.elapsed() < Duration::from_secs(15));
    })
    .await;
    place.check().await;
}

#[tokio::test]
async fn a_window_that_moves_over_the_output_gives_every_character_once() {
    let place = Place::process();
    let (host, _told) = host(&place);
    with_terminals(&place, &host, async |terminals| {
        // Lines of two-byte characters in a window of odd size: every cut is in the middle of something.
        let next = place.dir().join("next");
        let fifo = next.display();
        let line = format!(
            "mkfifo {fifo}; exec 3<>{fifo}; for i in $(seq 1000 1020); do echo \"ééé $i\"; read x <&3; done"
        );
        let terminal = terminals.command(&session(), line).output_byte_limit(61).start().await.unwrap();
        let real = host.terminal(&session(), &terminal.id().0).unwrap();
        let mut follow = terminal.follow().every(Duration::from_millis(1));
        let mut text = String::new();
        for i in 1000..=1020 {
            until(&real, &i.to_string()).await;
            while !text.contains(&i.to_string()) {
                let piece = follow.next().await.unwrap().unwrap();
                assert!(!piece.missed, "{piece:?} after {text:?}");
                text += &piece.text;
            }
            let next = next.clone();
            tokio::task::spawn_blocking(move || std::fs::write(next, "\n")).await.unwrap().unwrap();
        }
        while let Some(piece) = follow.next().await.unwrap() {
            text += &piece.text;
        }
        let expected: String = (1000..=1020).map(|i| format!("ééé {i}\n")).collect();
        assert_eq!(text, expected);
    })
    .await;
    place.check().await;
}

#[tokio::test]
async fn what_the_client_dropped_is_said_to_be_missing() {
    let place = Place::process();
    let (host, _told) = host(&place);
    with_terminals(&place, &host, async |terminals| {
        let line = "seq 100000 199999";
        let terminal = terminals.command(&session(), line).output_byte_limit(100).start().await.unwrap();
        terminal.wait_for_exit().await.unwrap();
        let (text, pieces, exit) = all(terminal.follow()).await;
        assert_eq!(pieces.len(), 1);
        assert!(pieces[0].missed);
        assert!(text.ends_with("199998\n199999\n") && text.len() <= 100, "{text:?}");
        assert_eq!(exit, Some(Exit::Code(0)));
    })
    .await;
    place.check().await;
}

/// What is kept looks the same before and after.
#[tokio::test]
async fn what_was_dropped_of_a_flood_of_equal_lines_is_said_to_be_missing() {
    let place = Place::process();
    let (host, _told) = host(&place);
    with_terminals(&place, &host, async |terminals| {
        let go = place.dir().join("go");
        let line = format!("mkfifo {0}; yes | head -n 100; read x <{0}; yes | head -n 100000", go.display());
        let terminal = terminals.command(&session(), line).output_byte_limit(1000).start().await.unwrap();
        let mut follow = terminal.follow().every(Duration::from_millis(10));
        let mut before = 0;
        while before < 200 {
            before += follow.next().await.unwrap().unwrap().text.len();
        }
        tokio::task::spawn_blocking(move || std::fs::write(go, "on\n")).await.unwrap().unwrap();
        let (text, pieces, _) = all(follow).await;
        assert!(before + text.len() < 200_200 && pieces.iter().any(|piece| piece.missed), "{}", text.len());
    })
    .await;
    place.check().await;
}

#[tokio::test]
async fn a_client_that_keeps_nothing_is_said_to_have_dropped_it() {
    let place = Place::process();
    let (host, _told) = host(&place);
    with_terminals(&place, &host, async |terminals| {
        let command = terminals.command(&session(), "echo hello").output_byte_limit(0);
        let terminal = command.start().await.unwrap();
        let (text, pieces, exit) = all(terminal.follow()).await;
        assert_eq!((text.as_str(), exit), ("", Some(Exit::Code(0))));
        assert!(pieces.iter().any(|piece| piece.missed));
    })
    .await;
    place.check().await;
}

/// As any stream is read.
async fn pieces_of<S: Stream>(stream: S) -> Vec<S::Item> {
    let (mut stream, mut items) = (pin!(stream), Vec::new());
    while let Some(item) = poll_fn(|cx| stream.as_mut().poll_next(cx)).await {
        items.push(item);
    }
    items
}

#[tokio::test]
async fn it_is_a_stream_that_another_task_can_read_while_the_handle_is_used() {
    let place = Place::process();
    let (host, _told) = host(&place);
    with_terminals(&place, &host, async |terminals| {
        let line = "trap 'echo killed; exit 3' TERM; echo begun; while :; do sleep 0.01; done";
        let terminal = terminals.command(&session(), line).start().await.unwrap();
        let mut follow = terminal.follow().every(Duration::from_millis(5));
        assert_eq!(follow.next().await.unwrap().unwrap().text, "begun\n");
        let reading = tokio::spawn(pieces_of(follow));
        terminal.kill().await.unwrap();
        let text: String = reading.await.unwrap().into_iter().map(|piece| piece.unwrap().text).collect();
        assert!(text.ends_with("killed\n") && !text.contains("begun"), "{text:?}");
        assert_eq!(terminal.wait_for_exit().await.unwrap(), Exit::Code(3));
    })
    .await;
    place.check().await;
}

#[tokio::test]
async fn once_its_terminal_is_released_it_says_so_once_and_ends() {
    let place = Place::process();
    let (host, _told) = host(&place);
    with_terminals(&place, &host, async |terminals| {
        let terminal = terminals.command(&session(), "echo begun; sleep 100").start().await.unwrap();
        let mut follow = terminal.follow().every(Duration::from_millis(5));
        assert_eq!(follow.next().await.unwrap().unwrap().text, "begun\n");
        terminal.release().await.unwrap();
        let left = pieces_of(&mut follow).await;
        // Whoever waited hears of the end, and then of nothing any more.
        assert!(left.iter().filter(|piece| piece.is_err()).count() <= 1, "{left:?}");
        assert!(left.last().is_none_or(Result::is_err), "{left:?}");
        assert_eq!(follow.next().await.unwrap(), None);
    })
    .await;
    place.check().await;
}
