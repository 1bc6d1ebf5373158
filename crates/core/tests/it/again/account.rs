//! Limits, causes and figures: each terminal has its own, whoever held another before.

use super::{Reusing, until_idle, until_over};
use std::path::Path;
use std::time::Duration;
use wharf_core::{Cause, Limit, Outcome, unrestricted};
use wharf_testing::{guarded, until};

const BURN: &str = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";

#[tokio::test]
async fn limits_of_the_first_do_not_end_the_second_and_its_own_do() {
    let reusing = Reusing::new();
    let line = |line: &str| reusing.place.line(line);
    let (time, idle) = (Duration::from_millis(200), Duration::from_millis(150));
    let limited = line("echo said").time_limit(time).idle_limit(idle).output_limit(10);
    let (holder, ended, _) = reusing.see_through(unrestricted(limited).unwrap()).await;
    assert_eq!(ended.cause, Cause::Exited);
    let (ended, said) = reusing.again(holder, line("sleep 0.4; echo much more than ten bytes; exit 3")).await;
    assert_eq!((ended.cause, ended.exit_code(), ended.limit), (Cause::Exited, Some(3), None));
    assert!(ended.lasted >= Duration::from_millis(400), "{:?}", ended.lasted);
    assert_eq!(said, "much more than ten bytes\n");
    let (ended, _) = reusing.again(holder, line("sleep 20").time_limit(time)).await;
    assert_eq!((ended.cause, ended.limit), (Cause::TimeLimit, Some(Limit::Time(time))));
    let (ended, _) = reusing.again(holder, line("echo x; sleep 20").idle_limit(idle)).await;
    assert_eq!((ended.cause, ended.limit), (Cause::IdleLimit, Some(Limit::Idle(idle))));
    let (ended, _) = reusing.again(holder, line("yes | head -c 100000; sleep 20").output_limit(1000)).await;
    assert_eq!((ended.cause, ended.limit), (Cause::OutputLimit, Some(Limit::Output(1000))));
    let (ended, _) = reusing.again(holder, line("sleep 0.4; kill -USR1 $$")).await;
    assert_eq!((ended.cause, ended.outcome, ended.limit), (Cause::Exited, Outcome::Signal(10), None));
    assert_eq!(ended.author, "");
    reusing.check().await;
}

#[tokio::test]
async fn what_the_first_has_used_is_not_counted_for_the_second() {
    let reusing = Reusing::new();
    let limit = Duration::from_secs(1);
    let burn = |times: usize| reusing.place.line(&vec![BURN; times].join("; ")).cpu_limit(limit);
    let hog = reusing.place.misbehaving(&["uses-resources", "200", "1"]);
    let (holder, ended, _) = reusing.see_through(unrestricted(hog).unwrap()).await;
    assert!(ended.peak_memory > 190 << 20, "{}", ended.peak_memory);
    // Together they use more than any of them may.
    let mut together = Duration::ZERO;
    while together < limit * 3 / 2 {
        let (ended, _) = reusing.again(holder, burn(2)).await;
        assert_eq!((ended.cause, ended.exit_code()), (Cause::Exited, Some(0)), "after {together:?}");
        assert!(ended.peak_memory < 100 << 20, "{}", ended.peak_memory);
        let cpu = ended.cpu.0 + ended.cpu.1;
        assert!(Duration::ZERO < cpu && cpu < limit, "{cpu:?}");
        together += cpu;
    }
    let least = Duration::from_millis(100);
    let hog = reusing.place.line("while :; do :; done").cpu_limit(least).grace(least);
    let (ended, _) = reusing.again(holder, hog).await;
    assert_eq!((ended.cause, ended.limit), (Cause::CpuLimit, Some(Limit::Cpu(least))));
    let memory = reusing.place.misbehaving(&["uses-resources", "300", "20000"]).memory_limit(64 << 20);
    assert_eq!(reusing.again(holder, memory).await.0.cause, Cause::MemoryLimit);
    let (ended, _) = reusing.again(holder, reusing.place.line("exit 5")).await;
    assert_eq!((ended.cause, ended.exit_code()), (Cause::Exited, Some(5)));
    reusing.check().await;
}

#[tokio::test]
async fn each_has_a_group_of_its_own_where_there_are_groups() {
    let reusing = Reusing::new();
    let mut groups = Vec::new();
    let mut holders = Vec::new();
    for _ in 0..3 {
        let terminal = reusing.start(reusing.place.line("exit 0")).await;
        let start = reusing.place.events(&terminal).start().unwrap().1.clone();
        until_over(&terminal).await;
        until_idle(start.holder, &reusing.place).await;
        assert!(start.cgroup.is_empty() || !Path::new(&start.cgroup).exists(), "{}", start.cgroup);
        groups.push(start.cgroup);
        holders.push(start.holder);
        guarded(terminal.release()).await.unwrap();
    }
    holders.dedup();
    assert_eq!(holders.len(), 1);
    if groups.iter().all(|group| !group.is_empty()) {
        groups.dedup();
        assert_eq!(groups.len(), 3, "{groups:?}");
    }
    reusing.check().await;
}

#[tokio::test]
async fn whoever_is_left_of_the_first_keeps_its_holder_from_the_second() {
    let reusing = Reusing::new();
    let ready = reusing.place.dir().join("ready");
    let daemon = format!("echo daemon $$ .; : >{}; exec sleep 60", ready.display());
    let line = format!("setsid sh -c '{daemon}' & until [ -e {} ]; do :; done; exit 4", ready.display());
    let first = reusing.start(reusing.place.line(&line)).await;
    let holder = reusing.place.holder_of(&first);
    let said = String::from_utf8(until(&first, " .\n").await).unwrap();
    let daemon: i32 = said.split(' ').nth(1).unwrap().parse().unwrap();
    let ended = guarded(first.wait()).await.unwrap();
    assert_eq!((ended.exit_code(), ended.left), (Some(4), 1));
    // The command has ended and its terminal has not: somebody else holds the next.
    let (other, ..) = reusing.see_through(unrestricted(reusing.place.line("exit 0")).unwrap()).await;
    assert_ne!(other, holder);
    assert!(Path::new(&format!("/proc/{daemon}")).exists());
    assert_eq!(guarded(first.kill("test", Some(Duration::ZERO))).await.unwrap(), 1);
    assert!(!Path::new(&format!("/proc/{daemon}")).exists(), "it is there after the kill was answered");
    until_idle(holder, &reusing.place).await;
    // Both wait now, and whichever is taken: of the daemon nothing is left.
    let (third, _, seen) =
        reusing.see_through(unrestricted(reusing.place.line("ps -eo pid=,args=")).unwrap()).await;
    assert!([holder, other].contains(&third));
    assert!(!seen.lines().any(|line| line.trim_start().starts_with(&format!("{daemon} "))), "{seen}");
    guarded(first.release()).await.unwrap();
    drop(first);
    reusing.check().await;
}
