//! The compiled tests of the program `wharf`, ready to be run where there is no cargo: the test runner takes what cargo
//! would tell it from files.

use super::Scratch;
use crate::program::{cargo, output_of, program, run as step};
use crate::{Failure, fuzz, root, test};
use std::path::PathBuf;

/// Where programs are, there as here. Not of a version manager: those want their owner's home.
pub(super) const PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";

/// What the tests start.
const PROGRAMS: [&str; 3] = ["wharf", "wharf-shim", "wharf-misbehave"];

/// How to run the tests.
pub(super) struct Suite {
    /// The test runner's own program, for it is not cargo that starts it.
    pub(super) runner: PathBuf,
    binaries: PathBuf,
    metadata: PathBuf,
}

impl Suite {
    pub(super) fn build(scratch: &Scratch) -> Result<Self, Failure> {
        test::install_nextest()?;
        step(cargo(&["build", "--workspace", "--bins"]), "it does not compile")?;
        step(cargo(&["test", "--package", "wharf", "--test", "it", "--no-run"]), "it does not compile")?;
        let list = ["nextest", "list", "--package", "wharf", "--test", "it", "--list-type", "binaries-only"];
        let binaries = output_of(cargo(&[&list[..], &["--message-format", "json"]].concat()))?;
        // Of this platform alone: of the others cargo would have to fetch what nothing here is made of.
        let metadata = ["metadata", "--format-version", "1", "--filter-platform", &fuzz::host()?];
        let metadata = output_of(cargo(&metadata))?;
        Ok(Self {
            runner: runner()?,
            binaries: scratch.write("binaries.json", &binaries)?,
            metadata: scratch.write("metadata.json", &metadata)?,
        })
    }

    /// Where the tests make their files; the one place of the repository that they must be able to write to.
    pub(super) fn workplace() -> PathBuf {
        root().join("target/tmp")
    }

    /// The programs that the tests start without what debuggers want of them, in a directory of their own: most tests
    /// copy them, and in an emulated machine a copy of 100 MB takes a second.
    pub(super) fn light_programs(scratch: &Scratch) -> Result<PathBuf, Failure> {
        let light = scratch.path().join("light");
        std::fs::create_dir(&light).map_err(|error| Failure::new(format!("{}: {error}", light.display())))?;
        for name in PROGRAMS {
            let mut strip = program("strip");
            strip.arg("-o").arg(light.join(name)).arg(programs().join(name));
            step(strip, "it comes with the linker (`binutils`)")?;
        }
        Ok(light)
    }

    /// The test runner's arguments.
    pub(super) fn args(&self, filter: &[&str]) -> Vec<String> {
        let files = [("--binaries-metadata", &self.binaries), ("--cargo-metadata", &self.metadata)];
        let files = files.map(|(flag, file)| [flag.to_owned(), file.display().to_string()]);
        ["nextest", "run", "--profile", "elsewhere"]
            .map(str::to_owned)
            .into_iter()
            .chain(files.into_iter().flatten())
            .chain(filter.iter().map(|&word| word.to_owned()))
            .collect()
    }
}

/// Where cargo puts the programs.
pub(super) fn programs() -> PathBuf {
    root().join("target/debug")
}

fn runner() -> Result<PathBuf, Failure> {
    let mut find = program("sh");
    find.args(["-c", "command -v cargo-nextest"]);
    let missing = |_| Failure::new("`cargo-nextest` is not on the PATH; add cargo's `bin` directory to it");
    output_of(find).map_err(missing).map(|path| PathBuf::from(path.trim()))
}

/// Whether a line of the runner's output is the one that counts.
pub(super) fn is_summary(line: &str) -> bool {
    line.contains("Summary [")
}
