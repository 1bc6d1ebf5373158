//! Every attempt, in every profile, as root and as an ordinary user, with and without user namespaces.

#![expect(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

use super::Profile;
use super::cast::{Surroundings, User};
use super::ground::{Ground, PYTHON};
use super::job::say;
use super::table::{ATTEMPTS, Attempt, Open};
use crate::harness::finish;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// What came of one attempt, by its own word and by the host's.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Verdict {
    Escaped(String),
    Held(String),
    /// The attempt itself went wrong, and shows nothing.
    Broken(String),
}

/// Makes the attempts and reads what came of them.
fn attempt(user: User, surroundings: Surroundings, profile: Profile, chosen: &[&Attempt]) -> Verdicts {
    let names: Vec<&str> = chosen.iter().map(|attempt| attempt.name).collect();
    let ground = Ground::new(user, surroundings);
    let victims = ground.victims(&names);
    let done = victims.attempt(profile, &names);
    let hurt: BTreeMap<String, String> = victims.hurt().into_iter().collect();
    let lines: BTreeMap<&str, &str> = done.out.lines().filter_map(|line| line.split_once('\t')).collect();
    let judge = |name: &str| {
        let (word, detail) =
            lines.get(name).and_then(|rest| rest.split_once('\t')).unwrap_or(("", "it was not made"));
        let detail = detail.to_owned();
        match (word, hurt.get(name)) {
            ("ESCAPED", _) => Verdict::Escaped(detail),
            // Whatever it says: its victim is not as it was.
            (_, Some(what)) => Verdict::Escaped(format!("{detail}; the host sees: {what}")),
            ("HELD", None) => Verdict::Held(detail),
            ("CLAIMED", None) => Verdict::Held(format!("{detail}, but not where the host is")),
            (word, None) => Verdict::Broken(format!("{word} {detail}")),
        }
    };
    let verdicts = names.iter().map(|&name| (name, judge(name))).collect();
    Verdicts { verdicts, said: format!("exit code {:?}: {}", done.code, done.err) }
}

struct Verdicts {
    verdicts: Vec<(&'static str, Verdict)>,
    said: String,
}

impl Verdicts {
    /// Fails with a table of those that are not as they should be.
    fn expect(&self, right: impl Fn(&str, &Verdict) -> bool) {
        let wrong: Vec<_> = self.verdicts.iter().filter(|(name, verdict)| !right(name, verdict)).collect();
        let mut table = String::new();
        for (name, verdict) in &wrong {
            let (word, why) = match verdict {
                Verdict::Escaped(why) => ("ESCAPED", why),
                Verdict::Held(why) => ("HELD", why),
                Verdict::Broken(why) => ("BROKEN", why),
            };
            let _ = writeln!(table, "{name:<44} {word:<8} {why}");
        }
        let (all, wrong) = (self.verdicts.len(), wrong.len());
        assert!(wrong == 0, "{wrong} of {all} attempts are not as they should be\n{table}{}", self.said);
    }
}

/// In the open: what the table says is possible, is.
fn all_succeed_in_the_open(user: User, surroundings: Surroundings) {
    if let Some(why) = user.missing() {
        say(&format!("skipped as {user:?}: {why}"));
        return;
    }
    let all: Vec<&Attempt> =
        ATTEMPTS.iter().filter(|attempt| attempt.is_possible(user, surroundings)).collect();
    attempt(user, surroundings, Profile::Open, &all).expect(|name, verdict| {
        let expected = ATTEMPTS.iter().find(|a| a.name == name).unwrap().in_the_open(user);
        match (expected, verdict) {
            (_, Verdict::Broken(_)) => false,
            (Open::Succeeds, verdict) => matches!(verdict, Verdict::Escaped(_)),
            (Open::Fails, verdict) => matches!(verdict, Verdict::Held(_)),
            (Open::Varies, Verdict::Held(why)) => {
                say(&format!("{name} shows nothing here: {why}"));
                true
            }
            (Open::Varies, Verdict::Escaped(_)) => true,
        }
    });
}

/// In a sandbox: nothing does.
fn none_succeeds(user: User, surroundings: Surroundings, profile: Profile) {
    if let Some(why) = user.missing() {
        say(&format!("skipped as {user:?}: {why}"));
        return;
    }
    let meant: Vec<&Attempt> =
        ATTEMPTS.iter().filter(|attempt| attempt.is_held_in(profile, user, surroundings)).collect();
    assert!(meant.len() >= 3, "{meant:?}");
    attempt(user, surroundings, profile, &meant).expect(|_, verdict| matches!(verdict, Verdict::Held(_)));
}

#[test]
fn every_attempt_is_in_the_table_and_every_row_is_an_attempt() {
    let ground = Ground::new(User::Ordinary, Surroundings::Usual);
    ground.put_scripts();
    let mut list = ground.command(Surroundings::Usual, PYTHON);
    list.arg("-B").arg(ground.path("root/scripts/driver.py")).arg("--list");
    let done = finish(list.spawn().unwrap());
    let mut rows: Vec<&str> = ATTEMPTS.iter().map(|attempt| attempt.name).collect();
    rows.sort_unstable();
    assert_eq!(done.out.lines().collect::<Vec<_>>(), rows, "{}", done.err);
}

#[test]
fn in_the_open_attempts_succeed_as_root() {
    all_succeed_in_the_open(User::Root, Surroundings::Usual);
}

#[test]
fn in_the_open_attempts_succeed_as_an_ordinary_user() {
    all_succeed_in_the_open(User::Ordinary, Surroundings::Usual);
}

#[test]
fn in_the_open_attempts_succeed_without_namespaces_too() {
    for user in [User::Root, User::Ordinary] {
        all_succeed_in_the_open(user, Surroundings::NoNamespaces);
    }
}

/// A class of machine, in every sandbox that a user has there.
macro_rules! none_succeeds {
    ($($name:ident: $profile:ident, $surroundings:expr;)*) => { $(
        #[test]
        fn $name() {
            for user in [User::Root, User::Ordinary] {
                none_succeeds(user, $surroundings, Profile::$profile);
            }
        }
    )* };
}

none_succeeds! {
    no_attempt_succeeds_in_workspace: Workspace, Surroundings::Usual;
    no_attempt_succeeds_in_locked: Locked, Surroundings::Usual;
    no_attempt_succeeds_by_path_rules_alone: Bare, Surroundings::Usual;
    no_attempt_succeeds_where_names_are_protected_strictly: Strict, Surroundings::Usual;
    no_listener_of_the_host_is_reached_from_a_loopback_of_ones_own: Loopback, Surroundings::Usual;
    with_landlock_4_no_attempt_succeeds_in_workspace: Workspace, Surroundings::Landlock(4);
    with_landlock_2_no_attempt_succeeds_in_workspace: Workspace, Surroundings::Landlock(2);
    with_landlock_1_no_attempt_succeeds_in_workspace: Workspace, Surroundings::Landlock(1);
    without_landlock_no_attempt_succeeds_in_workspace: Workspace, Surroundings::Landlock(0);
    without_namespaces_no_attempt_succeeds_in_workspace: Workspace, Surroundings::NoNamespaces;
    without_namespaces_no_attempt_succeeds_in_locked: Locked, Surroundings::NoNamespaces;
    in_a_container_no_attempt_succeeds_in_workspace: Workspace, Surroundings::Container;
    in_a_container_no_attempt_succeeds_in_locked: Locked, Surroundings::Container;
    with_landlock_4_alone_no_attempt_succeeds_in_workspace: Workspace, Surroundings::OnlyLandlock(4);
    with_landlock_4_alone_no_attempt_succeeds_in_locked: Locked, Surroundings::OnlyLandlock(4);
    with_landlock_2_alone_no_attempt_succeeds_in_workspace: Workspace, Surroundings::OnlyLandlock(2);
    with_landlock_2_alone_no_attempt_succeeds_in_locked: Locked, Surroundings::OnlyLandlock(2);
}

#[test]
fn where_neither_namespaces_nor_landlock_hold_it_a_command_is_refused_with_the_ways_out() {
    for (user, version) in User::all().into_iter().flat_map(|user| [(user, 0), (user, 1)]) {
        let ground = Ground::new(user, Surroundings::OnlyLandlock(version));
        let witness = ground.path("root/ran");
        let touch = ["--", "touch", witness.to_str().unwrap()];
        assert_eq!(finish(ground.run(Profile::Open, &touch).spawn().unwrap()).code, Some(0));
        std::fs::remove_file(&witness).unwrap();
        let done = finish(ground.run(Profile::Workspace, &touch).spawn().unwrap());
        assert_eq!(done.code, Some(125), "{done:?}");
        for part in ["mounts", "Landlock", "wharf doctor", "--sandbox open"] {
            assert!(done.err.contains(part), "{part}: {done:?}");
        }
        assert!(!done.err.contains("No space left"), "{done:?}");
        assert!(!witness.exists(), "it ran all the same");
        let doctor = finish(ground.wharf(["doctor"]).spawn().unwrap());
        assert_eq!(doctor.code, Some(1), "{doctor:?}");
        assert!(doctor.out.contains("agents' commands will NOT run here"), "{doctor:?}");
    }
}

#[test]
fn an_inherited_descriptor_would_be_seen() {
    let ground = Ground::new(User::Ordinary, Surroundings::Usual);
    let names = ["inherit-a-descriptor", "write-by-descriptor-of-another"];
    let victims = ground.victims(&names);
    // No profile lets one through, `open` neither; so this is shown without wharf.
    let mut direct = ground.command(Surroundings::Usual, "sh");
    let driver = ground.path("root/scripts/driver.py");
    direct.args(["-c", "exec 7</etc/passwd; exec \"$@\"", "sh", PYTHON, "-B"]).arg(driver);
    direct.arg(ground.path("root/facts.json")).arg(names[0]);
    let done = finish(direct.spawn().unwrap());
    assert!(done.out.contains("ESCAPED\t7 -> /etc/passwd"), "{done:?}");
    drop(victims);
}
