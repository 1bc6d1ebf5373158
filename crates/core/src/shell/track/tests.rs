//! Marks at places, and what is known after them.

use super::*;
use crate::shell::mark::Mark;

/// A journal of marks, each ten bytes long, with bytes between them.
struct Journal {
    track: Track,
    at: u64,
}

const MARK: u64 = 10;

impl Journal {
    fn new() -> Self {
        Self { track: Track::new("/start".into()), at: 0 }
    }

    fn bytes(mut self, count: u64) -> Self {
        self.at += count;
        self
    }

    fn mark(mut self, body: &str) -> Self {
        let mark = Mark::parse(body, 7).unwrap();
        self.track.mark(mark, self.at, self.at + MARK, Seen::Later);
        self.at += MARK;
        self
    }

    fn prompt(self) -> Self {
        self.mark("A;7;bash;/p;").bytes(5).mark("B;7")
    }

    fn last(&self) -> &Command {
        self.track.last().unwrap()
    }

    fn loose(&self) -> Vec<(u64, Option<u64>)> {
        self.track.loose().collect()
    }
}

#[test]
fn output_is_what_stands_between_the_beginning_and_the_end() {
    let journal =
        Journal::new().bytes(100).prompt().mark("T;7").bytes(20).mark("C;7;1;10.0;t,me,ls").bytes(33);
    assert_eq!(journal.track.state(), State::Running);
    assert_eq!((journal.last().output, journal.last().exit_code), ((165, None), None));
    let journal = journal.mark("D;7;1;3;12.5;/w");
    assert_eq!((journal.last().output, journal.last().exit_code), ((165, Some(198)), Some(3)));
    assert_eq!((journal.last().text.as_str(), journal.last().author.as_str()), ("ls", "me"));
    assert_eq!((journal.last().began_ms, journal.last().lasted), (10_000, Some(Duration::from_millis(2500))));
    assert_eq!((journal.track.state(), journal.track.cwd().to_str()), (State::Idle, Some("/w")));
}

#[test]
fn a_shell_is_ready_when_its_prompt_is_printed() {
    let journal = Journal::new();
    assert_eq!(journal.track.state(), State::Starting);
    let journal = journal.mark("A;7;bash;/p");
    assert_eq!(journal.track.prompt(), Some(Prompt::Printing));
    let journal = journal.mark("B;7");
    assert_eq!((journal.track.prompt(), journal.track.kind()), (Some(Prompt::Ready), Some(Kind::Bash)));
    // Redrawn while a command is taken, it is not ready for another.
    let journal = journal.mark("T;7").mark("B;7");
    assert_eq!(journal.track.prompt(), Some(Prompt::Taking));
    let journal = journal.mark("C;7;1;;t,me,x");
    assert_eq!(journal.track.prompt(), None);
    assert_eq!(journal.mark("D;7;1;0;;/").track.prompt(), Some(Prompt::Coming));
}

#[test]
fn ends_that_come_twice_or_for_another_command_change_nothing() {
    let journal = Journal::new().prompt().mark("C;7;1;;t,me,x").mark("D;7;1;3;;/a").mark("D;7;1;9;;/b");
    assert_eq!((journal.last().exit_code, journal.track.cwd().to_str()), (Some(3), Some("/a")));
    let journal = journal.mark("C;7;2;;u,me,y").mark("D;7;1;9;;/b");
    assert_eq!((journal.track.state(), journal.last().id), (State::Running, 2));
    // Nor do beginnings of old ones.
    assert_eq!(journal.mark("C;7;1;;t,me,x").last().id, 2);
}

#[test]
fn a_command_whose_beginning_is_gone_is_known_by_its_end() {
    let journal = Journal::new().bytes(50).mark("D;7;8;1;5.0;/x").prompt();
    assert_eq!(
        (journal.last().id, journal.last().exit_code, journal.last().output),
        (8, Some(1), (0, Some(50)))
    );
    assert_eq!(journal.track.state(), State::Idle);
}

#[test]
fn what_is_between_commands_is_loose_but_for_prompts_and_what_is_typed() {
    let journal =
        Journal::new().bytes(100).prompt().bytes(7).mark("T;7").bytes(20).mark("C;7;1;;t,me,x").bytes(9);
    // Before the first prompt there is nothing that belongs to anybody.
    assert_eq!(journal.loose(), [(125, Some(132))]);
    let journal = journal.mark("D;7;1;0;;/").bytes(3).prompt().bytes(4);
    assert_eq!(journal.loose(), [(125, Some(132)), (191, Some(194)), (219, None)]);
    // What somebody types is echoed.
    let journal = journal.mark("C;7;2;;-,human,y").mark("D;7;2;0;;/");
    assert_eq!(journal.loose(), [(125, Some(132)), (191, Some(194)), (243, None)]);
}

#[test]
fn a_prompt_while_something_is_thought_to_run_ends_it() {
    // What has taken the shell's place says so. Of anything else nobody knows the code.
    for (prompt, code) in [("A;7;bash;/p;new", Some(0)), ("A;7;bash;/p;", None), ("A;7;bash;/p", None)] {
        let journal = Journal::new().prompt().mark("C;7;1;;t,me,exec").bytes(30).mark(prompt).mark("B;7");
        assert_eq!((journal.last().exit_code, journal.last().output.1), (code, Some(65)));
        assert_eq!(journal.track.prompt(), Some(Prompt::Ready));
        assert_eq!(journal.track.is_in_doubt(), code.is_none());
    }
}

#[test]
fn a_shell_of_an_earlier_version_is_integrated_anew() {
    let journal = Journal::new().mark("A;7;bash;/p").mark("B;7");
    assert!(journal.track.is_in_doubt());
    assert!(!journal.mark("A;7;bash;/p;").mark("P;7").mark("B;7").track.is_in_doubt());
}

#[test]
fn refusals_are_found_by_their_token() {
    let journal = Journal::new().prompt().mark("T;7").mark("E;7;t,me,x;no%20way");
    assert_eq!((journal.track.refused("t"), journal.track.refused("u")), (Some("no way"), None));
    assert!(journal.track.find("t").is_none());
    assert_eq!(journal.prompt().track.prompt(), Some(Prompt::Ready));
}
