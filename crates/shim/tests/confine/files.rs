//! What a confined command can see and write.

use super::place::{Place, c_path, everybody, hide, identity, read_only, rule};
use std::fs;
use std::os::unix::net::UnixListener;
use std::path::Path;
use wharf_shim::confine::{Access, Confine, Mount, Namespaces};
use wharf_shim::journal::record::Status;

fn with(confine: Confine, mounts: Vec<Mount>) -> Confine {
    Confine { mounts, ..confine }
}

#[test]
fn it_writes_where_it_may_and_nowhere_else() {
    for who in everybody() {
        let place = Place::new(who);
        let outside = place.make_dir("outside").join("file");
        for confine in [place.confine(), place.plain_confine()] {
            let line = "echo in > file && cat file && rm file && mkdir d && mv d e && rmdir e";
            assert_eq!(place.run(line, confine.clone()).succeeded(), "in\n", "{who:?}");
            let outcome = place.run("echo out > ../outside/file", confine);
            assert_ne!(outcome.status, Status::Code(0), "{who:?}");
            assert!(outcome.output.contains("Permission denied"), "{}", outcome.output);
            assert!(!outside.exists());
            assert_eq!(outcome.sandbox, "test");
        }
        let open = place.launch(&place.line("echo out > ../outside/file", None)).unwrap().end();
        assert_eq!((open.status, open.sandbox.as_str()), (Status::Code(0), ""), "{who:?}");
        assert!(outside.exists());
    }
}

#[test]
fn it_reads_where_it_may_and_nowhere_else() {
    for who in everybody() {
        let place = Place::new(who);
        place.make_dir("secret");
        place.make_file("secret/key", "secret");
        let mut confine = place.plain_confine();
        confine.rules.remove(0);
        for path in ["/usr", "/bin", "/lib", "/lib64", "/etc", "/proc"] {
            confine.rules.push(rule(Path::new(path), Access::Read));
        }
        let outcome = place.run("ls . && cat ../secret/key; ls ../secret; ls ..", confine);
        assert!(!outcome.output.contains("key\n"), "{}", outcome.output);
        assert_eq!(outcome.output.matches("Permission denied").count(), 3, "{}", outcome.output);
    }
}

#[test]
fn what_is_hidden_is_empty_and_stays_as_it_is() {
    for who in everybody() {
        let place = Place::new(who);
        for dir in ["secret", "other"] {
            place.make_dir(dir);
            place.make_file(&format!("{dir}/key"), "secret");
        }
        let token = place.make_file("token", "secret");
        let _listening = UnixListener::bind(place.path("socket")).unwrap();
        let mounts = ["secret", "other", "token", "socket"].map(|name| hide(&place.path(name)));
        let line =
            "ls -A ../secret ../other | grep -v '^../' ; cat ../token ; touch ../secret/new ; rm ../token";
        let outcome = place.run(line, with(place.confine(), mounts.to_vec()));
        assert!(
            !outcome.output.contains("key") && !outcome.output.contains("secret\n"),
            "{}",
            outcome.output
        );
        assert_ne!(outcome.status, Status::Code(0));
        assert_eq!(fs::read_to_string(token).unwrap(), "secret");
        assert_eq!(fs::read_to_string(place.path("secret/key")).unwrap(), "secret");
    }
}

#[test]
fn what_is_protected_can_be_read_and_not_be_changed() {
    for who in everybody() {
        let place = Place::new(who);
        let hooks = place.make_dir("root/.git").join("hooks");
        place.make_dir("root/.git/hooks");
        place.make_file("root/.git/hooks/one", "hook");
        let config = place.make_file("root/settings", "settings");
        let git = place.path("root/.git");
        let mounts = vec![
            Mount::Fixed { path: c_path(&git), is: identity(&git) },
            read_only(&hooks),
            read_only(&config),
        ];
        let confine = with(place.confine(), mounts);
        let reads = "cat .git/hooks/one settings && touch .git/index";
        assert_eq!(place.run(reads, confine.clone()).succeeded(), "hooksettings", "{who:?}");
        for attempt in [
            "echo x > .git/hooks/two",
            "echo x > .git/hooks/one",
            "rm .git/hooks/one",
            "mv .git/hooks .git/old",
            "rm -r .git/hooks",
            "mv .git old",
            "echo x > settings",
            "mv settings old",
            "ln settings hard && echo x > hard",
            "echo x > new && mv -f new settings",
            "chmod 777 .git/hooks/one",
        ] {
            let outcome = place.run(attempt, confine.clone());
            assert_ne!(outcome.status, Status::Code(0), "{who:?}: {attempt}: {}", outcome.output);
        }
        assert_eq!(fs::read_dir(&hooks).unwrap().count(), 1);
        assert_eq!(fs::read_to_string(config).unwrap(), "settings");
    }
}

#[test]
fn a_private_temporary_directory_covers_the_common_one_but_not_a_root_below_it() {
    for who in everybody() {
        let place = Place::below_tmp(who);
        let own = place.make_dir("own-tmp");
        place.make_dir("root/hooks");
        place.make_file("root/kept", "kept");
        let root = place.path("root");
        let over = |onto: &str| Mount::Over {
            from: c_path(&own),
            is: identity(&own),
            onto: c_path(Path::new(onto)),
        };
        let mut confine = with(
            place.confine(),
            vec![
                over("/tmp"),
                over("/var/tmp"),
                Mount::Again { path: c_path(&root), is: identity(&root) },
                read_only(&place.path("root/hooks")),
                Mount::Fresh { path: c"/dev/shm".into(), bytes: 1 << 20 },
            ],
        );
        for path in ["/tmp", "/dev/shm"] {
            confine.rules.push(rule(Path::new(path), Access::Write));
        }
        let line = "cat kept && echo x > made && echo y > /tmp/mine && cat /var/tmp/mine && echo z > /dev/shm/z \
            && ls /dev/shm && pwd && ! touch hooks/x 2>/dev/null && ls -A /tmp";
        let output = place.run(line, confine).succeeded();
        let name = root.parent().unwrap().file_name().unwrap().display();
        assert_eq!(output, format!("kepty\nz\n{}\n{name}\nmine\n", root.display()), "{who:?}");
        assert_eq!(fs::read_to_string(place.path("root/made")).unwrap(), "x\n");
        assert_eq!(fs::read_to_string(own.join("mine")).unwrap(), "y\n");
        assert!(!Path::new("/tmp/mine").exists() && !Path::new("/dev/shm/z").exists());
    }
}

#[test]
fn nothing_that_is_mounted_reaches_anybody_else() {
    let before = fs::read_to_string("/proc/self/mountinfo").unwrap().lines().count();
    for who in everybody() {
        let place = Place::new(who);
        place.make_dir("secret");
        let confine = with(place.confine(), vec![hide(&place.path("secret"))]);
        let line = "grep -c secret /proc/self/mountinfo; echo ready; read nothing";
        assert!(place.run(line, confine).output.starts_with("1\nready"));
    }
    let after = fs::read_to_string("/proc/self/mountinfo").unwrap().lines().count();
    assert_eq!(before, after);
}

#[test]
fn a_directory_that_was_swapped_fails_the_start_and_is_named() {
    for who in everybody() {
        let place = Place::new(who);
        let hooks = place.make_dir("root/hooks");
        let seen = read_only(&hooks);
        fs::rename(&hooks, place.path("root/was")).unwrap();
        place.make_dir("root/hooks");
        let plan = place.line("true", Some(with(place.confine(), vec![seen.clone()])));
        let error = place.launch(&plan).err().unwrap().to_string();
        let expected = format!(
            "the sandbox could not be set up: test: keeping {} read-only: Stale file handle",
            hooks.display()
        );
        assert!(error.starts_with(&expected), "{error}");

        fs::remove_dir(&hooks).unwrap();
        std::os::unix::fs::symlink("was", &hooks).unwrap();
        let error = place.launch(&plan).err().unwrap().to_string();
        assert!(error.contains("symbolic links"), "even one that leads to the same: {error}");

        let mut confine = place.plain_confine();
        confine.rules[1].is = Some(identity(Path::new("/")));
        let error = place.launch(&place.line("true", Some(confine))).err().unwrap().to_string();
        assert!(error.contains("the Landlock rule for") && error.contains("root: Stale"), "{error}");
    }
}

#[test]
fn a_working_directory_that_is_hidden_cannot_be_worked_in() {
    for who in everybody() {
        let place = Place::new(who);
        let plan = place.line("true", Some(with(place.confine(), vec![hide(&place.path("root"))])));
        let error = place.launch(&plan).err().unwrap().to_string();
        assert!(error.contains("entering the working directory among its mounts"), "{error}");
        place.make_dir("other");
        let elsewhere = with(place.confine(), vec![hide(&place.path("other"))]);
        assert_ne!(elsewhere.namespaces, Namespaces::None);
        place.launch_in(&place.line("true", Some(elsewhere)), Path::new("/usr")).unwrap().end().succeeded();
    }
}
