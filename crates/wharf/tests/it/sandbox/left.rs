//! What needs somebody outside: a server that is called, a daemon that must not stay, a holder that is attacked, and files
//! that are protected although they are not there.

#![expect(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

use super::Profile;
use super::cast::{Surroundings, User};
use super::ground::Ground;
use super::job::{Job, PLAIN, Stream, bash, say, workshop};
use crate::harness::{finish, open_gate, read_until};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;

const SANDBOXES: [Profile; 3] = [Profile::Workspace, Profile::Locked, Profile::Bare];

pub(super) fn users() -> Vec<User> {
    let (can, cannot): (Vec<User>, Vec<User>) =
        [User::Root, User::Ordinary].into_iter().partition(|user| user.missing().is_none());
    cannot.iter().for_each(|user| say(&format!("skipped as {user:?}: {}", user.missing().unwrap())));
    can
}

/// A server on a local port answers whoever calls from outside.
fn serves(profile: Profile) {
    for user in users() {
        let ground = workshop(user);
        std::fs::write(ground.path("root/index.html"), "served").unwrap();
        let server = "from http.server import *
server = HTTPServer(('127.0.0.1', 0), SimpleHTTPRequestHandler)
print('port', server.server_port, 'up', flush=True)
server.handle_request()";
        let mut run = ground.run(profile, &["--", "/usr/bin/python3", "-c", server]).spawn().unwrap();
        let said = read_until(run.stdout.as_mut().unwrap(), " up");
        let port: u16 = said.split_whitespace().nth(1).unwrap().parse().unwrap();
        let mut call = TcpStream::connect(("127.0.0.1", port)).unwrap();
        call.write_all(b"GET /index.html HTTP/1.0\r\n\r\n").unwrap();
        let mut answer = String::new();
        call.read_to_string(&mut answer).unwrap();
        assert!(answer.ends_with("served"), "{answer}");
        assert_eq!(finish(run).code, Some(0), "as {user:?}");
    }
}

#[test]
fn a_server_on_a_local_port_is_reached_in_the_open() {
    serves(Profile::Open);
}

#[test]
fn a_server_on_a_local_port_is_reached_in_workspace() {
    serves(Profile::Workspace);
}

#[test]
fn a_loopback_of_ones_own_connects_ones_own_processes() {
    for user in users() {
        let script = "/usr/bin/python3 -c \"
import socket
server = socket.create_server(('127.0.0.1', 0))
socket.create_connection(server.getsockname(), 10).close()
print('connected')\"";
        let done = bash(&workshop(user), Profile::Loopback, script, Stream::Pipe);
        assert_eq!((done.code, done.out.as_str()), (Some(0), "connected\n"), "as {user:?}: {done:?}");
    }
}

/// Leaves a process in a session of its own, whose parent is gone.
fn daemons_are_ended(profile: Profile) {
    for user in users() {
        let ground = Ground::new(user, Surroundings::Usual);
        // It is there before the command ends.
        let script = "up=$(mktemp -d)/up; mkfifo $up; export up
            (trap '' HUP; setsid setsid sh -c 'echo $$ > $up; exec sleep 300' >/dev/null 2>&1 </dev/null &)
            read daemon < $up; echo $daemon";
        let done = bash(&ground, profile, script, Stream::Pipe);
        let as_whom = format!("as {user:?} in {profile:?}: {done:?}");
        assert!(done.code == Some(0) && done.err.contains("ended 1 process"), "{as_whom}");
        let daemon: u32 = done.out.trim().parse().unwrap();
        assert!(!Path::new(&format!("/proc/{daemon}")).exists(), "{as_whom}");
    }
}

#[test]
fn a_daemon_is_ended_with_its_terminal_in_the_open() {
    daemons_are_ended(Profile::Open);
}

#[test]
fn a_daemon_is_ended_with_its_terminal_in_every_sandbox() {
    SANDBOXES.into_iter().for_each(daemons_are_ended);
}

/// Whether a command can end its holder, which is its parent.
fn ends_its_holder(ground: &Ground, profile: Profile) -> bool {
    let done =
        bash(ground, profile, "kill -9 $PPID 2>/dev/null && exec sleep 300 || echo not for us", Stream::Pipe);
    !(done.code == Some(0) && done.out == "not for us\n")
}

#[test]
fn the_holder_can_be_killed_in_the_open() {
    for user in users() {
        assert!(ends_its_holder(&Ground::new(user, Surroundings::Usual), Profile::Open), "as {user:?}");
    }
}

#[test]
fn the_holder_cannot_be_killed_from_a_sandbox() {
    for (user, profile) in users().into_iter().flat_map(|user| SANDBOXES.map(|profile| (user, profile))) {
        let ground = Ground::new(user, Surroundings::Usual);
        assert!(!ends_its_holder(&ground, profile), "as {user:?} in {profile:?}");
    }
}

/// Whether hooks can be planted in a repository of the root that has no directory for them.
fn plants_where_there_are_no_hooks(user: User, profile: Profile) -> bool {
    let ground = workshop(user);
    let before = bash(&ground, Profile::Open, "git init -q . && rm -r .git/hooks", Stream::Pipe);
    assert_eq!(before.code, Some(0), "{before:?}");
    let script = "mkdir .git/hooks; echo planted > .git/hooks/pre-commit; mkdir -p new/hooks; echo planted > new/hooks/pre-commit
        mv -T new/hooks .git/hooks; ln -sfn \"$PWD/new/hooks\" .git/hooks; exit 0";
    let done = bash(&ground, profile, &format!("set +e; {script}"), Stream::Pipe);
    assert_eq!(done.code, Some(0), "{done:?}");
    let planted = ground.path("root/.git/hooks/pre-commit").exists();
    // Nothing is left of how it was kept, so that the host finds its repository as it was.
    let hooks = ground.path("root/.git/hooks");
    assert!(planted || !hooks.exists(), "as {user:?} in {profile:?}: {} was left", hooks.display());
    planted
}

#[test]
fn missing_hooks_can_be_planted_in_the_open() {
    users().into_iter().for_each(|user| assert!(plants_where_there_are_no_hooks(user, Profile::Open)));
}

#[test]
fn missing_hooks_cannot_be_planted_from_a_sandbox() {
    for user in users() {
        assert!(!plants_where_there_are_no_hooks(user, Profile::Strict), "as {user:?}");
        assert!(!plants_where_there_are_no_hooks(user, Profile::Locked), "as {user:?}");
    }
}

/// What protects a file that does not exist must not be seen by anybody afterwards, and only while it runs by others.
#[test]
fn protecting_what_is_not_there_strictly_leaves_nothing_behind() {
    for user in users() {
        let ground = workshop(user);
        let gate = ground.path("root/gate");
        let fifo = finish(ground.command(Surroundings::Usual, "mkfifo").arg(&gate).spawn().unwrap());
        assert_eq!(fifo.code, Some(0), "{fifo:?}");
        let line = format!("echo up; read x < {}", gate.display());
        let mut first = ground.run(Profile::Strict, &["-c", &line]).spawn().unwrap();
        read_until(first.stdout.as_mut().unwrap(), "up\n");
        // A second one at the same time, which ends before the first does.
        assert_eq!(bash(&ground, Profile::Strict, "true", Stream::Pipe).code, Some(0));
        let done = bash(
            &ground,
            Profile::Strict,
            "{ echo x > .mcp.json; } 2>/dev/null || echo still held",
            Stream::Pipe,
        );
        assert_eq!(done.out, "still held\n", "as {user:?}: {done:?}");
        open_gate(&gate);
        assert_eq!(finish(first).code, Some(0));
        let names = std::fs::read_dir(ground.path("root")).unwrap().flatten().map(|entry| entry.file_name());
        let mut names: Vec<_> = names.collect();
        names.sort();
        assert_eq!(names, ["gate"], "as {user:?}");
    }
}

/// A project is as its owner left it while commands run in it: nothing of the sandbox stands in there.
#[test]
fn nothing_of_a_sandbox_is_seen_in_the_project() {
    for (user, profile) in users().into_iter().flat_map(|user| SANDBOXES.map(|profile| (user, profile))) {
        let ground = workshop(user);
        let done = bash(&ground, profile, "ls -A | wc -l", Stream::Pipe);
        assert_eq!((done.code, done.out.trim()), (Some(0), "0"), "as {user:?} in {profile:?}: {done:?}");
        let mut run = ground.run(profile, &["--pty", "-c", "echo up; exec sleep 300"]).spawn().unwrap();
        read_until(run.stdout.as_mut().unwrap(), "up");
        assert_eq!(std::fs::read_dir(ground.path("root")).unwrap().count(), 0, "as {user:?} in {profile:?}");
        run.kill().unwrap();
        run.wait().unwrap();
    }
}

/// Settings of agents can be added by whoever is outside while a shell of an agent lives there.
#[test]
fn a_person_adds_a_server_of_claudes_to_the_project_beside_a_running_command() {
    for user in users().into_iter().filter(|user| {
        let missing = Job { needs: &["claude"], ..PLAIN }.missing(*user);
        missing.iter().for_each(|why| say(&format!("skipped as {user:?}: {why}")));
        missing.is_none()
    }) {
        let ground = workshop(user);
        let line = "echo up; while ! test -e .mcp.json; do sleep 0.05; done; cat .mcp.json";
        let mut run = ground.run(Profile::Workspace, &["-c", line]).spawn().unwrap();
        read_until(run.stdout.as_mut().unwrap(), "up\n");
        let add = "claude mcp add --scope project demo -- /bin/true >/dev/null";
        let added = bash(&ground, Profile::Open, add, Stream::Pipe);
        assert_eq!(added.code, Some(0), "as {user:?}: {added:?}");
        let done = finish(run);
        assert!(done.code == Some(0) && done.out.contains("demo"), "as {user:?}: {done:?}");
    }
}

/// Names that change which code runs do not come from a request into a sandbox.
#[test]
fn variables_that_load_code_are_refused_in_a_sandbox() {
    for user in users() {
        let ground = Ground::new(user, Surroundings::Usual);
        let library = ground.path("outside/library.so");
        let set = format!("LD_PRELOAD={}", library.display());
        let words = ["--env", &set, "--", "/usr/bin/env"];
        let open = finish(ground.run(Profile::Open, &words).spawn().unwrap());
        assert!(open.out.contains("LD_PRELOAD="), "{open:?}");
        for profile in SANDBOXES {
            let done = finish(ground.run(profile, &words).spawn().unwrap());
            assert_eq!(done.code, Some(125), "as {user:?} in {profile:?}: {done:?}");
            assert!(done.err.contains("LD_PRELOAD"), "the name is not told: {done:?}");
        }
    }
}

/// A file that a command may not open is answered as the kernel answers, and everything after goes on.
#[test]
fn a_refusal_is_an_ordinary_error_for_the_command() {
    for (user, profile) in users().into_iter().flat_map(|user| SANDBOXES.map(|profile| (user, profile))) {
        let ground = Ground::new(user, Surroundings::Usual);
        let outside = ground.path("outside/file");
        let script = format!("echo x > {} || echo refused", outside.display());
        let done = bash(&ground, profile, &script, Stream::Pipe);
        assert_eq!((done.code, done.out.lines().last()), (Some(0), Some("refused")), "{done:?}");
        assert!(!Path::new(&outside).exists());
    }
}
