//! Commands that enter the sandbox of the one before: what has changed outside since it was made is never missed.
//!
//! Every test here makes sure that a sandbox was entered again; otherwise it would show nothing.

use std::fs;
use std::path::{Path, PathBuf};
use wharf_core::policy::{Judgement, Places, Policy, Seen, Situation, Whose};
use wharf_core::{CreateError, Dirs, Grant, Holder, Spares, Spec, Store};
use wharf_testing::{GUARD, Place, SmallDisk, guarded, program};

/// A project in a home, with secrets in both.
struct Session {
    place: Place,
    store: Store,
    policy: Policy,
    places: Places,
    seen: Seen,
}

const POLICY: &str = "version = 1
sandbox = \"own\"
[profile.own]
hide = [\"~/project/token\"]
[[rule]]
command = [\"head\", \"…\"]
decision = \"ask\"
";

impl Session {
    fn new() -> Self {
        let place = Place::process();
        let holder = Holder::Process(program("wharf-shim"));
        let store = Store::open_with(Dirs::under(place.state()), holder, Spares::One).unwrap();
        let home = place.dir().canonicalize().unwrap().join("home");
        for dir in ["project/.git/hooks", ".config/gh", ".cache/uv", "tmp", "mounted"] {
            fs::create_dir_all(home.join(dir)).unwrap();
        }
        let policy = Policy::parse(POLICY, Path::new("test.toml"), &home).unwrap();
        let (state, config) = (place.state(), home.join(".config/wharf"));
        let environment = vec![("PATH".into(), "/usr/bin:/bin".into())];
        let places = Places { home: Some(home), state, config, environment, ..Places::default() };
        let session = Self { place, store, policy, places, seen: Seen::default() };
        session.write(".netrc", "SECRET one\n");
        session.write("project/token", "SECRET one\n");
        session.write(".config/gh/hosts.yml", "SECRET one\n");
        session.write(".settings", "settings one\n");
        session
    }

    fn home(&self, below: &str) -> PathBuf {
        self.places.home.as_ref().unwrap().join(below)
    }

    /// As programs write their settings: under another name, and then in place of the old.
    fn write(&self, below: &str, text: &str) {
        let new = self.home("tmp/new");
        fs::write(&new, text).unwrap();
        fs::rename(new, self.home(below)).unwrap();
    }

    fn line(&self, line: &str) -> Spec {
        Spec::argv("/bin/sh", ["-c", line]).cwd(self.home("project"))
    }

    fn judge(&self, spec: Spec) -> Judgement {
        let (directory, temp) = (self.home("project"), self.place.state().join("tmp"));
        fs::create_dir_all(&temp).unwrap();
        let at = Situation {
            whose: Whose::Agent,
            places: &self.places,
            directory: &directory,
            more: &[],
            temp: &temp,
            sandbox: None,
            seen: &self.seen,
        };
        self.policy.judge(spec, &at).unwrap()
    }

    /// What a line prints.
    async fn run(&self, line: &str) -> String {
        self.see_through(self.line(line)).await
    }

    async fn see_through(&self, spec: Spec) -> String {
        match self.judge(spec) {
            Judgement::Allow(grant) => self.start(grant).await.unwrap(),
            other => panic!("{other:?}"),
        }
    }

    async fn start(&self, grant: Grant) -> Result<String, CreateError> {
        let terminal = guarded(self.store.create(grant)).await?;
        guarded(terminal.wait()).await.unwrap();
        let (text, _) = terminal.text(1 << 20).unwrap();
        guarded(terminal.release()).await.unwrap();
        Ok(text)
    }

    /// Runs a line until two commands were in the same sandbox: what was made just now is not believed at first. It must
    /// say the same each time.
    async fn settle(&self, line: &str, expected: &str) {
        // The memory that a sandbox has goes with it.
        let line = format!("test -e /dev/shm/mark && echo again; touch /dev/shm/mark; {line}");
        let settled = async {
            loop {
                let said = self.run(&line).await;
                let again = said.strip_prefix("again\n");
                assert_eq!(again.unwrap_or(&said), expected);
                if again.is_some() {
                    break;
                }
            }
        };
        tokio::time::timeout(GUARD, settled).await.expect("no sandbox was entered again");
    }

    async fn check(self) {
        drop(self.store);
        self.place.check_to_the_last_descriptor().await;
    }
}

#[tokio::test]
async fn a_file_that_is_replaced_outside_is_the_new_one_for_all_commands_after() {
    let session = Session::new();
    session.settle("cat ../.settings", "settings one\n").await;
    session.write(".settings", "settings two\n");
    session.settle("cat ../.settings", "settings two\n").await;
    session.check().await;
}

#[tokio::test]
async fn a_secret_that_is_replaced_outside_stays_hidden() {
    let session = Session::new();
    session.settle("true", "").await;
    for file in [".netrc", "project/token", ".config/gh/hosts.yml"] {
        session.write(file, "SECRET two\n");
        let said = session.run("cat ../.netrc token ../.config/gh/hosts.yml").await;
        assert!(!said.contains("SECRET"), "{file}: {said}");
    }
    session.settle("cat ../.netrc token ../.config/gh/hosts.yml 2>/dev/null", "").await;
    session.check().await;
}

/// As an editor that saves a file and is told to go back. It is the same file again, and what covered it is gone.
#[tokio::test]
async fn a_secret_that_was_away_and_is_back_stays_hidden() {
    let session = Session::new();
    session.settle("true", "").await;
    let (token, kept) = (session.home("project/token"), session.home("project/kept"));
    fs::hard_link(&token, &kept).unwrap();
    session.write("project/token", "SECRET two\n");
    fs::rename(kept, token).unwrap();
    for _ in 0..3 {
        assert!(!session.run("cat token").await.contains("SECRET"));
    }
    session.check().await;
}

/// A person thinks, and writes meanwhile.
#[tokio::test]
async fn a_secret_that_is_replaced_while_a_person_is_asked_stays_hidden() {
    let session = Session::new();
    session.settle("true", "").await;
    let spec = Spec::argv("/usr/bin/head", ["token", "../.settings"]).cwd(session.home("project"));
    let Judgement::Ask(_, pending) = session.judge(spec) else { panic!("nobody is asked") };
    session.write("project/token", "SECRET two\n");
    session.write(".settings", "settings two\n");
    // What is hidden by its name in a place that commands write is the very file that was seen, or nothing is started.
    let started = session.start(pending.allow()).await;
    assert!(!started.is_ok_and(|said| said.contains("SECRET")));
    session.check().await;
}

#[tokio::test]
async fn what_commands_leave_in_a_layer_is_found_whatever_has_changed_since() {
    let session = Session::new();
    let wrote = session.run("echo tool > ../.cache/uv/tool && echo wrote").await;
    if wrote != "wrote\n" {
        // No layers are to be had here.
        return session.check().await;
    }
    session.settle("cat ../.cache/uv/tool", "tool\n").await;
    session.write(".settings", "settings two\n");
    session.settle("cat ../.cache/uv/tool", "tool\n").await;
    let limited = session.line("cat ../.cache/uv/tool").memory_limit(256 << 20);
    assert_eq!(session.see_through(limited).await, "tool\n");
    session.check().await;
}

#[tokio::test]
async fn hooks_that_were_put_in_place_anew_are_kept_from_the_next_command() {
    let session = Session::new();
    session.settle("true", "").await;
    fs::remove_dir_all(session.home("project/.git")).unwrap();
    fs::create_dir_all(session.home("project/.git/hooks")).unwrap();
    let said = session.run("touch .git/config && touch .git/hooks/pre-commit || echo refused").await;
    assert!(said.ends_with("refused\n"), "{said}");
    assert!(session.home("project/.git/config").exists());
    session.check().await;
}

#[tokio::test]
async fn what_is_mounted_outside_is_seen_by_the_next_command() {
    let session = Session::new();
    session.settle("true", "").await;
    let mounted = session.home("mounted");
    let Some(disk) = SmallDisk::mount(mounted.clone(), "1m") else { return };
    fs::write(mounted.join("file"), "on the new disk\n").unwrap();
    assert_eq!(session.run("cat ../mounted/file").await, "on the new disk\n");
    drop(disk);
    assert!(session.run("cat ../mounted/file").await.contains("No such file"));
    session.check().await;
}

#[tokio::test]
async fn a_command_with_a_limit_on_memory_has_a_sandbox_of_its_own() {
    let session = Session::new();
    session.settle("true", "").await;
    let limited = session.line("ls -A /dev/shm; echo done").memory_limit(256 << 20);
    assert_eq!(session.see_through(limited).await, "done\n");
    session.check().await;
}
