//! `cargo xtask dist`: the programs as they are handed out, in `target/dist`.
//!
//! The shim is linked statically: every terminal has one, and one without a dynamic loader starts sooner, weighs less and
//! runs in a container that has no C library. The flags go to the program alone, so that everything it is made of is
//! compiled once.

use crate::Failure;
use crate::program::{cargo, run as step};
use std::fs;
use std::path::{Path, PathBuf};

pub(crate) fn run() -> Result<(), Failure> {
    step(cargo(&["build", "--release", "--package", "wharf", "--bin", "wharf"]), "it does not compile")?;
    let dist = Path::new("target/dist");
    copy(Path::new("target/release/wharf"), &dist.join("wharf"))?;
    copy(&shim()?, &dist.join("wharf-shim"))?;
    println!("{}", dist.display());
    Ok(())
}

/// Builds the static shim and says where it is.
pub(crate) fn shim() -> Result<PathBuf, Failure> {
    let mut build = cargo(&["rustc", "--release", "--package", "wharf-shim", "--bin", "wharf-shim", "--"]);
    build.args(["-C", "target-feature=+crt-static", "-C", "relocation-model=static"]);
    step(
        build,
        "the static shim does not link; the C library's static archive (libc6-dev, glibc-static) is needed",
    )?;
    Ok(PathBuf::from("target/release/wharf-shim"))
}

fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    let failed = |error| Failure::new(format!("cannot copy {} to {}: {error}", from.display(), to.display()));
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent).map_err(failed)?;
    }
    fs::copy(from, to).map(drop).map_err(failed)
}
