//! What a confined command can ask of the kernel, and of programs outside.

use super::attempt::{Answers, carry_out, carry_out_after_another};
use super::place::{Place, Who, everybody, hide};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use wharf_shim::confine::{Confine, Namespaces, OwnNet, OwnUser, Sockets};

const EPERM: i32 = libc::EPERM;
const ENOSYS: i32 = libc::ENOSYS;

/// Refused in every sandbox.
const REFUSED: [(&str, i32); 24] = [
    ("mount", EPERM),
    ("umount", EPERM),
    ("fsopen", EPERM),
    ("open_tree", EPERM),
    ("chroot", EPERM),
    ("unshare user", EPERM),
    ("clone3", ENOSYS),
    ("bpf", EPERM),
    ("perf", EPERM),
    ("io_uring", EPERM),
    ("userfaultfd", EPERM),
    ("keyring", EPERM),
    ("module", EPERM),
    ("reboot", EPERM),
    ("clock", EPERM),
    ("hostname", EPERM),
    ("handle", EPERM),
    ("type a key", EPERM),
    ("type a key, high", EPERM),
    ("signal", EPERM),
    ("ptrace", EPERM),
    ("memory", EPERM),
    ("limits", EPERM),
    ("environment", libc::EACCES),
];

/// Works in every sandbox.
const ALLOWED: [&str; 5] = ["unshare files", "window size", "limits, reading", "unix pair", "debug a child"];

/// Programs outside that can be talked to.
fn listen(place: &Place) -> [UnixListener; 2] {
    let path = place.path("socket");
    let by_path = UnixListener::bind(&path).unwrap();
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    let name = SocketAddr::from_abstract_name(path.as_os_str().as_bytes()).unwrap();
    [by_path, UnixListener::bind_addr(&name).unwrap()]
}

#[track_caller]
fn check(answers: &Answers, expected: &[(&str, i32)]) {
    for (name, errno) in expected {
        assert_eq!(answers.get(*name), Some(errno), "{name}: {answers:?}");
    }
}

#[test]
fn what_reaches_past_a_sandbox_is_refused_in_it() {
    for who in everybody() {
        let place = Place::new(who);
        let _listening = listen(&place);
        for confine in [place.confine(), place.plain_confine()] {
            let answers = carry_out(&place, Some(confine));
            check(&answers, &REFUSED);
            check(&answers, &ALLOWED.map(|name| (name, 0)));
            check(&answers, &[("raw", EPERM), ("packet", EPERM), ("vsock", EPERM)]);
            check(&answers, &[("socket by name", EPERM), ("internet", 0), ("loopback", 0)]);
        }
    }
}

#[test]
fn the_same_attempts_succeed_without_one() {
    for who in everybody() {
        let place = Place::new(who);
        let _listening = listen(&place);
        let answers = carry_out(&place, None);
        check(&answers, &ALLOWED.map(|name| (name, 0)));
        let worked =
            ["signal", "environment", "limits", "memory", "socket by name", "socket by path", "keyring"];
        check(&answers, &worked.map(|name| (name, 0)));
        if who == Who::Root {
            check(&answers, &["ptrace", "raw", "packet", "type a key", "fsopen"].map(|name| (name, 0)));
            check(&answers, &["mount", "umount"].map(|name| (name, libc::ENOENT)));
        }
    }
}

#[test]
fn sockets_with_a_path_are_refused_by_kind_or_by_hiding() {
    for who in everybody() {
        let place = Place::new(who);
        let _listening = listen(&place);
        let without = Confine { sockets: Sockets::Network, ..place.plain_confine() };
        let answers = carry_out(&place, Some(without));
        check(&answers, &[("unix", EPERM), ("socket by path", EPERM), ("unix pair", 0), ("internet", 0)]);

        let answers = carry_out(&place, Some(place.confine()));
        check(&answers, &[("unix", 0), ("socket by path", 0)]);
        let hidden = Confine { mounts: vec![hide(&place.path("socket"))], ..place.confine() };
        let answers = carry_out(&place, Some(hidden));
        check(&answers, &[("unix", 0), ("socket by path", libc::ECONNREFUSED)]);
    }
}

#[test]
fn the_network_is_off_or_ends_at_the_loopback() {
    for who in everybody() {
        let place = Place::new(who);
        let _listening = listen(&place);
        let off = Confine { sockets: Sockets::None, ..place.plain_confine() };
        check(&carry_out(&place, Some(off)), &[("internet", EPERM), ("loopback", EPERM), ("unix pair", 0)]);

        let namespaces = |net| Namespaces::Mount { net, user: OwnUser::IfNeeded };
        let down =
            Confine { namespaces: namespaces(OwnNet::Down), sockets: Sockets::Unix, ..place.confine() };
        let answers = carry_out(&place, Some(down));
        check(&answers, &[("internet", EPERM), ("loopback", EPERM), ("socket by path", 0)]);

        let own = Confine { namespaces: namespaces(OwnNet::Loopback), ..place.confine() };
        check(&carry_out(&place, Some(own.clone())), &[("internet", 0), ("loopback", 0), ("raw", EPERM)]);
        let outside = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = outside.local_addr().unwrap().port();
        let line =
            format!("bash -c 'echo > /dev/tcp/127.0.0.1/{port}'; tail -n +3 /proc/net/dev | cut -d: -f1");
        let output = place.run(&line, own).output;
        assert!(output.contains("Connection refused") && output.trim().ends_with("lo"), "{who:?}: {output}");
        assert!(!output.contains("eth"), "{output}");
        place.run(&format!("bash -c 'echo > /dev/tcp/127.0.0.1/{port}'"), place.confine()).succeeded();
    }
}

#[test]
fn no_capability_over_the_machine_is_left() {
    /// Files of all owners, being any user, low ports.
    const KEPT: u64 = 0b100_1111_1011;
    for who in everybody() {
        let place = Place::new(who);
        for confine in [place.confine(), place.plain_confine()] {
            let output = place
                .run("grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status", confine.clone())
                .succeeded();
            let value = |name: &str| {
                let line = output.lines().find(|line| line.starts_with(name)).unwrap();
                u64::from_str_radix(line.split_whitespace().nth(1).unwrap(), 16).unwrap()
            };
            let kept = if who == Who::Ordinary { 0 } else { KEPT };
            for (name, expected) in [("CapInh", 0), ("CapPrm", kept), ("CapEff", kept), ("CapAmb", 0)] {
                assert_eq!(value(name), expected, "{who:?}: {output}");
            }
            let cut = who != Who::Ordinary || confine.namespaces != Namespaces::None;
            assert!(!cut || value("CapBnd") == kept, "{who:?}: {output}");
            assert_eq!((value("NoNewPrivs"), value("Seccomp:")), (1, 2));
        }
    }
}

#[test]
fn it_is_the_same_user_as_outside() {
    for who in everybody() {
        let place = Place::new(who);
        let outside =
            place.launch(&place.line("id -u; id -g; umask; ulimit -c", None)).unwrap().end().succeeded();
        let inside = place.run("id -u; id -g; umask; ulimit -c", place.confine()).succeeded();
        let without_last = |text: &str| text.trim_end().rsplit_once('\n').unwrap().0.to_owned();
        assert_eq!(without_last(&outside), without_last(&inside), "{who:?}");
        assert!(inside.ends_with("\n0\n"), "no core files: {inside}");
        place.run("touch mine && test -O mine", place.confine()).succeeded();
    }
}

#[test]
fn it_dies_with_its_holder() {
    for who in everybody() {
        let place = Place::new(who);
        let mut held = place.launch(&place.line("exec sleep 1000", Some(place.confine()))).unwrap();
        let command = rustix::process::Pid::from_raw(held.pid.cast_signed()).unwrap();
        let pidfd = rustix::process::pidfd_open(command, rustix::process::PidfdFlags::empty()).unwrap();
        held.kill_holder();
        let mut fds = [rustix::event::PollFd::new(&pidfd, rustix::event::PollFlags::IN)];
        let guard = rustix::event::Timespec { tv_sec: 20, tv_nsec: 0 };
        assert_eq!(rustix::event::poll(&mut fds, Some(&guard)).unwrap(), 1, "{who:?}");
    }
}

#[test]
fn a_command_that_enters_a_standing_sandbox_is_as_confined_as_the_one_that_made_it() {
    for who in everybody() {
        let place = Place::new(who);
        let _listeners = listen(&place);
        let with_mounts = || Confine { mounts: vec![hide(&place.path("socket"))], ..place.confine() };
        for confine in [with_mounts(), Confine { sockets: Sockets::None, ..place.plain_confine() }] {
            let answers = carry_out_after_another(&place, confine);
            check(&answers, &REFUSED);
            assert_ne!(answers["socket by path"], 0, "{who:?}: {answers:?}");
            assert_ne!(answers["socket by name"], 0, "{who:?}: {answers:?}");
        }
    }
}
