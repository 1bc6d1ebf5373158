//! From nothing to the end of `/bin/true` and back to nothing: what a terminal adds to a process.

use crate::Outcome;
use crate::measure::{Contender, in_turns, many_threads, ms, one_thread, plain, ratio, scratch, shim, store};
use crate::tmux::Tmux;
use wharf_core::{Holder, Spares, Spec, Store, unrestricted};

const ROUNDS: usize = 500;
/// The first rounds fill caches and thread pools.
const WARM_UP: usize = 20;
const PROGRAM: &str = "/bin/true";

pub(crate) fn run() -> Outcome {
    let dir = scratch()?;
    let (one, many) = (one_thread()?, many_threads()?);
    let cold = store(&dir, "cold", shim()?, Spares::None)?;
    let cold_many = store(&dir, "cold-many", shim()?, Spares::None)?;
    let spare = store(&dir, "spare", shim()?, Spares::One)?;
    let spare_many = store(&dir, "spare-many", shim()?, Spares::One)?;
    let thread = store(&dir, "thread", Holder::Thread, Spares::None)?;
    let tmux = Tmux::start(dir.path());
    let contenders = || {
        let mut contenders = vec![
            Contender::new("spawn and wait", spawn_and_wait),
            Contender::new("wharf, one thread", || one.block_on(round_trip(&cold))),
            Contender::new("wharf, many threads", || many.block_on(round_trip(&cold_many))),
            Contender::new("wharf with a spare, one thread", || one.block_on(round_trip(&spare))),
            Contender::new("wharf with a spare, many threads", || many.block_on(round_trip(&spare_many))),
            Contender::new("wharf, thread holder", || one.block_on(round_trip(&thread))),
        ];
        if let Ok(tmux) = &tmux {
            contenders.push(Contender::new("tmux new-session -d", || tmux.round_trip(PROGRAM)));
        }
        contenders
    };
    in_turns(&mut contenders(), WARM_UP)?;
    let mut measured = contenders();
    in_turns(&mut measured, ROUNDS)?;
    print(&measured);
    if let Err(error) = &tmux {
        println!("tmux was left out: {error}");
    }
    Ok(())
}

fn spawn_and_wait() -> Outcome {
    let status = plain(PROGRAM).status()?;
    if status.success() { Ok(()) } else { Err("true is not true".into()) }
}

async fn round_trip(store: &Store) -> Outcome {
    let terminal = store.create(unrestricted(Spec::argv(PROGRAM, [""; 0]))?).await?;
    let ended = terminal.wait().await?;
    terminal.release().await?;
    if ended.exit_code() == Some(0) { Ok(()) } else { Err("true is not true".into()) }
}

fn print(contenders: &[Contender<'_>]) {
    println!("\nround trip of {PROGRAM}, {ROUNDS} rounds in turns");
    let base = contenders.first().map(|first| first.times.median()).unwrap_or_default();
    for Contender { name, times, .. } in contenders {
        let (p50, p90) = (times.median(), times.percentile(90));
        println!("  {name:<34} p50 {:>10}   p90 {:>10}   {:>5.2}×", ms(p50), ms(p90), ratio(p50, base));
    }
}
