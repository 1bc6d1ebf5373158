//! Kill and release: everything goes, nobody else does, and asking twice is no mistake.

use std::time::{Duration, Instant};
use wharf_core::{Cause, Holder, Outcome, Size, TerminalId};
use wharf_shim::tree::proc;
use wharf_testing::front_end::{FrontEnd, misbehave, without_cgroups};
use wharf_testing::leak::{self, MARK};
use wharf_testing::{Place, all_of, guarded, program, until};

const AT_ONCE: Option<Duration> = Some(Duration::ZERO);

/// Kills, and makes sure that nothing of the terminal lives when the answer comes.
async fn kill_and_look(place: &Place, terminal: &wharf_core::Terminal, grace: Option<Duration>) -> u32 {
    let killed = guarded(terminal.kill("test", grace)).await.unwrap();
    let holder = place.holder_of(terminal);
    let own = std::process::id();
    let left: Vec<_> = leak::processes(place.dir())
        .into_iter()
        .filter(|p| !p.is_zombie() && p.pid as u32 != holder && p.pid as u32 != own)
        .collect();
    assert!(left.is_empty(), "alive after the kill was answered: {left:?}");
    killed
}

#[tokio::test]
async fn whatever_a_command_does_to_stay_it_goes() {
    for holder in Place::holders() {
        for (args, ready, least) in [
            (vec!["stays", "ready"], "ready", 1),
            (vec!["ignores-term"], "ready", 1),
            (vec!["double-forks", "3", "stays"], "3 daemons", 4),
            (vec!["stops-itself"], "stopping", 1),
            (vec!["forks-tree", "8"], "parent", 1),
            (vec!["floods"], "00042", 1),
        ] {
            for pty in [false, true] {
                for grace in [Duration::ZERO, Duration::from_millis(200)] {
                    let place = Place::with(holder.clone());
                    let mut spec = place.misbehaving(&args);
                    if pty {
                        spec = spec.pty(Size::default());
                    }
                    let terminal = place.start(spec).await;
                    until(&terminal, ready).await;
                    let killed = kill_and_look(&place, &terminal, Some(grace)).await;
                    assert!(killed >= least, "{args:?}: {killed} processes");
                    let ended = guarded(terminal.wait()).await.unwrap();
                    assert_eq!((ended.cause, ended.author.as_str()), (Cause::Killed, "test"), "{args:?}");
                    place.check().await;
                }
            }
        }
    }
}

#[tokio::test]
async fn the_number_of_processes_ended_is_exact() {
    for holder in Place::holders() {
        let place = Place::with(holder);
        let terminal = place.start(place.misbehaving(&["forks-tree", "12"])).await;
        let mut reader = terminal.reader(0);
        let mut lines = 0;
        while lines < 13 {
            let wharf_core::Step::Output(chunk) = guarded(reader.next(1000)).await.unwrap() else {
                panic!("ended")
            };
            lines += chunk.bytes.iter().filter(|b| **b == b'\n').count();
        }
        assert_eq!(kill_and_look(&place, &terminal, AT_ONCE).await, 13);
        place.check().await;
    }
}

/// Whether the process is gone that has told its number, if one has.
fn is_gone(said: &[u8]) -> bool {
    let said = String::from_utf8_lossy(said);
    let number = said.split_once("process ").and_then(|(_, rest)| rest.split(' ').next()?.parse().ok());
    number.and_then(proc::look).is_none_or(|process| process.is_zombie())
}

#[tokio::test]
async fn a_process_whose_first_thread_has_left_goes_and_counts_as_well() {
    for holder in Place::holders() {
        let place = Place::with(holder);
        let terminal = place.start(place.misbehaving(&["leaves-its-first-thread"])).await;
        let said = until(&terminal, "has lost its first thread").await;
        assert_eq!(kill_and_look(&place, &terminal, AT_ONCE).await, 2);
        assert!(is_gone(&said));
        place.check().await;
    }
}

/// Processes ended by a kill of a behaviour that was started where there are no cgroups, each of which would leave it
/// to the kernel to find everybody; `None` where a test cannot hide them.
async fn killed_without_cgroups(creator: &[&str], behaviour: &[&str], ready: &str) -> Option<u32> {
    let place = Place::process();
    let (state, program) = (place.state(), program("wharf-misbehave"));
    let mut args = vec![creator[0], state.to_str().unwrap()];
    args.extend(&creator[1..]);
    args.extend(["--", program.to_str().unwrap()]);
    args.extend(behaviour);
    let mut command = misbehave(&args);
    command.env(MARK, place.dir());
    let mut front_end = FrontEnd::run(without_cgroups(&command));
    let said = front_end.hear();
    let Some(id) = said.strip_prefix("ok ") else {
        front_end.kill();
        return None;
    };
    let terminal = place.store.get(&TerminalId::parse(id).unwrap()).unwrap();
    assert_eq!(place.events(&terminal).start().unwrap().1.cgroup, "", "the cgroup was not hidden");
    let said = until(&terminal, ready).await;
    let before = Instant::now();
    let killed = guarded(terminal.kill("test", Some(Duration::from_millis(100)))).await.unwrap();
    assert!(is_gone(&said), "{creator:?}");
    assert!(before.elapsed() < Duration::from_secs(5), "{behaviour:?}: {:?}", before.elapsed());
    let holders = [place.holder_of(&terminal), front_end.pid()];
    assert_eq!(leak::living(place.dir(), &holders), Vec::<String>::new());
    front_end.kill();
    place.check().await;
    Some(killed)
}

#[tokio::test]
async fn without_cgroups_everything_goes_as_well() {
    let (process, thread) = (&["creates-terminal", "kill", "0", "100", "stay"][..], &["embeds-terminal"][..]);
    for creator in [process, thread] {
        for (behaviour, ready, processes) in [
            (&["leaves-its-first-thread"][..], "has lost its first thread", 2),
            (&["double-forks", "3", "stays"], "3 daemons", 4),
            (&["ignores-term"], "ready", 1),
        ] {
            let Some(killed) = killed_without_cgroups(creator, behaviour, ready).await else { return };
            assert_eq!(killed, processes, "{creator:?}, {behaviour:?}");
        }
    }
}

#[tokio::test]
async fn daemons_of_a_command_that_has_exited_are_killed_and_released() {
    for holder in Place::holders() {
        let place = Place::with(holder.clone());
        let terminal = place.start(place.misbehaving(&["double-forks", "2", "exits"])).await;
        let ended = guarded(terminal.wait()).await.unwrap();
        assert_eq!(ended.exit_code(), Some(0));
        if matches!(holder, Holder::Process(_)) {
            assert_eq!((ended.left, ended.holding), (2, 0));
        }
        guarded(terminal.kill("test", AT_ONCE)).await.unwrap();
        let daemons = leak::processes(place.dir()).into_iter().filter(|p| !p.is_zombie());
        let holder_pid = place.holder_of(&terminal) as i32;
        let left: Vec<_> = daemons.filter(|p| p.pid != holder_pid).collect();
        assert!(left.is_empty(), "{holder:?}: {left:?}");
        place.check().await;
    }
}

#[tokio::test]
async fn a_chain_that_forks_and_exits_without_pause_is_caught() {
    for holder in Place::holders() {
        let place = Place::with(holder);
        for _ in 0..5 {
            let terminal = place.start(place.misbehaving(&["comet", "20000"])).await;
            until(&terminal, "flying").await;
            kill_and_look(&place, &terminal, AT_ONCE).await;
            guarded(terminal.release()).await.unwrap();
        }
        place.check().await;
    }
}

#[tokio::test]
async fn a_command_that_cleans_up_within_the_grace_ends_as_it_wants() {
    for holder in Place::holders() {
        let place = Place::with(holder);
        let line = "trap 'echo bye; exit 7' TERM; echo ready; while :; do sleep 0.05; done";
        let terminal = place.start(place.line(line)).await;
        until(&terminal, "ready").await;
        let before = Instant::now();
        kill_and_look(&place, &terminal, Some(Duration::from_secs(10))).await;
        assert!(before.elapsed() < Duration::from_secs(5), "nobody waits for the grace to pass");
        let ended = guarded(terminal.wait()).await.unwrap();
        assert_eq!((ended.outcome, ended.cause), (Outcome::Code(7), Cause::Killed));
        assert!(all_of(&terminal).await.ends_with(b"bye\n"));
        place.check().await;
    }
}

#[tokio::test]
async fn a_stopped_command_is_woken_so_that_it_can_clean_up() {
    for holder in Place::holders() {
        let place = Place::with(holder);
        let line = "trap 'exit 7' TERM; echo ready; kill -STOP $$; while :; do sleep 0.05; done";
        let terminal = place.start(place.line(line)).await;
        until(&terminal, "ready").await;
        let before = Instant::now();
        kill_and_look(&place, &terminal, Some(Duration::from_secs(10))).await;
        assert!(before.elapsed() < Duration::from_secs(5), "it never heard");
        assert_eq!(guarded(terminal.wait()).await.unwrap().outcome, Outcome::Code(7));
        place.check().await;
    }
}

#[tokio::test]
async fn a_deaf_command_gets_its_whole_grace_and_no_more() {
    for holder in Place::holders() {
        let place = Place::with(holder);
        let terminal = place.start(place.misbehaving(&["ignores-term"])).await;
        until(&terminal, "ready").await;
        let before = Instant::now();
        let grace = Duration::from_millis(400);
        kill_and_look(&place, &terminal, Some(grace)).await;
        let took = before.elapsed();
        assert!(took >= grace && took < grace + Duration::from_secs(3), "{took:?}");
        assert_eq!(guarded(terminal.wait()).await.unwrap().signal().as_deref(), Some("SIGKILL"));
        place.check().await;
    }
}

#[tokio::test]
async fn a_grace_is_that_of_the_spec_unless_another_is_given() {
    let place = Place::process();
    let spec = place.misbehaving(&["ignores-term"]).grace(Duration::from_millis(100));
    let terminal = place.start(spec).await;
    until(&terminal, "ready").await;
    let before = Instant::now();
    guarded(terminal.kill("test", None)).await.unwrap();
    assert!(before.elapsed() < Duration::from_secs(4), "the default of five seconds was not asked for");
    place.check().await;
}

#[tokio::test]
async fn an_impatient_second_kill_hurries_the_first() {
    let place = Place::process();
    let terminal = place.start(place.misbehaving(&["ignores-term"])).await;
    until(&terminal, "ready").await;
    let patient = terminal.clone();
    let patient =
        tokio::spawn(async move { patient.kill("patient", Some(Duration::from_secs(60))).await.unwrap() });
    let impatient = async {
        // The first one is under way when its record is there.
        while !place
            .events(&terminal)
            .entries
            .iter()
            .any(|e| matches!(e.record, wharf_shim::journal::record::Record::Killing { .. }))
        {
            tokio::task::yield_now().await;
        }
        terminal.kill("impatient", AT_ONCE).await.unwrap()
    };
    assert_eq!(guarded(impatient).await, 1);
    assert_eq!(guarded(patient).await.unwrap(), 1);
    let ended = guarded(terminal.wait()).await.unwrap();
    assert_eq!(ended.author, "patient", "who began it");
    place.check().await;
}

#[tokio::test]
async fn killing_twice_after_the_end_or_at_the_same_time_is_quiet() {
    for holder in Place::holders() {
        let place = Place::with(holder);
        let terminal = place.start(place.misbehaving(&["stays", "ready"])).await;
        until(&terminal, "ready").await;
        let kills: Vec<_> = (0..20)
            .map(|_| {
                let terminal = place.store.get(terminal.id()).unwrap();
                tokio::spawn(async move { terminal.kill("test", AT_ONCE).await })
            })
            .collect();
        for kill in kills {
            let killed = guarded(kill).await.unwrap().unwrap();
            assert!(killed <= 1, "{killed}");
        }
        let ended = guarded(terminal.wait()).await.unwrap();
        assert_eq!(guarded(terminal.kill("late", AT_ONCE)).await.unwrap(), 0);
        assert_eq!(guarded(terminal.wait()).await.unwrap(), ended);

        let over = place.start(place.misbehaving(&["exits-with", "6"])).await;
        guarded(over.wait()).await.unwrap();
        assert_eq!(guarded(over.kill("late", None)).await.unwrap(), 0);
        let ended = guarded(over.wait()).await.unwrap();
        assert_eq!((ended.exit_code(), ended.cause), (Some(6), Cause::Exited));
        place.check().await;
    }
}

#[tokio::test]
async fn release_forgets_and_may_be_asked_by_many_at_once_and_again() {
    for holder in Place::holders() {
        let place = Place::with(holder);
        let terminal = place.start(place.misbehaving(&["double-forks", "2", "stays"])).await;
        until(&terminal, "2 daemons").await;
        let releases: Vec<_> = (0..10)
            .map(|_| {
                let terminal = place.store.get(terminal.id()).unwrap();
                tokio::spawn(async move { terminal.release_with(AT_ONCE).await })
            })
            .collect();
        for release in releases {
            guarded(release).await.unwrap().unwrap();
        }
        guarded(terminal.release()).await.unwrap();
        assert_eq!(place.store.get(terminal.id()).unwrap_err().code(), "not_found");
        assert!(leak::files(&place.state()).is_empty());
        drop(terminal);
        place.check_to_the_last_descriptor().await;
    }
}

#[tokio::test]
async fn an_interactive_shell_goes_within_its_grace() {
    let place = Place::process();
    // Interactive shells ignore TERM.
    let terminal = place
        .start(
            place
                .marked(wharf_core::Spec::argv("/bin/bash", ["--norc", "-i"]))
                .env("PS1", "prompt> ")
                .pty(Size::default()),
        )
        .await;
    until(&terminal, "prompt> ").await;
    let before = Instant::now();
    kill_and_look(&place, &terminal, Some(Duration::from_secs(10))).await;
    assert!(before.elapsed() < Duration::from_secs(5), "took the whole grace");
    place.check().await;
}

#[tokio::test]
async fn a_kill_touches_no_other_terminal() {
    let place = Place::process();
    let bystander = place.start(place.misbehaving(&["echoes-lines"]).with_input()).await;
    until(&bystander, "ready").await;
    for _ in 0..10 {
        let terminal = place.start(place.misbehaving(&["forks-tree", "3"])).await;
        until(&terminal, "parent").await;
        guarded(terminal.release_with(AT_ONCE)).await.unwrap();
    }
    guarded(bystander.input("test").unwrap().end()).await.unwrap();
    assert!(guarded(bystander.wait()).await.unwrap().success());
    place.check().await;
}
