//! Debian's packages: installed where the tests need a program, or fetched and unpacked under `target` where installing
//! would change the machine.

use crate::Failure;
use crate::program::{answers, output_of, program, run as step};
use std::fs;
use std::path::Path;

/// A program, and the Debian package it comes in.
pub(crate) struct Wanted {
    pub(crate) program: &'static str,
    /// What makes it say that it is there, and end.
    pub(crate) asked: &'static str,
    pub(crate) package: &'static str,
}

/// Installs those that are not there, or says how a person does it.
pub(crate) fn install(wanted: &[Wanted]) -> Result<(), Failure> {
    let is_missing = |wanted: &&Wanted| {
        let mut command = program(wanted.program);
        command.arg(wanted.asked);
        !answers(command)
    };
    let missing: Vec<&Wanted> = wanted.iter().filter(is_missing).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let names = missing.iter().map(|wanted| wanted.program).collect::<Vec<_>>().join(", ");
    let packages: Vec<&str> = missing.iter().map(|wanted| wanted.package).collect();
    if absent().is_none() {
        let by_hand = format!("install by hand: {names}");
        update(&by_hand)?;
        let mut install = program("apt-get");
        install.args(["install", "--yes", "--quiet", "--no-install-recommends"]).args(&packages);
        return step(install, &by_hand);
    }
    let packages = packages.join(" ");
    Err(Failure::new(format!(
        "the tests need what is not installed here: {names}; `sudo apt-get install {packages}`, \
         `sudo dnf install {packages}` or the like"
    )))
}

/// Why packages can be neither installed nor unpacked here.
pub(crate) fn absent() -> Option<&'static str> {
    let mut apt = program("apt-get");
    apt.arg("--version");
    match () {
        () if !Path::new("/etc/debian_version").exists() => Some("this is not Debian"),
        () if !answers(apt) => Some("there is no apt-get"),
        () if !is_root() => Some("this is not run as root"),
        () => None,
    }
}

/// Fetches the package lists.
pub(crate) fn update(otherwise: &str) -> Result<(), Failure> {
    let mut update = program("apt-get");
    update.args(["update", "--quiet"]);
    step(update, &format!("the package lists cannot be fetched; {otherwise}"))
}

/// The files of these packages below `place`, which appears only once all are there. No script of theirs is run.
pub(crate) fn unpack(packages: &[&str], place: &Path) -> Result<(), Failure> {
    let failed = |error| Failure::new(format!("{}: {error}", place.display()));
    let half = place.with_file_name("half");
    let _ = fs::remove_dir_all(&half);
    fs::create_dir_all(half.join("archives")).map_err(failed)?;
    let mut download = program("apt-get");
    download.args(["download", "--quiet"]).args(packages).current_dir(half.join("archives"));
    step(download, "apt has no such package; are its lists those of Debian 12?")?;
    for archive in fs::read_dir(half.join("archives")).map_err(failed)?.flatten() {
        let mut unpack = program("dpkg-deb");
        unpack.arg("--extract").arg(archive.path()).arg(half.join("files"));
        step(unpack, "the package cannot be unpacked; is the disk full?")?;
    }
    fs::rename(half.join("files"), place).map_err(failed)?;
    fs::remove_dir_all(&half).map_err(failed)
}

fn is_root() -> bool {
    let mut id = program("id");
    id.arg("-u");
    output_of(id).is_ok_and(|uid| uid.trim() == "0")
}
