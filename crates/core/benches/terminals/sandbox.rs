//! The same round trip in each sandbox, the judge's part included: what safety adds to a terminal.

use crate::Outcome;
use crate::measure::{Contender, in_turns, ms, one_thread, ratio, scratch, shim, store};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use wharf_core::policy::{Judgement, Keeper, Places, Policy, Seen, Situation, Whose};
use wharf_core::{Grant, Spares, Spec, Store};

const ROUNDS: usize = 300;
/// What was made just now may still change unnoticed, so no sandbox that shows it is entered twice. Homes are older.
const WARM_UP: Duration = Duration::from_secs(3);
const PROGRAM: &str = "/bin/true";

const POLICY: &str = "version = 1
[profile.bare]
protect = []
namespaces = \"never\"
[profile.loopback]
network = \"loopback\"
[profile.unprotected]
protect = []
";

/// A project in a home, and what judges commands there.
struct Ground {
    policy: Policy,
    places: Places,
    project: PathBuf,
    temp: PathBuf,
    /// As `wharf acp` does: what stands in for missing files stays between commands.
    keeper: Mutex<Keeper>,
    seen: Seen,
}

impl Ground {
    /// Below the target directory: what lies where temporary files go is mounted once more.
    fn make(dir: &Path) -> Outcome<Self> {
        let dir = dir.canonicalize()?;
        let (home, project, temp) = (dir.join("home"), dir.join("home/project"), dir.join("state/tmp"));
        for path in [
            &project.join(".git/hooks"),
            &temp,
            &home.join(".ssh"),
            &home.join(".cargo/registry"),
            &home.join(".cache"),
        ] {
            std::fs::create_dir_all(path)?;
        }
        let policy = Policy::parse(POLICY, Path::new("bench.toml"), &home)?;
        let (state, config) = (dir.join("state"), home.join(".config/wharf"));
        let environment = vec![("PATH".into(), "/usr/bin:/bin".into())];
        let places = Places { home: Some(home), state, config, environment, ..Places::default() };
        Ok(Self { policy, places, project, temp, keeper: Mutex::default(), seen: Seen::default() })
    }

    fn judge(&self, sandbox: &str) -> Outcome<Grant> {
        // Each is a session of its own.
        let (places, directory, temp) = (&self.places, &self.project, &self.temp.join(sandbox).join("files"));
        std::fs::create_dir_all(temp)?;
        let at = Situation {
            whose: Whose::Agent,
            places,
            more: &[],
            directory,
            temp,
            sandbox: Some(sandbox),
            seen: &self.seen,
        };
        let spec = Spec::argv(PROGRAM, [""; 0]).cwd(directory);
        match self.policy.judge(spec, &at)? {
            Judgement::Allow(grant) => Ok(grant),
            other => Err(format!("{sandbox}: {other:?}").into()),
        }
    }

    async fn round_trip(&self, store: &Store, sandbox: &str) -> Outcome {
        let grant = self.judge(sandbox)?;
        grant.keep_standing(&mut self.keeper.lock().unwrap_or_else(PoisonError::into_inner));
        let terminal = store.create(grant).await?;
        let ended = terminal.wait().await?;
        terminal.release().await?;
        if ended.exit_code() == Some(0) { Ok(()) } else { Err("true is not true".into()) }
    }
}

/// Nothing but the judge, so many times: to count its system calls (`strace -c`) and instructions (`valgrind`), of which
/// the difference between two numbers of rounds is exact on however busy a machine.
pub(crate) fn judge(sandbox: &str, rounds: usize) -> Outcome {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let ground = Ground::make(dir.path())?;
    for _ in 0..rounds {
        ground.judge(sandbox)?;
    }
    Ok(())
}

pub(crate) fn run() -> Outcome {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let states = scratch()?;
    let (ground, runtime) = (Ground::make(dir.path())?, one_thread()?);
    let store = store(&states, "sandbox", shim()?, Spares::One)?;
    let contender = |name| Contender::new(name, || runtime.block_on(ground.round_trip(&store, name)));
    let contenders = || ["open", "locked", "bare", "unprotected", "workspace", "loopback"].map(contender);
    let began = Instant::now();
    while began.elapsed() < WARM_UP {
        in_turns(&mut contenders(), 1)?;
    }
    let mut measured = contenders();
    in_turns(&mut measured, ROUNDS)?;
    println!("\nround trip of {PROGRAM} in each sandbox, judged, with a spare, {ROUNDS} rounds in turns");
    let base = measured.first().map(|first| first.times.median()).unwrap_or_default();
    for Contender { name, times, .. } in &measured {
        let (p50, p90) = (times.median(), times.percentile(90));
        println!("  {name:<34} p50 {:>10}   p90 {:>10}   {:>5.2}×", ms(p50), ms(p90), ratio(p50, base));
    }
    Ok(())
}
