//! Start: from a spec to a running tree with nothing it did not ask for, or a typed error and nothing left.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};
use wharf_core::{Cause, Phase, Size, Spec};
use wharf_testing::front_end::{FrontEnd, misbehave};
use wharf_testing::leak::{self, MARK};
use wharf_testing::{Place, all_of, guarded, until};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[tokio::test]
async fn every_start_error_has_its_word_and_leaves_nothing() {
    for holder in Place::holders() {
        let place = Place::with(holder);
        let file = |name: &str, content: &str, mode| {
            let path = place.dir().join(name);
            fs::write(&path, content).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            path
        };
        let none: [&str; 0] = [];
        let plain = |path: std::path::PathBuf| place.marked(Spec::argv(path, none));
        let cases = [
            ("not_found", plain("/no/such/program".into())),
            ("not_found", plain("no-such-program".into())),
            ("not_executable", plain(file("data", "x", 0o644))),
            ("not_executable", plain(file("garbage", "\x7fnot a program", 0o755))),
            ("not_executable", plain("/usr".into())),
            ("not_found", plain(file("no-interpreter", "#!/no/such/interpreter\n", 0o755))),
            ("bad_cwd", place.line("true").cwd("/no/such/directory")),
            ("bad_cwd", place.line("true").cwd(file("not-a-directory", "", 0o644))),
            ("bad_cwd", place.line("true").cwd("relative")),
            // One argument may be 128 KiB long.
            ("too_large", place.line(&"x".repeat(200_000))),
            // All together may be a quarter of the stack limit.
            ("too_large", place.marked(Spec::argv("/bin/true", vec!["y".repeat(100_000); 80]))),
        ];
        for (code, spec) in cases {
            for spec in [spec.clone(), spec.pty(Size::default())] {
                let what = format!("{spec:?}");
                assert_eq!(place.refused(spec).await, code, "{}", &what[..what.len().min(300)]);
            }
        }
        assert_eq!(leak::files(&place.state()), Vec::<std::path::PathBuf>::new());
        place.check_to_the_last_descriptor().await;
    }
}

#[tokio::test]
async fn a_directory_that_vanishes_before_the_start_is_still_entered_or_refused() {
    let place = Place::process();
    let dir = place.dir().join("gone");
    fs::create_dir(&dir).unwrap();
    let grant = wharf_core::unrestricted(place.line("pwd; echo done").cwd(&dir)).unwrap();
    fs::remove_dir(&dir).unwrap();
    // Judged and opened: what happens to the name afterwards changes nothing.
    let terminal = place.store.create(grant).await.unwrap();
    assert!(text(&all_of(&terminal).await).ends_with("done\n"));
    place.check().await;
}

#[tokio::test]
async fn creating_does_not_wait_for_the_command() {
    let place = Place::process();
    let before = Instant::now();
    let terminal = place.start(place.misbehaving(&["stays"])).await;
    assert!(before.elapsed() < Duration::from_secs(5));
    assert!(matches!(terminal.look().unwrap().phase, Phase::Running { .. }));
    place.check().await;
}

#[tokio::test]
async fn a_command_has_the_standard_descriptors_and_no_others() {
    for holder in Place::holders() {
        let place = Place::with(holder);
        for spec in [
            place.marked(Spec::argv("/bin/ls", ["/proc/self/fd"])),
            place.marked(Spec::argv("/bin/ls", ["/proc/self/fd"])).with_input(),
            place.marked(Spec::argv("/bin/ls", ["/proc/self/fd"])).pty(Size::default()),
        ] {
            let terminal = place.start(spec).await;
            let out = text(&all_of(&terminal).await);
            // 3 is the directory that `ls` itself has open.
            assert_eq!(out.split_whitespace().collect::<Vec<_>>(), ["0", "1", "2", "3"]);
        }
        place.check().await;
    }
}

#[tokio::test]
async fn a_command_has_every_signal_at_its_default_and_none_blocked() {
    for holder in Place::holders() {
        let place = Place::with(holder);
        for spec in [
            place.marked(Spec::argv("/bin/cat", ["/proc/self/status"])),
            place.marked(Spec::argv("/bin/cat", ["/proc/self/status"])).pty(Size::default()),
        ] {
            let terminal = place.start(spec).await;
            let status = text(&all_of(&terminal).await);
            for mask in ["SigBlk", "SigIgn", "SigCgt", "SigPnd"] {
                let line = status.lines().find(|line| line.starts_with(mask)).unwrap();
                assert!(line.trim().ends_with("0000000000000000"), "{line}");
            }
        }
        place.check().await;
    }
}

#[tokio::test]
async fn a_command_without_input_reads_end_of_file_at_once() {
    for holder in Place::holders() {
        let place = Place::with(holder);
        let terminal = place.start(place.misbehaving(&["counts-input"])).await;
        assert_eq!(text(&all_of(&terminal).await), "ready\n0 bytes, sum 0\n");
        assert!(guarded(terminal.wait()).await.unwrap().success());
        place.check().await;
    }
}

#[tokio::test]
async fn a_command_leads_its_own_session_and_on_a_pty_has_it_as_its_terminal() {
    for holder in Place::holders() {
        let place = Place::with(holder);
        let line = "set -- $(cat /proc/$$/stat); echo $1 $5 $6 $7 $8 $$";
        let fields =
            |out: String| -> Vec<i64> { out.split_whitespace().map(|n| n.parse().unwrap()).collect() };
        let pipe = place.start(place.line(line)).await;
        let seen = fields(text(&all_of(&pipe).await));
        let (group, session, tty, pid) = (seen[1], seen[2], seen[3], seen[5]);
        assert_eq!((group, session, tty), (pid, pid, 0));

        let pty = place.start(place.line(line).pty(Size { cols: 91, rows: 13 })).await;
        let seen = fields(text(&all_of(&pty).await));
        let (group, session, tty, foreground, pid) = (seen[1], seen[2], seen[3], seen[4], seen[5]);
        assert_eq!((group, session, foreground), (pid, pid, pid));
        assert_ne!(tty, 0);

        let size = place
            .start(
                place
                    .line("stty size; test -t 0 -a -t 1 -a -t 2 && echo all")
                    .pty(Size { cols: 91, rows: 13 }),
            )
            .await;
        assert_eq!(text(&all_of(&size).await), "13 91\r\nall\r\n");
        place.check().await;
    }
}

#[tokio::test]
async fn arguments_and_environment_arrive_byte_for_byte_and_nothing_is_added() {
    use std::os::unix::ffi::OsStringExt;
    let place = Place::process();
    let odd = std::ffi::OsString::from_vec(vec![b'a', 0xff, b' ', b'\'', b'"', b'\n', b'$']);
    let spec = Spec::argv("/usr/bin/printf", vec!["%s|".into(), odd.clone(), "".into(), "$HOME".into()])
        .env(MARK, place.dir());
    let terminal = place.start(spec).await;
    assert_eq!(all_of(&terminal).await, b"a\xff '\"\n$||$HOME|");

    let terminal =
        place.start(Spec::argv("/usr/bin/env", ["-0"]).env("B", &odd).env(MARK, place.dir())).await;
    let out = all_of(&terminal).await;
    let mut names: Vec<String> = out
        .split(|b| *b == 0)
        .filter(|p| !p.is_empty())
        .map(|p| text(p.split(|b| *b == b'=').next().unwrap()))
        .collect();
    names.sort();
    assert_eq!(names, ["B", MARK, "WHARF_TERMINAL"]);
    place.check().await;
}

#[tokio::test]
async fn a_line_goes_through_a_shell_and_an_argv_does_not() {
    let place = Place::process();
    let line = place.start(place.line("echo $((1+2)) | tr 3 x")).await;
    assert_eq!(text(&all_of(&line).await), "x\n");
    let argv = place.start(place.marked(Spec::argv("echo", ["$((1+2))", "|", "tr"]))).await;
    assert_eq!(text(&all_of(&argv).await), "$((1+2)) | tr\n");
    place.check().await;
}

#[tokio::test]
async fn the_holder_is_in_a_session_of_its_own_with_nothing_of_its_creator() {
    let place = Place::process();
    let (ours, _theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    // A program that embeds wharf may have descriptors that are handed on; this one has.
    rustix::io::fcntl_setfd(&ours, rustix::io::FdFlags::empty()).unwrap();
    let terminal = place.start(place.misbehaving(&["stays", "ready"])).await;
    until(&terminal, "ready").await;
    let holder = place.holder_of(&terminal);
    let session = rustix::process::getsid(rustix::process::Pid::from_raw(holder as i32)).unwrap();
    assert_eq!(session.as_raw_nonzero().get(), holder as i32);
    let name = fs::read_link(format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&ours))).unwrap();
    let open = fs::read_dir(format!("/proc/{holder}/fd")).unwrap().flatten();
    let inherited: Vec<_> =
        open.filter_map(|fd| fs::read_link(fd.path()).ok()).filter(|target| *target == name).collect();
    assert!(inherited.is_empty(), "the holder inherited {inherited:?}");
    assert_eq!(fs::read_link(format!("/proc/{holder}/cwd")).unwrap(), std::path::Path::new("/"));
    drop(ours);
    place.check().await;
}

#[tokio::test]
async fn the_start_is_on_record_before_the_command_runs() {
    let place = Place::process();
    // The command looks for its own record.
    let spec = place.line(&format!("test -s {0}/terminals/$WHARF_TERMINAL/events && od -An -tu1 -j32 -N5 {0}/terminals/$WHARF_TERMINAL/events", place.state().display()));
    let terminal = place.start(spec).await;
    let seen = text(&all_of(&terminal).await);
    // Length of the record, then its kind: 1 is a start.
    assert_eq!(seen.split_whitespace().nth(4), Some("1"), "{seen}");
    place.check().await;
}

#[tokio::test]
async fn too_few_descriptors_give_a_clear_error_and_nothing_half_made() {
    let place = Place::process();
    let (mut started, mut refused) = (0, 0);
    for limit in 8..40 {
        for on_exit in ["kill", "keep"] {
            let mut command = misbehave(&[
                "creates-terminal",
                place.state().to_str().unwrap(),
                on_exit,
                &limit.to_string(),
                "0",
                "leave",
                "--",
                wharf_testing::program("wharf-misbehave").to_str().unwrap(),
                "stays",
            ]);
            command.env(MARK, place.dir());
            let said = FrontEnd::run(command).finish();
            match said.split_whitespace().collect::<Vec<_>>()[..] {
                ["ok", id] => {
                    started += 1;
                    let id = wharf_core::TerminalId::parse(id).unwrap();
                    let terminal = place.store.get(&id).unwrap();
                    guarded(terminal.release_with(Some(Duration::ZERO))).await.unwrap();
                }
                ["error", "limit", ..] => refused += 1,
                _ => panic!("with {limit} descriptors: {said}"),
            }
            assert_eq!(
                leak::files(&place.state()),
                Vec::<std::path::PathBuf>::new(),
                "with {limit} descriptors: {said}"
            );
        }
    }
    assert!(
        started > 0 && refused > 0,
        "{started} started, {refused} refused: the limits tried do not reach both"
    );
    place.check().await;
}

#[tokio::test]
async fn no_process_left_gives_a_clear_error_and_nothing_half_made() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let place = Place::process();
    // Root has no limit, so this is done as somebody else, in a directory of theirs.
    let state = place.dir().join("theirs");
    fs::create_dir(&state).unwrap();
    fs::set_permissions(&state, Permissions::from_mode(0o700)).unwrap();
    std::os::unix::fs::chown(&state, Some(NOBODY), Some(NOBODY)).unwrap();
    fs::set_permissions(place.dir(), Permissions::from_mode(0o755)).unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for limit in 1..14 {
        let before = leak::files(&state);
        #[expect(clippy::disallowed_methods, reason = "setpriv is how a test becomes somebody else")]
        let mut command = std::process::Command::new("setpriv");
        let nobody = NOBODY.to_string();
        command.args([
            "--reuid",
            &nobody,
            "--regid",
            &nobody,
            "--clear-groups",
            "prlimit",
            &format!("--nproc={limit}"),
        ]);
        command.arg(wharf_testing::program("wharf-misbehave")).arg("creates-terminal").arg(&state);
        command.args(["kill", "0", "0", "leave", "--", "/bin/sleep", "100"]).env(MARK, place.dir());
        let said = FrontEnd::run(command).finish();
        let word = said
            .split_whitespace()
            .take(if said.starts_with("ok") { 1 } else { 2 })
            .collect::<Vec<_>>()
            .join(" ");
        seen.insert(word);
        if !said.starts_with("ok") {
            assert_eq!(leak::files(&state), before, "with {limit} processes: {said}");
        }
    }
    // Below some limit the front end itself cannot make its threads, and says nothing.
    seen.remove("");
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["error limit", "ok"]);
    place.check().await;
}

const NOBODY: u32 = 65534;

#[tokio::test]
async fn no_pty_left_gives_a_clear_error_and_nothing_half_made() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let place = Place::process();
    // A machine without PTYs, for this one front end: a view of its own, with a file system
    // that allows one, and that one taken.
    let mount = "mount -t devpts -o newinstance,ptmxmode=0666,max=1 devpts /dev/pts \
        && mount --bind /dev/pts/ptmx /dev/ptmx && exec 3<>/dev/ptmx && exec \"$@\"";
    #[expect(clippy::disallowed_methods, reason = "unshare is how a test gets a view of its own")]
    let mut command = std::process::Command::new("unshare");
    command.args(["-m", "sh", "-c", mount, "sh"]).arg(wharf_testing::program("wharf-misbehave"));
    command.arg("creates-terminal").arg(place.state()).args([
        "kill-pty",
        "0",
        "0",
        "leave",
        "--",
        "/bin/true",
    ]);
    command.env(MARK, place.dir()).stderr(std::process::Stdio::null());
    let said = FrontEnd::run(command).finish();
    if said.is_empty() {
        return place.check().await;
    }
    assert!(said.starts_with("error no_pty_left "), "{said}");
    assert!(leak::files(&place.state()).is_empty());
    place.check().await;
}

#[tokio::test]
async fn of_creators_with_one_name_one_succeeds_and_is_not_disturbed_by_the_others() {
    for holder in Place::holders() {
        let place = Place::with(holder);
        for _ in 0..40 {
            let id = wharf_core::TerminalId::random().unwrap();
            let race = (0..4).map(|n| {
                // As different programs would.
                let (store, id) = (place.reopened(), id.clone());
                let spec = place.line(&format!("read x; echo {n}-$x; exit {n}")).with_input();
                let grant = wharf_core::unrestricted(spec).unwrap();
                tokio::spawn(async move { (store.create_as(id, grant).await, store) })
            });
            let (mut made, mut refused) = (Vec::new(), 0);
            for (n, task) in race.collect::<Vec<_>>().into_iter().enumerate() {
                match guarded(task).await.unwrap() {
                    (Ok(terminal), store) => made.push((n, terminal, store)),
                    (Err(error), _) => {
                        assert_eq!(error.code(), "id_taken");
                        refused += 1;
                    }
                }
            }
            assert_eq!((made.len(), refused), (1, 3));
            let (n, terminal, _store) = made.remove(0);
            assert_eq!(leak::files(&place.state()), [place.files(&terminal)], "its files, and no others");
            guarded(terminal.input("test").unwrap().send(b"heard\n")).await.unwrap();
            assert_eq!(guarded(terminal.wait()).await.unwrap().exit_code(), Some(n as i32));
            assert_eq!(text(&all_of(&terminal).await), format!("{n}-heard\n"));
            guarded(terminal.release()).await.unwrap();
        }
        place.check().await;
    }
}

#[test]
fn a_start_that_is_given_up_leaves_nothing() {
    // With one thread for what blocks, whatever is asked of it last is done last.
    let runtime = tokio::runtime::Builder::new_multi_thread().max_blocking_threads(1).enable_all().build();
    runtime.unwrap().block_on(async {
        for holder in Place::holders() {
            let place = Place::with(holder);
            for n in 0..60 {
                let grant = wharf_core::unrestricted(place.misbehaving(&["stays"])).unwrap();
                let create = tokio::time::timeout(Duration::from_micros(n * 100), place.store.create(grant));
                if let Ok(made) = create.await {
                    guarded(made.unwrap().release_with(Some(Duration::ZERO))).await.unwrap();
                }
            }
            guarded(tokio::task::spawn_blocking(|| ())).await.unwrap();
            let gone = async {
                while !leak::files(&place.state()).is_empty() {
                    tokio::task::yield_now().await;
                }
            };
            guarded(gone).await;
            place.check().await;
        }
    });
}

#[tokio::test]
async fn two_hundred_terminals_at_once_are_two_hundred_terminals() {
    let place = Place::process();
    let starts = (0..200).map(|n| {
        let spec = place.line(&format!("echo {n}; exit {}", n % 100));
        let store = place.store.clone();
        tokio::spawn(async move { store.create(wharf_core::unrestricted(spec).unwrap()).await.unwrap() })
    });
    for (n, task) in starts.collect::<Vec<_>>().into_iter().enumerate() {
        let terminal = task.await.unwrap();
        assert_eq!(text(&all_of(&terminal).await), format!("{n}\n"));
        let ended = guarded(terminal.wait()).await.unwrap();
        assert_eq!((ended.exit_code(), ended.cause), (Some(n as i32 % 100), Cause::Exited));
    }
    assert_eq!(place.store.list().unwrap().len(), 200);
    place.check().await;
}

#[tokio::test]
async fn a_shim_that_never_answers_costs_seconds_and_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let silent = dir.path().join("wharf-shim");
    fs::write(&silent, "#!/bin/sh\nexec sleep 1000\n").unwrap();
    fs::set_permissions(&silent, PermissionsExt::from_mode(0o755)).unwrap();
    let place = Place::with(wharf_core::Holder::Process(silent));
    assert_eq!(place.refused(place.line("true")).await, "shim_silent");
    assert!(leak::files(&place.state()).is_empty(), "a terminal that seems to be starting");
    place.check().await;
}
