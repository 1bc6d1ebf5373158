//! From a command's write to a reader that has the bytes: what the way through the journal adds to a pipe.

use crate::measure::{Times, many_threads, ms, one_thread, plain, scratch, shim, store};
use crate::{Outcome, child};
use std::io::Read;
use std::process::Stdio;
use std::time::Duration;
use wharf_core::{Size, Spares, Spec, Step, Store, unrestricted};

/// Samples for each contender, and the rounds they are taken in.
const SAMPLES: u64 = 1000;
const ROUNDS: u64 = 10;
/// The first of each round finds the reader still getting ready.
const TICKS: u64 = SAMPLES / ROUNDS + 1;

pub(crate) fn run() -> Outcome {
    let dir = scratch()?;
    let (one, many) = (one_thread()?, many_threads()?);
    let store = store(&dir, "store", shim()?, Spares::None)?;
    let mut results = [
        ("bare pipe, a thread", Times::default()),
        ("wharf, pipe, one thread", Times::default()),
        ("wharf, pipe, many threads", Times::default()),
        ("wharf, PTY, one thread", Times::default()),
    ];
    for _ in 0..ROUNDS {
        let [bare, pipe, pipe_many, pty] = &mut results;
        read_pipe(&mut bare.1)?;
        one.block_on(read_terminal(&store, ticks()?, &mut pipe.1))?;
        many.block_on(read_terminal(&store, ticks()?, &mut pipe_many.1))?;
        one.block_on(read_terminal(&store, ticks()?.pty(Size::default()), &mut pty.1))?;
    }
    println!("\nfrom write to reader");
    for (name, times) in &results {
        let (p50, p99) = (ms(times.median()), ms(times.percentile(99)));
        println!("  {name:<26} p50 {p50:>10}   p99 {p99:>10}   {} samples", times.count());
    }
    Ok(())
}

fn ticks() -> std::io::Result<Spec> {
    Ok(Spec::argv(child::program()?, child::args(child::TICK, TICKS)))
}

async fn read_terminal(store: &Store, spec: Spec, times: &mut Times) -> Outcome {
    let terminal = store.create(unrestricted(spec)?).await?;
    let mut reader = terminal.reader(0);
    let mut ready = false;
    while let Step::Output(chunk) = reader.next(64 * 1024).await? {
        take(&chunk.bytes, child::now(), &mut ready, times)?;
    }
    Ok(terminal.release().await?)
}

fn read_pipe(times: &mut Times) -> Outcome {
    let mut command = plain(child::program()?);
    command.args(child::args(child::TICK, TICKS)).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.spawn()?;
    let mut out = child.stdout.take().ok_or("no pipe")?;
    let reader = std::thread::spawn(move || -> std::io::Result<Vec<(Vec<u8>, Duration)>> {
        let (mut buffer, mut read) = (vec![0; 64 * 1024], Vec::new());
        loop {
            match out.read(&mut buffer)? {
                0 => return Ok(read),
                n => read.push((buffer[..n].to_vec(), child::now())),
            }
        }
    });
    let read = reader.join().map_err(|_| "the reader panicked")??;
    child.wait()?;
    let mut ready = false;
    read.iter().try_for_each(|(bytes, at)| take(bytes, *at, &mut ready, times))
}

/// Every line in `bytes` says when it was written.
fn take(bytes: &[u8], at: Duration, ready: &mut bool, times: &mut Times) -> Outcome {
    for line in std::str::from_utf8(bytes)?.lines() {
        let written = Duration::from_nanos(line.trim().parse()?);
        if std::mem::replace(ready, true) {
            times.add(at.saturating_sub(written));
        }
    }
    Ok(())
}
