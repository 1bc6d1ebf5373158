//! Shells of `wharf-core` in this process, without any protocol.

use crate::Outcome;
use crate::place::{Place, home, project};
use crate::side::{Answer, Side};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};
use wharf_core::shell::{Because, Kind, Shell, Until, spec};
use wharf_core::{Dirs, Holder, OnOwnerExit, Size, Spares, Store, unrestricted};

/// Only against hanging.
const PATIENCE: Duration = Duration::from_secs(60);

struct Core {
    runtime: Runtime,
    store: Store,
    dir: PathBuf,
    shells: HashMap<String, Shell>,
}

pub(crate) fn start(place: &Place) -> Outcome<Box<dyn Side>> {
    let runtime = Builder::new_multi_thread().enable_all().build()?;
    let inside = runtime.enter();
    let store = Store::open_with(Dirs::under(place.path().join("state")), shim()?, Spares::None)?;
    drop(inside);
    Ok(Box::new(Core { runtime, store, dir: place.path().into(), shells: HashMap::new() }))
}

/// The shim of the same build.
fn shim() -> Outcome<Holder> {
    let shim = Path::new(env!("CARGO_BIN_EXE_wharf")).with_file_name("wharf-shim");
    let shim = shim.is_file().then_some(shim).ok_or("build the shim first: cargo xtask bench shell")?;
    Ok(Holder::Process(shim))
}

impl Side for Core {
    fn open(&mut self, names: &[String]) -> Outcome {
        for name in names {
            let spec = spec(Kind::Bash, Path::new("/bin/bash"), name, "", Size::default());
            let spec = spec
                .cwd(project(&self.dir))
                .env("HOME", home(&self.dir))
                .env("PATH", "/usr/bin:/bin")
                .on_owner_exit(OnOwnerExit::Kill);
            let open = Shell::open(&self.store, unrestricted(spec)?, PATIENCE);
            self.shells.insert(name.clone(), self.runtime.block_on(open)?);
        }
        Ok(())
    }

    fn run(&mut self, names: &[String], command: &str) -> Outcome<Vec<Answer>> {
        let shells = names.iter().map(|name| self.shells.get(name).cloned().ok_or("there is no such shell"));
        let shells = shells.collect::<Result<Vec<Shell>, _>>()?;
        if let [shell] = shells.as_slice() {
            return Ok(vec![self.runtime.block_on(run(shell.clone(), command.to_owned()))?]);
        }
        let tasks: Vec<_> =
            shells.into_iter().map(|shell| self.runtime.spawn(run(shell, command.to_owned()))).collect();
        tasks.into_iter().map(|task| self.runtime.block_on(task)?).collect()
    }

    fn is_here(&self) -> bool {
        true
    }

    fn rest(&mut self, name: &str) -> Outcome<String> {
        let shell = self.shells.get(name).ok_or("there is no such shell")?;
        let last = shell.status().last.ok_or("nothing has run")?;
        Ok(self.runtime.block_on(shell.lines(last.id, 1))?.lines.join("\n"))
    }
}

async fn run(shell: Shell, command: String) -> Outcome<Answer> {
    let command = shell.run(&command, "bench").await?;
    match shell.wait(Until::End, Instant::now() + PATIENCE).await {
        Because::Ended => (),
        other => return Err(format!("it did not end: {other:?}").into()),
    }
    let exit_code = shell.status().last.and_then(|last| last.exit_code).map(i64::from);
    let output = shell.lines(command.id, 1).await?.lines.join("\n");
    Ok(Answer { exit_code, output })
}

impl Drop for Core {
    fn drop(&mut self) {
        for (_, shell) in self.shells.drain() {
            let _ = self.runtime.block_on(shell.terminal().release());
        }
    }
}
