//! What stays as it is: links in the place of what is protected, hooks behind links, what is no cache, and mounts that are
//! made later.

use super::Profile;
use super::cast::{Surroundings, User};
use super::ground::Ground;
use super::job::{Stream, bash, say, workshop};
use super::left::users;
use crate::harness::finish;
use std::os::unix::fs::MetadataExt;

/// Whether the settings of an editor that are behind a link can be changed, by any of these.
fn changes_settings_behind_a_link(user: User, profile: Profile) -> Vec<&'static str> {
    let attempts = [
        "echo x > .vscode/tasks.json",
        "rm .vscode && mkdir .vscode && touch .vscode/tasks.json",
        "ln -sfn /tmp .vscode",
        "mv config old && mkdir -p config/editor",
        "rm .zed && mkdir .zed",
        "mkdir -p elsewhere && touch elsewhere/made",
    ];
    let ground = workshop(user);
    attempts
        .into_iter()
        .filter(|attempt| {
            let prepare = "rm -rf .vscode .zed config old elsewhere; mkdir -p config/editor; ln -s config/editor .vscode; \
                ln -s elsewhere .zed";
            assert_eq!(bash(&ground, Profile::Open, prepare, Stream::Pipe).code, Some(0));
            let done = bash(&ground, profile, attempt, Stream::Pipe);
            assert!(done.code.is_some_and(|code| code < 100), "as {user:?}: {done:?}");
            done.code == Some(0)
        })
        .collect()
}

#[test]
fn settings_behind_a_link_can_be_changed_in_the_open() {
    users()
        .into_iter()
        .for_each(|user| assert_eq!(changes_settings_behind_a_link(user, Profile::Open).len(), 6));
}

#[test]
fn settings_behind_a_link_cannot_be_changed_where_they_are_protected_strictly() {
    for user in users() {
        assert_eq!(changes_settings_behind_a_link(user, Profile::Strict), [""; 0], "as {user:?}");
    }
}

/// Whether a hook can be planted in a repository whose hooks are a link to another directory of the root.
fn plants_hooks_behind_a_link(user: User, profile: Profile) -> bool {
    let ground = workshop(user);
    let prepare =
        "git init -q . && rm -r .git/hooks && mkdir -p tools/githooks && ln -s ../tools/githooks .git/hooks";
    assert_eq!(bash(&ground, Profile::Open, prepare, Stream::Pipe).code, Some(0));
    let script = "set +e; echo x > .git/hooks/pre-commit; echo x > tools/githooks/pre-commit
        mkdir new; echo x > new/pre-commit; ln -sfn ../new .git/hooks; mv tools old; mkdir -p tools/githooks
        echo x > tools/githooks/pre-commit; exit 0";
    let done = bash(&ground, profile, script, Stream::Pipe);
    assert_eq!(done.code, Some(0), "{done:?}");
    // What the person's git would find.
    ground.path("root/.git/hooks/pre-commit").exists()
}

#[test]
fn hooks_behind_a_link_can_be_planted_in_the_open() {
    users().into_iter().for_each(|user| assert!(plants_hooks_behind_a_link(user, Profile::Open)));
}

#[test]
fn hooks_behind_a_link_cannot_be_planted_from_a_sandbox() {
    for user in users() {
        assert!(!plants_hooks_behind_a_link(user, Profile::Workspace), "as {user:?}");
        assert!(!plants_hooks_behind_a_link(user, Profile::Locked), "as {user:?}");
    }
}

/// Ways to give something that is protected a second name, and to change it by that.
const SECOND_NAMES: [&str; 6] = [
    "ln .mcp.json second && echo x > second",
    "cp --link .git/hooks/pre-commit second && echo x > second",
    "ln --logical /proc/self/fd/3 second 3< .mcp.json && echo x > second",
    "mkdir other && ln .vscode/settings.json other/second && echo x > other/second",
    "mv .git/hooks/pre-commit second && echo x > second && mv second .git/hooks/pre-commit",
    "ln second .claude/settings.json; ln second .mcp.json || ln -f second .mcp.json",
];

/// Which of them change what is protected, or how many names it has.
fn changes_by_second_name(user: User, profile: Profile) -> Vec<&'static str> {
    let prepare = "rm -rf .git .mcp.json .vscode .claude second other; git init -q .; mkdir -p .vscode .claude .git/hooks
        for file in .mcp.json .vscode/settings.json .git/hooks/pre-commit; do echo kept > $file; done; [ $1 = 5 ] && echo x > second
        true";
    let ground = workshop(user);
    let protected = [".mcp.json", ".vscode/settings.json", ".git/hooks/pre-commit"];
    let is_changed = |file: &&str| {
        let path = ground.path("root").join(file);
        let names = std::fs::metadata(&path).map_or(0, |meta| meta.nlink());
        names != 1 || std::fs::read_to_string(&path).is_ok_and(|text| text != "kept\n")
    };
    let changes = |(number, attempt): &(usize, &'static str)| {
        let prepare = prepare.replace("$1", &number.to_string());
        let prepared = bash(&ground, Profile::Open, &prepare, Stream::Pipe);
        assert_eq!(prepared.code, Some(0), "as {user:?}: {prepared:?}");
        let done = bash(&ground, profile, attempt, Stream::Pipe);
        assert!(done.code.is_some_and(|code| code < 100), "as {user:?}: {done:?}");
        protected.iter().any(is_changed)
    };
    SECOND_NAMES.into_iter().enumerate().filter(changes).map(|(_, attempt)| attempt).collect()
}

#[test]
fn what_is_protected_can_get_a_second_name_in_the_open() {
    users().into_iter().for_each(|user| {
        assert_eq!(changes_by_second_name(user, Profile::Open), SECOND_NAMES, "as {user:?}")
    });
}

#[test]
fn what_is_protected_gets_no_second_name_in_a_sandbox() {
    for user in users() {
        for profile in [Profile::Strict, Profile::Locked] {
            assert_eq!(changes_by_second_name(user, profile), [""; 0], "as {user:?} in {}", profile.name());
        }
    }
}

#[test]
fn the_caches_of_tools_are_there_on_a_fresh_machine_and_the_rest_of_them_is_not_written() {
    for user in users() {
        let ground = Ground::new(user, Surroundings::Usual);
        let bin = ground.path("tools");
        std::fs::create_dir(&bin).unwrap();
        for program in ["npm", "go", "pip3"] {
            std::fs::write(bin.join(program), "").unwrap();
        }
        let script =
            "for dir in .npm .npm/_cacache .cache/go-build .cache/pip go/pkg/mod; do echo x > ~/$dir/file || exit 1; done
            touch ~/.cache/p10k-instant-prompt.zsh; mkdir ~/.cache/nvim; touch ~/go/bin ~/.cache/pip; exit 0";
        let mut run = ground.run(Profile::Workspace, &["--", "/bin/bash", "-c", script]);
        let done = finish(run.env("PATH", format!("{}:/usr/bin:/bin", bin.display())).spawn().unwrap());
        assert_eq!(done.code, Some(0), "as {user:?}: {done:?}");
        assert_eq!(done.out.matches("Read-only file system").count(), 3, "as {user:?}: {done:?}");
        let made = |below: &str| ground.path("home").join(below).exists();
        assert!([".npm/_cacache/file", ".cache/go-build/file", ".cache/pip/file"].into_iter().all(made));
        // What is run from there is the session's own.
        assert!(![".npm/file", "go/pkg/mod/file"].into_iter().any(made));
        assert!(![".cache/p10k-instant-prompt.zsh", ".cache/nvim", "go/bin"].into_iter().any(made));
    }
}

/// In mounts of its own, so that nothing of this machine is touched.
#[test]
fn what_is_mounted_later_is_not_seen_in_a_sandbox() {
    let user = User::Root;
    if let Some(why) = user.missing() {
        return say(&format!("skipped as {user:?}: {why}"));
    }
    let ground = workshop(user);
    // In the home, which is seen in a sandbox wherever it is.
    let shared = ground.path("home/shared");
    let lines = |profile: Profile| {
        let policy = ground.path("policy.toml");
        let wharf = format!(
            "{} run {} -c",
            ground.path("bin/wharf").display(),
            profile.flags(policy.to_str().unwrap()).join(" ")
        );
        format!(
            "set -e; mkdir -p {0}; mount -t tmpfs base {0}; mount --make-shared {0}; mkdir {0}/later; mkfifo up go
            {wharf} 'echo up > up; read x < go; ls {0}/later' & read x < up
            mount -t tmpfs later {0}/later; touch {0}/later/file; echo x > go; wait",
            shared.display()
        )
    };
    for (profile, expected) in [(Profile::Open, "file\n"), (Profile::Workspace, "")] {
        let mut unshare = ground.command(Surroundings::Usual, "unshare");
        unshare.args(["--mount", "--propagation", "private", "sh", "-c", &lines(profile)]);
        let done = finish(unshare.spawn().unwrap());
        assert_eq!((done.code, done.out.as_str()), (Some(0), expected), "{profile:?}: {done:?}");
        let left = finish(ground.command(Surroundings::Usual, "rm").args(["up", "go"]).spawn().unwrap());
        assert_eq!(left.code, Some(0));
    }
}
