//! A small disk: a file system of its own, of a size that a test can change, that vanishes with its guard.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// One of them.
#[derive(Debug)]
pub struct SmallDisk(PathBuf);

impl SmallDisk {
    /// None where the test may not mount.
    #[must_use]
    pub fn mount(at: PathBuf, size: &str) -> Option<Self> {
        fs::create_dir_all(&at).unwrap();
        let options = format!("size={size},mode=700");
        let mounted = run("mount", &["-t", "tmpfs", "-o", &options, "wharf-test", at.to_str().unwrap()]);
        mounted.then(|| Self(at))
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Gives it another size.
    pub fn resize(&self, size: &str) {
        assert!(run("mount", &["-o", &format!("remount,size={size}"), self.0.to_str().unwrap()]));
    }

    /// Takes all the room there is, with a file of somebody else's; where it is.
    #[must_use]
    pub fn fill(&self) -> PathBuf {
        let path = self.0.join("filler");
        let mut filler = fs::File::create(&path).unwrap();
        while filler.write_all(&[1; 4096]).is_ok() {}
        path
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        run("umount", &["-l", self.0.to_str().unwrap()]);
    }
}

fn run(program: &str, args: &[&str]) -> bool {
    #[expect(clippy::disallowed_methods, reason = "mounting is no command in a terminal")]
    let mut command = Command::new(program);
    command.args(args).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}
