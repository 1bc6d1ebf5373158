//! The campaign: many rounds of what must never go wrong once. `WHARF_CAMPAIGN=1000` for more rounds than CI's hundred.

use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::path::Path;
use std::time::Duration;
use tokio::task::JoinSet;
use wharf_core::{Cause, Outcome, Size, Spec, TerminalId, unrestricted};
use wharf_testing::front_end::{FrontEnd, misbehave};
use wharf_testing::leak::{self, MARK};
use wharf_testing::{Place, guarded, program};

fn rounds() -> u64 {
    #[expect(clippy::disallowed_methods, reason = "how long to try is for whoever runs the tests to say")]
    let asked = std::env::var("WHARF_CAMPAIGN").ok();
    asked.and_then(|text| text.parse().ok()).unwrap_or(100)
}

/// Numbers without a pattern; the seed is in every failure's message.
struct Dice(u64);

impl Dice {
    fn new() -> Self {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        Self(now.as_nanos() as u64 | 1)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

const LINES: u64 = 12_000;

fn expected(newline: &str) -> Vec<u8> {
    let mut all: String = (0..LINES).map(|n| format!("{n:063}{newline}")).collect();
    all.push_str(&format!("wrote {} bytes{newline}", LINES * 64));
    all.into_bytes()
}

/// A front end creates the terminal and is killed for it, alone or with all its descendants, as some clients do it.
fn create_and_die(place: &Place, code: u64, pty: bool, hunted: Option<Signal>) -> TerminalId {
    let state = place.state();
    let misbehaving = program("wharf-misbehave");
    let lines = LINES.to_string();
    let on_exit = if pty { "keep-pty" } else { "keep" };
    let mut command = misbehave(&[
        "creates-terminal",
        state.to_str().unwrap(),
        on_exit,
        "0",
        "100",
        "stay",
        "--",
        misbehaving.to_str().unwrap(),
        "prints-numbered-lines",
        &lines,
        &code.to_string(),
    ]);
    command.env(MARK, place.dir());
    let mut creator = FrontEnd::run(command);
    let said = creator.hear();
    if let Some(signal) = hunted {
        leak::hunt(creator.pid(), signal);
    }
    creator.kill();
    TerminalId::parse(said.strip_prefix("ok ").unwrap()).unwrap()
}

/// Front ends copy the output to a file and are killed after some bytes; the last one may finish.
fn read_and_die(place: &Place, id: &TerminalId, copy: &Path, dice: &mut Dice) -> String {
    let length = || fs::metadata(copy).map_or(0, |meta| meta.len());
    for _ in 0..3 {
        let reader =
            FrontEnd::start("reads-terminal", &place.state(), &[id.as_str(), copy.to_str().unwrap()]);
        if dice.below(3) == 0 {
            stop_holder(place, id);
        }
        let target = length() + dice.below(LINES * 64 / 2);
        let patience = std::time::Instant::now() + Duration::from_millis(20 + dice.below(50));
        while length() < target && std::time::Instant::now() < patience {
            std::thread::yield_now();
        }
        reader.kill();
    }
    if dice.below(2) == 0 {
        stop_holder(place, id);
    }
    FrontEnd::start("reads-terminal", &place.state(), &[id.as_str(), copy.to_str().unwrap()]).finish()
}

/// SIGSTOP to the process that holds a terminal, if it still does.
fn stop_holder(place: &Place, id: &TerminalId) {
    let terminal = place.store.get(id).unwrap();
    let holder = Pid::from_raw(place.holder_of(&terminal).cast_signed()).unwrap();
    if terminal.look().unwrap().held {
        let _ = kill_process(holder, Signal::STOP);
    }
}

#[tokio::test]
async fn front_ends_that_are_killed_at_random_lose_no_byte_no_status_and_no_terminal() {
    let place = Place::process();
    let mut dice = Dice::new();
    let seed = dice.0;
    let (pipe, pty) = (expected("\n"), expected("\r\n"));
    let mut ids = Vec::new();
    for round in 0..rounds() {
        let (code, on_pty) = (dice.below(256), dice.below(2) == 0);
        let hunted = [None, Some(Signal::TERM), Some(Signal::KILL)][dice.below(3) as usize];
        let id = create_and_die(&place, code, on_pty, hunted);
        let copy = place.dir().join(format!("copy-{round}"));
        let said = read_and_die(&place, &id, &copy, &mut dice);
        assert_eq!(said, format!("Code({code})\n"), "round {round}, seed {seed}");
        let whole = if on_pty { &pty } else { &pipe };
        assert!(
            fs::read(&copy).unwrap() == *whole,
            "round {round}, seed {seed}: the copy is not what was written"
        );
        fs::remove_file(&copy).unwrap();
        let terminal = place.store.get(&id).unwrap();
        assert_eq!(guarded(terminal.wait()).await.unwrap().bytes, whole.len() as u64);
        ids.push(id);
        if ids.len() == 20 {
            let listed = place.store.ids().unwrap();
            assert!(ids.iter().all(|id| listed.contains(id)), "round {round}: a terminal is gone");
            for id in ids.drain(..) {
                guarded(place.store.get(&id).unwrap().release()).await.unwrap();
            }
        }
    }
    place.check_to_the_last_descriptor().await;
}

#[tokio::test]
async fn holders_that_are_killed_at_random_are_lost_with_what_they_kept_and_no_other() {
    let place = Place::process();
    let mut dice = Dice::new();
    let seed = dice.0;
    let whole = expected("\n");
    let bystander = place.start(place.misbehaving(&["echoes-lines"]).with_input()).await;
    for round in 0..rounds() / 4 {
        let code = dice.below(256);
        let id = create_and_die(&place, code, false, None);
        let terminal = place.store.get(&id).unwrap();
        let target = dice.below(LINES * 64);
        let patience = std::time::Instant::now() + Duration::from_millis(dice.below(20));
        while terminal.look().unwrap().end < target && std::time::Instant::now() < patience {
            std::thread::yield_now();
        }
        if dice.below(2) == 0 {
            stop_holder(&place, &id);
        }
        if terminal.look().unwrap().held {
            place.kill_holder(&terminal);
        }
        let ended = guarded(terminal.wait()).await.unwrap();
        let truthful = match ended.outcome {
            Outcome::Lost(_) => ended.cause == Cause::Lost,
            Outcome::Code(found) => found as u64 == code && ended.bytes == whole.len() as u64,
            Outcome::Signal(_) => false,
        };
        assert!(truthful, "round {round}, seed {seed}: {ended:?}");
        let kept = terminal.read(0, whole.len() + 1).unwrap().bytes;
        assert!(whole.starts_with(&kept), "round {round}, seed {seed}: not what was printed");
        guarded(terminal.release()).await.unwrap();
    }
    guarded(bystander.input("test").unwrap().end()).await.unwrap();
    assert!(guarded(bystander.wait()).await.unwrap().success());
    drop(bystander);
    place.check_to_the_last_descriptor().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_thousand_short_commands_end_as_they_did() {
    let place = Place::process();
    // Deadly, and leaving no core file.
    let signals = [1, 2, 9, 10, 12, 13, 14, 15];
    let mut running = JoinSet::new();
    for n in 0..rounds() * 20 {
        let (line, expected) = if n % 3 == 0 {
            let signal = signals[(n / 3) as usize % signals.len()];
            (format!("kill -{signal} $$"), Outcome::Signal(signal))
        } else {
            (format!("exit {}", n % 256), Outcome::Code((n % 256) as i32))
        };
        let grant = unrestricted(place.marked(Spec::shell_line("/bin/sh", line))).unwrap();
        let store = place.store.clone();
        running.spawn(async move {
            let terminal = store.create(grant).await.unwrap();
            let ended = guarded(terminal.wait()).await.unwrap();
            assert_eq!((ended.outcome, ended.cause), (expected, Cause::Exited));
            terminal.release().await.unwrap();
        });
        if running.len() >= 8 {
            running.join_next().await.unwrap().unwrap();
        }
    }
    while let Some(done) = running.join_next().await {
        done.unwrap();
    }
    place.check_to_the_last_descriptor().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_thousand_cycles_of_create_kill_and_release_leave_nothing() {
    let place = Place::process();
    let mut running = JoinSet::new();
    for n in 0..rounds() * 20 {
        let mut spec = place.line(if n % 2 == 0 { "sleep 100" } else { "setsid sleep 100 & sleep 100" });
        if n % 5 == 0 {
            spec = spec.pty(Size::default());
        }
        let store = place.store.clone();
        running.spawn(async move {
            let terminal = store.create(unrestricted(spec).unwrap()).await.unwrap();
            let killed = guarded(terminal.kill("test", Some(Duration::ZERO))).await.unwrap();
            assert!(killed >= 1);
            assert_eq!(guarded(terminal.wait()).await.unwrap().cause, Cause::Killed);
            guarded(terminal.release()).await.unwrap();
        });
        if running.len() >= 8 {
            running.join_next().await.unwrap().unwrap();
        }
    }
    while let Some(done) = running.join_next().await {
        done.unwrap();
    }
    place.check_to_the_last_descriptor().await;
}
