//! Whose secrets are hidden: those of the account and not only those of `HOME`, and for root those of everybody.

#![expect(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

use super::Profile;
use super::cast::{Surroundings, User};
use super::ground::Ground;
use super::job::{say, workshop};
use super::left::users;
use crate::harness::{Done, Wharf, finish};
use std::path::Path;
use std::process::Stdio;

/// What is nobody's business, in each home.
const SECRETS: [&str; 5] = [
    ".ssh/id_ed25519",
    ".aws/credentials",
    ".gradle/daemon/8.10/registry.bin",
    ".config/code-server/config.yaml",
    ".local/state/wharf/audit.jsonl",
];

fn put_secrets(user: User, home: &Path) {
    for name in SECRETS {
        let path = home.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "SECRET\n").unwrap();
        let ours = |path: &&Path| path.starts_with(home);
        path.ancestors().take_while(ours).for_each(|path| user.own(path));
    }
    std::fs::write(home.join("plain"), "plain\n").unwrap();
    user.own(&home.join("plain"));
}

/// How many secrets of the account's home, and of another's, can be read by a command whose `HOME` is a third. The
/// password file says so in mounts of its own, so that nothing of this machine is touched.
fn reads(user: User, profile: Profile) -> (usize, usize) {
    let ground = workshop(user);
    let (own, other) = (ground.path("outside/account"), ground.path("outside/other"));
    [&own, &other].into_iter().for_each(|home| put_secrets(user, home));
    let id = user.other().unwrap_or(0);
    let passwd = format!(
        "me:x:{id}:{id}::{}:/bin/sh\nother:x:4242:4242::{}:/bin/sh\n",
        own.display(),
        other.display()
    );
    ground.write("passwd", &passwd);
    let mount = format!("mount --bind {} /etc/passwd", ground.path("passwd").display());
    let count = |home: &Path| count(&ground, user, profile, &mount, home);
    (count(&own), count(&other))
}

/// How many secrets of a home can be read by a command in mounts that were changed before by somebody who may.
fn count(ground: &Ground, user: User, profile: Profile, change: &str, home: &Path) -> usize {
    let done = cat(ground, user, profile, &format!("{change} && exec"), home);
    assert!(done.code == Some(0) && done.out.starts_with("plain\n"), "as {user:?} in {profile:?}: {done:?}");
    done.out.matches("SECRET").count()
}

/// What a command says that shows the secrets of a home, behind a line for root's shell.
fn cat(ground: &Ground, user: User, profile: Profile, before: &str, home: &Path) -> Done {
    let policy = ground.path("policy.toml");
    let wharf = ground.path("bin/wharf");
    let run = format!("{} run {} --", wharf.display(), profile.flags(policy.to_str().unwrap()).join(" "));
    let drop =
        user.other().map_or(String::new(), |id| format!("setpriv --reuid={id} --regid={id} --clear-groups"));
    let files: Vec<String> = SECRETS.iter().map(|name| home.join(name).display().to_string()).collect();
    let script = format!("cat {}/plain; cat {} 2>/dev/null; true", home.display(), files.join(" "));
    let line = format!("{before} {drop} {run} /bin/sh -c '{script}'");
    // The mount is root's to make, whoever runs the command.
    let mut unshare = ground.equip(User::Root.command(Surroundings::Usual, "unshare"));
    unshare.args(["--mount", "--propagation", "private", "sh", "-c", &line]);
    finish(unshare.spawn().unwrap())
}

#[test]
fn secrets_are_hidden_in_the_home_of_the_account_and_from_root_in_every_home() {
    if let Some(why) = User::Root.missing() {
        return say(&format!("skipped: {why}"));
    }
    for user in [User::Root, User::Ordinary] {
        assert_eq!(reads(user, Profile::Open), (SECRETS.len(), SECRETS.len()), "as {user:?}");
        let others = if user == User::Root { 0 } else { SECRETS.len() };
        for profile in [Profile::Workspace, Profile::Bare] {
            assert_eq!(reads(user, profile), (0, others), "as {user:?} in {}", profile.name());
        }
    }
}

/// A home on a data disk that is bound to where homes are, as administrators do it.
#[test]
fn a_home_that_is_mounted_twice_is_hidden_by_both_names() {
    if let Some(why) = User::Root.missing() {
        return say(&format!("skipped: {why}"));
    }
    for user in [User::Root, User::Ordinary] {
        let reads = |profile| {
            let ground = workshop(user);
            let (home, again) = (ground.path("home"), ground.path("outside/again"));
            put_secrets(user, &home);
            std::fs::create_dir_all(&again).unwrap();
            let mount = format!("mount --bind {} {}", home.display(), again.display());
            count(&ground, user, profile, &mount, &again)
        };
        assert_eq!(reads(Profile::Open), SECRETS.len(), "as {user:?}");
        for profile in [Profile::Workspace, Profile::Bare] {
            assert_eq!(reads(profile), 0, "as {user:?} in {}", profile.name());
        }
    }
}

#[test]
fn a_home_that_is_written_with_dots_is_hidden_like_any_other() {
    for user in users() {
        let reads = |profile| {
            let ground = workshop(user);
            put_secrets(user, &ground.path("home"));
            let files = SECRETS.map(|name| format!("../home/{name}")).join(" ");
            let script = format!("cat ../home/plain; cat {files} 2>/dev/null; true");
            let mut run = ground.run(profile, &["--", "/bin/sh", "-c", &script]);
            let done = finish(run.env("HOME", ground.path("home/../home")).spawn().unwrap());
            assert!(done.code == Some(0) && done.out.starts_with("plain\n"), "as {user:?}: {done:?}");
            done.out.matches("SECRET").count()
        };
        assert_eq!(reads(Profile::Open), SECRETS.len(), "as {user:?}");
        for profile in [Profile::Workspace, Profile::Bare] {
            assert_eq!(reads(profile), 0, "as {user:?} in {}", profile.name());
        }
    }
}

/// A root directory that is a second mount of everything, in the very project: rules for the project are rules for all.
#[test]
fn in_a_chroot_in_which_rules_keep_nobody_in_nothing_is_started() {
    if let Some(why) = User::Root.missing() {
        return say(&format!("skipped: {why}"));
    }
    let ground = workshop(User::Ordinary);
    let (home, inside) = (ground.path("home"), ground.path("root/inside"));
    put_secrets(User::Ordinary, &home);
    std::fs::create_dir_all(&inside).unwrap();
    let (inside, root) = (inside.display(), ground.path("root"));
    let begin = format!("/usr/sbin/chroot {inside} /usr/bin/env -C {}", root.display());
    let before = format!("mount --rbind / {inside} && exec {begin}");
    let open = cat(&ground, User::Ordinary, Profile::Open, &before, &home);
    assert_eq!((open.code, open.out.matches("SECRET").count()), (Some(0), SECRETS.len()), "{open:?}");
    for profile in [Profile::Workspace, Profile::Bare] {
        let done = cat(&ground, User::Ordinary, profile, &before, &home);
        assert!(done.code == Some(125) && done.err.contains("chroot"), "{}: {done:?}", profile.name());
    }
}

/// As a build server has it, which makes a home in a checkout among temporary files.
#[test]
fn a_project_among_temporary_files_that_holds_the_home_is_read() {
    let wharf = Wharf::new();
    let project = tempfile::Builder::new().tempdir_in("/tmp").unwrap();
    let home = project.path().join("home");
    put_secrets(User::Root, &home);
    let script =
        "cat home/plain; cat home/.ssh/* home/.aws/* 2>/dev/null; { touch new || echo refused; } 2>/dev/null
        touch /tmp/new && echo done";
    let mut run = wharf.command(["run", "--sandbox", "workspace", "--", "/bin/sh", "-c", script]);
    run.env("HOME", &home).current_dir(project.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let done = finish(run.spawn().unwrap());
    assert_eq!((done.code, done.out.as_str()), (Some(0), "plain\nrefused\ndone\n"), "{done:?}");
}

/// What is written before it is in place, and what is kept of what was there.
#[test]
fn copies_beside_a_secret_are_hidden_with_it() {
    let copies = [".netrc.tmp", ".netrc~", ".ssh.bak/id_ed25519", ".npmrc.1234567"];
    for user in users() {
        for (profile, expected) in [(Profile::Open, 4), (Profile::Workspace, 0), (Profile::Bare, 0)] {
            let ground = workshop(user);
            put_secrets(user, &ground.path("home"));
            std::fs::create_dir(ground.path("home/.ssh.bak")).unwrap();
            for name in [".netrc", ".npmrc"].into_iter().chain(copies) {
                ground.write(&format!("home/{name}"), "SECRET\n");
            }
            let files = copies.map(|name| format!("../home/{name}")).join(" ");
            let script = format!("cat ../home/plain; cat {files} 2>/dev/null; true");
            let done = finish(ground.run(profile, &["--", "/bin/sh", "-c", &script]).spawn().unwrap());
            assert!(done.code == Some(0) && done.out.starts_with("plain\n"), "as {user:?}: {done:?}");
            assert_eq!(done.out.matches("SECRET").count(), expected, "as {user:?} in {}", profile.name());
        }
    }
}

/// A second name of a directory around the home, by which nothing in it is hidden, since the home itself is a mount that is
/// not there: as a container has it, whose own files are among its volumes.
#[test]
fn a_second_name_of_what_is_around_a_home_shows_nothing_of_it() {
    if let Some(why) = User::Root.missing() {
        return say(&format!("skipped: {why}"));
    }
    for user in [User::Root, User::Ordinary] {
        let reads = |profile| {
            let ground = workshop(user);
            let (account, home) = (ground.path("outside/account"), ground.path("outside/users/me"));
            put_secrets(user, &account);
            let (base, again) = (ground.path("outside"), ground.path("again"));
            [&home, &again].into_iter().for_each(|dir| std::fs::create_dir_all(dir).unwrap());
            let mounts = [(&account, &home), (&base, &again)]
                .map(|(from, to)| format!("mount --bind {} {}", from.display(), to.display()));
            let before = format!("{} && exec env HOME={}", mounts.join(" && "), home.display());
            let done = cat(&ground, user, profile, &before, &home);
            assert!(done.code == Some(0) && done.out.starts_with("plain\n"), "as {user:?}: {done:?}");
            done.out.matches("SECRET").count()
        };
        assert_eq!(reads(Profile::Open), SECRETS.len(), "as {user:?}");
        for profile in [Profile::Workspace, Profile::Bare] {
            assert_eq!(reads(profile), 0, "as {user:?} in {}", profile.name());
        }
    }
}
