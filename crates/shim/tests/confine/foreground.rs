//! Looking at the foreground: of sandboxed commands and of setuid ones, as root and as an ordinary user.

use super::place::{Held, Place, Who, everybody};
use std::io::{Read, Write};
use std::time::{Duration, Instant};
use wharf_shim::confine::{Confine, Mount};
use wharf_shim::wire::foreground::{Doing, Foreground};
use wharf_shim::wire::frame::{Deframer, MAX_FRAME, frame};
use wharf_shim::wire::message::{Reply, Request};

const GUARD: Duration = Duration::from_secs(20);

/// One look.
fn look(held: &mut Held) -> Foreground {
    let stream = &mut held.owner;
    stream.set_read_timeout(Some(GUARD)).unwrap();
    stream.write_all(&frame(&Request::Foreground.encode(1))).unwrap();
    let mut deframer = Deframer::new(MAX_FRAME);
    let mut bytes = [0; 4096];
    loop {
        if let Some(body) = deframer.next_frame().unwrap() {
            match Reply::decode(body).unwrap() {
                (1, Reply::Foreground(seen)) => return seen,
                other => panic!("{other:?}"),
            }
        }
        let read = stream.read(&mut bytes).unwrap();
        deframer.push(&bytes[..read]);
    }
}

/// Looks until somebody does this, of whom nothing else is an event.
#[track_caller]
fn look_until(held: &mut Held, is: impl Fn(&Foreground) -> bool) -> Foreground {
    let began = Instant::now();
    loop {
        let seen = look(held);
        if is(&seen) {
            return seen;
        }
        assert!(began.elapsed() < GUARD, "{seen:?}");
        std::thread::yield_now();
    }
}

fn last(seen: &Foreground) -> Option<(&str, Doing)> {
    seen.members.last().map(|member| (member.name.as_str(), member.doing))
}

#[test]
fn a_reader_in_a_sandbox_is_seen_reading() {
    let poll = "exec python3 -c 'import select; select.select([0], [], [])'";
    for who in everybody() {
        let place = Place::new(who);
        let own = Confine { mounts: vec![Mount::Terminals], ..place.confine() };
        for confine in [place.confine(), place.plain_confine(), own] {
            for (line, name) in [("exec cat", "cat"), ("exec cat < /dev/tty", "cat"), (poll, "python3")] {
                let plan = Place::on_pty(place.line(line, Some(confine.clone())));
                let mut held = place.launch(&plan).unwrap();
                let seen = look_until(&mut held, |seen| last(seen) == Some((name, Doing::Reading)));
                assert!(seen.typing.echo && seen.typing.canonical && seen.unread == 0, "{who:?}: {seen:?}");
                held.close();
            }
        }
    }
}

#[test]
fn a_sleeper_in_a_sandbox_is_seen_sleeping() {
    for who in everybody() {
        let place = Place::new(who);
        let plan = Place::on_pty(place.line("exec sleep 60", Some(place.confine())));
        let mut held = place.launch(&plan).unwrap();
        look_until(&mut held, |seen| last(seen) == Some(("sleep", Doing::Sleeping)));
        held.close();
    }
}

#[test]
fn who_asks_for_a_secret_with_rights_that_we_lack_is_unknown_and_the_echo_is_off() {
    for who in everybody().into_iter().filter(|who| *who == Who::Ordinary) {
        let place = Place::new(who);
        let plan = Place::on_pty(place.line("exec su root -c true", None));
        let mut held = place.launch(&plan).unwrap();
        // It turns the echo off before it sits down to read: both are waited for.
        let seen =
            look_until(&mut held, |seen| !seen.typing.echo && last(seen) == Some(("su", Doing::Unknown)));
        assert!(seen.typing.canonical, "{seen:?}");
        held.close();
    }
}
