//! Many terminals that do nothing: how fast they come, what they weigh, and that nothing of them stays.

use crate::Outcome;
use crate::measure::{many_threads, scratch, shim, store};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::fs;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;
use wharf_core::{Size, Spares, Spec, Store, TerminalId, unrestricted};
use wharf_testing::leak::{self, Account, Handles};

/// How many are made or released at the same time.
const AT_ONCE: usize = 8;

pub(crate) fn run(terminals: usize) -> Outcome {
    raise_descriptor_limit()?;
    let runtime = many_threads()?;
    for (name, spec) in [("a pipe", sleeper()), ("a PTY", sleeper().pty(Size::default()))] {
        println!("\n{terminals} idle terminals on {name}");
        let dir = scratch()?;
        let store = store(&dir, "store", shim()?, Spares::None)?;
        // Everything that the first terminal brings into being for good is there before the count.
        runtime.block_on(one_after_another(&store, &spec, 1))?;
        runtime.block_on(release_all(&store))?;
        let account = Account::open(dir.path());
        runtime.block_on(weigh(&store, &spec, terminals))?;
        // Panics with a list if anything stays.
        runtime.block_on(account.settle(Handles::Dropped));
        let files = leak::files(&dir.path().join("store")).len();
        println!("  left                       no process, descriptor or cgroup, {files} files");
    }
    Ok(())
}

fn sleeper() -> Spec {
    Spec::argv("/bin/sleep", ["1000"])
}

async fn weigh(store: &Store, spec: &Spec, terminals: usize) -> Outcome {
    let before = own_memory()?;
    let (half, rest) = (terminals / 2, terminals - terminals / 2);
    print_rate("created one by one", half, timed(one_after_another(store, spec, half)).await?);
    print_rate("created 8 at a time", rest, timed(at_once(store, spec, rest)).await?);
    let after = own_memory()?;
    let mut weights = shims().iter().filter_map(|pid| proportional_memory(*pid)).collect::<Vec<u64>>();
    weights.sort_unstable();
    let median = weights.get(weights.len() / 2).copied().unwrap_or_default();
    let sum: u64 = weights.iter().sum();
    println!("  shims                      {} of median {median} KB PSS, {sum} KB in all", weights.len());
    println!("  front end                  {before} KB before, {after} KB with all of them");
    print_rate("released 8 at a time", terminals, timed(release_all(store)).await?);
    Ok(())
}

async fn timed(work: impl Future<Output = Outcome>) -> Outcome<Duration> {
    let begin = Instant::now();
    work.await?;
    Ok(begin.elapsed())
}

fn print_rate(what: &str, count: usize, time: Duration) {
    println!("  {what:<26} {:.0} a second", count as f64 / time.as_secs_f64());
}

async fn one_after_another(store: &Store, spec: &Spec, count: usize) -> Outcome {
    for _ in 0..count {
        store.create(unrestricted(spec.clone())?).await?;
    }
    Ok(())
}

async fn at_once(store: &Store, spec: &Spec, count: usize) -> Outcome {
    let create = |_| {
        let (store, spec) = (store.clone(), spec.clone());
        async move { Ok(store.create(unrestricted(spec)?).await.map(drop)?) }
    };
    some_at_a_time((0..count).map(create)).await
}

async fn release_all(store: &Store) -> Outcome {
    let release = |id: TerminalId| {
        let store = store.clone();
        async move { Ok(store.get(&id)?.release().await?) }
    };
    some_at_a_time(store.ids()?.into_iter().map(release)).await
}

/// Does all the work, never more than [`AT_ONCE`] pieces of it together.
async fn some_at_a_time(
    work: impl Iterator<Item = impl Future<Output = Outcome> + Send + 'static>,
) -> Outcome {
    let mut running = JoinSet::new();
    for piece in work {
        if running.len() >= AT_ONCE
            && let Some(done) = running.join_next().await
        {
            done??;
        }
        running.spawn(piece);
    }
    while let Some(done) = running.join_next().await {
        done??;
    }
    Ok(())
}

/// One descriptor of this process for every terminal: the lease that ends it if this process dies.
fn raise_descriptor_limit() -> Outcome {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    Ok(setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })?)
}

/// The holders among this process's children.
fn shims() -> Vec<u32> {
    let own = std::process::id().to_string();
    let pids = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_ours = |pid: &u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // After the name in brackets: the state, then the parent.
        stat.rsplit_once(')').is_some_and(|(_, rest)| rest.split_whitespace().nth(1) == Some(&own))
    };
    pids.filter(is_ours).collect()
}

/// In KB, every shared page divided by how many share it.
fn proportional_memory(pid: u32) -> Option<u64> {
    field(&fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?, "Pss:")
}

/// Resident memory of this process, in KB.
fn own_memory() -> Outcome<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    Ok(field(&status, "VmRSS:").ok_or("the kernel does not say how large this process is")?)
}

fn field(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().next()?.parse().ok()
}
