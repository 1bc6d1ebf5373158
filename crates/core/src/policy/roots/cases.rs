//! Every way to name a working directory, with its verdict. Real directories, links, mounts and users.
#![cfg(test)]

use super::*;
use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Command, Stdio};

/// A root `work` with things in it, and things beside it that look like it.
struct Field {
    _dir: tempfile::TempDir,
    base: PathBuf,
    roots: Roots,
}

const DIRECTORIES: &[&str] = &[
    "work",
    "work/sub",
    "work/sub/deep",
    "work/sub/deep/er",
    "work/ space",
    "work/space ",
    "work/new\nline",
    "work/quote'",
    "work/quote\"",
    "work/$(id)",
    "work/*",
    "work/(deleted)",
    "work/x (deleted)",
    "work/ä",
    "work/...",
    "work/..x",
    "work/-p",
    "work/~",
    "workevil",
    "workevil/sub",
    "work ",
    "work.",
    "Work2",
    "outside",
    "outside/sub",
    "outside/work",
    "work/nested",
    "work/nested/in",
    "second",
];

/// Name and target; a target with an `@` is an absolute one under the field, any other as it stands.
const LINKS: &[(&str, &str)] = &[
    ("work/in", "sub"),
    ("work/in-absolute", "@work/sub/deep"),
    ("work/in-dotted", "../work/./sub//deep/.."),
    ("work/to-root", "@work"),
    ("work/to-dot", "."),
    ("work/out", "../outside"),
    ("work/out-absolute", "@outside/sub"),
    ("work/out-evil", "../workevil"),
    ("work/out-parent", ".."),
    ("work/chain1", "chain2"),
    ("work/chain2", "chain3"),
    ("work/chain3", "sub/deep"),
    ("work/chain-out", "chain-out2"),
    ("work/chain-out2", "out"),
    ("work/loop1", "loop2"),
    ("work/loop2", "loop1"),
    ("work/self", "self"),
    ("work/dangling", "nothing"),
    ("work/to-file", "file"),
    ("work/sub/up-out", "../../outside"),
    ("work/sub/up-in", "../sub/deep"),
    ("outside/to-work", "@work/sub"),
    ("outside/alias", "@work"),
];

impl Field {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), Permissions::from_mode(0o755)).unwrap();
        let base = dir.path().canonicalize().unwrap();
        for name in DIRECTORIES {
            fs::create_dir(base.join(name)).unwrap();
        }
        fs::create_dir(base.join(odd())).unwrap();
        fs::write(base.join("work/file"), "").unwrap();
        for (name, target) in LINKS {
            let target =
                target.strip_prefix('@').map_or_else(|| PathBuf::from(target), |rest| base.join(rest));
            symlink(target, base.join(name)).unwrap();
        }
        let roots = ["work", "work/nested", "second"].map(|name| Root::open(&base.join(name)).unwrap());
        Self { _dir: dir, base, roots: Roots::new(roots.into()) }
    }

    /// The root's name and the path in it, or the word of the refusal.
    fn verdict(&self, cwd: impl AsRef<Path>) -> String {
        verdict(&self.roots, cwd.as_ref())
    }

    fn check(&self, cases: &[(&str, &str)]) {
        for (name, expected) in cases {
            let path = [self.base.as_os_str().as_bytes(), b"/", name.as_bytes()].concat();
            assert_eq!(self.verdict(OsStr::from_bytes(&path)), *expected, "{name:?}");
        }
    }
}

fn verdict(roots: &Roots, cwd: &Path) -> String {
    match roots.admit(cwd) {
        Ok(admitted) => {
            let root = &admitted.root;
            let inner = admitted.path.strip_prefix(root).unwrap();
            let name = root.file_name().unwrap().to_string_lossy().into_owned();
            format!("{name}:{}", inner.display())
        }
        Err(refused) => code(&refused).to_owned(),
    }
}

/// A name that is no text.
fn odd() -> &'static OsStr {
    OsStr::from_bytes(b"work/odd\xff\xfe")
}

const OUT: &str = "cwd_outside_roots";
const BAD: &str = "bad_cwd";

#[test]
fn names_that_look_alike_are_told_apart() {
    Field::new().check(&[
        ("work", "work:"),
        ("work/", "work:"),
        ("work//", "work:"),
        ("work/.", "work:"),
        ("./work", "work:"),
        ("work/sub", "work:sub"),
        ("work/sub/deep/er", "work:sub/deep/er"),
        ("work//sub///deep/", "work:sub/deep"),
        ("work/./sub/./.", "work:sub"),
        ("work/sub/..", "work:"),
        ("work/sub/../sub/deep", "work:sub/deep"),
        ("workevil/../work/sub", "work:sub"),
        ("outside/../work", "work:"),
        ("workevil", OUT),
        ("workevil/sub", OUT),
        ("work ", OUT),
        ("work.", OUT),
        ("Work2", OUT),
        ("outside/work", OUT),
        ("work/..", OUT),
        ("work/../workevil", OUT),
        ("work/../outside/sub", OUT),
        ("work/sub/../../outside", OUT),
        ("work/sub/deep/../../..", OUT),
        ("work/../../../../../../../../../..", OUT),
        ("", OUT),
        ("Work", BAD),
        ("WORK/sub", BAD),
        ("work/Sub", BAD),
        ("work\n", BAD),
        ("work\"", BAD),
        ("work'", BAD),
        ("work\0", BAD),
        ("work/sub\0/../../outside", BAD),
        ("work/nothing", BAD),
        ("work/nothing/..", BAD),
        ("work/nothing/../../outside", BAD),
        ("work/file", BAD),
        ("work/file/", BAD),
        ("work/file/..", BAD),
        ("work/ space", "work: space"),
        ("work/space ", "work:space "),
        ("work/space", BAD),
        ("work/new\nline", "work:new\nline"),
        ("work/quote'", "work:quote'"),
        ("work/quote\"", "work:quote\""),
        ("work/quote", BAD),
        ("work/$(id)", "work:$(id)"),
        ("work/*", "work:*"),
        ("work/(deleted)", "work:(deleted)"),
        ("work/x (deleted)", "work:x (deleted)"),
        ("work/x", BAD),
        ("work/ä", "work:ä"),
        ("work/a\u{308}", BAD),
        ("work/...", "work:..."),
        ("work/..x", "work:..x"),
        ("work/-p", "work:-p"),
        ("work/~", "work:~"),
        ("work/nested", "nested:"),
        ("work/nested/in", "nested:in"),
        ("work/nested/..", "work:"),
        ("second", "second:"),
        ("work/../second", "second:"),
    ]);
}

#[test]
fn links_are_judged_by_where_they_lead() {
    Field::new().check(&[
        ("work/in", "work:sub"),
        ("work/in/", "work:sub"),
        ("work/in/deep", "work:sub/deep"),
        ("work/in/..", "work:"),
        ("work/in-absolute", "work:sub/deep"),
        ("work/in-dotted", "work:sub"),
        ("work/to-root", "work:"),
        ("work/to-root/to-root/sub", "work:sub"),
        ("work/to-dot", "work:"),
        ("work/to-dot/to-dot/to-dot/in", "work:sub"),
        ("work/chain1", "work:sub/deep"),
        ("work/sub/up-in", "work:sub/deep"),
        ("outside/to-work", "work:sub"),
        ("outside/alias/sub", "work:sub"),
        ("work/out", OUT),
        ("work/out/sub", OUT),
        ("work/out/..", OUT),
        ("work/out/../work", "work:"),
        ("work/out-absolute", OUT),
        ("work/out-evil", OUT),
        ("work/out-parent", OUT),
        ("work/out-parent/work", "work:"),
        ("work/chain-out", OUT),
        ("work/sub/up-out", OUT),
        ("work/out/to-work", "work:sub"),
        ("work/loop1", BAD),
        ("work/self/sub", BAD),
        ("work/dangling", BAD),
        ("work/to-file", BAD),
    ]);
}

#[test]
fn paths_that_are_none_and_doors_of_proc_are_judged_by_what_is_behind() {
    let field = Field::new();
    let inside = fs::File::open(field.base.join("work/sub")).unwrap();
    let outside = fs::File::open(field.base.join("outside")).unwrap();
    let base = field.base.display();
    let own = std::process::id();
    let (fd, other) = (inside.as_raw_fd(), outside.as_raw_fd());
    let long = "/deeper".repeat(700);
    let dots = "/.".repeat(2500);
    let cases = [
        (String::new(), BAD),
        (".".into(), BAD),
        ("work".into(), BAD),
        ("~".into(), BAD),
        ("../work".into(), BAD),
        ("\0".into(), BAD),
        ("/".into(), OUT),
        ("//".into(), OUT),
        ("/proc/self/cwd".into(), OUT),
        ("/proc/self/root".into(), OUT),
        (format!("/proc/self/root{base}/outside"), OUT),
        (format!("/proc/self/root{base}/work/sub"), "work:sub"),
        (format!("/proc/{own}/root{base}/work"), "work:"),
        (format!("/proc/self/fd/{fd}"), "work:sub"),
        (format!("/proc/self/fd/{fd}/../../outside"), OUT),
        (format!("/proc/self/fd/{fd}/deep"), "work:sub/deep"),
        (format!("/dev/fd/{fd}"), "work:sub"),
        (format!("/dev/fd/{other}"), OUT),
        ("/dev/fd/1000000".into(), BAD),
        (format!("/proc/{own}/fd/{other}"), OUT),
        ("/proc/self/fd".into(), OUT),
        ("/etc".into(), OUT),
        ("/dev/null".into(), BAD),
        (format!("{base}/work{long}"), BAD),
        (format!("{base}/work{dots}"), BAD),
        (format!("{base}/work/{}", "x".repeat(300)), BAD),
        (format!("/{base}/work"), "work:"),
        (format!("file://{base}/work"), BAD),
    ];
    for (path, expected) in cases {
        assert_eq!(field.verdict(&path), expected, "{}", &path[..path.len().min(200)]);
    }
    let admitted = field.roots.admit(&field.base.join(odd())).unwrap();
    assert_eq!(admitted.path, field.base.join(odd()));
}

#[test]
fn what_is_deleted_moved_or_replaced_is_refused_and_says_so() {
    let field = Field::new();
    let at = |name: &str| field.base.join(name);
    let door = |file: &fs::File| format!("/proc/self/fd/{}", file.as_raw_fd());
    // Deleted, while a directory with the name that the kernel then tells exists.
    fs::create_dir(at("work/x")).unwrap();
    let gone = fs::File::open(at("work/x")).unwrap();
    assert_eq!(field.verdict(door(&gone)), "work:x");
    fs::remove_dir(at("work/x")).unwrap();
    assert!(at("work/x (deleted)").is_dir());
    assert_eq!(field.verdict(door(&gone)), BAD);
    // Moved out and in again, while it is open.
    let moved = fs::File::open(at("work/sub/deep")).unwrap();
    fs::rename(at("work/sub/deep"), at("outside/deep")).unwrap();
    assert_eq!(field.verdict(door(&moved)), OUT);
    fs::rename(at("outside/deep"), at("work/deep")).unwrap();
    assert_eq!(field.verdict(door(&moved)), "work:deep");
    // The root itself: its new name is not the one that was permitted, and what has its old name is not it.
    fs::rename(at("second"), at("third")).unwrap();
    assert_eq!(field.verdict(at("third")), OUT);
    assert_eq!(field.verdict(at("second")), BAD);
    fs::create_dir_all(at("second/sub")).unwrap();
    assert_eq!(field.verdict(at("second/sub")), "root_moved");
    fs::remove_dir_all(at("second")).unwrap();
    symlink(at("outside"), at("second")).unwrap();
    assert_eq!(field.verdict(at("second")), OUT);
    fs::remove_file(at("second")).unwrap();
    fs::rename(at("third"), at("second")).unwrap();
    assert_eq!(field.verdict(at("second")), "second:");
}

#[test]
fn a_root_is_an_absolute_directory_that_exists() {
    let field = Field::new();
    let open = |path: &Path| Root::open(path).map(|root| root.path().to_owned());
    assert_eq!(open(&field.base.join("outside/alias/../work/in")), Ok(field.base.join("work/sub")));
    for path in ["work", "", "/no/such/place", "/etc/passwd", "/\0"] {
        let error = open(Path::new(path)).unwrap_err().to_string();
        assert!(error.starts_with("the root "), "{error}");
    }
    assert_eq!(verdict(&Roots::default(), &field.base), OUT);
    let places = Places { home: Some(field.base.join("work/sub")), ..Places::default() };
    let wide: Vec<bool> = field.roots.iter().map(|root| root.check_width(&places).is_err()).collect();
    assert_eq!(wide, [true, false, false]);
    let admitted = field.roots.admit(&field.base.join("work/to-root")).unwrap();
    assert_eq!(admitted.path, field.roots.iter().next().unwrap().path());
    let refused = field.roots.admit(&field.base.join("work/out")).unwrap_err().to_string();
    assert!(refused.contains("work/out, which is ") && refused.contains("/second"), "{refused}");
    assert!(Roots::default().admit(&field.base).unwrap_err().to_string().contains("there are none"));
}

#[test]
fn what_a_person_cannot_reach_is_refused() {
    let field = Field::new();
    let at = |name: &str| field.base.join(name);
    let chmod = |name: &str, mode| fs::set_permissions(at(name), Permissions::from_mode(mode)).unwrap();
    for name in DIRECTORIES {
        chmod(name, 0o755);
    }
    let inside = fs::File::open(at("work/sub/deep")).unwrap();
    let door = PathBuf::from(format!("/proc/self/fd/{}", inside.as_raw_fd()));
    chmod("work/sub", 0o700);
    chmod("outside", 0o700);
    let cases = [
        (at("work"), "work:"),
        (at("work/sub"), BAD),
        (at("work/sub/deep"), BAD),
        (at("work/in/deep"), BAD),
        (at("work/out/sub"), BAD),
        (at("outside"), OUT),
        // Open already, but no way of its own leads there.
        (door, BAD),
    ];
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped for an ordinary user: another user is needed to be kept out");
        return;
    }
    let roots = &field.roots;
    // The kernel keeps who one is for each thread, so only this one becomes somebody else.
    std::thread::scope(|scope| {
        let other = scope.spawn(move || {
            let nobody = rustix::thread::Uid::from_raw(65534);
            rustix::thread::set_thread_res_uid(nobody, nobody, nobody).unwrap();
            for (path, expected) in cases {
                assert_eq!(verdict(roots, &path), expected, "{}", path.display());
            }
        });
        other.join().unwrap();
    });
}

/// What is mounted in the namespace in which the second half of the next test runs.
const MOUNTS: &str = r#"cd "$1/work/covered" &&
    mount --bind "$1/work" "$1/elsewhere" &&
    mount --bind "$1/outside" "$1/work/mounted" &&
    mount --bind "$1/work/sub" "$1/outside/sub" &&
    mount --bind "$1/work" "$1/work/again" &&
    mount -t tmpfs none "$1/work/covered" && shift && exec "$@""#;
const MARK: &str = "mounted-in=";

/// Runs itself in a mount namespace of its own, with the place as one more filter of the test runner, which matches nothing.
#[test]
fn bind_mounts_fool_neither_the_name_nor_the_descent() {
    if let Some(base) = std::env::args().find_map(|arg| Some(PathBuf::from(arg.strip_prefix(MARK)?))) {
        return judge_mounts(&base);
    }
    let field = Field::new();
    for name in ["elsewhere", "work/mounted", "work/again", "work/covered"] {
        fs::create_dir(field.base.join(name)).unwrap();
    }
    let name = "policy::roots::cases::bind_mounts_fool_neither_the_name_nor_the_descent";
    let exe = std::env::current_exe().unwrap();
    let mut unshare = unshare();
    unshare.args(["sh", "-c", MOUNTS, "sh"]).arg(&field.base).arg(exe).args(["--exact", name, "--nocapture"]);
    let output = unshare.arg(format!("{MARK}{}", field.base.display())).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    if !namespaces() {
        eprintln!("skipped: no mount namespace can be had here");
        return;
    }
    assert!(output.status.success() && said.contains("1 passed") && said.contains("all judged"), "{said}");
}

fn judge_mounts(base: &Path) {
    // Opened in here: a mount belongs to its namespace.
    let roots = Roots::new(vec![Root::open(&base.join("work")).unwrap()]);
    let cases = [
        ("work/sub", "work:sub"),
        // The root at another place: the descent is right and the name is not.
        ("elsewhere", OUT),
        ("elsewhere/sub/deep", OUT),
        ("outside/sub", OUT),
        ("outside/sub/deep", OUT),
        // Other things mounted in the root: who could mount them there has put them there.
        ("work/mounted", "work:mounted"),
        ("work/mounted/sub", "work:mounted/sub"),
        ("work/mounted/../sub", "work:sub"),
        ("work/mounted/../../outside", OUT),
        ("work/again", "work:again"),
        ("work/again/sub", "work:again/sub"),
        ("work/again/out-absolute", OUT),
        ("work/covered", "work:covered"),
    ];
    for (name, expected) in cases {
        assert_eq!(verdict(&roots, &base.join(name)), expected, "{name}");
    }
    // This process stands in what is covered now; the way there leads to what covers it.
    assert_eq!(verdict(&roots, Path::new("/proc/self/cwd")), BAD);
    println!("all judged");
}

#[test]
fn a_directory_in_another_mount_namespace_is_not_the_one_it_looks_like() {
    if !namespaces() {
        eprintln!("skipped: no mount namespace can be had here");
        return;
    }
    let field = Field::new();
    let mut unshare = unshare();
    let script = "echo ready; read line";
    let mut child =
        unshare.args(["sh", "-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut ready = [0; 6];
    std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut ready).unwrap();
    let door = format!("/proc/{}/root", child.id());
    let verdicts = ["work", "work/sub", "outside"]
        .map(|name| field.verdict(format!("{door}{}/{name}", field.base.display())));
    drop(child.stdin.take());
    child.wait().unwrap();
    // Not even the outside is recognised: nothing is said about what cannot be reached by its own path.
    assert_eq!(verdicts, [BAD, BAD, BAD]);
}

/// `unshare`, for root or for anybody where user namespaces are to be had.
#[expect(clippy::disallowed_methods, reason = "a test of mounts needs a process with mounts of its own")]
fn unshare() -> Command {
    let mut command = Command::new("unshare");
    command.arg(if rustix::process::geteuid().is_root() { "-m" } else { "-rm" });
    command
}

fn namespaces() -> bool {
    unshare().arg("true").stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// In a word.
fn code(refused: &Refused) -> &'static str {
    match refused {
        Refused::Unusable { .. } => "bad_cwd",
        Refused::Outside { .. } => "cwd_outside_roots",
        Refused::Moved { .. } => "root_moved",
    }
}
