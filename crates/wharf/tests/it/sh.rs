//! `wharf sh`: a human at a shell that stays, their own or an agent's.

#![expect(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

use crate::harness::{GUARD, Wharf, signal};
use crate::pty::Seat;
use rustix::process::Signal;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Instant;
use tokio::runtime::Runtime;
use wharf_core::shell::{self, Because, Hold, Kind, RunError, Shell, Until};
use wharf_core::{Dirs, Holder, Size, Store, Terminal, unrestricted};

const DETACH: &str = "\x1d";
const WINDOW: (u16, u16) = (100, 30);

/// An agent in the project, in this process: it is at work while it is asked to be.
struct Agent {
    runtime: Runtime,
    shell: Shell,
}

impl Agent {
    fn new(wharf: &Wharf, name: &str, seat: &str) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let holder = Holder::Process(wharf.program().to_owned());
        let store = Store::open(Dirs::under(wharf.state()), holder).unwrap();
        let spec = shell::spec(Kind::Bash, Path::new("/bin/bash"), name, seat, Size { cols: 80, rows: 24 })
            .cwd(wharf.scratch())
            .inherit(wharf.environment())
            .preset([("TERM", "xterm-256color")])
            .origin("some-agent");
        let grant = unrestricted(spec).unwrap();
        let shell = runtime.block_on(Shell::open(&store, grant, GUARD)).unwrap();
        Self { runtime, shell }
    }

    fn terminal(&self) -> &Terminal {
        self.shell.terminal()
    }

    /// Runs a command to its end; its output.
    fn run(&self, line: &str) -> Result<String, RunError> {
        self.runtime.block_on(async {
            let command = self.shell.run(line, "some-agent").await?;
            self.rest().await;
            Ok(self.shell.lines(command.id, 1).await.unwrap().lines.join("\n"))
        })
    }

    /// Waits until nothing runs, whoever began it.
    async fn rest(&self) {
        let deadline = Instant::now() + GUARD;
        // A wait also ends when something waits for input.
        while self.shell.wait(Until::End, deadline).await != Because::Ended {
            assert!(Instant::now() < deadline, "it does not end");
        }
    }

    fn is_taken(&self) -> bool {
        Hold::is_taken(self.terminal()).unwrap()
    }
}

fn sit<'a>(wharf: &Wharf, args: impl IntoIterator<Item = &'a str>) -> Seat {
    Seat::take_in(&wharf.scratch(), wharf, args, WINDOW)
}

fn list(wharf: &Wharf) -> String {
    let done = wharf.call(["sh", "--list"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    done.out
}

#[test]
fn a_shell_of_ones_own_stays_and_is_found_again_by_its_name() {
    let wharf = Wharf::new();
    let mut seat = sit(&wharf, ["sh"]);
    seat.see("Ctrl-] leaves. Shell default, sandbox open, your own");
    seat.type_keys("cd /; x=5; echo \"[$x]\"\r");
    seat.see("[5]");
    seat.type_keys(DETACH);
    seat.see("`wharf sh default` comes back");
    assert_eq!(seat.leave(), Some(0));
    assert!(list(&wharf).contains("yours"), "{}", list(&wharf));
    let mut seat = sit(&wharf, ["sh", "default"]);
    seat.see("[5]");
    seat.type_keys("echo again $x$PWD; exit 7\r");
    seat.see("again 5/");
    seat.see("ended with exit code 7");
    assert_eq!(seat.leave(), Some(7));
    assert_eq!(list(&wharf), "");
}

#[test]
fn the_first_key_takes_an_agents_shell_and_leaving_gives_it_back() {
    let wharf = Wharf::new();
    let agent = Agent::new(&wharf, "default", "some-agent 1");
    assert_eq!(agent.run("x=from-the-agent; echo $x").unwrap(), "from-the-agent");
    let mut seat = sit(&wharf, ["sh"]);
    seat.see("from-the-agent");
    seat.see("typing takes it over. Shell default, sandbox open, of some-agent");
    assert!(!agent.is_taken(), "looking on takes nothing");
    seat.type_keys("echo human sees $x\r");
    seat.see("you have taken over");
    seat.see("human sees from-the-agent");
    assert!(agent.is_taken());
    assert!(list(&wharf).contains("taken over"));
    assert!(matches!(agent.run("echo no"), Err(RunError::Held)));
    seat.type_keys(DETACH);
    assert_eq!(seat.leave(), Some(0));
    assert!(!agent.is_taken());
    agent.runtime.block_on(agent.rest());
    assert_eq!(agent.run("echo back").unwrap(), "back");
}

#[test]
fn whoever_attaches_to_a_shell_takes_it_over_too() {
    let wharf = Wharf::new();
    let agent = Agent::new(&wharf, "default", "some-agent 1");
    let mut seat = sit(&wharf, ["attach", agent.terminal().id().short()]);
    seat.see("typing takes it over");
    seat.type_keys("echo typed\r");
    seat.see("you have taken over");
    assert!(agent.is_taken());
    seat.type_keys(DETACH);
    seat.see("`wharf attach");
    assert_eq!(seat.leave(), Some(0));
}

#[test]
fn a_human_who_is_killed_holds_nothing() {
    let wharf = Wharf::new();
    let agent = Agent::new(&wharf, "default", "some-agent 1");
    let mut seat = sit(&wharf, ["sh"]);
    seat.see("typing takes it over");
    seat.type_keys("echo he\"\"re\r");
    seat.see("you have taken over");
    seat.see("here");
    let human = Hold::released(agent.terminal());
    signal(seat.child(), Signal::KILL);
    agent.runtime.block_on(async { tokio::time::timeout(GUARD, human).await }).unwrap().unwrap();
    agent.runtime.block_on(agent.rest());
    assert_eq!(agent.run("echo back").unwrap(), "back");
}

#[test]
fn whoever_only_watches_changes_nothing() {
    let wharf = Wharf::new();
    let agent = Agent::new(&wharf, "build", "some-agent 1");
    agent.run("echo on the screen").unwrap();
    let mut seat = sit(&wharf, ["sh", "--watch", "build"]);
    seat.see("on the screen");
    seat.type_keys("touch typed\r");
    assert_eq!(agent.run("echo seen at once; stty size").unwrap(), "seen at once\n24 80");
    seat.see("seen at once");
    assert!(!agent.is_taken());
    seat.type_keys(DETACH);
    assert_eq!(seat.leave(), Some(0));
    assert_eq!(agent.run("ls").unwrap(), "");
}

/// Asks for the cursor and reads the answer, which may come before `read` has turned the echo off; of a second one the next
/// read would get something.
const ASK: &str = r#"stty -echo; printf '\033[6n'; IFS= read -rs -d R -t 20 a; stty echo; echo "got $(printf %q "$a")"; if read -rs -n 1 -t 1 b; then echo "and"" more"; else echo "and no"" more"; fi"#;

#[test]
fn what_programs_ask_is_answered_and_nothing_of_it_is_shown() {
    let wharf = Wharf::new();
    let mut seat = sit(&wharf, ["sh", "--shell", "bash"]);
    seat.see("your own");
    seat.type_keys(&format!("{ASK}\r"));
    seat.see("got $'\\E[");
    seat.see("and no more");
    let shown = seat.shown();
    assert!(!shown.contains("\x1b[6n"), "{shown:?}");
    assert!(!shown.contains("6973"), "{shown:?}");
    seat.type_keys(DETACH);
    assert_eq!(seat.leave(), Some(0));
}

#[test]
fn of_two_who_follow_a_shell_one_answers() {
    let wharf = Wharf::new();
    let agent = Agent::new(&wharf, "default", "some-agent 1");
    let mut seat = sit(&wharf, ["sh"]);
    seat.see("typing takes it over");
    let said = agent.run(ASK).unwrap();
    assert!(said.starts_with("got $'\\E[") && said.ends_with("\nand no more"), "{said}");
    seat.type_keys(DETACH);
    assert_eq!(seat.leave(), Some(0));
}

/// A real terminal, which answers what it is asked.
struct Tmux {
    socket: PathBuf,
}

impl Tmux {
    fn new(wharf: &Wharf, line: &str) -> Self {
        let tmux = Self { socket: wharf.scratch().join("tmux") };
        let new = ["-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "30", line];
        let started = tmux.call(|command| {
            command.args(new).env_clear().envs(wharf.environment()).current_dir(wharf.scratch())
        });
        assert!(started.status.success(), "{started:?}");
        tmux
    }

    #[expect(clippy::disallowed_methods, reason = "tests start programs")]
    fn call(&self, with: impl FnOnce(&mut Command) -> &mut Command) -> Output {
        let mut command = Command::new("tmux");
        with(command.arg("-S").arg(&self.socket)).output().unwrap()
    }

    fn type_keys(&self, text: &str) {
        for keys in [&["-l", text][..], &["Enter"]] {
            let sent = self.call(|command| command.arg("send-keys").args(keys));
            assert!(sent.status.success(), "{sent:?}");
        }
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        // Gone already if what ran in it is.
        self.call(|command| command.arg("kill-server"));
    }
}

#[test]
fn a_terminal_that_would_answer_too_is_not_asked() {
    let wharf = Wharf::new();
    let agent = Agent::new(&wharf, "default", "some-agent 1");
    assert_eq!(agent.run("echo seen before").unwrap(), "seen before");
    let id = agent.terminal().id().as_str().to_owned();
    // Its follower is gone, so that of the human has to answer.
    drop(agent);
    let tmux = Tmux::new(&wharf, &format!("'{}' sh", wharf.program().display()));
    tmux.type_keys(ASK);
    wharf.wait_for_output(&id, "more\r\n");
    tmux.type_keys("echo tmux\\ has it > done; kill -9 $$");
    assert!(matches!(wharf.call(["wait", &id]).code, Some(137)));
    let log = wharf.ok(["logs", &id]);
    assert!(log.contains("got $'\\E[") && log.contains("and no more"), "{log:?}");
    assert_eq!(std::fs::read_to_string(wharf.scratch().join("done")).unwrap(), "tmux has it\n");
}

#[test]
fn the_size_is_that_of_the_window_until_one_leaves() {
    let wharf = Wharf::new();
    let agent = Agent::new(&wharf, "default", "some-agent 1");
    let mut seat = sit(&wharf, ["sh"]);
    seat.see("typing takes it over");
    seat.type_keys("stty size\r");
    seat.see("30 100");
    seat.type_keys(DETACH);
    assert_eq!(seat.leave(), Some(0));
    assert_eq!(agent.terminal().look().unwrap().size, Some(Size { cols: 80, rows: 24 }));
    assert_eq!(agent.run("stty size").unwrap(), "24 80");
}

#[test]
fn of_several_with_one_name_an_id_says_which() {
    let wharf = Wharf::new();
    let (first, second) =
        (Agent::new(&wharf, "default", "some-agent 1"), Agent::new(&wharf, "default", "some-agent 2"));
    second.run("echo the second").unwrap();
    let seat = sit(&wharf, ["sh"]);
    for agent in [&first, &second] {
        seat.see(&format!("wharf sh {}", agent.terminal().id().short()));
    }
    assert_eq!(seat.leave(), Some(3));
    let mut seat = sit(&wharf, ["sh", &second.terminal().id().as_str()[..6]]);
    seat.see("the second");
    seat.type_keys(DETACH);
    assert_eq!(seat.leave(), Some(0));
}

#[test]
fn an_agents_shell_elsewhere_is_not_joined_by_its_name() {
    let wharf = Wharf::new();
    let agent = Agent::new(&wharf, "default", "some-agent 1");
    let elsewhere = wharf.scratch().with_file_name("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let mut seat = Seat::take_in(&elsewhere, &wharf, ["sh"], WINDOW);
    seat.see("your own");
    seat.type_keys("exit\r");
    assert_eq!(seat.leave(), Some(0));
    assert!(!agent.is_taken());
}

#[test]
fn a_new_one_can_be_sandboxed_and_a_running_one_cannot_be_changed() {
    let wharf = Wharf::new();
    let mut seat = sit(&wharf, ["sh", "--sandbox", "workspace", "--shell", "sh", "boxed"]);
    seat.see("Shell boxed, sandbox workspace, your own");
    seat.type_keys("echo x > ../outside || echo \"kept\" in\r");
    seat.see("kept in");
    seat.type_keys(DETACH);
    assert_eq!(seat.leave(), Some(0));
    let seat = sit(&wharf, ["sh", "--sandbox", "open", "boxed"]);
    seat.see("are for a new one");
    assert_eq!(seat.leave(), Some(2));
}

#[test]
fn told_to_go_it_gives_the_terminal_back_and_the_shell_stays() {
    let wharf = Wharf::new();
    let seat = sit(&wharf, ["sh"]);
    seat.see("your own");
    signal(seat.child(), Signal::TERM);
    assert_eq!(seat.leave(), Some(143));
    assert!(list(&wharf).contains("default"));
}

#[test]
fn without_a_terminal_to_sit_at_it_says_what_else_to_do() {
    let wharf = Wharf::new();
    let done = wharf.call(["sh"]);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(done.err.contains("wharf run") && wharf.ids().is_empty(), "{}", done.err);
    let agent = Agent::new(&wharf, "default", "some-agent 1");
    let done = wharf.call(["sh", agent.terminal().id().short()]);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(done.err.contains("logs -f"), "{}", done.err);
}

#[test]
fn what_cannot_be_is_said() {
    let wharf = Wharf::new();
    for (args, said, code) in [
        (&["sh", "--watch", "nobody"][..], "no shell \"nobody\"", 3),
        (&["sh", "--shell", "/bin/cat"], "not a shell that wharf knows", 2),
        (&["sh", "--shell", "no-such-shell"], "no shell no-such-shell", 125),
        (&["sh", "a b"], "not a name", 2),
    ] {
        let seat = sit(&wharf, args.iter().copied());
        seat.see(said);
        assert_eq!(seat.leave(), Some(code), "{args:?}");
    }
    assert!(wharf.ids().is_empty());
}

#[test]
fn logs_give_a_shells_secret_only_to_whoever_asks_for_everything() {
    let wharf = Wharf::new();
    let agent = Agent::new(&wharf, "default", "one");
    agent.run("printf 'a\\033]6973;forged;A\\007b\\n'; echo hello").unwrap();
    let secret = &agent.shell.meta().nonce;
    let id = agent.terminal().id().to_string();
    let raw = wharf.ok(["logs", "--raw", &id]);
    let logs = wharf.ok(["logs", &id]);
    assert!(raw.contains(secret.as_str()), "{raw:?}");
    assert!(logs.contains("hello") && !logs.contains(secret.as_str()), "{logs:?}");
    // What only looks like a mark is output.
    assert!(
        logs.contains("a\u{1b}]6973;forged;A\u{7}b") && logs.matches("\u{1b}]6973").count() == 1,
        "{logs:?}"
    );
    // Offsets are those of the journal, also from the middle of a mark on.
    let hello = raw.rfind("hello").unwrap();
    assert!(wharf.ok(["logs", "--from", &hello.to_string(), &id]).starts_with("hello"));
    let at = raw.rfind(secret.as_str()).unwrap();
    for from in [at - 3, at, at + 1, at + secret.len() - 4, at + secret.len()] {
        let rest = wharf.ok(["logs", "--from", &from.to_string(), &id]);
        let tail = &secret[secret.len() - 4..];
        assert!(!rest.contains(tail) && !rest.contains("]6973"), "from {from}: {rest:?}");
    }
}
