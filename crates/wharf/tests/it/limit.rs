//! Limits on what a command uses, as `wharf run` is told them: as root and as somebody else, with and without cgroups.
//!
//! Everything here is bounded by itself too: at most 255 processes, 300 MiB, 64 MiB of file, 20 seconds.

#![expect(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

use crate::harness::{Done, Wharf, finish, json};
use std::ffi::OsStr;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const NOBODY: u32 = 65534;
/// Each of its processes makes two, seven times over, and the last of them stay for a while.
const BOMB: &str = "b() { [ $1 -gt 0 ] || exec sleep 20; b $(($1-1)) & b $(($1-1)) & wait; }; b 7";
/// Grows by a mebibyte at a time.
const HOG: &str = "push @x, 'a' x (1 << 20) for 1..300; sleep 20";
const SPIN: &str = "while :; do :; done";

/// Who runs wharf, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum As {
    Oneself,
    WithoutCgroups,
    Nobody,
}

impl As {
    /// Everybody that a test can be here.
    fn everybody() -> Vec<Self> {
        let mut all = vec![Self::Oneself];
        if rustix::process::geteuid().is_root() {
            all.push(Self::Nobody);
            let seen = command(Self::WithoutCgroups.prefix().iter().chain(&["/bin/true"])).status();
            all.extend(seen.is_ok_and(|status| status.success()).then_some(Self::WithoutCgroups));
        }
        all
    }

    /// The words before the program.
    fn prefix(self) -> &'static [&'static str] {
        match self {
            Self::Oneself => &[],
            Self::WithoutCgroups => {
                &["unshare", "--mount", "/bin/sh", "-c", r#"umount -l -a -t cgroup2 && exec "$0" "$@""#]
            }
            Self::Nobody => &["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"],
        }
    }

    /// Runs `wharf run` to its end; nobody may be left of it.
    fn run(self, args: &[&str]) -> Done {
        let dir = tempfile::tempdir().unwrap();
        let wharf = match self {
            Self::Nobody => Wharf::of(&reachable(dir.path())),
            Self::Oneself | Self::WithoutCgroups => Wharf::new(),
        };
        let home = wharf.state().parent().unwrap().to_owned();
        if self == Self::Nobody {
            chown(&home, Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let plain = wharf.command(["run"].into_iter().chain(args.iter().copied()));
        let words = self.prefix().iter().map(OsStr::new).chain([plain.get_program()]).chain(plain.get_args());
        let mut command = command(words);
        command.env_clear().envs(wharf.environment()).stdin(Stdio::null()).current_dir(&home);
        let done = finish(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
        assert_eq!(left(&home), 0, "{self:?}");
        done
    }
}

fn command(words: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
    let mut words = words.into_iter();
    #[expect(clippy::disallowed_methods, reason = "tests start the program")]
    let mut command = Command::new(words.next().unwrap());
    command.args(words);
    command
}

/// A copy that anybody may run: the directory that the program is built in may be its builder's alone. The copy is its
/// own shim.
fn reachable(dir: &Path) -> PathBuf {
    std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o755)).unwrap();
    let program = dir.join("wharf");
    std::fs::copy(env!("CARGO_BIN_EXE_wharf"), &program).unwrap();
    program
}

/// Processes that were started in a terminal of this test's.
fn left(home: &Path) -> usize {
    let home = format!("HOME={}", home.display());
    let environments = std::fs::read_dir("/proc").unwrap().flatten();
    let environments = environments.filter_map(|entry| std::fs::read(entry.path().join("environ")).ok());
    environments.filter(|text| text.split(|b| *b == 0).any(|pair| pair == home.as_bytes())).count()
}

/// As everybody, the exit code and the line that is said. Of many that are killed at once, some may be counted as left by the
/// first of them that is gone; that is said too.
fn assert_ended(args: &[&str], code: i32, line: &str) {
    for who in As::everybody() {
        let done = who.run(args);
        let (first, rest) = done.err.split_at(line.len().min(done.err.len()));
        assert_eq!((done.code, first), (Some(code), line), "{who:?}: {done:?}");
        assert!(rest.is_empty() || rest.contains("that it left running"), "{who:?}: {done:?}");
    }
}

#[test]
fn a_fork_bomb_ends_by_its_limit() {
    let line = "wharf: ended by its limit of 40 processes (SIGKILL)\n";
    assert_ended(&["--max-processes", "40", "-c", BOMB], 137, line);
}

#[test]
fn a_memory_hog_ends_by_its_limit() {
    let line = "wharf: ended by its memory limit of 67,108,864 bytes (SIGKILL)\n";
    assert_ended(&["--max-memory", "64M", "--", "perl", "-e", HOG], 137, line);
}

#[test]
fn a_cpu_hog_ends_by_its_limit() {
    let line = "wharf: ended by its CPU time limit of 0.3s (SIGTERM)\n";
    assert_ended(&["--max-cpu", "300ms", "-c", SPIN], 143, line);
    // What many short ones use together counts as well.
    assert_ended(&["--max-cpu", "300ms", "-c", "trap 'kill -9 $$' TERM; while :; do (:); done"], 137, {
        "wharf: ended by its CPU time limit of 0.3s (SIGKILL)\n"
    });
}

#[test]
fn a_disk_filler_ends_by_its_limit() {
    let args = ["--max-file-size", "1M", "--", "dd", "if=/dev/zero", "of=filled", "bs=64k", "count=1000"];
    assert_ended(&args, 153, "wharf: ended by its file size limit of 1,048,576 bytes (SIGXFSZ)\n");
}

#[test]
fn open_files_are_limited_for_good_to_whoever_is_not_root() {
    for who in As::everybody() {
        let line = "ulimit -n; ulimit -Hn; (ulimit -n 65) 2>/dev/null && echo raised";
        let said = who.run(&["--max-open-files", "64", "-c", line]).out;
        assert!(said == "64\n64\n" || said == "64\n64\nraised\n" && who != As::Nobody, "{who:?}: {said}");
    }
}

#[test]
fn the_record_and_the_list_name_the_limit() {
    let wharf = Wharf::new();
    let done = wharf.call(["run", "--json", "--max-cpu", "200ms", "-c", SPIN]);
    let record = json(&done.out);
    assert_eq!((&record["cause"], &record["signal"]), (&"cpu_limit".into(), &"SIGTERM".into()));
    assert!(wharf.ok(["ls", "--all"]).contains("out of CPU time"));
}
