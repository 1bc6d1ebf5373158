//! What the guest starts with: busybox, the modules that reach this machine's files, and what is to be run.

use super::Scratch;
use super::linux::Linux;
use super::suite::{Suite, programs};
use crate::Failure;
use crate::program::{program, run as step};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The first program.
const INIT: &str = include_str!("init.sh");

/// What the first program loads: the disk, the files of this machine, and a layer above them. ext4 asks for a checksum
/// by name, so nothing says that it needs the module that has it.
const MODULES: [&str; 7] =
    ["virtio_pci", "virtio_blk", "9pnet_virtio", "9p", "overlay", "crc32c_generic", "ext4"];

/// Makes it; `light` has programs that take the place of those that cargo made, and `job` is the script that is run once
/// everything is there.
pub(super) fn make(
    scratch: &Scratch,
    linux: &Linux,
    busybox: &Path,
    light: &Path,
    job: &str,
) -> Result<PathBuf, Failure> {
    let (tree, archive) = (scratch.path().join("initramfs"), scratch.path().join("initramfs.cpio"));
    let path = |path: &Path| path.display().to_string();
    let settings = [
        ("load", MODULES.join(" ")),
        ("modules", path(&linux.modules())),
        ("workplace", path(&Suite::workplace())),
        ("programs", path(&programs())),
        ("light", path(light)),
    ];
    let settings: String =
        settings.into_iter().map(|(name, value)| format!("{name}={}\n", quoted(&value))).collect();
    lay(&tree, linux, busybox, &[("init", INIT), ("settings", &settings), ("job", job)])
        .map_err(|error| Failure::new(format!("{}: {error}", tree.display())))?;
    let mut pack = program("sh");
    let line = "chmod 755 init && find . | \"$1\" cpio -o -H newc > \"$2\"";
    pack.args(["-ec", line, "sh"]).arg(busybox).arg(&archive).current_dir(&tree);
    step(pack, "the initial file system of the guest cannot be packed")?;
    Ok(archive)
}

fn lay(tree: &Path, linux: &Linux, busybox: &Path, texts: &[(&str, &str)]) -> io::Result<()> {
    let own = tree.join("lib/modules").join(&linux.release);
    fs::create_dir_all(tree.join("bin"))?;
    fs::create_dir_all(&own)?;
    fs::copy(busybox, tree.join("bin/busybox"))?;
    for (name, text) in texts {
        fs::write(tree.join(name), text)?;
    }
    let index = fs::read_to_string(linux.modules().join("modules.dep"))?;
    for module in needed(&index) {
        let to = own.join(module);
        to.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::copy(linux.modules().join(module), to)?;
    }
    fs::write(own.join("modules.dep"), index)
}

/// The files of [`MODULES`] and of all that those need, by a kernel's index: a line for each module, `FILE: FILE FILE`.
fn needed(index: &str) -> BTreeSet<&str> {
    let is_wanted = |file: &str| {
        let name = file.rsplit('/').next().and_then(|name| name.split('.').next());
        name.is_some_and(|name| MODULES.contains(&name))
    };
    let wanted = index.lines().filter_map(|line| line.split_once(':')).filter(|(file, _)| is_wanted(file));
    wanted.flat_map(|(file, others)| others.split_whitespace().chain([file])).collect()
}

/// A word as the shell takes it.
pub(super) fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_comes_with_those_it_needs() {
        let index = "kernel/fs/9p/9p.ko: kernel/net/9p/9pnet.ko kernel/fs/netfs/netfs.ko\n\
            kernel/fs/ext4/ext4.ko.xz: kernel/fs/mbcache.ko.xz\nkernel/fs/fat/fat.ko:\nkernel/fs/o/overlay.ko:\n";
        let expected = [
            "kernel/fs/9p/9p.ko",
            "kernel/fs/ext4/ext4.ko.xz",
            "kernel/fs/mbcache.ko.xz",
            "kernel/fs/netfs/netfs.ko",
            "kernel/fs/o/overlay.ko",
            "kernel/net/9p/9pnet.ko",
        ];
        assert_eq!(needed(index).into_iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn words_are_quoted_for_the_shell() {
        assert_eq!(quoted("it's $1"), r"'it'\''s $1'");
    }
}
