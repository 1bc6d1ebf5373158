//! The campaign: many rounds of what must never go wrong once. `WHARF_CAMPAIGN=1000` for more rounds than CI's hundred.

use std::fs;
use std::path::Path;
use std::time::Duration;
use tokio::task::JoinSet;
use wharf_core::{Cause, Outcome, Size, Spec, TerminalId, unrestricted};
use wharf_testing::front_end::{FrontEnd, misbehave};
use wharf_testing::leak::MARK;
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

/// A front end creates the terminal and is killed for it.
fn create_and_die(place: &Place, code: u64, pty: bool) -> TerminalId {
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
    creator.kill();
    TerminalId::parse(said.strip_prefix("ok ").unwrap()).unwrap()
}

/// Front ends copy the output to a file and are killed after some bytes; the last one may finish.
fn read_and_die(place: &Place, id: &TerminalId, copy: &Path, dice: &mut Dice) -> String {
    let length = || fs::metadata(copy).map_or(0, |meta| meta.len());
    for _ in 0..3 {
        let reader =
            FrontEnd::start("reads-terminal", &place.state(), &[id.as_str(), copy.to_str().unwrap()]);
        let target = length() + dice.below(LINES * 64 / 2);
        let patience = std::time::Instant::now() + Duration::from_millis(20 + dice.below(50));
        while length() < target && std::time::Instant::now() < patience {
            std::thread::yield_now();
        }
        reader.kill();
    }
    FrontEnd::start("reads-terminal", &place.state(), &[id.as_str(), copy.to_str().unwrap()]).finish()
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
        let id = create_and_die(&place, code, on_pty);
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
