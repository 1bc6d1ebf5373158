//! Programs that wait, and for what.

use super::{PYTHON, Watched, assert_waits};
use wharf_core::foreground::{Doing, Kind};
use wharf_core::{Spec, signal};
use wharf_testing::{Place, guarded, until};

#[tokio::test]
async fn a_shell_that_reads_waits_for_what_it_asked_for() {
    let table = [
        ("read -p 'Name: ' x", Kind::Text, "Name:"),
        ("read -p 'Continue? [y/N] ' x", Kind::Confirm, "Continue? [y/N]"),
        ("read -s -p 'Token: ' x", Kind::Secret, "Token:"),
        ("read -n 1 -p 'Any key' x", Kind::Keys, "Any key"),
        ("read -s -n 1 -p 'Any key' x", Kind::Keys, "Any key"),
        ("echo Choose; read x", Kind::Text, "Choose"),
        ("read x </dev/tty", Kind::Text, ""),
    ];
    for holder in Place::holders() {
        let place = Place::with(holder);
        for (line, kind, prompt) in table {
            let mut watched = Watched::line(&place, line).await;
            assert_waits(&watched.awaiting().await, kind, "bash", prompt);
        }
        place.check().await;
    }
}

#[tokio::test]
async fn what_is_awaited_changes_with_every_answer_and_ends_with_the_last() {
    let place = Place::process();
    let line =
        "read -p 'Name: ' n; read -s -p 'Token: ' w; echo; read -p 'Sure (y/n)? ' y; echo $n-$w-$y; sleep 60";
    let mut watched = Watched::line(&place, line).await;
    assert_waits(&watched.awaiting().await, Kind::Text, "bash", "Name:");
    // Typed, but not yet a line: it still waits.
    watched.type_in("jo").await;
    assert_waits(&watched.awaiting().await, Kind::Text, "bash", "Name: jo");
    watched.type_in("e\n").await;
    assert_waits(&watched.awaiting().await, Kind::Secret, "bash", "Token:");
    watched.type_in("t\n").await;
    assert_waits(&watched.awaiting().await, Kind::Confirm, "bash", "Sure (y/n)?");
    watched.type_in("y\n").await;
    watched.nobody_after("joe-t-y").await;
    place.check().await;
}

#[tokio::test]
async fn python_waits_for_lines_secrets_and_statements() {
    let place = Place::process();
    let table = [
        ("input('Name: ')", Kind::Text, "Name:"),
        ("import readline; input('Name: ')", Kind::Text, "Name:"),
        ("import getpass; getpass.getpass()", Kind::Secret, "Password:"),
        ("import pdb; pdb.set_trace(); x = 1", Kind::Repl, "(Pdb)"),
    ];
    for (script, kind, prompt) in table {
        let mut watched = Watched::python(&place, script).await;
        assert_waits(&watched.awaiting().await, kind, "python3", prompt);
    }
    let mut watched = Watched::start(&place, place.marked(Spec::argv(PYTHON, ["-q"]))).await;
    assert_waits(&watched.awaiting().await, Kind::Repl, "python3", ">>>");
    place.check().await;
}

#[tokio::test]
async fn who_asks_for_a_password_with_rights_of_its_own_waits_for_a_secret() {
    let place = Place::process();
    // Root is not asked. As an ordinary user the test cannot look into the program, and knows by the echo.
    let line = "test $(id -u) = 0 && exec setpriv --reuid=65534 --regid=65534 --clear-groups su root -c true; \
                exec su root -c true";
    let mut watched = Watched::line(&place, line).await;
    assert_waits(&watched.awaiting().await, Kind::Secret, "su", "Password:");
    place.check().await;
}

#[tokio::test]
async fn however_a_program_waits_for_its_terminal_it_is_seen() {
    let place = Place::process();
    let table = [
        "import select; select.select([0], [], [])",
        "import select; select.select([0], [], [], 1000)",
        "import select; p = select.poll(); p.register(0, select.POLLIN); p.poll()",
        "import select; p = select.epoll(); p.register(0, select.EPOLLIN); p.poll()",
        "import os; os.readv(0, [bytearray(8)])",
        "import os; os.read(os.open('/dev/tty', os.O_RDWR), 8)",
        "import os; os.read(os.open(os.ttyname(0), os.O_RDWR), 8)",
        "import os; os.dup2(0, 700); os.read(700, 8)",
        "import os, select; os.dup2(0, 700); select.select([700], [], [])",
        // A loop with a socket pair to wake itself, as every asyncio program has.
        "import asyncio, sys; l = asyncio.new_event_loop(); l.add_reader(0, print); l.run_forever()",
        // One thread waits for the other, which reads.
        "import threading as t; x = t.Thread(target=input); x.start(); x.join()",
        "import threading as t, time; t.Thread(target=time.sleep, args=(60,), daemon=True).start(); input()",
    ];
    for script in table {
        let mut watched = Watched::python(&place, script).await;
        assert_waits(&watched.awaiting().await, Kind::Text, "python3", "");
    }
    place.check().await;
}

#[tokio::test]
async fn a_poll_that_was_stopped_and_goes_on_is_still_one() {
    let place = Place::process();
    let script = "import select; p = select.poll(); p.register(0, select.POLLIN); p.poll()";
    let mut watched = Watched::python(&place, script).await;
    watched.awaiting().await;
    let send = async |terminal: &wharf_core::Terminal, name: &str| {
        guarded(terminal.signal(signal::number(name).unwrap(), "test")).await.unwrap();
    };
    send(&watched.terminal, "SIGSTOP").await;
    let (mut seen, mut awaiting) = guarded(watched.look()).await;
    while seen.members[0].doing != Doing::Stopped {
        (seen, awaiting) = guarded(watched.look()).await;
    }
    assert_eq!(awaiting, None, "who is stopped waits for nothing");
    send(&watched.terminal, "SIGCONT").await;
    watched.pace.moved();
    assert_waits(&watched.awaiting().await, Kind::Text, "python3", "");
    place.check().await;
}

#[tokio::test]
async fn node_waits_for_lines_and_statements() {
    let place = Place::process();
    let table = [
        ("process.stdin.on('data', () => {})", Kind::Text, ""),
        (
            "require('readline').createInterface({input:process.stdin,output:process.stdout})\
             .question('Project name: ', () => {})",
            Kind::Text,
            "Project name:",
        ),
        ("process.stdin.setRawMode(true).on('data', () => {}); console.log('a menu')", Kind::Keys, "a menu"),
        // What a development server does is no reason to stop waiting for it; with single keys it asked for them.
        (
            "require('net').createServer().listen(0, '127.0.0.1', () => \
             process.stdin.setRawMode(true).on('data', () => {}))",
            Kind::Keys,
            "",
        ),
    ];
    for (script, kind, prompt) in table {
        let mut watched = Watched::start(&place, place.marked(Spec::argv("node", ["-e", script]))).await;
        assert_waits(&watched.awaiting().await, kind, "node", prompt);
    }
    let mut watched = Watched::start(&place, place.marked(Spec::argv("node", [""; 0]))).await;
    assert_waits(&watched.awaiting().await, Kind::Repl, "node", ">");
    place.check().await;
}

#[tokio::test]
async fn pagers_are_known_by_name_and_by_screen() {
    let place = Place::process();
    let table = [
        ("exec less /etc/services", "less"),
        ("seq 100000 | less", "less"),
        ("seq 1000 | more", "more"),
        ("MANPAGER=less man bash", "less"),
        // Under a name that says nothing.
        ("seq 5 | (exec -a unheard-of less)", "less"),
        ("cp $(readlink -f $(type -P less)) ./unheard-of; seq 10000 | ./unheard-of", "unheard-of"),
    ];
    for (line, program) in table {
        let line = format!("cd $TEST_PLACE; {line}");
        let mut watched = Watched::line(&place, &line).await;
        assert_waits(&watched.awaiting().await, Kind::Pager, program, "");
    }
    place.check().await;
}

#[tokio::test]
async fn editors_are_known_by_name_and_by_screen() {
    let place = Place::process();
    let table = [
        ("vim -u NONE -n new", "vim"),
        ("vi -u NONE -n new", "vi"),
        (
            "git init -q . && EDITOR='vim -u NONE' git -c user.name=a -c user.email=a commit -q --allow-empty",
            "vim",
        ),
        ("cp $(readlink -f $(type -P vim)) ./unheard-of; ./unheard-of -u NONE -n new", "unheard-of"),
    ];
    for (line, program) in table {
        let line = format!("cd $TEST_PLACE; export HOME=$PWD; {line}");
        let mut watched = Watched::line(&place, &line).await;
        assert_waits(&watched.awaiting().await, Kind::Editor, program, "");
    }
    place.check().await;
}

#[tokio::test]
async fn full_screen_programs_and_relays_wait_for_keys() {
    let place = Place::process();
    for program in ["top", "htop"] {
        let line = format!("export HOME=$TEST_PLACE; exec {program}");
        let mut watched = Watched::line(&place, &line).await;
        assert_waits(&watched.awaiting().await, Kind::Keys, program, "");
    }
    // As ssh does: everything typed goes to a connection, everything from there to the terminal.
    let relay = "import select, socket, tty; s = socket.create_server(('127.0.0.1', 0)); \
                 c = socket.create_connection(s.getsockname()); tty.setraw(0); print('connected'); \
                 select.select([0, c], [], [])";
    let mut watched = Watched::python(&place, relay).await;
    assert_waits(&watched.awaiting().await, Kind::Keys, "python3", "connected");
    place.check().await;
}

#[tokio::test]
async fn other_interpreters_and_nested_shells_wait_for_lines() {
    let place = Place::process();
    let table = [
        ("exec cat", Kind::Text, "cat"),
        ("exec sqlite3", Kind::Repl, "sqlite3"),
        ("exec gdb -q -nx", Kind::Repl, "gdb"),
        ("exec bash --norc -i", Kind::Repl, "bash"),
        ("exec zsh -f -i", Kind::Repl, "zsh"),
        ("ENV= exec dash -i", Kind::Text, "dash"),
    ];
    for (line, kind, program) in table {
        let line = format!("export HOME=$TEST_PLACE; {line}");
        let mut watched = Watched::line(&place, &line).await;
        assert_waits(&watched.awaiting().await, kind, program, "");
    }
    place.check().await;
}

#[tokio::test]
async fn the_shell_itself_has_the_foreground_between_commands() {
    let place = Place::process();
    let mut watched = Watched::line(&place, "PS1='ready> ' exec bash --norc -i").await;
    assert_waits(&watched.awaiting().await, Kind::Repl, "bash", "ready>");
    let shell = guarded(watched.terminal.foreground()).await.unwrap();
    assert_eq!((shell.group, shell.members.len()), (shell.members[0].pid, 1));
    watched.type_in("sh -c 'echo asks; read x'\n").await;
    until(&watched.terminal, "\rasks\r").await;
    assert_waits(&watched.awaiting().await, Kind::Text, "sh", "asks");
    let command = guarded(watched.terminal.foreground()).await.unwrap();
    assert_ne!(command.group, shell.group);
    watched.type_in("x\n").await;
    assert_waits(&watched.awaiting().await, Kind::Repl, "bash", "ready>");
    place.check().await;
}
