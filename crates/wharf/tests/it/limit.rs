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
/// Computes for so many seconds, by the kernel's own account of this process.
const COMPUTE: &str = "use Time::HiRes 'clock_gettime'; \
    sub compute { my $until = clock_gettime(2) + $_[0]; 1 while clock_gettime(2) < $until }";

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
        self.call(&[&["run"], args].concat())
    }

    /// The same with any verb.
    fn call(self, args: &[&str]) -> Done {
        let dir = tempfile::tempdir().unwrap();
        let wharf = match self {
            Self::Nobody => Wharf::of(&reachable(dir.path())),
            Self::Oneself | Self::WithoutCgroups => Wharf::new(),
        };
        let home = wharf.state().parent().unwrap().to_owned();
        let project = wharf.scratch();
        if self == Self::Nobody {
            for dir in [&home, &project] {
                chown(dir, Some(NOBODY), Some(NOBODY)).unwrap();
            }
        }
        let plain = wharf.command(args.iter().copied());
        let words = self.prefix().iter().map(OsStr::new).chain([plain.get_program()]).chain(plain.get_args());
        let mut command = command(words);
        command.env_clear().envs(wharf.environment()).stdin(Stdio::null()).current_dir(&project);
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
fn the_doctor_says_what_is_an_estimate() {
    let who = As::WithoutCgroups;
    if !As::everybody().contains(&who) {
        return;
    }
    let records = json(&who.call(&["doctor", "--json"]).out);
    let told = |name: &str| records.as_array().unwrap().iter().find(|record| record["name"] == name).unwrap();
    for name in ["memory limit", "CPU time limit"] {
        assert!(told(name).to_string().contains("estimated by wharf"), "{}", told(name));
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

/// Of memory that is in no process's own: written, and mapped by nobody. Each is 160 MiB, by one at a time.
const SHARED: [(&str, &str); 3] = [
    (
        "a memfd",
        "syscall(`uname -m` =~ /x86_64/ ? 319 : 279, my $name = 'x', 0) == 3 or exit 9; \
        open F, '>&=3'; syswrite F, 'a' x (1 << 20) for 1..160; sleep 20",
    ),
    (
        "System V segments",
        "$| = 1; print $id = shmget(0, 160 << 20, 0600 | 01000), qq(\n); \
        shmwrite($id, 'a' x (1 << 20), $_ << 20, 1 << 20) or exit 9 for 0..159; sleep 20",
    ),
    (
        "a file in /dev/shm",
        "$| = 1; open F, '>', $path = qq(/dev/shm/wharf-test-$$) or exit 9; print qq($path\n); \
        syswrite F, 'a' x (1 << 20) for 1..160; close F; sleep 20",
    ),
];

/// Takes away what outlives its process, named by what the program printed.
fn take_away(said: &str) {
    let said = said.trim();
    if said.starts_with("/dev/shm/") {
        let _ = std::fs::remove_file(said);
    } else if !said.is_empty() {
        let _ = command(["ipcrm", "-m", said]).stderr(Stdio::null()).status();
    }
}

#[test]
fn memory_that_is_no_processs_own_counts() {
    for who in As::everybody() {
        for (what, program) in SHARED {
            let done = who.run(&["--max-memory", "100M", "--", "perl", "-e", program]);
            take_away(&done.out);
            let line = "wharf: ended by its memory limit of 104,857,600 bytes (SIGKILL)\n";
            assert_eq!((done.code, done.err.as_str()), (Some(137), line), "{who:?}: {what}");
        }
    }
}

#[test]
fn memory_that_is_a_sandboxs_own_counts() {
    // Many small ones, each of which is closed long before anybody looks.
    let files = "for $n (1..160) { open F, '>', qq(/dev/shm/$n) or exit 9; syswrite F, 'a' x (1 << 20); close F } sleep 20";
    for who in As::everybody() {
        for (what, program) in SHARED.into_iter().chain([("files in /dev/shm", files)]) {
            let args = ["--sandbox", "workspace", "--max-memory", "100M", "--", "perl", "-e", program];
            let done = who.run(&args);
            // Where there are no namespaces, there is no such sandbox.
            if done.err.contains("cannot be made here") {
                continue;
            }
            let line = "wharf: ended by its memory limit of 104,857,600 bytes (SIGKILL)\n";
            assert_eq!((done.code, done.err.as_str()), (Some(137), line), "{who:?}: {what}");
        }
    }
}

#[test]
fn shared_memory_within_its_limit_is_left_alone() {
    for who in As::everybody() {
        for (what, program) in SHARED {
            let program =
                program.replace("160", "60").replace("159", "59").replace("sleep 20", "sleep 1; exit 5");
            let done = who.run(&["--max-memory", "100M", "--", "perl", "-e", &program]);
            take_away(&done.out);
            assert_eq!(done.code, Some(5), "{who:?}: {what}: {done:?}");
        }
    }
}

/// Six seconds in all, in children of so many milliseconds that nobody waits for: the kernel forgets what they have used.
fn unwaited(milliseconds: u32) -> String {
    let (children, seconds) = (6000 / milliseconds, f64::from(milliseconds) / 1000.0);
    format!(
        "{COMPUTE}; $SIG{{CHLD}} = 'IGNORE'; \
         for (1..{children}) {{ fork or do {{ compute {seconds}; exit }}; wait }} exit 5"
    )
}

#[test]
fn children_that_nobody_waits_for_count() {
    let line = "wharf: ended by its CPU time limit of 1s (SIGTERM)\n";
    for milliseconds in [40, 8] {
        assert_ended(&["--max-cpu", "1s", "--", "perl", "-e", &unwaited(milliseconds)], 143, line);
    }
}

#[test]
fn children_within_their_limit_are_left_alone_whoever_waits_for_them() {
    let waited = format!("{COMPUTE}; for (1..40) {{ fork or do {{ compute 0.04; exit }}; wait }} exit 5");
    let unwaited = unwaited(40).replace("1..150", "1..40");
    for who in As::everybody() {
        for program in [&waited, &unwaited] {
            let done = who.run(&["--max-cpu", "4s", "--", "perl", "-e", program]);
            assert_eq!(done.code, Some(5), "{who:?}: {program}: {done:?}");
        }
    }
}
