//! What `wharf run` does while the command runs.

use crate::harness::{Wharf, finish, open_gate, read_until};
use std::io::{Read, Write};
use std::process::Stdio;

#[test]
fn output_is_shown_before_the_end() {
    let wharf = Wharf::new();
    let gate = wharf.gate();
    let mut run = wharf.spawn(["run", "-c", &format!("echo first; read x < {}; echo last", gate.display())]);
    read_until(run.stdout.as_mut().unwrap(), "first\n");
    open_gate(&gate);
    let done = finish(run);
    assert_eq!((done.code, done.out.as_str()), (Some(0), "last\n"));
}

#[test]
fn output_is_passed_on_byte_for_byte() {
    let wharf = Wharf::new();
    let line = r"printf '\000\001\377\033[2J\r\n\303'";
    let output = wharf.command(["run", "-c", line]).output().unwrap();
    assert_eq!(output.stdout, b"\0\x01\xff\x1b[2J\r\n\xc3");
}

#[test]
fn options_of_the_command_are_the_commands() {
    let wharf = Wharf::new();
    assert_eq!(wharf.ok(["run", "echo", "-n", "--json", "x"]), "--json x");
    assert_eq!(wharf.ok(["run", "--", "echo", "--", "x"]), "-- x\n");
}

#[test]
fn without_stdin_the_command_reads_end_of_file() {
    let wharf = Wharf::new();
    let mut run = wharf.command(["run", "--", "cat"]).stdin(Stdio::piped()).spawn().unwrap();
    run.stdin.take().unwrap().write_all(b"not for the command").unwrap();
    assert_eq!(finish(run).code, Some(0));
}

#[test]
fn with_stdin_the_input_arrives_whole_and_ends() {
    let wharf = Wharf::new();
    let mut run = wharf
        .command(["run", "-i", "--", "sha256sum"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = run.stdin.take().unwrap();
    let writer = std::thread::spawn(move || input.write_all(&vec![b'x'; 3_000_000]).unwrap());
    let done = finish(run);
    writer.join().unwrap();
    // Of three million times `x`.
    assert_eq!(&done.out[..16], "e55b8bdf621ddaa8", "{done:?}");
}

#[test]
fn a_command_that_does_not_read_its_input_ends_all_the_same() {
    let wharf = Wharf::new();
    let mut run = wharf.command(["run", "-i", "--", "true"]).stdin(Stdio::piped()).spawn().unwrap();
    let _open = run.stdin.take();
    assert_eq!(finish(run).code, Some(0));
}

#[test]
fn the_environment_is_ours_with_what_was_added() {
    let wharf = Wharf::new();
    let line = "echo $A-$B-$HOME";
    let mut command = wharf.command(["run", "--env", "B=b=c", "-c", line]);
    let out = command.env("A", "a").env("HOME", "/h").output().unwrap().stdout;
    assert_eq!(String::from_utf8_lossy(&out), "a-b=c-/h\n");
    let mut command = wharf.command(["run", "--clear-env", "--env", "A", "--", "/usr/bin/env"]);
    let out = command.env("A", "a").output().unwrap().stdout;
    let out = String::from_utf8_lossy(&out).into_owned();
    let names: Vec<&str> = out.lines().filter_map(|pair| Some(pair.split_once('=')?.0)).collect();
    assert_eq!(names, ["A", "WHARF_TERMINAL"], "{out}");
}

#[test]
fn a_directory_may_be_given_from_here() {
    let wharf = Wharf::new();
    wharf.scratch();
    let out = wharf.ok(["run", "--cwd", "scratch", "--", "pwd"]);
    assert!(out.trim_end().ends_with("/scratch"), "{out}");
}

#[test]
fn a_pty_has_the_size_that_was_asked_for() {
    let out = Wharf::new().ok(["run", "--pty", "--size", "101x33", "-c", "stty size; test -t 0 && echo tty"]);
    assert_eq!(out, "33 101\r\ntty\r\n");
}

#[test]
fn what_the_command_leaves_running_is_ended_and_counted() {
    let wharf = Wharf::new();
    let done = wharf.call(["run", "-c", "sleep 1000 & (setsid sleep 1000 &) ; exit 6"]);
    assert_eq!((done.code, done.err.as_str()), (Some(6), "wharf: ended 2 processes that it left running\n"));
}

#[test]
fn what_the_command_leaves_in_its_own_group_is_asked_before_it_is_killed() {
    let wharf = Wharf::new();
    let gate = wharf.gate();
    let left = "trap 'echo asked; exit 0' TERM; echo up > $0; while :; do sleep 0.05; done";
    let line = format!("sh -c \"{left}\" {0} & read x < {0}; exit 6", gate.display()).replace("$0", "\\$0");
    assert_eq!(wharf.call(["run", "-c", &line]).code, Some(6));
    assert!(wharf.ok(["logs", &wharf.ids()[0]]).contains("asked\n"));
}

#[test]
fn nobody_reading_the_output_ends_the_command_quietly() {
    let wharf = Wharf::new();
    let mut run = wharf.spawn(["run", "--", "yes"]);
    let mut output = run.stdout.take().unwrap();
    output.read_exact(&mut [0; 1000]).unwrap();
    drop(output);
    let done = finish(run);
    assert_eq!((done.code, done.err.as_str()), (Some(141), ""));
    assert!(wharf.ok(["ls", "--json"]).contains("\"alive\":false"));
}

#[test]
fn with_rm_nothing_is_kept() {
    let wharf = Wharf::new();
    wharf.ok(["run", "--rm", "--", "true"]);
    assert!(wharf.ids().is_empty());
    wharf.ok(["run", "--", "true"]);
    assert_eq!(wharf.ids().len(), 1);
}

#[test]
fn a_flood_arrives_whole_although_less_is_kept() {
    let wharf = Wharf::new();
    let out = wharf.ok(["run", "--keep", "64M", "-c", "seq 1 500000"]);
    assert_eq!(out.lines().count(), 500_000);
    assert!(out.ends_with("\n500000\n"));
}

#[test]
fn a_slow_reader_of_the_output_misses_nothing() {
    let wharf = Wharf::new();
    let line =
        "i=0; while [ $i -lt 20000 ]; do echo 0123456789012345678901234567890123456789-$i; i=$((i+1)); done";
    let mut run = wharf.spawn(["run", "--keep", "64K", "-c", line]);
    let mut out = run.stdout.take().unwrap();
    let mut all = Vec::new();
    // In small pieces, so that the command is far ahead of whoever reads.
    let mut piece = [0; 100];
    loop {
        match out.read(&mut piece).unwrap() {
            0 => break,
            n => all.extend_from_slice(&piece[..n]),
        }
    }
    let expected: String =
        (0..20000).map(|i| format!("0123456789012345678901234567890123456789-{i}\n")).collect();
    assert!(all == expected.as_bytes());
    let done = finish(run);
    assert_eq!((done.code, done.err.as_str()), (Some(0), ""));
}

#[test]
fn what_a_command_left_in_its_temporary_directory_goes_with_the_terminal() {
    let wharf = Wharf::new();
    let left = |wharf: &Wharf| std::fs::read_dir(wharf.state().join("tmp")).map_or(0, Iterator::count);
    let line = "echo token > /tmp/token";
    wharf.ok(["run", "--rm", "--sandbox", "workspace", "-c", line]);
    assert_eq!(left(&wharf), 0);
    wharf.ok(["run", "--sandbox", "workspace", "-c", line]);
    assert_eq!(left(&wharf), 1);
    wharf.ok(["rm", "--ended"]);
    assert_eq!(left(&wharf), 0);
}

#[test]
fn a_limit_on_the_size_of_files_is_an_error_and_not_the_end() {
    let wharf = Wharf::new();
    wharf.ok(["run", "--", "true"]);
    let done = wharf.limited("ulimit -f 0", ["run", "--", "seq", "1", "100000"]);
    assert!(done.code == Some(125) && done.err.contains("File too large"), "{done:?}");
}
