//! Output: every byte, in order, by its number, and exact about what is no longer there.

use std::os::unix::fs::MetadataExt;
use wharf_core::{Decoder, Phase, Size, Step};
use wharf_testing::{Place, all_of, guarded, until};

/// What `prints-numbered-lines` prints.
fn numbered(count: u64, newline: &str) -> Vec<u8> {
    let mut all = String::new();
    for number in 0..count {
        all.push_str(&format!("{number:063}{newline}"));
    }
    all.push_str(&format!("wrote {} bytes{newline}", count * 64));
    all.into_bytes()
}

#[tokio::test]
async fn stdout_and_stderr_come_in_the_order_they_were_written() {
    for holder in Place::holders() {
        let place = Place::with(holder);
        let line = "i=0; while [ $i -lt 200 ]; do echo o$i; echo e$i >&2; i=$((i+1)); done";
        let expected: String = (0..200).map(|i| format!("o{i}\ne{i}\n")).collect();
        let pipe = place.start(place.line(line)).await;
        assert_eq!(String::from_utf8(all_of(&pipe).await).unwrap(), expected);
        let pty = place.start(place.line(line).pty(Size::default())).await;
        assert_eq!(String::from_utf8(all_of(&pty).await).unwrap(), expected.replace('\n', "\r\n"));
        place.check().await;
    }
}

#[tokio::test]
async fn every_byte_value_is_kept_as_it_was() {
    for holder in Place::holders() {
        let place = Place::with(holder);
        let all: Vec<u8> = (0..=255).collect();
        let pipe = place.start(place.misbehaving(&["writes-every-byte"])).await;
        assert_eq!(all_of(&pipe).await, all);
        let raw = format!(
            "stty raw -echo; {} writes-every-byte",
            wharf_testing::program("wharf-misbehave").display()
        );
        let pty = place.start(place.line(&raw).pty(Size::default())).await;
        assert_eq!(all_of(&pty).await, all);
        place.check().await;
    }
}

#[tokio::test]
async fn megabytes_arrive_whole_through_pipe_and_pty() {
    for holder in Place::holders() {
        let place = Place::with(holder);
        let spec = place.misbehaving(&["prints-numbered-lines", "50000", "9"]);
        let pipe = place.start(spec.clone()).await;
        assert!(all_of(&pipe).await == numbered(50_000, "\n"));
        let pty = place.start(spec.pty(Size::default())).await;
        assert!(all_of(&pty).await == numbered(50_000, "\r\n"));
        for terminal in [pipe, pty] {
            assert_eq!(guarded(terminal.wait()).await.unwrap().exit_code(), Some(9));
        }
        place.check().await;
    }
}

#[tokio::test]
async fn any_offset_gives_the_bytes_from_there() {
    let place = Place::process();
    let terminal = place.start(place.misbehaving(&["prints-numbered-lines", "100", "0"])).await;
    let all = all_of(&terminal).await;
    let end = all.len() as u64;
    for (from, max) in [(0, 10), (1, 1), (63, 2), (100, 1_000_000), (end - 1, 5), (end, 5)] {
        let chunk = terminal.read(from, max).unwrap();
        let expected = &all[from as usize..(from as usize + max).min(all.len())];
        assert_eq!((chunk.at, chunk.bytes.as_slice(), chunk.gap), (from, expected, 0));
        assert_eq!((chunk.first, chunk.end), (0, end));
    }
    let beyond = terminal.read(end + 1000, 5).unwrap();
    assert_eq!((beyond.at, beyond.bytes.len(), beyond.gap, beyond.end), (end, 0, 0, end));
    let endless = terminal.read(u64::MAX, usize::MAX).unwrap();
    assert_eq!(endless.bytes.len(), 0);
    place.check().await;
}

#[tokio::test]
async fn what_is_dropped_is_counted_exactly_and_the_disk_is_given_back() {
    for holder in Place::holders() {
        let place = Place::with(holder);
        let keep: u64 = 256 << 10;
        let lines = 10 * keep / 64;
        let spec = place.misbehaving(&["prints-numbered-lines", &lines.to_string(), "0"]).keep(keep);
        let terminal = place.start(spec).await;
        let ended = guarded(terminal.wait()).await.unwrap();
        let all = numbered(lines, "\n");
        let end = all.len() as u64;
        assert_eq!(ended.bytes, end);
        let chunk = terminal.read(0, usize::MAX >> 1).unwrap();
        assert!(chunk.bytes == all[chunk.at as usize..], "what is kept is what was written");
        assert_eq!((chunk.gap, chunk.first, chunk.end), (chunk.at, chunk.at, end));
        let kept = chunk.bytes.len() as u64;
        assert!(kept <= keep && kept >= keep / 2, "{kept} of {keep} kept");
        let blocks = std::fs::metadata(place.files(&terminal).join("out")).unwrap().blocks() * 512;
        assert!(blocks <= keep + (128 << 10), "{blocks} bytes on disk for {keep}");
        // From within the gap as well, and at its edge.
        let middle = terminal.read(chunk.at - 10, 64).unwrap();
        assert_eq!((middle.gap, middle.at, middle.bytes.len()), (10, chunk.at, 64));
        let edge = terminal.read(chunk.at, 64).unwrap();
        assert_eq!((edge.gap, edge.at), (0, chunk.at));
        place.check().await;
    }
}

#[tokio::test]
async fn of_the_least_that_can_be_kept_fifteen_sixteenths_are_always_there() {
    let place = Place::process();
    let keep = 64 << 10;
    let least = keep - keep / 16;
    let all = numbered(20_000, "\n");
    for end in [keep, keep + 1, 1_000_000] {
        let misbehave = wharf_testing::program("wharf-misbehave");
        let line =
            format!("{} prints-numbered-lines 20000 0 2>/dev/null | head -c {end}", misbehave.display());
        let terminal = place.start(place.line(&line).keep(keep)).await;
        assert_eq!(guarded(terminal.wait()).await.unwrap().bytes, end);
        let chunk = terminal.read(0, usize::MAX >> 1).unwrap();
        let (first, look) = (chunk.first, terminal.look().unwrap());
        assert_eq!((chunk.at, chunk.gap, chunk.end), (first, first, end));
        assert_eq!((look.first, look.end), (first, end));
        match end {
            // One byte too many, and the oldest sixteenth goes with it.
            _ if end == keep + 1 => assert_eq!(first, end - least),
            _ if end == keep => assert_eq!(first, 0),
            _ => assert!(end - first >= least && end - first <= keep, "{} bytes kept", end - first),
        }
        assert!(chunk.bytes == all[first as usize..end as usize], "of {end} bytes, from {first}");
        let blocks = std::fs::metadata(place.files(&terminal).join("out")).unwrap().blocks() * 512;
        assert!(blocks <= keep + (64 << 10), "{blocks} bytes on disk for {keep}");
    }
    place.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_is_too_slow_is_told_every_gap_and_never_gets_zeros() {
    let place = Place::process();
    let lines: u64 = 200_000;
    let spec = place.misbehaving(&["prints-numbered-lines", &lines.to_string(), "0"]).keep(64 << 10);
    let terminal = place.start(spec).await;
    let all = numbered(lines, "\n");
    let mut reader = terminal.reader(0);
    let (mut at, mut gaps) = (0, 0);
    while let Step::Output(chunk) = guarded(reader.next(1000)).await.unwrap() {
        assert_eq!(chunk.at, at + chunk.gap, "the gap is exact");
        gaps += chunk.gap;
        assert!(chunk.bytes == all[chunk.at as usize..][..chunk.bytes.len()], "at {}", chunk.at);
        at = chunk.at + chunk.bytes.len() as u64;
    }
    assert_eq!(at, all.len() as u64);
    assert!(gaps > 0, "the reader kept up, so nothing was tried");
    place.check().await;
}

#[tokio::test]
async fn a_reader_is_woken_by_every_piece_and_by_the_end() {
    for holder in Place::holders() {
        let place = Place::with(holder);
        let terminal = place.start(place.misbehaving(&["echoes-lines"]).with_input()).await;
        until(&terminal, "ready\n").await;
        let mut reader = terminal.reader(6);
        let mut input = terminal.input("test").unwrap();
        for number in 0..50 {
            guarded(input.send(format!("{number}\n").as_bytes())).await.unwrap();
            let Step::Output(chunk) = guarded(reader.next(100)).await.unwrap() else { panic!("ended") };
            assert_eq!(chunk.bytes, format!("got {number}\n").as_bytes());
        }
        guarded(input.end()).await.unwrap();
        assert!(matches!(guarded(reader.next(100)).await.unwrap(), Step::Output(_)));
        assert!(matches!(guarded(reader.next(100)).await.unwrap(), Step::Ended | Step::Closed));
        assert_eq!(guarded(reader.next_until_closed(100)).await.unwrap(), Step::Closed);
        drop((terminal, reader, input));
        place.check_to_the_last_descriptor().await;
    }
}

#[tokio::test]
async fn text_holds_an_incomplete_character_back_until_it_is_whole() {
    let place = Place::process();
    // "a€" in four pieces, then a byte that can begin nothing, then half a character at the end.
    let pieces = ["61", "e2", "82", "ac", "ff", "e2"];
    let mut args = vec!["writes-in-pieces"];
    args.extend(pieces);
    let terminal = place.start(place.misbehaving(&args).with_input()).await;
    let mut input = terminal.input("test").unwrap();
    let mut reader = terminal.reader(0);
    let (mut decoder, mut decoded) = (Decoder::new(), String::new());
    for (n, expected) in ["a", "a", "a", "a€", "a€\u{fffd}", "a€\u{fffd}"].into_iter().enumerate() {
        guarded(input.send(b".")).await.unwrap();
        let Step::Output(chunk) = guarded(reader.next(10)).await.unwrap() else { panic!("ended") };
        decoded.push_str(&decoder.push(&chunk.bytes));
        assert_eq!(decoded, expected, "after piece {n}");
        if n < 5 {
            assert_eq!(terminal.text(100).unwrap(), (expected.to_owned(), false), "after piece {n}");
        }
    }
    guarded(terminal.wait()).await.unwrap();
    assert_eq!(terminal.text(100).unwrap(), ("a€\u{fffd}\u{fffd}".to_owned(), false));
    place.check().await;
}

#[tokio::test]
async fn the_last_bytes_as_text_are_never_more_and_never_begin_within_a_character() {
    let place = Place::process();
    let terminal = place.start(place.line("printf 'aé€😀'")).await;
    guarded(terminal.wait()).await.unwrap();
    let whole = "aé€😀";
    for limit in 0..14 {
        let (text, left_out) = terminal.text(limit).unwrap();
        assert!(text.len() <= limit && whole.ends_with(&text), "{limit}: {text:?}");
        assert_eq!(left_out, limit < whole.len(), "{limit}");
        let next = whole[..whole.len() - text.len()].chars().next_back();
        assert!(next.is_none_or(|c| text.len() + c.len_utf8() > limit), "{limit}: more would have fitted");
    }
    place.check().await;
}

#[tokio::test]
async fn a_program_that_closes_its_output_is_not_over() {
    for holder in Place::holders() {
        let place = Place::with(holder);
        let spec = place.misbehaving(&["closes-its-output", "5"]);
        for spec in [spec.clone(), spec.pty(Size::default())] {
            let terminal = place.start(spec).await;
            until(&terminal, "closing").await;
            assert!(matches!(terminal.look().unwrap().phase, Phase::Running { .. }));
            let ended = guarded(terminal.wait()).await.unwrap();
            assert_eq!(ended.exit_code(), Some(5));
            assert!(ended.lasted >= std::time::Duration::from_millis(350), "{:?}", ended.lasted);
        }
        place.check().await;
    }
}

#[tokio::test]
async fn a_slow_reader_holds_up_nobody() {
    let place = Place::process();
    let terminal = place.start(place.misbehaving(&["prints-numbered-lines", "20000", "0"])).await;
    // Connections that ask and never listen, and one that says half a word.
    let mut deaf = Vec::new();
    for _ in 0..20 {
        let mut talk = wharf_testing::talk::Talk::to(&place.socket(&terminal));
        talk.say(
            1,
            &wharf_shim::wire::message::Request::Watch {
                past: 0,
                seen: wharf_shim::wire::message::State::Running,
            },
        );
        deaf.push(talk);
    }
    std::io::Write::write_all(&mut deaf[0].stream, &[9, 0]).unwrap();
    assert!(all_of(&terminal).await == numbered(20_000, "\n"));
    assert!(guarded(terminal.wait()).await.unwrap().success());
    place.check().await;
}
