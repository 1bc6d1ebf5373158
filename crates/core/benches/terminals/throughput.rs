//! How fast output goes through: into a terminal's journal, into a loop that only reads, and into `cat > file`.

use crate::measure::{Contender, in_turns, one_thread, plain, ratio, scratch, shim, store};
use crate::{Outcome, child};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};
use std::cell::Cell;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Stdio};
use wharf_core::{Size, Spares, Spec, Store, unrestricted};

const ROUNDS: usize = 5;
const PIPE_BYTES: u64 = 1 << 30;
const PTY_BYTES: u64 = 256 << 20;

/// What the output goes through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Through {
    Pipe,
    Pty,
}

pub(crate) fn run() -> Outcome {
    compare(Through::Pipe, PIPE_BYTES)?;
    compare(Through::Pty, PTY_BYTES)
}

fn compare(through: Through, bytes: u64) -> Outcome {
    let dir = scratch()?;
    let runtime = one_thread()?;
    let store = store(&dir, "store", shim()?, Spares::None)?;
    let file = dir.path().join("file");
    // A terminal driver adds a byte to every line, so what arrives is counted, and must be the same for all.
    let arrived = Cell::new(0);
    let mut contenders = [
        Contender::new("bare read loop", || count(&arrived, read_only(through, bytes)?)),
        Contender::new("wharf", || {
            count(&arrived, runtime.block_on(journal(&store, spec(through, bytes)?))?)
        }),
        Contender::new("wharf, everything kept", || {
            count(&arrived, runtime.block_on(journal(&store, spec(through, bytes)?.keep(4 << 30)))?)
        }),
        Contender::new("cat > file", || count(&arrived, cat(through, bytes, &file)?)),
    ];
    in_turns(&mut contenders, ROUNDS)?;
    print(through, arrived.get(), &contenders);
    Ok(())
}

fn count(arrived: &Cell<u64>, bytes: u64) -> Outcome {
    match arrived.replace(bytes) {
        0 => Ok(()),
        before if before == bytes => Ok(()),
        before => Err(format!("{bytes} bytes arrived, and {before} before").into()),
    }
}

fn spec(through: Through, bytes: u64) -> io::Result<Spec> {
    let spec = Spec::argv(child::program()?, child::args(child::FLOOD, bytes));
    Ok(match through {
        Through::Pipe => spec,
        Through::Pty => spec.pty(Size::default()),
    })
}

/// Until the end is on record, which is when everything is in the journal.
async fn journal(store: &Store, spec: Spec) -> Outcome<u64> {
    let terminal = store.create(unrestricted(spec)?).await?;
    terminal.wait().await?;
    let end = terminal.look()?.end;
    terminal.release().await?;
    Ok(end)
}

/// The least that anybody can do: read and forget, on a thread of its own.
fn read_only(through: Through, bytes: u64) -> Outcome<u64> {
    let (ours, theirs) = connect(through)?;
    let mut child = start_flood(theirs, bytes)?;
    let reader = std::thread::spawn(move || read_to_end(File::from(ours)));
    let arrived = reader.join().map_err(|_| "the reader panicked")??;
    child.wait()?;
    Ok(arrived)
}

fn read_to_end(mut from: File) -> io::Result<u64> {
    let mut buffer = vec![0; 64 * 1024];
    let mut arrived = 0;
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(arrived),
            Ok(n) => arrived += n as u64,
            // What a PTY says when nobody has its other side open any more.
            Err(error) if error.raw_os_error() == Some(EIO) => return Ok(arrived),
            Err(error) => return Err(error),
        }
    }
}

const EIO: i32 = 5;

/// What a shell would do to keep output.
fn cat(through: Through, bytes: u64, file: &Path) -> Outcome<u64> {
    let (ours, theirs) = connect(through)?;
    let mut child = start_flood(theirs, bytes)?;
    let mut cat = plain("cat");
    // On a PTY it ends with an error, which is how a PTY ends.
    cat.stdin(ours).stdout(File::create(file)?).stderr(Stdio::null());
    cat.status()?;
    child.wait()?;
    let arrived = fs::metadata(file)?.len();
    fs::remove_file(file)?;
    Ok(arrived)
}

fn start_flood(to: OwnedFd, bytes: u64) -> io::Result<Child> {
    let mut command = plain(child::program()?);
    command.args(child::args(child::FLOOD, bytes)).stdin(Stdio::null()).stdout(to);
    command.spawn()
}

fn connect(through: Through) -> io::Result<(OwnedFd, OwnedFd)> {
    match through {
        Through::Pipe => Ok(pipe_with(PipeFlags::CLOEXEC)?),
        Through::Pty => {
            let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
            let ours = openpt(flags)?;
            unlockpt(&ours)?;
            let theirs = ioctl_tiocgptpeer(&ours, flags)?;
            Ok((ours, theirs))
        }
    }
}

fn print(through: Through, bytes: u64, contenders: &[Contender<'_>]) {
    let mib = bytes as f64 / f64::from(1 << 20);
    println!("\n{mib:.0} MiB through a {through:?}, median of {ROUNDS} in turns");
    let base = contenders.first().map(|first| first.times.median()).unwrap_or_default();
    for Contender { name, times, .. } in contenders {
        let median = times.median();
        let rate = bytes as f64 / 1e6 / median.as_secs_f64();
        println!("  {name:<24} {rate:>8.0} MB/s   {:>5.2}× of the bare loop", ratio(base, median));
    }
}
