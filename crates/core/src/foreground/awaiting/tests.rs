//! Tables of the verdict. Real programs are in the integration tests.

use super::super::{Doing, Foreground, Member};
use super::{Awaiting, Kind};
use crate::spec::Size;
use crate::view::{Highlight, Picture};
use Doing::{Polling, Reading, Running, Sleeping, Stopped, Unknown};

/// How the driver is told to treat what is typed.
#[derive(Debug, Clone, Copy)]
enum Mode {
    /// As it is by itself.
    Lines,
    /// Lines that are not echoed.
    Hidden,
    /// Keys for a line editor.
    Editing,
    /// Keys that are echoed, with C-c a signal.
    Single,
    /// Keys without echo, with C-c a signal and Enter as it is.
    Stars,
    /// Everything as it is typed, as relays do.
    Raw,
}
use Mode::{Editing, Hidden, Lines, Raw, Single, Stars};

fn foreground(mode: Mode, members: &[(&str, Doing)]) -> Foreground {
    let member = |(at, (name, doing)): (usize, &(&str, Doing))| Member {
        pid: 100 + i32::try_from(at).unwrap(),
        name: (*name).to_owned(),
        doing: *doing,
        ticks: 7,
    };
    Foreground {
        group: 100,
        echo: matches!(mode, Lines | Single),
        canonical: matches!(mode, Lines | Hidden),
        signals: !matches!(mode, Raw),
        newline: !matches!(mode, Editing | Raw),
        exchanged: false,
        unread: 0,
        members: members.iter().enumerate().map(member).collect(),
    }
}

fn screen(rows: &[&str]) -> Picture {
    let row = u16::try_from(rows.len().saturating_sub(1)).unwrap();
    Picture {
        rows: rows.iter().map(|row| (*row).to_owned()).collect(),
        size: Size { cols: 80, rows: 24 },
        cursor: (row, 0),
        cursor_visible: true,
        alternate: false,
        highlights: Vec::new(),
    }
}

fn full(rows: &[&str]) -> Picture {
    Picture { alternate: true, ..screen(rows) }
}

fn inverse(picture: Picture, row: u16, text: &str) -> Picture {
    let highlights = vec![Highlight { row, from: 0, to: 5, text: text.to_owned() }];
    Picture { highlights, ..picture }
}

fn kind(seen: &Foreground, picture: &Picture) -> Option<Kind> {
    seen.awaiting(seen, picture).map(|awaiting| awaiting.kind)
}

/// The driver, who is in the foreground, the screen, and what is awaited.
type Case<'a> = (Mode, &'a [(&'a str, Doing)], Picture, Option<Kind>);

#[test]
fn what_is_awaited_follows_from_the_driver_the_program_and_the_screen() {
    let table: &[Case<'_>] = &[
        (Lines, &[("cat", Reading)], screen(&[]), Some(Kind::Text)),
        (Lines, &[("apt", Reading)], screen(&["Do you want to continue? [Y/n]"]), Some(Kind::Confirm)),
        (Lines, &[("make", Sleeping), ("sh", Reading)], screen(&["Name:"]), Some(Kind::Text)),
        (Lines, &[("sleep", Sleeping)], screen(&["Password:"]), None),
        (Lines, &[("cc1", Running)], screen(&["Continue? [y/N]"]), None),
        (Lines, &[("cat", Reading), ("cc1", Running)], screen(&[]), None),
        (Lines, &[("cat", Stopped)], screen(&[]), None),
        (Lines, &[("vite", Polling)], screen(&["press h + enter to show help"]), None),
        (Lines, &[("sudo", Unknown)], screen(&["[sudo] password for me:"]), None),
        (Lines, &[], screen(&["$"]), None),
        (Hidden, &[("ssh", Reading)], screen(&["me@host's password:"]), Some(Kind::Secret)),
        (Hidden, &[("sudo", Unknown)], screen(&["[sudo] password for me:"]), Some(Kind::Secret)),
        (Hidden, &[("sh", Sleeping), ("su", Unknown)], screen(&["Password:"]), Some(Kind::Secret)),
        (Hidden, &[("sleep", Sleeping)], screen(&["Password:"]), None),
        (Stars, &[("sudo", Unknown)], screen(&["[sudo] password for me: ***"]), Some(Kind::Secret)),
        (Raw, &[("sudo", Unknown)], screen(&["Password:"]), None),
        (Raw, &[("sudo", Unknown)], full(&["~", "~", "~", "\"a\" [New]"]), Some(Kind::Editor)),
        (Raw, &[("sudo", Unknown)], inverse(full(&["text", "(END)"]), 1, "(END)"), Some(Kind::Pager)),
        (Raw, &[("sudo", Unknown)], full(&["a menu"]), Some(Kind::Keys)),
        (Raw, &[("ssh", Polling)], screen(&["me@host:~$"]), Some(Kind::Repl)),
        (Raw, &[("ssh", Polling)], screen(&["building"]), Some(Kind::Keys)),
        (Editing, &[("man", Sleeping), ("pager", Reading)], full(&["NAME", ":"]), Some(Kind::Pager)),
        (Editing, &[("git", Sleeping), ("delta", Reading)], full(&["commit", ":"]), Some(Kind::Pager)),
        (Editing, &[("more", Polling)], screen(&["--More--(3%)"]), Some(Kind::Pager)),
        (Editing, &[("git", Sleeping), ("vim", Reading)], full(&["~"]), Some(Kind::Editor)),
        (
            Editing,
            &[("x", Reading)],
            inverse(full(&["  GNU nano 7.2"]), 0, "  GNU nano 7.2"),
            Some(Kind::Editor),
        ),
        (Editing, &[("python3", Reading)], screen(&[">>>"]), Some(Kind::Repl)),
        (Editing, &[("python3", Reading)], screen(&["(Pdb)"]), Some(Kind::Repl)),
        (Editing, &[("python3", Reading)], screen(&["Your name:"]), Some(Kind::Text)),
        (Editing, &[("node", Reading)], screen(&["Overwrite? (y/n)"]), Some(Kind::Confirm)),
        (Editing, &[("node", Reading)], screen(&["? Pick one", "  a", "  b"]), Some(Kind::Keys)),
        (Editing, &[("psql", Reading)], screen(&["postgres=*"]), Some(Kind::Repl)),
        (Editing, &[("bash", Reading)], screen(&["anything"]), Some(Kind::Repl)),
        (Stars, &[("bash", Reading)], screen(&["Press a key"]), Some(Kind::Keys)),
        (Single, &[("bash", Reading)], screen(&["Continue? [y/N]"]), Some(Kind::Keys)),
        (Editing, &[("htop", Reading)], full(&["CPU"]), Some(Kind::Keys)),
        (Raw, &[("sleep", Sleeping)], full(&["~", "~", "~"]), None),
    ];
    for (mode, members, picture, expected) in table {
        let seen = foreground(*mode, members);
        assert_eq!(kind(&seen, picture), *expected, "{mode:?} {members:?} {:?}", picture.rows);
    }
}

#[test]
fn two_looks_that_differ_are_no_evidence() {
    let now = foreground(Lines, &[("cat", Reading)]);
    let picture = screen(&["Name:"]);
    assert!(now.awaiting(&now, &picture).is_some());
    let changes: [fn(&mut Foreground); 6] = [
        |f| f.group += 1,
        |f| f.echo = false,
        |f| f.members[0].ticks += 1,
        |f| f.members[0].pid += 1,
        |f| f.members[0].doing = Sleeping,
        |f| f.members.clear(),
    ];
    for (at, change) in changes.iter().enumerate() {
        let mut earlier = now.clone();
        change(&mut earlier);
        assert_eq!(now.awaiting(&earlier, &picture), None, "change {at}");
    }
    let unread = Foreground { unread: 1, ..now };
    assert_eq!(unread.awaiting(&unread, &picture), None, "what was typed is still to be read");
}

#[test]
fn the_prompt_is_what_stands_at_the_cursor() {
    let seen = foreground(Lines, &[("cat", Reading)]);
    let prompt = |picture: &Picture| seen.awaiting(&seen, picture).unwrap().prompt;
    assert_eq!(prompt(&screen(&["before", "Name: "])), "Name:");
    assert_eq!(prompt(&screen(&["Choose wisely", ""])), "Choose wisely");
    assert_eq!(prompt(&screen(&[])), "");
    assert_eq!(prompt(&Picture { cursor: (9, 0), ..screen(&["far above"]) }), "");
    let long = format!("{}end", "é".repeat(500));
    let cut = prompt(&screen(&[&long]));
    assert!(cut.ends_with("end") && cut.chars().count() == 200, "{cut}");
}

#[test]
fn every_kind_has_a_word_and_a_hint_of_its_own() {
    let all = [Kind::Text, Kind::Confirm, Kind::Secret, Kind::Pager, Kind::Editor, Kind::Repl, Kind::Keys]
        .map(|kind| {
            let awaiting = Awaiting { kind, prompt: String::new(), program: "vim".to_owned() };
            (kind.code(), awaiting.hint("build"))
        });
    for (at, (code, hint)) in all.iter().enumerate() {
        assert!(
            !hint.is_empty() && all[..at].iter().all(|(other, said)| other != code && said != hint),
            "{code}"
        );
    }
    assert!(all[2].1.contains("`wharf sh build`"), "a human types secrets");
    let editor = |program: &str| {
        Awaiting { kind: Kind::Editor, prompt: String::new(), program: program.to_owned() }.hint("x")
    };
    assert!(
        editor("vim").contains(":q!")
            && editor("nano").contains("C-x")
            && editor("emacs").contains("C-x C-c")
    );
}
