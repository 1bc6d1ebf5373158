//! Limits on what a tree uses: each ends what passes it, is named with its value, and leaves everybody else alone.
//!
//! Everything here is bounded by itself too: at most 255 processes, 300 MiB, 64 MiB of file, 20 seconds.

use std::time::{Duration, Instant};
use wharf_core::{Cause, Ended, Limit, Outcome, Spec, Step, Terminal, TerminalId};
use wharf_shim::journal::record::Record;
use wharf_testing::front_end::{FrontEnd, misbehave, without_cgroups};
use wharf_testing::leak::{self, MARK};
use wharf_testing::{Place, guarded};

/// Each of its processes makes two, seven times over, and the last of them stay for a while.
pub(crate) const BOMB: &str = "b() { [ $1 -gt 0 ] || exec sleep 20; b $(($1-1)) & b $(($1-1)) & wait; }; b 7";
pub(crate) const PROCESSES: u32 = 40;

/// Waits until nothing is left of it.
pub(crate) async fn until_over(terminal: &Terminal) -> Ended {
    let ended = guarded(terminal.wait()).await.unwrap();
    let mut reader = terminal.reader(u64::MAX);
    assert_eq!(guarded(reader.next_until_closed(1)).await.unwrap(), Step::Closed);
    ended
}

fn assert_no_grace(place: &Place, terminal: &Terminal, expected: Cause) {
    let entries = place.events(terminal).entries;
    let killings: Vec<_> = entries
        .iter()
        .filter_map(|entry| match &entry.record {
            Record::Killing { cause, grace, .. } => Some((*cause, *grace)),
            _ => None,
        })
        .collect();
    // With the memory controller the kernel has ended it before the holder could.
    assert!(killings.is_empty() || killings == [(expected, Duration::ZERO)], "{killings:?}");
}

/// Starts commands one after the other until told to stop; how long the slowest took.
async fn slowest_of_others(place: &Place, mut until: impl AsyncFnMut() -> bool) -> Duration {
    let mut slowest = Duration::ZERO;
    while !until().await {
        let before = Instant::now();
        let other = place.start(place.line("echo here")).await;
        assert!(guarded(other.wait()).await.unwrap().success());
        slowest = slowest.max(before.elapsed());
        guarded(other.release()).await.unwrap();
    }
    slowest
}

async fn assert_others_go_on(place: &Place, spec: Spec) -> Ended {
    let terminal = place.start(spec).await;
    let is_over = || async { place.events(&terminal).end().is_some() };
    let slowest = slowest_of_others(place, is_over).await;
    assert!(slowest < Duration::from_secs(5), "others took {slowest:?} meanwhile");
    until_over(&terminal).await
}

#[tokio::test]
async fn a_fork_bomb_is_ended_at_once_and_its_limit_named() {
    for holder in Place::holders() {
        let place = Place::with(holder);
        let terminal = place.start(place.line(BOMB).process_limit(PROCESSES)).await;
        let ended = until_over(&terminal).await;
        assert_eq!((ended.cause, ended.outcome), (Cause::ProcessLimit, Outcome::Signal(9)));
        assert_eq!(ended.limit, Some(Limit::Processes(PROCESSES.into())));
        assert!(ended.lasted < Duration::from_secs(10), "{:?}", ended.lasted);
        assert_no_grace(&place, &terminal, Cause::ProcessLimit);
        let ended = assert_others_go_on(&place, place.line(BOMB).process_limit(PROCESSES)).await;
        assert_eq!(ended.cause, Cause::ProcessLimit);
        place.check().await;
    }
}

#[tokio::test]
async fn without_cgroups_a_fork_bomb_is_ended_on_a_thread_too() {
    let place = Place::process();
    let limit = format!("--processes={PROCESSES}");
    let state = place.state();
    let mut command =
        misbehave(&["embeds-terminal", state.to_str().unwrap(), &limit, "--", "/bin/sh", "-c", BOMB]);
    command.env(MARK, place.dir());
    let mut program = FrontEnd::run(without_cgroups(&command));
    let said = program.hear();
    let Some(id) = said.strip_prefix("ok ") else { return program.kill() };
    let terminal = place.store.get(&TerminalId::parse(id).unwrap()).unwrap();
    assert_eq!(place.events(&terminal).start().unwrap().1.cgroup, "", "the cgroup was not hidden");
    let ended = until_over(&terminal).await;
    assert_eq!(ended.cause, Cause::ProcessLimit);
    assert_eq!(leak::living(place.dir(), &[program.pid()]), Vec::<String>::new());
    program.kill();
    place.check().await;
}

#[tokio::test]
async fn threads_count_as_processes() {
    for holder in Place::holders() {
        let place = Place::with(holder);
        let threads = |most| place.misbehaving(&["starts-threads", "60", "20000"]).process_limit(most);
        let ended = until_over(&place.start(threads(PROCESSES)).await).await;
        assert_eq!(ended.cause, Cause::ProcessLimit);
        place.check().await;
    }
}

#[tokio::test]
async fn a_memory_hog_is_ended_at_once_and_its_limit_named() {
    for holder in Place::holders() {
        let place = Place::with(holder);
        let hog = || place.misbehaving(&["uses-resources", "300", "20000"]).memory_limit(64 << 20);
        let terminal = place.start(hog()).await;
        let ended = until_over(&terminal).await;
        assert_eq!((ended.cause, ended.outcome), (Cause::MemoryLimit, Outcome::Signal(9)));
        assert_eq!(ended.limit, Some(Limit::Memory(64 << 20)));
        assert!(ended.lasted < Duration::from_secs(10), "{:?}", ended.lasted);
        assert_no_grace(&place, &terminal, Cause::MemoryLimit);
        assert_eq!(assert_others_go_on(&place, hog()).await.cause, Cause::MemoryLimit);
        place.check().await;
    }
}

#[tokio::test]
async fn memory_is_counted_over_the_whole_tree() {
    let place = Place::process();
    let program = wharf_testing::program("wharf-misbehave");
    let line = format!("for i in 1 2 3; do {} uses-resources 40 20000 & done; wait", program.display());
    let terminal = place.start(place.line(&line).memory_limit(90 << 20)).await;
    assert_eq!(until_over(&terminal).await.cause, Cause::MemoryLimit);
    place.check().await;
}

#[tokio::test]
async fn memory_that_a_fork_shares_counts_once() {
    let place = Place::process();
    // Six processes with the same 60 MiB, which is 360 to whoever adds them up. They are seen several times.
    let script =
        "$x = 'a' x (60 << 20); for (1..5) { fork or do { sleep 1; exit } } 1 while wait != -1; exit 3";
    let spec = place.marked(Spec::argv("perl", ["-e", script])).memory_limit(200 << 20);
    let ended = until_over(&place.start(spec).await).await;
    assert_eq!((ended.cause, ended.exit_code()), (Cause::Exited, Some(3)));
    place.check().await;
}

#[tokio::test]
async fn a_cpu_hog_is_asked_to_end_and_its_limit_named() {
    for holder in Place::holders() {
        let place = Place::with(holder);
        let limit = Duration::from_millis(300);
        for work in [":", "/bin/true"] {
            let line = format!("trap 'echo bye; exit 3' TERM; while :; do {work}; done");
            let spec = place.line(&line).cpu_limit(limit).grace(Duration::from_secs(20));
            let terminal = place.start(spec.time_limit(Duration::from_secs(30))).await;
            let ended = until_over(&terminal).await;
            assert_eq!((ended.cause, ended.exit_code()), (Cause::CpuLimit, Some(3)), "{work}");
            assert_eq!(ended.limit, Some(Limit::Cpu(limit)));
            assert!(ended.cpu.0 + ended.cpu.1 >= limit / 2, "{:?}", ended.cpu);
            assert!(terminal.text(100).unwrap().0.ends_with("bye\n"));
        }
        let hog = || place.line("while :; do :; done & while :; do :; done").cpu_limit(limit).grace(limit);
        assert_eq!(assert_others_go_on(&place, hog()).await.cause, Cause::CpuLimit);
        place.check().await;
    }
}

#[tokio::test]
async fn a_disk_filler_is_stopped_at_its_file_size_and_the_journal_is_not() {
    for holder in Place::holders() {
        let place = Place::with(holder);
        let limit = 1 << 20;
        let file = place.dir().join("filled");
        let line = format!("exec dd if=/dev/zero of={} bs=64k count=1000", file.display());
        let ended = until_over(&place.start(place.line(&line).file_size_limit(limit)).await).await;
        assert_eq!((ended.cause, ended.outcome), (Cause::FileSizeLimit, Outcome::Signal(25)));
        assert_eq!(ended.limit, Some(Limit::FileSize(limit)));
        assert_eq!(std::fs::metadata(&file).unwrap().len(), limit);
        let loud = place.line("head -c 3000000 /dev/zero").file_size_limit(limit);
        let ended = until_over(&place.start(loud).await).await;
        assert_eq!((ended.cause, ended.bytes, ended.limit), (Cause::Exited, 3_000_000, None));
        // The same signal without a limit is nobody's but its own.
        let ended = until_over(&place.start(place.line("kill -XFSZ $$")).await).await;
        assert_eq!((ended.cause, ended.outcome), (Cause::Exited, Outcome::Signal(25)));
        std::fs::remove_file(&file).unwrap();
        place.check().await;
    }
}

#[tokio::test]
async fn open_files_are_bounded_and_never_raised() {
    for holder in Place::holders() {
        let place = Place::with(holder);
        let terminal = place.start(place.line("ulimit -Sn; ulimit -Hn").open_files_limit(64)).await;
        until_over(&terminal).await;
        assert_eq!(terminal.text(100).unwrap().0, "64\n64\n");
        let above = place.start(place.line("ulimit -Hn").open_files_limit(u64::MAX)).await;
        until_over(&above).await;
        let own = rustix::process::getrlimit(rustix::process::Resource::Nofile).maximum;
        let own = own.map_or("unlimited".to_owned(), |most| most.to_string());
        assert_eq!(above.text(100).unwrap().0.trim(), own, "a limit raises nothing");
        place.check().await;
    }
}

#[tokio::test]
async fn whoever_stays_within_its_limits_is_left_alone() {
    for holder in Place::holders() {
        let place = Place::with(holder);
        let spec = place
            .line("sleep 0.3; i=0; while [ $i -lt 10 ]; do /bin/true; i=$((i+1)); done; exit 5")
            .process_limit(50)
            .memory_limit(1 << 30)
            .cpu_limit(Duration::from_secs(20))
            .file_size_limit(1 << 30)
            .open_files_limit(100);
        let ended = until_over(&place.start(spec).await).await;
        assert_eq!((ended.cause, ended.exit_code(), ended.limit), (Cause::Exited, Some(5), None));
        place.check().await;
    }
}

#[tokio::test]
async fn daemons_that_outlive_the_command_are_still_limited() {
    for holder in Place::holders() {
        let place = Place::with(holder);
        let line = format!("(sleep 0.5; {BOMB}) & exit 4");
        let terminal = place.start(place.line(&line).process_limit(PROCESSES)).await;
        let ended = until_over(&terminal).await;
        assert_eq!((ended.cause, ended.exit_code()), (Cause::Exited, Some(4)), "its own end is its own");
        let entries = place.events(&terminal).entries;
        let limited = |record: &Record| matches!(record, Record::Killing { cause: Cause::ProcessLimit, .. });
        assert!(entries.iter().any(|entry| limited(&entry.record)), "{entries:?}");
        place.check().await;
    }
}
