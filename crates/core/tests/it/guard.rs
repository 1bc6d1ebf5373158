//! A program under a guard: its bytes, its ends of file and its status pass, and nothing of its tree stays.

use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use wharf_core::{GuardError, Guarded, Holder};
use wharf_testing::front_end::{FrontEnd, misbehave};
use wharf_testing::leak::{self, MARK};
use wharf_testing::{Place, guarded, program};

/// Longer than any of these tests may take: who ends sooner has not been waited out.
const LONG: Duration = Duration::from_secs(60);

/// Starts a program that carries the place's mark, so that it is found wherever it goes.
async fn start(place: &Place, holder: &Holder, args: &[&str]) -> Guarded {
    let mark = format!("{MARK}={}", place.dir().display());
    let args = std::iter::once(mark.as_str()).chain(args.iter().copied());
    guarded(Guarded::start(holder, "env", args)).await.unwrap()
}

async fn start_misbehaving(place: &Place, holder: &Holder, args: &[&str]) -> Guarded {
    let misbehave = program("wharf-misbehave");
    let args: Vec<&str> = std::iter::once(misbehave.to_str().unwrap()).chain(args.iter().copied()).collect();
    start(place, holder, &args).await
}

fn shim() -> Holder {
    Holder::Process(program("wharf-shim"))
}

/// All that the program prints, until nobody can print any more.
async fn all_of(program: &mut Guarded) -> String {
    let mut all = String::new();
    guarded(program.stdout.as_mut().unwrap().read_to_string(&mut all)).await.unwrap();
    all
}

/// Waits for a line of the program's own.
async fn until(program: &mut Guarded, line: &str) {
    let wanted = format!("{line}\n").into_bytes();
    let mut all = Vec::new();
    while !all.ends_with(&wanted) {
        let byte = guarded(program.stdout.as_mut().unwrap().read_u8()).await;
        all.push(byte.unwrap_or_else(|_| panic!("{} before {line:?}", String::from_utf8_lossy(&all))));
    }
}

#[tokio::test]
async fn exit_codes_and_signals_pass() {
    for holder in Place::holders() {
        let place = Place::with(holder.clone());
        for code in [0, 1, 77, 255] {
            let mut program = start_misbehaving(&place, &holder, &["exits-with", &code.to_string()]).await;
            assert_eq!(guarded(program.wait()).await.unwrap(), code);
            assert_eq!(guarded(program.wait()).await.unwrap(), code, "and again");
        }
        for signal in [9u8, 11, 13, 15] {
            let mut program = start_misbehaving(&place, &holder, &["dies-by", &signal.to_string()]).await;
            assert_eq!(guarded(program.wait()).await.unwrap(), 128 + signal);
        }
        place.check_to_the_last_descriptor().await;
    }
}

#[tokio::test]
async fn bytes_and_the_end_of_input_pass() {
    for holder in Place::holders() {
        let place = Place::with(holder.clone());
        let mut program = start(&place, &holder, &["cat"]).await;
        let mut stdin = program.stdin.take().unwrap();
        let sent: Vec<u8> = (0..=255).cycle().take(1 << 20).collect();
        let expected = sent.clone();
        let sending = tokio::spawn(async move { stdin.write_all(&sent).await.unwrap() });
        let mut received = Vec::new();
        guarded(program.stdout.as_mut().unwrap().read_to_end(&mut received)).await.unwrap();
        sending.await.unwrap();
        assert!(received == expected, "{} bytes came back", received.len());
        assert_eq!(guarded(program.wait()).await.unwrap(), 0);
        drop(program);
        place.check_to_the_last_descriptor().await;
    }
}

#[tokio::test]
async fn a_program_that_closes_its_output_or_input_and_lives_on_is_seen_to() {
    for holder in Place::holders() {
        let place = Place::with(holder.clone());
        let closes = r#"exec >&-; read line; exec <&-; while :; do sleep 1000; done"#;
        let mut program = start(&place, &holder, &["/bin/sh", "-c", closes]).await;
        assert_eq!(all_of(&mut program).await, "", "the end of its output, while it still reads");
        let mut stdin = program.stdin.take().unwrap();
        stdin.write_all(b"go on\n").await.unwrap();
        guarded(async { while stdin.write_all(b"more\n").await.is_ok() {} }).await;
        assert_eq!(guarded(program.end(LONG)).await.unwrap(), 128 + 15, "it lived until it was asked");
        drop((program, stdin));
        place.check_to_the_last_descriptor().await;
    }
}

#[tokio::test]
async fn the_program_gets_three_descriptors_and_no_more() {
    let place = Place::process();
    // A program that embeds wharf may be careless with its own.
    let careless = rustix::io::dup(std::io::stderr()).unwrap();
    let mut program = start_misbehaving(&place, &shim(), &["lists-descriptors"]).await;
    assert_eq!(all_of(&mut program).await, "0\n1\n2\n");
    assert_eq!(guarded(program.wait()).await.unwrap(), 0);
    drop(careless);
    drop(program);
    place.check_to_the_last_descriptor().await;
}

#[tokio::test]
async fn the_program_gets_fresh_signals_and_a_session_without_a_terminal() {
    let place = Place::process();
    let mut program = start(&place, &shim(), &["grep", "-E", "Sig(Ign|Blk)", "/proc/self/status"]).await;
    let none = "0000000000000000";
    assert_eq!(all_of(&mut program).await, format!("SigBlk:\t{none}\nSigIgn:\t{none}\n"));
    guarded(program.wait()).await.unwrap();
    drop(program);
    let looks = r#"read -r pid name state parent group session terminal rest </proc/$$/stat
                   test $group = $$ && test $session = $$ && test $terminal = 0 && exit 11"#;
    let mut program = start(&place, &shim(), &["/bin/sh", "-c", looks]).await;
    assert_eq!(guarded(program.wait()).await.unwrap(), 11);
    drop(program);
    place.check_to_the_last_descriptor().await;
}

#[tokio::test]
async fn environment_and_directory_are_the_starters() {
    for holder in Place::holders() {
        let place = Place::with(holder.clone());
        let mut program = start(&place, &holder, &["/bin/sh", "-c", "pwd -P; cat /proc/$$/environ"]).await;
        let seen = all_of(&mut program).await;
        let here = std::env::current_dir().unwrap().canonicalize().unwrap();
        let (directory, environment) = seen.split_once('\n').unwrap();
        assert_eq!(directory, here.to_str().unwrap());
        let own = fs::read("/proc/self/environ").unwrap();
        let own: Vec<&str> = std::str::from_utf8(&own).unwrap().split_terminator('\0').collect();
        let mark = format!("{MARK}={}", place.dir().display());
        let theirs: Vec<&str> = environment.split_terminator('\0').filter(|pair| *pair != mark).collect();
        assert_eq!(theirs, own);
        guarded(program.wait()).await.unwrap();
        drop(program);
        place.check_to_the_last_descriptor().await;
    }
}

#[tokio::test]
async fn a_program_that_is_not_there_or_no_program_is_a_clear_error() {
    for holder in Place::holders() {
        let place = Place::with(holder.clone());
        let plain = place.dir().join("plain");
        fs::write(&plain, "no program").unwrap();
        fs::set_permissions(&plain, fs::Permissions::from_mode(0o600)).unwrap();
        let none: [&str; 0] = [];
        for (program, code) in [
            ("no-such-program-here", "not_found"),
            ("/no/such/program", "not_found"),
            ("", "not_found"),
            (plain.to_str().unwrap(), "not_executable"),
            ("/", "not_executable"),
        ] {
            let error = guarded(Guarded::start(&holder, program, none)).await.unwrap_err();
            assert_eq!(error.code(), code, "{program:?}: {error}");
        }
        place.check_to_the_last_descriptor().await;
    }
}

#[tokio::test]
async fn a_guard_that_is_none_is_a_clear_error() {
    let place = Place::process();
    for (path, code) in [("/no/such/wharf-shim", "no_shim"), ("/bin/true", "shim_silent")] {
        let error = guarded(Guarded::start(&Holder::Process(path.into()), "true", ["x"])).await.unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        assert!(matches!(error, GuardError::Launch(_)));
    }
    place.check_to_the_last_descriptor().await;
}

#[tokio::test]
async fn nothing_survives_a_starter_that_is_killed() {
    let place = Place::process();
    let misbehaving = program("wharf-misbehave");
    let misbehaving = misbehaving.to_str().unwrap();
    // As npx starts agents: a shell, and below it daemons in sessions of their own that ignore TERM.
    let chain = format!("{misbehaving} double-forks 2 stays; true");
    let trees: [&[&str]; 4] = [
        &[misbehaving, "ignores-term"],
        &[misbehaving, "double-forks", "3", "stays"],
        &[misbehaving, "forks-tree", "3"],
        &["/bin/sh", "-c", &chain],
    ];
    for tree in trees {
        let mut command = misbehave(&[&["guards-program"], tree].concat());
        command.env(MARK, place.dir());
        let mut front_end = FrontEnd::run(command);
        assert_ne!(front_end.hear(), "", "{tree:?}");
        front_end.kill();
        let gone = async {
            while !leak::living(place.dir(), &[]).is_empty() {
                tokio::task::yield_now().await;
            }
        };
        guarded(gone).await;
    }
    place.check_to_the_last_descriptor().await;
}

#[tokio::test]
async fn nothing_survives_a_value_that_is_dropped() {
    let place = Place::process();
    let mut program = start_misbehaving(&place, &shim(), &["double-forks", "2", "stays"]).await;
    until(&mut program, "2 daemons").await;
    drop(program);
    place.check_to_the_last_descriptor().await;
}

#[tokio::test]
async fn a_group_of_its_own_goes_with_a_value_that_is_dropped() {
    let place = Place::thread();
    let mut program = start(&place, &Holder::Thread, &["/bin/sh", "-c", "sleep 1000 & echo up; wait"]).await;
    until(&mut program, "up").await;
    drop(program);
    place.check_to_the_last_descriptor().await;
}

#[tokio::test]
async fn what_a_program_leaves_behind_ends_with_it() {
    let place = Place::process();
    let begun = Instant::now();
    let mut program = start_misbehaving(&place, &shim(), &["double-forks", "2", "exits"]).await;
    assert_eq!(guarded(program.wait()).await.unwrap(), 0);
    assert!(begun.elapsed() >= wharf_shim::guard::GRACE, "daemons that ignore TERM have their grace");
    assert_eq!(leak::living(place.dir(), &[]), Vec::<String>::new(), "nothing is left once it is waited for");
    drop(program);
    // A child that holds the output open would keep its reader for ever.
    let mut program = start_misbehaving(&place, &shim(), &["holds-output", "3", "5"]).await;
    assert_eq!(all_of(&mut program).await, "xxx");
    assert_eq!(guarded(program.wait()).await.unwrap(), 5);
    drop(program);
    place.check_to_the_last_descriptor().await;
}

#[tokio::test]
async fn without_a_guard_the_rest_of_the_group_ends_with_the_program() {
    let place = Place::thread();
    let leaves = ["/bin/sh", "-c", "sleep 1000 & exit 6"];
    let mut program = start(&place, &Holder::Thread, &leaves).await;
    assert_eq!(guarded(program.wait()).await.unwrap(), 6);
    assert_eq!(all_of(&mut program).await, "");
    drop(program);
    place.check_to_the_last_descriptor().await;
}

#[tokio::test]
async fn an_end_is_polite_first() {
    for holder in Place::holders() {
        let place = Place::with(holder.clone());
        let polite = r#"trap "echo bye; exit 7" TERM; echo ready; while :; do sleep 0.01; done"#;
        let mut program = start(&place, &holder, &["/bin/sh", "-c", polite]).await;
        until(&mut program, "ready").await;
        assert_eq!(guarded(program.end(LONG)).await.unwrap(), 7);
        assert_eq!(all_of(&mut program).await, "bye\n");
        drop(program);
        place.check_to_the_last_descriptor().await;
    }
}

#[tokio::test]
async fn an_end_is_forced_on_those_who_do_not_listen() {
    for holder in Place::holders() {
        let place = Place::with(holder.clone());
        for grace in [Duration::ZERO, Duration::from_millis(100)] {
            let mut program = start_misbehaving(&place, &holder, &["ignores-term"]).await;
            until(&mut program, "ready").await;
            let begun = Instant::now();
            assert_eq!(guarded(program.end(grace)).await.unwrap(), 128 + 9);
            assert!(begun.elapsed() >= grace);
            assert_eq!(leak::living(place.dir(), &[]), Vec::<String>::new());
        }
        place.check_to_the_last_descriptor().await;
    }
}

#[tokio::test]
async fn an_end_reaches_daemons_and_is_hurried_by_a_second_one() {
    let place = Place::process();
    let mut program = start_misbehaving(&place, &shim(), &["double-forks", "3", "stays"]).await;
    until(&mut program, "3 daemons").await;
    // The program leaves at once, its daemons never would; they have two seconds, whatever was allowed before.
    let patient = tokio::time::timeout(Duration::from_millis(50), program.end(LONG)).await;
    assert!(patient.is_err(), "the daemons are still being asked");
    assert_eq!(guarded(program.end(Duration::ZERO)).await.unwrap(), 128 + 15);
    assert_eq!(leak::living(place.dir(), &[]), Vec::<String>::new());
    drop(program);
    place.check_to_the_last_descriptor().await;
}

#[tokio::test]
async fn a_process_that_forks_without_pause_is_caught() {
    let place = Place::process();
    let mut program = start_misbehaving(&place, &shim(), &["comet", "100000"]).await;
    until(&mut program, "flying").await;
    assert_eq!(guarded(program.wait()).await.unwrap(), 0, "its head leaves by itself, its tail is caught");
    assert_eq!(leak::living(place.dir(), &[]), Vec::<String>::new());
    drop(program);
    place.check_to_the_last_descriptor().await;
}

#[tokio::test]
async fn a_guard_that_is_asked_by_a_signal_ends_its_tree() {
    let place = Place::process();
    let mut program = start(&place, &shim(), &["/bin/sh", "-c", "echo $PPID; exec sleep 1000"]).await;
    let mut guard = Vec::new();
    while !guard.ends_with(b"\n") {
        guard.push(guarded(program.stdout.as_mut().unwrap().read_u8()).await.unwrap());
    }
    let guard: i32 = String::from_utf8(guard).unwrap().trim().parse().unwrap();
    kill_process(Pid::from_raw(guard).unwrap(), Signal::TERM).unwrap();
    assert_eq!(guarded(program.wait()).await.unwrap(), 128 + 15);
    drop(program);
    place.check_to_the_last_descriptor().await;
}
