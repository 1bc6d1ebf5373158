//! Debian's kernels: found among its packages by version, fetched once, and never installed on this machine.

use super::PLACE;
use crate::program::{output_of, program, run as step};
use crate::{Failure, debian, root};
use std::fs;
use std::path::{Path, PathBuf};

/// An unpacked kernel.
pub(super) struct Linux {
    /// As `uname -r` says it.
    pub(super) release: String,
    dir: PathBuf,
}

impl Linux {
    /// The newest kernel of this version that is here already, or else that apt can get.
    pub(super) fn get(version: &str, busybox: &Path) -> Result<Self, Failure> {
        let place = root().join(PLACE);
        let here = fs::read_dir(&place).into_iter().flatten().flatten();
        let here = here.filter_map(|entry| entry.file_name().into_string().ok());
        if let Some(release) = newest(here, version) {
            return Ok(Self { dir: place.join(package(&release)), release });
        }
        debian::update("the kernel cannot be found without them")?;
        let mut names = program("apt-cache");
        names.args(["pkgnames", "linux-image-"]);
        let names = output_of(names)?;
        let release = newest(names.lines().map(str::to_owned), version)
            .ok_or_else(|| Failure::new(format!("apt has no kernel {version} here; Debian 12 has 6.1")))?;
        let linux = Self { dir: place.join(package(&release)), release };
        let half = place.join("unpacked");
        let _ = fs::remove_dir_all(&half);
        debian::unpack(&[&package(&linux.release)], &half)?;
        linux.index(&half, busybox)?;
        fs::rename(&half, &linux.dir)
            .map_err(|error| Failure::new(format!("{}: {error}", linux.dir.display())))?;
        Ok(linux)
    }

    /// Says which module needs which: a script of the package would do it when it is installed.
    fn index(&self, dir: &Path, busybox: &Path) -> Result<(), Failure> {
        let mut depmod = program(&busybox.display().to_string());
        depmod.args(["depmod", "-b"]).arg(above_modules(dir)).arg(&self.release);
        step(depmod, "the kernel's modules cannot be read")
    }

    pub(super) fn image(&self) -> PathBuf {
        self.dir.join("boot").join(format!("vmlinuz-{}", self.release))
    }

    pub(super) fn modules(&self) -> PathBuf {
        above_modules(&self.dir).join("lib/modules").join(&self.release)
    }
}

/// Debian 13 moved the modules below `usr`.
fn above_modules(dir: &Path) -> PathBuf {
    let merged = dir.join("usr");
    if merged.join("lib/modules").is_dir() { merged } else { dir.to_owned() }
}

fn package(release: &str) -> String {
    format!("linux-image-{release}")
}

/// The newest release of a version among these packages.
fn newest(packages: impl Iterator<Item = String>, version: &str) -> Option<String> {
    let release = |name: String| name.strip_prefix("linux-image-").map(str::to_owned);
    packages.filter_map(release).filter(|release| is_of(release, version)).max_by_key(|it| numbers(it))
}

/// Whether a release is an ordinary kernel of this version: 6.12.1 is not of 6.1, and packages without a third number
/// only name others.
fn is_of(release: &str, version: &str) -> bool {
    let Some(exact) = release.strip_suffix("-amd64") else { return false };
    let rest = exact.strip_prefix(version);
    rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
        && exact.matches('.').count() >= 2
        && !["-cloud", "-rt"].iter().any(|flavour| exact.ends_with(flavour))
}

fn numbers(release: &str) -> Vec<u64> {
    release.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_ordinary_kernel_of_a_version_is_found() {
        let names = [
            "linux-image-6.1.0-9-amd64",
            "linux-image-6.1.0-55-amd64",
            "linux-image-6.1.0-55-cloud-amd64",
            "linux-image-6.1.0-60-amd64-unsigned",
            "linux-image-6.1-amd64",
            "linux-image-6.12.117+deb12-amd64",
            "linux-image-6.12.9+deb12-amd64",
            "linux-headers-6.1.0-99-amd64",
        ];
        let newest = |version| newest(names.into_iter().map(str::to_owned), version);
        assert_eq!(newest("6.1").as_deref(), Some("6.1.0-55-amd64"));
        assert_eq!(newest("6.1.0-9").as_deref(), Some("6.1.0-9-amd64"));
        assert_eq!(newest("6.12").as_deref(), Some("6.12.117+deb12-amd64"));
        assert_eq!(newest("5.10"), None);
    }
}
